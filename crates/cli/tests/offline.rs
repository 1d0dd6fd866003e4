//! Do `bound`, `compare --bound` and `curve` tell the same truth, in every form?

mod common;

use common::{TINY, file, json, nandlab, nandlab_reading, refusal, stderr, stdout, temporary};
use serde_json::Value;

/// A small device and a workload with reads and writes.
const ON: [&str; 4] = ["--device", TINY, "--limit", "3000"];

fn with<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command][..], &ON, more].concat()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn bound_lies_below_the_schedule_and_the_schedule_below_policies() {
    let answer =
        json(&stdout(&with("bound", &["--ram", "64KiB,512KiB", "--buffers", "lru,cflru,none", "--json", "-"])));
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let (bound, possible) = (number(&row["bound"]), number(&row["schedule"]["cost"]));
        assert!(0 < bound && bound <= possible && possible <= number(&row["min"]["cost"]), "{row}");
        assert_eq!(row["policies"].as_array().unwrap().len(), 3);
        for policy in row["policies"].as_array().unwrap() {
            assert!(number(&policy["cost"]) >= bound, "{policy}");
            assert!(
                number(&policy["read_hits"]) + number(&policy["write_hits"])
                    <= number(&row["min"]["read_hits"]) + number(&row["min"]["write_hits"]),
                "{policy}"
            );
            assert_eq!(number(&policy["cost"]), number(&policy["pages_in"]) + 10 * number(&policy["pages_out"]));
        }
    }
    // Nothing is kept: every read comes from flash, every write goes there.
    let none = &rows[0]["policies"][2];
    assert_eq!(none["pages_in"], answer["page_reads"]);
    assert_eq!(none["pages_out"], answer["page_writes"]);
    assert!(number(&rows[1]["bound"]) < number(&rows[0]["bound"]), "more RAM costs less");
}

#[test]
fn costs_are_those_asked_for() {
    let cost = |costs: &[&str]| {
        let args = [&["--ram", "64KiB", "--buffers", "none", "--json", "-"], costs].concat();
        json(&stdout(&with("bound", &args)))["rows"][0]["policies"][0].clone()
    };
    let policy = cost(&["--read-cost", "3", "--write-cost", "7"]);
    assert_eq!(number(&policy["cost"]), 3 * number(&policy["pages_in"]) + 7 * number(&policy["pages_out"]));
}

#[test]
fn results_are_the_same_on_any_number_of_threads() {
    for (command, more) in [("bound", ["--ram", "64KiB,256KiB"]), ("curve", ["--ram", "64KiB..512KiB"])] {
        let run = |threads| stdout(&with(command, &[&more[..], &["--threads", threads, "--json", "-"]].concat()));
        assert_eq!(run("1"), run("3"), "{command}");
    }
}

