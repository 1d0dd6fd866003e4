//! Do the page policies decide as slow, obvious versions of them do?
//!
//! Each reference keeps plain `Vec`s and is written from the description, not from the fast code.

mod kit;
mod policies {
    pub mod cflru;
    pub mod harness;
    pub mod modern;
    pub mod modern_history;
    pub mod paged;
    pub mod queues;
    pub mod reconstructions;
    pub mod urm;
}

use policies::harness::refusal;

#[test]
fn parameter_out_of_range_is_refused_by_name() {
    for (policy, key, value, says) in [
        ("cflru", "window_ratio", "-0.1", "0 to 1"),
        ("cflru", "period", "0", "use 1 or more"),
        ("cflru", "step", "0", "use 1 or more"),
        ("cflru", "cost_write", "-1.0", "0 or more"),
        ("clock", "insert_ref", "2", "0 to 1"),
        ("ccf-lru", "new_dirty_cold", "2", "0 to 1"),
        ("ccf-lru", "compat", "lba", "unknown variant"),
        ("ccf-lru", "compat", "libcachesim", "unknown variant"),
        ("ad-lru", "min_lc", "1.01", "0 to 1"),
        ("clru-r", "hot_max", "-0.1", "0 to 1"),
        ("carf-r", "lam", "65", "0 to 64"),
        ("carf-r", "cost_write", "0", "0.000001 to 1000000000000"),
        ("pr-lru-r", "victim_size", "0", "1 or more (pages)"),
        ("ref-r", "victim_window", "1.5", "0 to 1"),
        ("ref-r", "victim_blocks", "0", "1 or more"),
        ("two-q", "kin", "2", "0 to 1"),
        ("two-q", "kout", "10.1", "0 to 10"),
        ("lirs", "hir", "1.5", "0 to 1"),
        ("lirs", "history", "-1", "0 to 100"),
        ("lirs", "compat", "lab", "unknown variant"),
        ("s3-fifo", "small", "1.5", "0 to 1"),
        ("s3-fifo", "compat", "lab", "unknown variant"),
        ("w-tinylfu", "window", "1.5", "0 to 1"),
        ("w-tinylfu", "protected", "-0.5", "0 to 1"),
        ("w-tinylfu", "sample", "0", "1 to 1000"),
    ] {
        let error = refusal(policy, &format!("buffer.{key}={value}"));
        assert!(error.contains(&format!("buffer.{key}")) && error.contains(says), "{policy} {key}={value}: {error}");
    }
}

#[test]
fn buffer_without_a_frame_is_refused() {
    let ours = ["fifo", "clock", "lru-wsr", "ccf-lru", "ad-lru", "clru-r", "carf-r", "pr-lru-r", "ref-r"];
    for policy in ours.into_iter().chain(["arc", "two-q", "lirs", "s3-fifo", "sieve", "w-tinylfu"]) {
        let error = refusal(policy, "ram.dram=0");
        assert!(error.contains(&format!("`{policy}` needs at least 1")), "{error}");
    }
}
