//! Do the block policies and the hybrid ones decide as slow, obvious versions of them do?
//!
//! Each reference keeps plain `Vec`s and is written from the description, not from the fast code.

mod kit;
mod policies {
    pub mod blocks;
    pub mod grouped;
    pub mod harness;
    pub mod hybrid;
    pub mod padding;
    #[expect(dead_code, reason = "only its helpers for lists serve here")]
    pub mod paged;
    pub mod regions;
    pub mod wpa;
}

use policies::harness::refusal;

#[test]
fn parameter_out_of_range_is_refused_by_name() {
    for (policy, key, value, says) in [
        ("fab", "padding", "1.5", "0 to 1 (share of its block)"),
        ("bplru", "padding", "-0.1", "0 to 1 (share of its block)"),
        ("bplru", "compensation", "ful", "unknown variant"),
        ("clc", "alpha", "1.01", "0 to 1"),
        ("cfdc", "priority_ratio", "-0.1", "0 to 1"),
        ("cfdc", "cluster_pages", "0", "1 or more (pages)"),
        ("vbbms", "vb_seq", "0", "1 to 1024 (pages)"),
        ("vbbms", "ratio", "[0, 0]", "two shares"),
        ("cbm-r", "thr_migrate", "0", "1 or more (pages)"),
        ("clock-dnv", "placement", "first", "unknown variant"),
    ] {
        let error = refusal(policy, &format!("buffer.{key}={value}"));
        assert!(error.contains(&format!("buffer.{key}")) && error.contains(says), "{policy} {key}={value}: {error}");
    }
}

#[test]
fn buffer_smaller_than_its_unit_is_refused() {
    for policy in ["fab", "fab-rw", "bplru", "clc", "lb-clock"] {
        let error = refusal(policy, "ram.dram=0");
        assert!(error.contains("one logical block"), "{policy}: {error}");
    }
    for policy in ["cbm-r", "clock-dnv"] {
        for (memory, says) in [("ram.dram", "one DRAM page"), ("ram.nvram", "ram.nvram")] {
            let error = refusal(policy, &format!("{memory}=0"));
            assert!(error.contains(says), "{policy}: {error}");
        }
    }
}