#[test]
fn impossible_buffer_is_named_before_the_first_row() {
    let output = nandlab(&with("bound", &["--buffers", "lru,cflru,cflru:period=5", "--ram", "64KiB,512KiB", "--csv"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        output.stdout.is_empty() && stderr(&output).contains("cflru:period=5: buffer.period"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn buffer_that_does_not_fit_one_size_leaves_the_other_rows_as_they_are() {
    // `fab` needs a logical block, 32 pages of 4 KiB.
    let args = ["--buffers", "fab,lru", "--ram", "64KiB,512KiB"];
    let all = |more: &[&str]| nandlab(&with("bound", &[&args[..], more].concat()));
    let output = all(&["--json", "-"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let rows = json(&text(&output.stdout))["rows"].clone();
    let error = rows[0]["policies"][0]["error"].as_str().unwrap();
    assert!(error.contains("16 page frames, but `fab` needs at least 32"), "{error}");
    assert!(rows[0]["policies"][0].get("cost").is_none(), "what failed has no cost: {rows}");
    for (row, buffer, at) in [(1, "fab", 0), (0, "lru", 1), (1, "lru", 1)] {
        let alone = [&["--buffers", buffer, "--ram", ["64KiB", "512KiB"][row]][..], &["--json", "-"]].concat();
        let alone = json(&stdout(&with("bound", &alone)))["rows"][0]["policies"][0].clone();
        assert_eq!(rows[row]["policies"][at], alone, "{buffer}");
    }
    let people = text(&all(&[]).stdout);
    assert!(people.contains("failed: fab with 64KiB: ram: 16 page frames"), "{people}");
    let lines = text(&all(&["--csv"]).stdout);
    let failed = lines.lines().find(|line| line.contains(",fab,")).unwrap();
    assert!(failed.contains(",fab,,,,,,,") && failed.contains("needs at least 32"), "{lines}");
}

#[test]
fn settings_of_what_is_not_there_are_refused() {
    let size = ["--ram", "64KiB"];
    for (command, more, code) in [("bound", &[][..], 2), ("curve", &[], 2), ("curve", &["--ftl", "page"], 0)] {
        for setting in ["ftl.reserve=3", "replay.read_groups=true"] {
            let output = nandlab(&with(command, &[&size[..], more, &["--buffers", "lru", "--set", setting]].concat()));
            assert_eq!(output.status.code(), Some(code), "{command} {more:?} {setting}: {}", stderr(&output));
            assert_eq!(stderr(&output).contains("buffers are simulated alone"), code == 2, "{}", stderr(&output));
        }
    }
}

#[test]
fn comparison_says_how_far_above_the_bound_it_is() {
    let args = ["--buffers", "lru,none", "--ftls", "page", "--ram", "256KiB", "--bound"];
    let rows = json(&stdout(&with("compare", &[&args[..], &["--json", "-"]].concat())))["rows"].clone();
    let bound = json(&stdout(&with("bound", &["--ram", "256KiB", "--json", "-"])))["rows"][0].clone();
    for row in rows.as_array().unwrap() {
        let (of, ledger) = (&row["bound"], &row["report"]["ledger"]);
        assert_eq!(of["bound"], bound["bound"], "the same trace and size");
        let pages_in = number(&ledger["host_page_reads"]) - number(&ledger["buffer_read_hits"]);
        assert_eq!(number(&of["counts"]["pages_in"]), pages_in, "no policy here prefetches");
        assert_eq!(number(&of["cost"]), pages_in + 10 * number(&of["counts"]["pages_out"]));
        let above = number(&of["cost"]) as f64 / number(&of["bound"]) as f64 - 1.0;
        assert!(above >= 0.0 && (of["above_bound"].as_f64().unwrap() - above).abs() < 1e-12, "{of}");
    }
    // What is dirty at the end is paid for, once, whether it was written or not.
    let pages_out = |settle: &str| {
        let args = [&args[..], &["--settle", settle, "--json", "-"]].concat();
        let lru = json(&stdout(&with("compare", &args)))["rows"][0].clone();
        let dirty = number(&lru["report"]["settling"]["dirty_pages"]);
        assert!(dirty > 0);
        let unpaid = if settle == "flush" { 0 } else { dirty };
        let pages_out = number(&lru["bound"]["counts"]["pages_out"]);
        assert_eq!(pages_out, number(&lru["report"]["ledger"]["buffer_write_pages"]) + unpaid, "--settle {settle}");
        pages_out
    };
    assert_eq!([pages_out("flush"), pages_out("charge")], [pages_out("none"); 2]);
    // A map that takes a part of the RAM leaves fewer frames, to the buffer and to its bound.
    let of = |budget: &str, ram: &str| {
        let set = format!("ram.budget={budget}");
        let args = ["--buffers", "lru", "--ftls", "page", "--ram", ram, "--set", &set, "--bound", "--json", "-"];
        json(&stdout(&with("compare", &args)))["rows"][0].clone()
    };
    let unified = of("unified", "1MiB");
    let frames = number(&unified["report"]["ram"]["dram_frames"]);
    let page_bytes = number(&unified["report"]["config"]["device"]["geometry"]["page_bytes"]);
    let apart = of("fixed", &format!("{}B", frames * page_bytes));
    assert!(frames * page_bytes < 1 << 20, "the map takes some: {frames} frames");
    assert_eq!((&unified["bound"]["frames"], &unified["bound"]), (&apart["bound"]["frames"], &apart["bound"]));
    let text = stdout(&with("compare", &args));
    assert!(text.contains("above bound %"), "{text}");
    let nvram = nandlab(&with("bound", &["--set", "ram.nvram=1MiB", "--buffers", "wpa"]));
    assert!(stderr(&nvram).contains("a bound is that of a buffer of DRAM"), "{}", stderr(&nvram));
    assert!(!stdout(&with("compare", &args[..6])).contains("above bound"));
}

#[test]
fn curve_of_lru_in_one_pass_is_what_simulations_say() {
    let rows = |buffer: &str| {
        let args = ["--buffers", buffer, "--ram", "4KiB..1MiB", "--points", "5", "--json", "-"];
        json(&stdout(&with("curve", &args)))["rows"].as_array().unwrap().clone()
    };
    let (curve, sizes) = (rows("lru"), ["4KiB", "16KiB", "64KiB", "256KiB", "1MiB"]);
    assert_eq!(curve.len(), 5);
    for (row, size) in curve.iter().zip(sizes) {
        let bound = json(&stdout(&with("bound", &["--ram", size, "--buffers", "lru", "--json", "-"])));
        let simulated = &bound["rows"][0]["policies"][0];
        for key in ["read_hits", "write_hits", "pages_in", "pages_out"] {
            assert_eq!(row[key], simulated[key], "{key} with {size}");
        }
    }
}

#[test]
fn curve_over_an_ftl_has_the_reports_of_devices() {
    let args = ["--buffers", "lru,fifo", "--ftl", "page", "--ram", "64KiB,256KiB", "--json", "-"];
    let rows = json(&stdout(&with("curve", &args)))["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 4);
    let run =
        stdout(&with("run", &["--buffer", "fifo", "--ftl", "page", "--ram", "256KiB", "--no-wall", "--json", "-"]));
    let (mut report, mut alone) = (rows[3]["report"].clone(), json(&run));
    for report in [&mut report, &mut alone] {
        // A run also counts the trace as recorded.
        report["trace"].take();
    }
    assert_eq!(report, alone);
}

#[test]
fn curve_forms_are_all_complete() {
    for (command, more) in
        [("bound", &["--ram", "64KiB,128KiB"][..]), ("curve", &["--ram", "64KiB,128KiB", "--ftl", "page"])]
    {
        let form = |form: &[&str]| stdout(&with(command, &[more, form].concat()));
        let text = form(&[]);
        assert!(text.contains("64KiB") && text.lines().all(|line| line.chars().count() <= 120), "{text}");
        let columns = |text: &str, mark: char| text.lines().map(|line| line.matches(mark).count()).collect::<Vec<_>>();
        for (form, mark) in [(form(&["--csv"]), ','), (form(&["--markdown"]), '|')] {
            let columns = columns(&form, mark);
            assert!(columns.len() >= 3 && columns.iter().all(|n| *n == columns[0]), "{form}");
        }
    }
}

#[test]
fn address_is_never_out_of_range_without_a_device() {
    // Up to 38 GiB, on a device of 14 MiB.
    let row = |i: u64| {
        format!("0,{},8192,{},{i}.5\n", (i * i * 7919) % 80_000_000 / 8 * 8 + i % 5, ["r", "w"][i as usize % 2])
    };
    let trace = file("far.spc", (0..2000).map(|i| row(i % 700)).collect::<String>());
    let large = ["--set", "device.geometry.blocks_per_plane=600000"];
    for command in
        [&["curve", "--buffers", "lru,cflru,fab,hitstat", "--ram", "512KiB,2MiB"][..], &["bound", "--ram", "512KiB"]]
    {
        let run = |device: &[&str]| {
            let args = [command, &[&trace, "--rebase=1s", "--device", TINY, "--json", "-"], device].concat();
            json(&stdout(&args))["rows"].clone()
        };
        assert_eq!(run(&[]), run(&large), "{command:?}");
        let folded =
            [command, &[&trace, "--rebase=1s", "--device", TINY, "--json", "-", "--address", "modulo"]].concat();
        assert_ne!(json(&stdout(&folded))["rows"], run(&[]), "what was named is done");
    }
    let said = refusal(&["curve", &trace, "--rebase=1s", "--device", TINY, "--ftl", "page", "--ram", "512KiB"]);
    assert!(said.contains("capacity"), "{said}");
}

#[test]
fn curve_of_no_buffer_is_better_than_its_bound() {
    let args = ["--buffers", "lru,cflru,arc,none", "--ram", "16KiB..1MiB", "--points", "4", "--bound"];
    let answer = json(&stdout(&with("curve", &[&args[..], &["--json", "-"]].concat())));
    let (rows, bounds) = (answer["rows"].as_array().unwrap(), answer["bounds"].as_array().unwrap());
    assert_eq!((rows.len(), bounds.len()), (16, 4));
    for row in rows {
        let least = bounds.iter().find(|least| least["frames"] == row["frames"]).unwrap();
        let hits = (number(&row["read_hits"]) + number(&row["write_hits"])) as f64;
        let ratio = hits / (number(&row["reads"]) + number(&row["writes"])) as f64;
        assert!(ratio <= least["page_hit_ratio"].as_f64().unwrap(), "{row} {least}");
        for count in ["pages_in", "pages_out"] {
            assert!(number(&row[count]) >= number(&least[count]) && number(&least[count]) > 0, "{row} {least}");
        }
    }
    assert!(stdout(&with("curve", &args)).contains("(bound)"));
    let svg = temporary("curve-bound.svg");
    stdout(&with("curve", &[&args[..], &["--plot", svg.to_str().unwrap(), "-q"]].concat()));
    assert!(std::fs::read_to_string(svg).unwrap().contains("(bound)"));
    assert!(!stdout(&with("curve", &args[..6])).contains("(bound)"));
}

#[test]
fn curves_are_drawn() {
    let (png, pdf, svg) = (temporary("curve.png"), temporary("curve.pdf"), temporary("curve.svg"));
    for path in [&png, &pdf, &svg] {
        stdout(&with("curve", &["--buffers", "lru,cflru", "--ram", "16KiB..1MiB", "--plot", path.to_str().unwrap()]));
    }
    assert!(std::fs::read(png).unwrap().starts_with(b"\x89PNG"));
    assert!(std::fs::read(pdf).unwrap().starts_with(b"%PDF-1.7"));
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.contains("Page hits") && svg.contains("cflru"), "{svg}");
    assert!(stdout(&with("curve", &["--ram", "16KiB..1MiB", "--plot", "-"])).contains("Page hits"));
}

#[test]
fn size_that_a_policy_refuses_is_a_row_with_its_error() {
    let output = nandlab(&with("curve", &["--buffers", "lru,bplru", "--ram", "4KiB,1MiB"]));
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("failed:") && text.contains("bplru with 4KiB"), "{text}");
}

#[test]
fn wrong_inputs_are_all_refused() {
    let flushes =
        file("flushes.txt", "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a datasync 0 0\n/dev/a close\n");
    let cases = [
        ("bound --ram 8MB", "--ram|8MiB"),
        ("bound --ram 8MiB..4MiB", "--ram|smaller size first"),
        ("bound --ram 1KiB", "--ram 1KiB|1 to|4KiB"),
        ("bound --ram ,", "--ram|is not a size"),
        ("bound --write-cost -1", "--write-cost|0 to 1000000"),
        ("bound --read-cost 1.5", "--read-cost|whole number"),
        ("bound --read-cost 0 --write-cost 0", "nothing costs anything|help:"),
        ("bound --buffers lur", "buffer.name|did you mean `lru`"),
        ("bound nothere.csv", "nothere.csv|help:"),
        ("curve --ram 1MiB..", "--ram|is not a size"),
        ("curve --ram ..", "--ram|is not a size"),
        ("curve --points 1", "--points|2 to 1000"),
        ("curve --buffers lru,x", "buffer.name|help:"),
        ("curve --ftl page,dftl", "--ftl|2 FTLs|once for each"),
        ("curve --mode fast", "--mode|--ftl page"),
        ("curve --precondition full", "--precondition|--ftl page"),
        ("curve --plot x.gif", "--plot|.svg, .pdf or .png"),
        ("curve --plot x.svg --buffers lru,fifo,clock,arc,lirs,sieve,s3-fifo,none", "--plot|8 buffers|at most 7"),
        ("curve --plot - --json -", "--plot - and --json -|name of a file"),
        ("curve --plot - --csv", "--csv and --plot -|leave --csv out, or write --plot FILE"),
        ("bound --json - --csv", "--csv and --json -|leave --csv out, or write --json FILE"),
        ("compare --json - --markdown", "--markdown and --json -|leave --markdown out, or write --json FILE"),
        ("ram --json - --csv", "--csv and --json -|leave --csv out, or write --json FILE"),
        ("trace info --json - --csv", "--csv and --json -|leave --csv out, or write --json FILE"),
        ("compare --write-cost 3 --buffers lru --ftls page", "--bound"),
        ("compare --bound --precondition trace --buffers lru --ftls page", "empty at first|full"),
    ];
    let with_flushes = [("bound", "no read and no write"), ("curve", "no read and no write")];
    let mut failures = Vec::new();
    let mut check = |args: &[&str], parts: &str| {
        let output = nandlab(args);
        let said = stderr(&output);
        if output.status.code() != Some(2) || !parts.split('|').all(|part| said.contains(part)) {
            failures.push(format!("{args:?}: exit {:?}: {said}", output.status.code()));
        }
    };
    for (command, parts) in cases {
        check(&command.split(' ').collect::<Vec<_>>(), parts);
    }
    for (command, parts) in with_flushes {
        check(&[command, &flushes], parts);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let output = nandlab_reading(&["bound", "-"], b"");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn standard_input_is_read_once_for_all() {
    let trace: Vec<String> =
        (0..500).map(|i| format!("0,{},4096,{},{i}.5", i % 50 * 8, if i % 3 == 0 { "r" } else { "w" })).collect();
    let trace = trace.join("\n");
    for command in ["bound", "curve"] {
        let args = [command, "-", "--device", TINY, "--ram", "64KiB", "--buffers", "lru,cflru", "--json", "-"];
        let output = nandlab_reading(&args, trace.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let rows = json(&output.stdout)["rows"].clone();
        let counted = if command == "bound" { &rows[0]["policies"][1] } else { &rows[1] };
        assert_eq!(number(&counted["reads"]) + number(&counted["writes"]), 500, "{rows}");
    }
}

#[test]
fn curve_knows_what_passes_the_buffer_by() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/fixtures/cscope.parquet");
    let row = |bypass: &str| {
        let set = format!("ram.bypass={bypass}");
        let run = |command: &str| {
            let args = [command, trace, "--buffers", "lru", "--ram", "4MiB", "--set", &set, "--json", "-"];
            json(&stdout(&args))["rows"][0].clone()
        };
        let (curve, simulated) = (run("curve"), run("bound")["policies"][0].clone());
        for key in ["read_hits", "write_hits", "pages_in", "pages_out"] {
            assert_eq!(curve[key], simulated[key], "{key} with {bypass}");
        }
        curve["read_hits"].clone()
    };
    assert_ne!(row("none"), row("sequential"));
}

#[test]
fn bypass_without_hints_is_warned_of() {
    let hinted = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/fixtures/cscope.parquet");
    for command in ["run", "curve", "bound"] {
        let said = |trace: &str, bypass: &str| {
            let buffers = if command == "run" { "--buffer" } else { "--buffers" };
            let set = format!("ram.bypass={bypass}");
            let size: &[&str] =
                if command == "run" { &["--device", TINY, "--address", "modulo"] } else { &["--ram", "1MiB"] };
            let args = [command, trace, buffers, "lru", "--limit", "500", "--set", &set, "--json", "-"];
            let output = nandlab(&[&args[..], size].concat());
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            let report = json(&output.stdout);
            let words = "ram.bypass did nothing: no request has a hint";
            let kept = report["trace"]["warnings"].to_string().contains(words);
            assert_eq!(kept, stderr(&output).contains(words), "{command}: {}", stderr(&output));
            kept
        };
        assert!(said("make:oltp", "sequential") && said("make:oltp", "sequential_reads"), "{command}");
        assert!(!said("make:oltp", "none") && !said(hinted, "sequential"), "{command}");
        assert!(!said("make:oltp", "reads"), "{command}: it needs no hints");
    }
}
