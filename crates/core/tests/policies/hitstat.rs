//! What the thesis of HitStat says of it: the padding model, flushed groups, the best threshold; and its parameters. It decides
//! as `oracle/buffer_hitstat.rs` does.

use nandlab::buffer::tools::{MergeCost, break_even_pages};
use nandlab::types::HostOp;
use serde_json::{Value, json};

use super::merging::Merging;
use crate::kit::{Dice, Event, submit};

#[test]
fn padding_model_prints_what_the_thesis_prints() {
    let formulas: Value = serde_json::from_str(include_str!("../golden/formulas.json")).unwrap();
    let table = &formulas["hitstat_padding_model"];
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap();
    let pages = number(table, "N");
    for row in table["rows"].as_array().unwrap() {
        let cost = MergeCost {
            data_blocks: number(row, "R_DB"),
            log_blocks: number(row, "R_LB"),
            log_use: number(row, "U_LB"),
        };
        let threshold = break_even_pages(cost, pages as u32, number(table, "Ce_us"), number(table, "Cw_us"));
        assert!((threshold - number(row, "Bw_pages")).abs() < 1e-6, "{row}: {threshold}");
        assert!((threshold / pages - number(row, "paper_prints")).abs() < 0.0053, "{row}: {}", threshold / pages);
    }
}

#[test]
fn padding_follows_the_merges_below() {
    // Log blocks, data blocks and log pages of every merge.
    let share_padded = |ftl, [log_blocks, data_blocks, log_pages]: [u64; 3]| {
        let rig = Merging { ftl, physical_blocks: 400, ..Merging::default() };
        let (mut device, recorder) = rig.device("hitstat", json!({"list_bounds": [1, 2, 3, 4, 6, 8]}));
        let mut random = Dice(22);
        for _ in 0..2000 {
            let ledger = &mut device.test_port().flash_mut().ledger;
            ledger.padding_merges += 1;
            ledger.padding_log_blocks += log_blocks;
            ledger.padding_data_blocks += data_blocks;
            ledger.padding_log_pages += log_pages;
            submit(&mut *device, HostOp::Write, random.below64(125), 2);
        }
        let writes: Vec<Event> = recorder.take().into_iter().filter(|e| matches!(e, Event::Write { .. })).collect();
        let padded = writes.iter().filter(|e| matches!(e, Event::Write { padded, .. } if !padded.is_empty())).count();
        padded as f64 / writes.len() as f64
    };
    // One data block per log block: B_w is half a block. Seven: an eighth, so that every group is padded.
    let (few, many) = (share_padded("fast", [1, 1, 8]), share_padded("fast", [1, 7, 8]));
    assert!(few < 0.5 && many > 0.8, "{few} {many}");
    // What is known beforehand is not measured: FAST reclaims one log block, all of it used, and BAST one data block.
    assert_eq!(share_padded("fast", [2, 1, 9]), few);
    assert_eq!(share_padded("bast", [1, 7, 8]), share_padded("bast", [1, 1, 8]));
    assert!(share_padded("last", [1, 7, 8]) > share_padded("last", [1, 1, 8]));
    assert_eq!(["page", "block"].map(|ftl| share_padded(ftl, [1, 7, 8])), [0.0; 2]);
}

#[test]
fn trimmed_page_takes_its_weight_from_its_group() {
    let (mut device, _) = Merging::default().device("hitstat", json!({}));
    let class = |device: &mut dyn nandlab::engine::Ssd| -> Vec<String> {
        let lists = device.test_port().golden_state()["lists"].as_object().unwrap().clone();
        lists.into_iter().filter(|(_, groups)| groups.as_array().is_some_and(|g| !g.is_empty())).map(|l| l.0).collect()
    };
    // Five sectors of a block lie in the class of up to six, three in that of up to four, one in that of up to two.
    submit(&mut *device, HostOp::Write, 8, 5);
    assert_eq!(class(&mut *device), ["6"]);
    submit(&mut *device, HostOp::Trim, 9, 2);
    assert_eq!(class(&mut *device), ["4"]);
    submit(&mut *device, HostOp::Trim, 8, 4);
    assert_eq!(class(&mut *device), ["2"]);
}

#[test]
fn hitstat_writes_back_fewer_groups_than_bplru_and_fab() {
    let flushed = |policy, params| {
        let rig = Merging {
            logical_pages: 16_384,
            pages_per_block: 32,
            frames: 1024,
            physical_blocks: 700,
            page_sectors: 8,
            ..Merging::default()
        };
        let (mut device, _) = rig.device(policy, params);
        let mut random = Dice(23);
        let mut stream = 0;
        for _ in 0..20_000 {
            if random.percent(30) {
                submit(&mut *device, HostOp::Write, stream * 8, 64);
                stream = if random.percent(3) { random.below64(2000) * 8 } else { (stream + 8) % 16_000 };
            } else {
                // Half of the other requests go to one sixteenth of the device.
                let region = if random.percent(50) { 1024 } else { 16_384 };
                submit(&mut *device, HostOp::Write, random.skewed(region - 2) * 8, 8 * random.pick(&[1, 1, 2]));
            }
        }
        device.ledger().write_back_commands
    };
    let hitstat = flushed("hitstat", json!({}));
    let bplru = flushed("bplru", json!({}));
    let fab = flushed("fab", json!({}));
    assert!(hitstat < bplru && bplru < fab, "{hitstat} {bplru} {fab}");
}

