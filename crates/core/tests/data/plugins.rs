//! Parameters of the plug-ins in scripts.

use serde_json::{Map, Value, json};

/// Parameters that make an FTL work hard on a tiny device; the defaults do for FTLs that are not named. Those of `page`
/// depend on the seed.
pub fn ftl_params(name: &str, seed: u64, planes: u32) -> Value {
    let frontiers = if planes > 1 { "plane" } else { "die" };
    let page = [
        json!({}),
        json!({"streams": 3, "wear_threshold": 2}),
        json!({"gc_frontier": "separate", "gc_slice": 2, "idle_free": 1}),
        json!({"frontiers": "single", "victim": "cost_age_times", "idle_free": 2, "wear_threshold": 1}),
        json!({"placement": "round_robin", "gc_frontier": "separate", "gc_slice": 1, "streams": 2, "alloc": "min_erase"}),
        json!({"frontiers": frontiers, "placement": "least_busy", "whole_units": seed.is_multiple_of(2),
            "gc_frontier": "separate", "gc_slice": "paced"}),
        json!({"gc_frontier": "separate", "slc": "dynamic", "slc_blocks": 2, "gc_slice": "early", "gc_lag": 2}),
    ];
    match name {
        "page" => page[(seed % 7) as usize].clone(),
        "dftl" | "sftl" | "cdftl" if seed % 3 < 2 => {
            let own = match name {
                "dftl" => json!({"cmt_entries": 6}),
                "sftl" => json!({"cache_bytes": 40}),
                _ => json!({"cmt_entries": 4, "ctp_pages": 1}),
            };
            let slices = json!({"frontiers": frontiers, "gc_slice": "paced", "placement": "least_busy",
                "map_write_buffer": seed / 3 % 3});
            let slc = json!({"slc": "dynamic", "slc_blocks": 2});
            let both = json!({"entries_per_tp": 8, "gc_frontier": "separate"});
            let parts = [own, both, if seed.is_multiple_of(3) { slices } else { slc }];
            parts.into_iter().filter_map(|part| part.as_object().cloned()).flatten().collect::<Map<_, _>>().into()
        }
        "dftl" | "rftl" | "tpftl" | "learnedftl" => {
            json!({"cmt_entries": 6, "entries_per_tp": 8, "map_write_buffer": seed / 3 % 3})
        }
        "sftl" => json!({"cache_bytes": 40, "entries_per_tp": 8}),
        "cdftl" => json!({"cmt_entries": 4, "ctp_pages": 1, "entries_per_tp": 8}),
        "urm-map" => json!({"mode": "demand", "map_budget": "64B", "entries_per_tp": 8, "max_run": 4}),
        _ => json!({}),
    }
}

/// The named variants of a policy; which one depends on the seed. The defaults do for policies that are not named.
pub fn buffer_params(name: &str, seed: u64) -> Value {
    let variants = match name {
        "cflru" => vec![json!({"dynamic": true, "period": 20, "step": 1}), json!({"window_ratio": 1.0})],
        "ccf-lru" => vec![json!({"compat": "lab"}), json!({"new_dirty_cold": 0})],
        "fab" => vec![json!({"compat": "lab"}), json!({"padding": "aalru"}), json!({"padding": 0.5})],
        "fab-rw" | "lb-clock" => vec![json!({"padding": "always"}), json!({"padding": 0.5})],
        "bplru" => vec![
            json!({"compat": "lab"}),
            json!({"compensation": "full_first", "padding": 0.5}),
            json!({"compensation": "run", "padding": "never"}),
            json!({"compensation": "none", "padding": "model"}),
        ],
        "clc" => vec![json!({"alpha": 0.0, "padding": "always"}), json!({"alpha": 1.0})],
        "cfdc" => vec![json!({"writeback": "cluster"}), json!({"cluster_pages": 3, "priority_ratio": 1.0})],
        "vbbms" => vec![json!({"reserve_frames": true}), json!({"ratio": [3, 2], "seq_min_pages": 2})],
        "cbm-r" => vec![json!({"victim": "lru", "padding": "always"}), json!({"thr_migrate": 1})],
        "lirs" | "s3-fifo" => vec![json!({"compat": "libcachesim"})],
        "clock-dnv" => vec![
            json!({"placement": "write_first_D"}),
            json!({"padding": "always"}),
            json!({"nvram_unit": "page", "placement": "write_first_D", "padding": 0.5}),
            json!({"nvram_unit": "page"}),
        ],
        "aalru" => vec![
            json!({"keep_written": 0.5, "period": 16}),
            json!({"keep_written": 1.0, "padding": "always"}),
            json!({"padding": 0.5, "period": 8}),
            json!({"period": 8, "th_line": "continuous", "wf_source": "delay"}),
        ],
        "hitstat" => vec![json!({"full_flush": "eager"}), json!({"adj": true, "padding": 0.25})],
        "wpa" => vec![
            json!({"evict_when_full": true}),
            json!({"pel_remove_on_hit": true, "pel_size": 3}),
            json!({"nvram_unit": "page"}),
        ],
        "urm" => vec![json!({"loop_victim": "mru"}), json!({"consumed_first": true})],
        _ => vec![],
    };
    let chosen = (seed >> 8) as usize % (variants.len() + 1);
    variants.get(chosen).cloned().unwrap_or_else(|| json!({}))
}
