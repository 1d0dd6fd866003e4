//! Does `nandlab run` give results that can be used?

mod common;

use std::fmt::Write as _;
use std::process::Stdio;

use common::{TINY, command, file, json, nandlab, nandlab_reading, refusal, stderr, stdout, temporary};

const RUN: [&str; 5] = ["run", "--device", TINY, "--limit", "20000"];

fn run(more: &[&str]) -> String {
    stdout(&[&RUN[..], more].concat())
}

#[test]
fn run_needs_no_argument_but_a_limit() {
    let text = stdout(&["run", "--limit", "2000"]);
    for part in ["REQUESTS", "TIMES", "FLASH", "write amplification", "wear", "pages a second"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "at most 100 columns:\n{text}");
}

#[test]
fn json_is_complete_and_the_same_twice() {
    let once = run(&["--json", "-", "--no-wall"]);
    assert_eq!(once, run(&["--json", "-", "--no-wall"]));
    let report = json(&once);
    assert_eq!(report["schema"], 3);
    assert_eq!(report["nandlab"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["config"]["device"]["geometry"]["blocks_per_plane"], 64);
    assert_eq!(report["config"]["ftl"]["reserve"], 1, "parameters are expanded");
    assert_eq!(report["trace"]["replayed"], 20_000);
    assert_eq!(report["response"]["all"]["count"], 20_000);
    assert!(report["flash"]["erases"]["gc"].as_u64().unwrap() > 0);
    assert!(report.get("wall").is_none());
    assert!(json(&run(&["--json", "-"]))["wall"]["pages_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn run_that_wears_the_device_out_reports_what_was_replayed_until_then() {
    let worn = ["--set", "device.reliability.wear_out=true", "--set", "device.endurance.pe_cycles=6"];
    let rows = file("worn_out.csv", "");
    let output = nandlab(&[&RUN[..], &worn, &["--json", "-", "--latencies", &rows]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let report = json(&output.stdout);
    let at = report["trace"]["worn_out_at"].as_u64().unwrap();
    assert!(
        stderr(&output).contains(&format!("request {at} was refused: the device is worn out")),
        "{}",
        stderr(&output)
    );
    let counts = [&report["trace"]["replayed"], &report["requests"]["total"], &report["response"]["all"]["count"]];
    assert_eq!(counts, [at - 1; 3].map(serde_json::Value::from).each_ref());
    assert_eq!(
        std::fs::read_to_string(&rows).unwrap().lines().count() as u64,
        at,
        "a line of names, and those requests"
    );
    assert_eq!(report["wear"]["retired_blocks"], 1);
    // The same requests on a device that lasts.
    let limit = (at - 1).to_string();
    let alone = json(&stdout(&["run", "--device", TINY, "--json", "-", "--limit", &limit]));
    assert_eq!((&report["response"], &report["flash"]), (&alone["response"], &alone["flash"]));
    let warm_up = at.to_string();
    let said = refusal(&[&RUN[..], &worn, &["--warm-up", &warm_up]].concat());
    assert!(said.contains("worn out and read-only"), "nothing of it was measured: {said}");
}

#[test]
fn run_tells_how_long_the_drive_would_live() {
    let text = run(&[]);
    for part in ["TBW", "if level", "P/E cycles (TLC) assumed", "over 5 years", "life at this rate"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "at most 100 columns:\n{text}");
    let tbw = |cycles: &str| {
        let set = format!("device.endurance.pe_cycles={cycles}");
        let report = json(&run(&["--json", "-", "--no-wall", "--set", &set]));
        let (level, observed) = (&report["endurance"]["level"], &report["endurance"]["observed"]);
        let (level, observed) = (level["tbw_bytes"].as_f64().unwrap(), observed["tbw_bytes"].as_f64().unwrap());
        let levelling = report["endurance"]["levelling"].as_f64().unwrap();
        assert!((observed / level - levelling).abs() < 1e-9 && levelling < 1.0);
        level
    };
    assert!((tbw("2000") / tbw("1000") - 2.0).abs() < 1e-9);
    let said = refusal(&[&RUN[..], &["--set", "device.endurance.pe_cycles=0"]].concat());
    assert!(said.contains("device.endurance.pe_cycles"), "{said}");
}

#[test]
fn every_output_marks_a_reconstruction() {
    assert!(run(&["--ftl", "last"]).contains("last (reconstruction)"));
    assert!(!run(&["--ftl", "fast"]).contains("reconstruction"));
    let report = json(&run(&["--ftl", "superblock", "--json", "-", "--no-wall"]));
    assert_eq!(report["reconstructions"], serde_json::json!(["superblock"]));
    for name in ["superblock", "last"] {
        let list = stdout(&["list", "ftls"]);
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        assert!(line.ends_with("(reconstruction)"), "{line}");
        assert!(stdout(&["describe", name]).lines().next().unwrap().ends_with("(reconstruction)"));
    }
    let compare = |form: &[&str]| {
        let pairs = ["--buffers", "lru", "--ftls", "last,fast", "--limit", "2000"];
        stdout(&[&["compare", "--device", TINY][..], &pairs, form].concat())
    };
    assert!(
        compare(&[]).contains("(reconstruction) last:") && compare(&["--markdown"]).contains("(reconstruction) last:")
    );
    let csv = compare(&["--csv"]);
    assert!(csv.lines().next().unwrap().contains("overloaded,reconstruction"), "{csv}");
    assert!(csv.contains("last,ok,false,true,") && csv.contains("fast,ok,false,false,"), "{csv}");
}

#[test]
fn seed_changes_the_run_and_nothing_else_does() {
    let with = |seed| run(&["--json", "-", "--no-wall", "--seed", seed]);
    assert_ne!(json(&with("1"))["ledger"], json(&with("2"))["ledger"]);
}

#[test]
fn json_file_replaces_the_old_one_and_keeps_the_table() {
    let target = file("result.json", "old");
    let text = run(&["--json", &target]);
    assert!(text.contains("REQUESTS"));
    assert_eq!(json(&std::fs::read_to_string(&target).unwrap())["requests"]["total"], 20_000);
    assert_eq!(run(&["--json", &target, "--quiet"]), "");
    let folder = temporary("");
    let left = std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".result.json"));
    assert_eq!(left.count(), 0, "no temporary file stays");
}

#[test]
fn unwritable_target_fails_with_its_name() {
    for target in ["/nowhere/at/all/result.json", "/"] {
        let output = nandlab(&[&RUN[..], &["--json", target]].concat());
        assert_eq!(output.status.code(), Some(1), "{target}");
        assert!(stderr(&output).contains(target) && stderr(&output).contains("help:"), "{}", stderr(&output));
    }
}

#[test]
fn full_disk_fails_with_a_message() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let output = nandlab(&[&RUN[..], &["--json", "/dev/full"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/full"), "{}", stderr(&output));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = command(&RUN).stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1), "standard output is full");
    for help in [&["--version"][..], &["--help"], &["run", "--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = command(help).stdout(full).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{help:?}");
    }
}

#[test]
fn single_things_are_not_told_in_the_plural() {
    let one = file("one.spc", "0,8,4096,w,1\n");
    let text = stdout(&["run", &one, "--device", TINY, "--precondition", "steady:1"]);
    assert!(text.contains("as recorded 1 request,") && text.contains("full and once overwritten"), "{text}");
}

#[test]
fn closed_reader_is_no_error() {
    let mut child = command(&["describe", "metrics"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

#[test]
fn standard_error_is_silent_in_a_pipe() {
    let output = nandlab(&RUN);
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

#[test]
fn colour_is_only_where_it_is_wanted() {
    let has_colour = |command: &mut std::process::Command| {
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains('\x1b')
    };
    let list = ["list", "ftls"];
    assert!(!has_colour(&mut command(&list)), "no terminal");
    assert!(has_colour(command(&list).env("CLICOLOR_FORCE", "1")));
    assert!(!has_colour(command(&list).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")));
    assert!(has_colour(command(&["list", "ftls", "--color", "always"]).env("NO_COLOR", "1")));
    assert!(!has_colour(command(&["list", "ftls", "--color", "never"]).env("CLICOLOR_FORCE", "1")));
}

#[test]
fn trace_is_read_from_a_file_from_standard_input_and_by_name() {
    let mut trace = String::new();
    for i in 0..3_000u64 {
        let op = if i.is_multiple_of(3) { 'r' } else { 'w' };
        let lba = i * 7919 % 20_000 / 8 * 8;
        writeln!(trace, "0,{lba},4096,{op},{i}.5").unwrap();
    }
    let path = file("trace.spc", &trace);
    let device = ["--device", TINY, "--json", "-", "--no-wall"];
    let from_file = json(&stdout(&[&["run", &path], &device[..]].concat()));
    assert_eq!(from_file["trace"]["format"], "spc");
    assert!(from_file["trace"]["reason"].as_str().unwrap().starts_with("because"));
    assert_eq!(from_file["trace"]["address"], "reject");
    assert_eq!(from_file["requests"]["writes"], 2_000);
    let piped = nandlab_reading(&[&["run", "-", "--format", "spc"], &device[..]].concat(), trace.as_bytes());
    let piped = json(&piped.stdout);
    assert_eq!(piped["ledger"], from_file["ledger"]);
    assert_eq!(piped["trace"]["name"], "<stdin>");
    let limited = stdout(&[&["run", &path, "--limit", "100"], &device[..]].concat());
    assert_eq!(json(&limited)["requests"]["total"], 100);
}

#[test]
fn address_policies_do_what_they_say() {
    let path = file("beyond.spc", "0,0,4096,w,0.5\n0,900000000,4096,w,0.75\n0,8,4096,r,1.5\n");
    let run = |policy| nandlab(&["run", &path, "--device", TINY, "--json", "-", "--no-wall", "--address", policy]);
    assert_eq!(run("reject").status.code(), Some(2));
    assert!(stderr(&run("reject")).contains("line 2") && stderr(&run("reject")).contains("--address compact"));
    let report = |policy| json(&run(policy).stdout);
    assert_eq!(report("modulo")["trace"]["changed"]["folded_into_capacity"], 1);
    let (by_block, by_page) = (report("compact"), report("compact:page"));
    assert_eq!(
        (&by_block["trace"]["changed"]["units_renumbered"], &by_page["trace"]["changed"]["units_renumbered"]),
        (&2.into(), &3.into())
    );
    assert_eq!(
        (&by_block["trace"]["address"], &by_page["trace"]["address"]),
        (&"compact:128KiB".into(), &"compact:4KiB".into())
    );
    // Only the first keeps erase blocks whole.
    assert!(by_block["trace"]["warnings"].is_null() && !stderr(&run("compact")).contains("warning"));
    assert!(stderr(&run("compact:page")).contains("warning: compaction by 4KiB"));
    assert_eq!(by_page["trace"]["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn every_mode_replays_everything() {
    for mode in ["open", "closed", "fast"] {
        let report = json(&run(&["--mode", mode, "--json", "-", "--no-wall"]));
        assert_eq!(report["config"]["replay"]["mode"], mode);
        assert_eq!(report["requests"]["total"], 20_000);
    }
    let rushed = run(&["--set", "replay.time_scale=0.0001"]);
    assert!(rushed.contains("OVERLOADED"), "{rushed}");
}

#[test]
fn preconditioning_with_the_trace_changes_the_start() {
    let report = |state| json(&run(&["--precondition", state, "--json", "-", "--no-wall"]));
    let (none, trace) = (report("none"), report("trace"));
    assert!(none["requests"]["unmapped_reads"].as_u64() > trace["requests"]["unmapped_reads"].as_u64());
    assert_eq!(trace["requests"]["total"], 20_000, "the warm-up is not in the counts");
    assert!(trace["elapsed"]["simulated_ns"].as_u64() > Some(0));
    assert_eq!(report("steady:0.5")["config"]["precondition"]["steady"], 0.5);
}

#[test]
fn option_wins_over_the_file_and_a_setting_over_both() {
    let ram = |more: &[&str]| json(&run(&[&["--json", "-"], more].concat()))["config"]["ram"]["dram"].clone();
    assert_eq!(ram(&[]), "512KiB");
    assert_eq!(ram(&["--ram", "1MiB"]), "1MiB");
    assert_eq!(ram(&["--ram", "1MiB", "--set", "ram.dram=\"2MiB\""]), "2MiB");
    assert_eq!(ram(&["--set", "ram.dram=2MiB"]), "2MiB");
}

#[test]
fn setting_that_did_nothing_is_warned_of() {
    let said = |settings: &[&str]| {
        let output = nandlab(&[&["run", "--limit", "500", "--device", TINY, "--json", "-"], settings].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let report = json(&output.stdout);
        let kept = report["trace"]["warnings"].as_array().map_or(Vec::new(), Clone::clone);
        let kept: Vec<&str> = kept.iter().filter_map(|warning| warning.as_str()).collect();
        let did_nothing: Vec<String> =
            kept.iter().filter_map(|warning| Some(warning.split_once(" did nothing")?.0.to_owned())).collect();
        assert!(kept.iter().all(|warning| stderr(&output).contains(warning)), "{kept:?} {}", stderr(&output));
        did_nothing
    };
    let think = ["--set", "replay.think_time=5us", "--mode"];
    let scale = ["--set", "replay.time_scale=2", "--mode"];
    for (mode, wanted) in [
        ("closed", [None, Some("replay.time_scale")]),
        ("open", [Some("replay.think_time"), None]),
        ("fast", [Some("replay.think_time"), Some("replay.time_scale")]),
    ] {
        for (settings, wanted) in [think, scale].into_iter().zip(wanted) {
            let said = said(&[&settings[..], &[mode]].concat());
            assert_eq!(said, wanted.map_or(vec![], |key| vec![key.to_owned()]), "{mode}");
        }
    }
    let nvram = ["--nvram", "256KiB", "--buffer"];
    assert_eq!(said(&[&nvram[..], &["lru"]].concat()), ["ram.nvram"]);
    for own in ["wpa", "clock-dnv"] {
        assert_eq!(said(&[&nvram[..], &[own]].concat()), Vec::<String>::new(), "{own}");
    }
    let times = [
        "--set",
        "ram.nvram_read=2us",
        "--set",
        "ram.nvram_write=3us",
        "--set",
        "ram.dram_read=1us",
        "--set",
        "ram.dram_write=1us",
    ];
    let both = [&times[..], &nvram].concat();
    assert_eq!(said(&[&times[..], &["--buffer", "lru"]].concat()), ["ram.nvram_read", "ram.nvram_write"]);
    assert_eq!(said(&[&both[..], &["wpa"]].concat()), Vec::<String>::new());
    let none = ["ram.dram_read", "ram.dram_write", "ram.nvram_read", "ram.nvram_write"];
    assert_eq!(said(&[&times[..], &["--buffer", "none"]].concat()), none);
    let all = ["--ram", "1MiB", "--set", "ram.bypass=reads", "--set", "ram.evict_wait=program", "--buffer"];
    assert_eq!(said(&[&all[..], &["none"]].concat()), ["ram.dram", "ram.bypass", "ram.evict_wait"]);
    assert_eq!(said(&[&all[..], &["lru"]].concat()), Vec::<String>::new());
    let partial = ["--set", "ram.partial_write=mask", "--set", "ram.write_miss_fetch=true", "--buffer"];
    assert_eq!(said(&[&partial[..], &["none"]].concat()), ["ram.partial_write", "ram.write_miss_fetch"]);
    let unified = ["--ram", "1MiB", "--set", "ram.budget=unified", "--ftl", "dftl", "--buffer", "none"];
    assert_eq!(said(&unified), Vec::<String>::new(), "the map uses it");
}
