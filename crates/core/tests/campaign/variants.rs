//! What is varied: parameters, devices.

use serde_json::{Value, json};

use super::rig::{Size, Start};

/// Devices for random operations.
pub const SIZES: [Size; 4] = [
    Size { pages_per_block: 4, logical_pages: 32, dies: 1 },
    Size { pages_per_block: 4, logical_pages: 30, dies: 1 },
    Size { pages_per_block: 8, logical_pages: 53, dies: 4 },
    Size { pages_per_block: 5, logical_pages: 23, dies: 1 },
];

/// Smaller ones for power cuts, so that space is made within a few operations.
pub const CUT_DEVICES: [(Size, Start); 5] = [
    (Size { pages_per_block: 4, logical_pages: 16, dies: 1 }, Start::Full),
    (Size { pages_per_block: 4, logical_pages: 14, dies: 1 }, Start::Empty),
    (Size { pages_per_block: 4, logical_pages: 18, dies: 4 }, Start::Roomy),
    (Size { pages_per_block: 6, logical_pages: 24, dies: 1 }, Start::Tight),
    (Size { pages_per_block: 4, logical_pages: 16, dies: 1 }, Start::Journal),
];

/// Parameters worth testing besides the defaults, by FTL.
#[expect(clippy::too_many_lines, reason = "a table")]
pub fn variants(ftl: &str) -> Vec<Value> {
    match ftl {
        "page" => vec![
            json!({}),
            json!({"frontiers": "single"}),
            json!({"frontiers": "single", "victim": "fifo", "alloc": "min_erase"}),
            json!({"frontiers": "single", "victim": "random", "reserve": 2}),
            json!({"frontiers": "single", "victim": {"d_choices": 2}}),
            json!({"frontiers": "single", "victim": {"windowed_greedy": 4}}),
            json!({"frontiers": "single", "victim": "cost_benefit"}),
            json!({"frontiers": "single", "victim": "cost_age_times"}),
            json!({"gc_frontier": "separate", "gc_slice": 2, "stripe": "dcw"}),
            json!({"frontiers": "single", "gc_frontier": "separate", "gc_slice": 1, "wear_threshold": 1}),
            json!({"placement": "round_robin", "streams": 3, "wear_threshold": 2, "alloc": "min_erase"}),
            json!({"frontiers": "single", "streams": 2, "idle_free": 2, "victim": "fifo"}),
            json!({"gc_frontier": "separate", "gc_slice": 3, "streams": 2, "idle_free": 1, "wear_threshold": 1}),
            json!({"gc_frontier": "separate", "slc": "dynamic", "slc_blocks": 3, "idle_free": 1}),
            json!({"gc_frontier": "separate", "slc": "static", "slc_blocks": 2, "gc_slice": 2, "streams": 2}),
            json!({"gc_frontier": "separate", "slc": "static", "slc_blocks": 1, "frontiers": "single", "victim": "fifo"}),
            json!({"gc_frontier": "separate", "gc_slice": "paced", "reserve": 2}),
            json!({"gc_frontier": "separate", "gc_slice": "paced", "frontiers": "plane", "placement": "least_busy"}),
            json!({"whole_units": true, "streams": 2, "placement": "round_robin"}),
        ],
        "block" => vec![json!({}), json!({"append": true}), json!({"alloc": "min_erase"})],
        "bast" => vec![
            json!({}),
            json!({"max_chain": 4, "victim": "rr_longest", "lookahead": 2, "partial_merge": false}),
            json!({"max_chain": 2, "victim": "random", "log_map": "spare_scan"}),
            json!({"victim": "fifo", "block_write": "pagewise", "map_program": true, "alloc": "min_erase"}),
        ],
        "fast" => vec![
            json!({}),
            json!({"use_sw": false}),
            json!({"sw_switch": "lazy", "block_write": "pagewise", "alloc": "min_erase"}),
            json!({"cond1_rw_check": true}),
        ],
        "superblock" => vec![
            json!({}),
            json!({"superblock_blocks": 2, "update_blocks": 1, "update_blocks_total": 1}),
            json!({"superblock_blocks": 3, "update_blocks": 2, "update_blocks_total": 3, "cache_entries": 5}),
            json!({"superblock_blocks": 1, "update_blocks": 3, "alloc": "min_erase"}),
        ],
        "last" => vec![
            json!({}),
            json!({"seq_blocks": 2, "hot_blocks": 2, "cold_blocks": 3, "threshold": 3, "alloc": "min_erase"}),
            json!({"seq_blocks": 3, "hot_blocks": 1, "threshold": 1}),
        ],
        "dftl" => {
            let base = json!({"entries_per_tp": 4, "cmt_entries": 5, "cmt_protected": 3});
            [
                json!({}),
                json!({"evict_batch": true, "victim": "fifo"}),
                json!({"write_miss_fetch": false, "alloc": "min_erase"}),
                json!({"gc_frontier": "separate", "slc": "static", "slc_blocks": 2, "idle_free": 1}),
                json!({"gc_frontier": "separate", "slc": "dynamic", "slc_blocks": 4, "gc_slice": 1}),
                json!({"cmt_entries": 1, "cmt_protected": 0}),
                json!({"cmt_entries": 64, "victim": {"d_choices": 2}}),
                json!({"preset": "flashsim"}),
                json!({"preset": "eagletree", "cmt_protected": null}),
                json!({"frontiers": "single", "victim": "cost_benefit"}),
                json!({"victim": "random"}),
                json!({"streams": 2, "wear_threshold": 1, "idle_free": 1}),
                json!({"streams": 3, "idle_free": 2, "frontiers": "single", "victim": "cost_age_times"}),
                json!({"gc_frontier": "separate"}),
                json!({"gc_frontier": "separate", "gc_slice": 1, "wear_threshold": 1}),
                json!({"gc_frontier": "separate", "gc_slice": 2, "frontiers": "single", "idle_free": 1, "streams": 2}),
                json!({"gc_frontier": "separate", "gc_slice": "paced", "frontiers": "plane"}),
                json!({"gc_frontier": "separate", "gc_slice": "paced", "placement": "least_busy"}),
                json!({"placement": "round_robin", "whole_units": true, "streams": 2, "wear_threshold": 1}),
            ]
            .map(|more| extended(&base, more))
            .to_vec()
        }
        "rftl" => {
            let base = json!({"entries_per_tp": 4, "cmt_entries": 5, "cmt_protected": 3});
            [
                json!({}),
                json!({"replicas": 3}),
                json!({"replicas": 1, "preset": "flashsim"}),
                json!({"replicas": 2, "evict_batch": true, "streams": 2, "wear_threshold": 2}),
                json!({"replicas": 1, "gc_frontier": "separate", "gc_slice": 2}),
                json!({"replicas": 2, "placement": "round_robin"}),
            ]
            .map(|more| extended(&base, more))
            .to_vec()
        }
        "tpftl" => vec![
            json!({"entries_per_tp": 4, "cmt_entries": 7}),
            json!({"entries_per_tp": 4, "cmt_bytes": 50, "selective_threshold": 1, "alloc": "min_erase"}),
            json!({"entries_per_tp": 4, "cmt_entries": 1, "selective_prefetch": "start_off"}),
            json!({"entries_per_tp": 4, "cmt_entries": 12, "request_prefetch": false, "wear_threshold": 1}),
            json!({"entries_per_tp": 4, "cmt_bytes": 90, "frontiers": "single", "victim": "random"}),
            json!({"entries_per_tp": 4, "cmt_entries": 7, "gc_frontier": "separate", "gc_slice": 1}),
            json!({"entries_per_tp": 4, "cmt_entries": 7, "placement": "least_busy", "idle_free": 1}),
        ],
        "learnedftl" => vec![
            json!({"entries_per_tp": 4, "cmt_entries": 3}),
            json!({"entries_per_tp": 4, "cmt_bytes": 30, "pieces": 1, "victim": "fifo"}),
            json!({"entries_per_tp": 4, "cmt_entries": 7}),
            json!({"entries_per_tp": 9, "cmt_entries": 2, "frontiers": "single"}),
            json!({"entries_per_tp": 4, "cmt_entries": 5, "group_tps": 2}),
            json!({"entries_per_tp": 4, "cmt_entries": 3, "group_tps": 3, "frontiers": "single"}),
            json!({"entries_per_tp": 4, "cmt_entries": 3, "gc_frontier": "separate", "gc_slice": 2}),
            json!({"entries_per_tp": 4, "cmt_entries": 3, "placement": "round_robin"}),
        ],
        "sftl" => vec![
            json!({"entries_per_tp": 4, "cache_bytes": 40}),
            json!({"entries_per_tp": 4, "cache_bytes": 17, "frontiers": "single"}),
            json!({"entries_per_tp": 4, "cache_bytes": 70, "streams": 2, "idle_free": 1}),
            json!({"entries_per_tp": 4, "cache_bytes": 70, "gc_frontier": "separate", "slc": "dynamic", "slc_blocks": 2}),
            json!({"entries_per_tp": 4, "cache_bytes": 40, "gc_frontier": "separate", "gc_slice": 3, "victim": "fifo"}),
        ],
        "cdftl" => vec![
            json!({"entries_per_tp": 4, "cmt_entries": 4, "ctp_pages": 2}),
            json!({"entries_per_tp": 4, "cmt_entries": 1, "ctp_pages": 1, "victim": "fifo"}),
            json!({"entries_per_tp": 4, "cmt_entries": 9, "ctp_pages": 3, "wear_threshold": 2}),
            json!({"entries_per_tp": 4, "cmt_entries": 4, "ctp_pages": 2, "gc_frontier": "separate", "gc_slice": 1}),
        ],
        "urm-map" => vec![
            json!({"entries_per_tp": 8, "reserve": 1}),
            json!({"entries_per_tp": 8, "max_run": 3, "streams": 2, "wear_threshold": 1, "idle_free": 1}),
            json!({"mode": "demand", "entries_per_tp": 10, "map_budget": 100}),
            json!({"mode": "demand", "entries_per_tp": 10, "map_budget": 48, "load_entries": 3}),
            json!({"mode": "demand", "entries_per_tp": 10, "map_budget": 70, "load_entries": 1}),
            json!({"entries_per_tp": 8, "reserve": 1, "gc_frontier": "separate", "gc_slice": 1}),
            json!({"mode": "demand", "entries_per_tp": 10, "map_budget": 70, "gc_frontier": "separate", "gc_slice": 2}),
            json!({"mode": "demand", "entries_per_tp": 10, "map_budget": 70, "placement": "round_robin"}),
            json!({"entries_per_tp": 8, "reserve": 1, "placement": "least_busy"}),
        ],
        _ => vec![json!({})],
    }
}

fn extended(params: &Value, more: Value) -> Value {
    let mut params = params.clone();
    if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
        params.extend(more);
        // What is null is left out.
        params.retain(|_, value| !value.is_null());
    }
    params
}

/// Every combination of the options of `page` that change where pages go or when room is made, each with another victim.
pub fn page_combinations() -> Vec<Value> {
    let victims = ["greedy", "fifo", "random", "cost_benefit", "cost_age_times"];
    let mut all = Vec::new();
    for number in 0..96 {
        let mut params = json!({
            "victim": victims[number % victims.len()],
            "frontiers": if number & 1 == 0 { "single" } else { "die" },
            "placement": if number & 2 == 0 { "lpn" } else { "round_robin" },
            "streams": if number & 4 == 0 { 1 } else { 3 },
            "idle_free": number as u32 >> 3 & 1,
            "alloc": if number & 8 == 0 { "fifo" } else { "min_erase" },
        });
        if number & 16 != 0 {
            params["wear_threshold"] = json!(1 + number % 3);
        }
        if number >= 32 {
            params["gc_frontier"] = json!("separate");
        }
        if number >= 64 {
            params["gc_slice"] = json!(1 + number % 4);
        }
        all.push(params);
    }
    all
}