/// Time of the thesis: programs and erases, reads are free.
fn elapsed(rig: Merging, seed: u64, params: Value) -> f64 {
    let (mut device, _) = rig.device("hitstat", params);
    let mut random = Dice::of_case(&[seed]);
    let mut stream = 0;
    for _ in 0..8000 {
        if random.percent(20) {
            submit(&mut *device, HostOp::Write, stream, 8);
            stream = if random.percent(10) { random.below64(1000) * 8 } else { (stream + 8) % 8000 };
        } else {
            let region = random.pick(&[512, 2048, 8000]);
            submit(&mut *device, HostOp::Write, random.skewed(region), random.pick(&[1, 1, 2, 4, 8]));
        }
    }
    device.test_port().check();
    let ledger = device.ledger();
    ledger.programs() as f64 * 0.8 + ledger.erases() as f64 * 1.5
}

#[test]
fn padding_model_comes_close_to_the_best_fixed_threshold() {
    let rig =
        Merging { logical_pages: 8192, pages_per_block: 32, frames: 512, physical_blocks: 400, ..Merging::default() };
    let bast = r#"{"log_blocks": 64, "max_chain": 4, "victim": "rr_longest", "partial_merge": false}"#;
    let fast = r#"{"rw_blocks": 16, "use_sw": false}"#;
    // The thesis: within 1 % of the best; never padding costs 10 to 25 % more, always padding 15 to 17 %. Here, over eight
    // streams, the model is 0.5 to 2.3 % behind the best fixed threshold over FAST and 3.8 to 5.9 % over BAST.
    for (ftl, ftl_params, adj, near) in
        [("bast", bast, false, 0.94), ("fast", fast, true, 0.97), ("fast", fast, false, 0.97)]
    {
        let rig = Merging { ftl, real_ftl: ftl, ftl_params, ..rig };
        let mut mean = [0.0; 7];
        for seed in 0..4 {
            let time = |rule: Value| elapsed(rig, seed, json!({"adj": adj, "padding": rule}));
            let model = time(json!("model"));
            for (sum, share) in mean.iter_mut().zip([1.0, 0.5, 0.25, 0.16, 0.1, 0.06, 0.0]) {
                *sum += time(json!(share)) / model / 4.0;
            }
        }
        let best = mean.iter().copied().fold(f64::MAX, f64::min);
        assert!(best > near && best < 1.0, "{ftl} {adj}: {mean:?}");
        assert!(mean[0] > 1.15 && mean[6] > 1.08, "{ftl} {adj}: {mean:?}");
    }
}

#[test]
fn padding_threshold_may_be_a_share_or_a_word() {
    let plugin = nandlab::registry::find(nandlab::catalog::BUFFERS, "buffer", "hitstat").unwrap();
    let schema = (plugin.schema)().to_string();
    for accepted in ["\"model\"", "\"never\"", "\"always\"", "\"aalru\"", "\"number\""] {
        assert!(schema.contains(accepted), "{schema}");
    }
    for rule in [json!("model"), json!("never"), json!("aalru"), json!(0.25), json!(0)] {
        Merging::default().device("hitstat", json!({"padding": rule}));
    }
    assert_eq!((plugin.defaults)()["padding"], "model");
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for (params, key) in [
        (json!({"padding": 1.5}), "padding"),
        (json!({"levels": 0}), "levels"),
        (json!({"levels": 66}), "levels"),
        (json!({"hit_log_len": 0}), "hit_log_len"),
        (json!({"list_bounds": [4, 2]}), "list_bounds"),
        (json!({"levels_period": 0}), "levels_period"),
        (json!({"no_such": 1}), "buffer"),
    ] {
        let error = Merging::default().try_device("hitstat", params.clone()).err().unwrap();
        assert!(error.key.contains(key), "{params}: {error}");
    }
    for (params, key) in [
        (json!({"beta": 1.0}), "beta"),
        (json!({"tau_min": 0.6}), "tau_min"),
        (json!({"period": 0}), "period"),
        (json!({"d_read": -1.0}), "d_read"),
    ] {
        let error = Merging::default().try_device("aalru", params.clone()).err().unwrap();
        assert!(error.key.contains(key), "{params}: {error}");
    }
}
