//! Sweeps: every cell once, the same bytes whoever computes them, whatever happens to the processes.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{TINY, command, folder, json, nandlab, refusal, stderr, stdout, temporary};

/// An empty folder with a plan, and the path of the results in it.
fn plan(name: &str, text: &str) -> (String, PathBuf) {
    let folder = folder(name);
    let plan = folder.join("plan.toml");
    std::fs::write(&plan, text).unwrap();
    (plan.to_str().unwrap().to_owned(), folder.join("results"))
}

/// Thirty cells of a generated workload and of a file.
fn usual(trace: &str) -> String {
    format!(
        "name = 'usual'\n[workloads.made]\ntrace = ['make:zipf:theta=0.9']\nlimit = 20000\naddress = 'modulo'\n\
         [workloads.file]\ntrace = ['{trace}']\naddress = 'modulo'\n\
         [devices.tiny]\nbase = '{TINY}'\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\nnone = 'none'\n\
         [axes.ram]\n64KiB = ['ram.dram=64KiB']\n128KiB = ['ram.dram=128KiB']\n256KiB = ['ram.dram=256KiB']\n\
         1MiB = ['ram.dram=1MiB']\n2MiB = ['ram.dram=2MiB']\n"
    )
}

fn trace(name: &str) -> String {
    let row =
        |n: u64| format!("0,{},4096,{},{}\n", n * 7919 % 5000 * 8, if n.is_multiple_of(3) { 'r' } else { 'w' }, n);
    common::file(name, (0..20_000).map(row).collect::<String>())
}

/// All files of a folder by their names, hidden ones included.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            files.extend(self::files(&entry.path()));
        } else {
            files.insert(entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Reports are read again from the files of a sweep: a number is then the same to its last digit.
#[test]
fn number_reads_back_as_it_was_written() {
    for number in ["0.10000498195486739", "24.678128523111614", "7.586854954860164e-08"] {
        assert_eq!(serde_json::from_str::<f64>(number).unwrap(), number.parse::<f64>().unwrap(), "{number}");
    }
}

#[test]
fn sweep_has_the_reports_of_its_runs_and_is_not_run_twice() {
    let (plan, results) = plan("sweep-runs", &usual(&trace("sweep-runs.spc")));
    let first = stdout(&["sweep", &plan, "-o", text(&results)]);
    assert!(first.contains("30 cells: 30 run now") && first.contains("decoded 2 times"), "{first}");
    let before = files(&results);
    assert_eq!(before.len(), 32, "a file for each cell, the plan and the table");
    let again = stdout(&["sweep", &plan, "-o", text(&results)]);
    assert!(again.contains("30 cells: 0 run now"), "{again}");
    assert!(files(&results) == before);
    let status = json(&stdout(&["sweep", "status", text(&results), "--json"]));
    let cells = status["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 30);
    for cell in [&cells[0], &cells[17]] {
        let name = cell["cell"].as_str().unwrap();
        let explained = stdout(&["sweep", "explain", text(&results), name]);
        let alone = explained.lines().find_map(|line| line.strip_prefix("alone   nandlab ")).unwrap();
        let args: Vec<&str> = alone.split(' ').chain(["--json", "-"]).collect();
        let mut report = json(&stdout(&args));
        report.as_object_mut().unwrap().remove("wall");
        report["trace"].as_object_mut().unwrap().remove("recorded");
        report["trace"]["name"] = "".into();
        assert_eq!(report, cell["report"], "{name}");
    }
    let text = stdout(&["sweep", "status", text(&results)]);
    assert!(text.starts_with("30 cells, 30 done, 0 failed, 0 open"), "{text}");
}

#[test]
fn changed_trace_or_setting_is_run_again_and_nothing_else() {
    let spc = trace("sweep-changed.spc");
    let (plan, results) = plan("sweep-changed", &usual(&spc));
    stdout(&["sweep", &plan, "-o", text(&results)]);
    let mut rows = std::fs::read_to_string(&spc).unwrap();
    rows += "0,0,4096,r,20000\n";
    std::fs::write(&spc, rows).unwrap();
    let again = stdout(&["sweep", &plan, "-o", text(&results)]);
    assert!(again.contains("30 cells: 15 run now"), "those of the file: {again}");
    let wider = usual(&spc).replace("2MiB = ['ram.dram=2MiB']", "4MiB = ['ram.dram=4MiB']");
    std::fs::write(&plan, wider).unwrap();
    let again = stdout(&["sweep", &plan, "-o", text(&results)]);
    assert!(again.contains("30 cells: 6 run now"), "{again}");
    let apart =
        std::fs::read_to_string(&plan).unwrap().replace("modulo'\n[devices", "modulo'\nvolumes = 'stack'\n[devices");
    std::fs::write(&plan, apart).unwrap();
    let again = stdout(&["sweep", &plan, "-o", text(&results)]);
    assert!(again.contains("30 cells: 15 run now"), "those whose volumes lie one after the other: {again}");
}

#[test]
fn shards_give_the_bytes_of_one_run() {
    let text_of_plan = usual(&trace("sweep-shards.spc"));
    let (plan, whole) = plan("sweep-shards", &text_of_plan);
    stdout(&["sweep", &plan, "-o", text(&whole), "--jobs", "1"]);
    let parts = whole.with_file_name("parts");
    let start = |shard: &str| command(&["sweep", &plan, "-q", "-o", text(&parts), "--shard", shard]).spawn().unwrap();
    let children: Vec<_> = ["1/3", "2/3", "3/3"].map(start).into();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let (whole, parts) = (files(&whole), files(&parts));
    assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>());
    assert!(whole == parts);
}

#[test]
fn killed_sweep_loses_nothing_and_does_nothing_twice() {
    let text_of_plan = usual(&trace("sweep-killed.spc"));
    let (plan, whole) = plan("sweep-killed", &text_of_plan);
    stdout(&["sweep", &plan, "-o", text(&whole)]);
    let killed = whole.with_file_name("killed");
    let mut random = 7_u64;
    for _ in 0..10 {
        let mut child = command(&["sweep", &plan, "-q", "-o", text(&killed)]).spawn().unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (random >> 33) % 200));
        child.kill().unwrap();
        child.wait().unwrap();
        // Whatever has its final name is whole.
        if killed.join("plan.json").exists() {
            stdout(&["sweep", "status", text(&killed)]);
        }
    }
    let before = files(&killed).keys().filter(|name| !name.starts_with('.') && name.len() > 30).count();
    let rest = stdout(&["sweep", &plan, "-o", text(&killed)]);
    assert!(rest.contains(&format!("30 cells: {} run now", 30 - before)), "{before} were done: {rest}");
    let mut killed = files(&killed);
    killed.retain(|name, _| !name.starts_with('.'));
    assert!(files(&whole) == killed);
}

#[test]
fn failed_cell_is_a_row_with_its_message() {
    let text_of_plan = format!(
        "name = 'failing'\n[workloads.made]\ntrace = ['make:zipf']\naddress = 'modulo'\nlimit = 2000\n\
         [devices.tiny]\nbase = '{TINY}'\n\
         [axes.ram]\nmuch = ['ram.dram=much']\nlittle = ['ram.dram=64KiB']\n"
    );
    let (plan, results) = plan("sweep-failing", &text_of_plan);
    for _ in 0..2 {
        let output = nandlab(&["sweep", &plan, "-o", text(&results)]);
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    }
    let status = stdout(&["sweep", "status", text(&results)]);
    assert!(
        status.contains("1 done, 1 failed, 0 open")
            && status.contains("failed: much: ")
            && status.contains("ram.dram: `much`"),
        "{status}"
    );
    let explained = stdout(&["sweep", "explain", text(&results), "much"]);
    assert!(explained.contains("status  failed") && explained.contains("ram.dram"), "{explained}");
}

#[test]
fn cell_that_fails_for_another_reason_is_another_one() {
    let (plan, results) = plan("sweep-mended", "");
    let device = results.parent().unwrap().join("device.toml");
    let text_of_plan = format!(
        "name = 'mended'\n[workloads.made]\ntrace = ['make:uniform:span=1MiB']\nlimit = 10\n\
         [devices.mine]\nbase = '{}'\n[buffers]\ngood = 'lru'\nidle = 'cflru:period=5'\n\
         [devices.tiny]\nbase = 'lab'\n",
        text(&device)
    );
    std::fs::write(&plan, text_of_plan).unwrap();
    for (mine, problem) in [("without = [\"device.timing.command\"]", "timing"), ("seed = 3", "period")] {
        std::fs::write(&device, format!("{mine}\n")).unwrap();
        nandlab(&["sweep", &plan, "-o", text(&results), "-q"]);
        let status = stdout(&["sweep", "status", text(&results)]);
        assert!(status.lines().any(|line| line.contains("mine/idle: ") && line.contains(problem)), "{status}");
    }
}

#[test]
fn plan_that_nandlab_brings_goes_on_in_a_folder_of_its_name() {
    let folder = temporary("sweep-listed");
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("rftl")).unwrap();
    let mut child = command(&["sweep", "rftl", "-o", "rftl"]).current_dir(&folder).spawn().unwrap();
    // The experiment is meant, and not the folder: its plan is there before the first of its many cells is run.
    while !folder.join("rftl/plan.json").is_file() {
        assert!(child.try_wait().unwrap().is_none(), "it ended without a plan");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn impossible_sweeps_are_refused_before_any_work() {
    let made = "name = 'a'\n[workloads.w]\nlimit = 10\ntrace = ['TRACE']\n";
    let cases = [
        (made.replace("TRACE", "/no/such/trace"), "/no/such/trace: cannot be read"),
        (made.replace("TRACE", "-"), "this is no file"),
        ("name = 'a'\n[axes.ram]\nx = ['ram.dram=much']\n".to_owned(), "no cell can be built"),
        ("name = 'a'\ncells = []\n".to_owned(), "it has no cells"),
        ("nam = 'a'\n".to_owned(), "unknown field `nam`"),
        (
            made.replace("TRACE", "make:zipf")
                + "address = 'modulo'\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\n[[claims]]\n\
                place = 'p'\nclaim = 'c'\nprinted = ''\nnote = '{lur hits.page.total}'\n",
            "claims: p: note: `{lur hits.page.total}`: cells: there is no `lur`",
        ),
        (
            made.replace("TRACE", "make:zipf")
                + "address = 'modulo'\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\n[[claims]]\n\
                place = 'p'\nclaim = 'c'\nprinted = ''\nnote = '{lru waf}'\n",
            "claims: p: note: `{lru waf}`: report: there is no `waf`",
        ),
        (
            made.replace("TRACE", "x")
                + "[metrics]\nmaps = { path = 'operations.map_reads.count', words = 'w', unit = 'count' }\n",
            "metrics.maps.path: report.operations: there is no `map_reads`\n  help: did you mean `map_read`?",
        ),
        (
            made.replace("TRACE", "x") + "[metrics.mean]\npath = 'hits.page.total'\nwords = 'hits'\nunit = 'ratio'\n",
            "metrics.mean: the name is taken",
        ),
        (
            made.replace("TRACE", "x")
                + "[metrics]\n'a_b' = { path = 'waf', words = 'w', unit = 'ratio' }\n'a-b' = { path = 'waf', words = 'w', unit = 'ratio' }\n",
            "metrics.a_b: the name is taken",
        ),
    ];
    for (text_of_plan, words) in cases {
        let (plan, results) = plan("sweep-refused", &text_of_plan);
        let said = refusal(&["sweep", &plan, "-o", text(&results)]);
        assert!(said.contains(words) && said.contains("plan.toml"), "{said}");
        assert!(!results.exists(), "nothing was begun: {words}");
    }
    for (args, words) in [
        (&["sweep", "/no/such/plan.toml", "-o", "x"][..], "cannot be read"),
        (&["sweep", TINY, "-o", "x", "--shard", "4/3"][..], "write 2/3"),
        (&["sweep", TINY][..], "--output"),
        (&["sweep", "status", "/no/such/folder"][..], "there is no sweep"),
    ] {
        let said = refusal(args);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn damaged_file_of_a_sweep_is_written_again() {
    let small = "name = 'damaged'\n[workloads.made]\ntrace = ['make:zipf']\nlimit = 100\naddress = 'modulo'\n";
    let (plan, results) = plan("sweep-damaged", small);
    let sweep = ["sweep", &plan, "-o", text(&results)];
    stdout(&sweep);
    let whole = files(&results);
    std::fs::write(results.join("results.parquet"), "garbage").unwrap();
    assert!(stdout(&sweep).contains("0 run now"));
    assert_eq!(files(&results), whole);
    std::fs::write(results.join("plan.json"), "{").unwrap();
    let said = refusal(&["sweep", "status", text(&results)]);
    assert!(
        said.contains("plan.json: the plan is damaged: EOF") && said.contains("again: it writes the plan anew"),
        "{said}"
    );
    assert!(stdout(&sweep).contains("0 run now"));
    assert_eq!(files(&results), whole);
}

#[test]
fn folder_of_another_experiment_is_left_alone() {
    let small = "name = 'one'\n[workloads.made]\ntrace = ['make:zipf']\nlimit = 100\naddress = 'modulo'\n";
    let (plan, results) = plan("sweep-other", small);
    stdout(&["sweep", &plan, "-o", text(&results)]);
    let before = files(&results);
    std::fs::write(&plan, small.replace("'one'", "'other'")).unwrap();
    let said = refusal(&["sweep", &plan, "-o", text(&results)]);
    assert!(said.contains("has the results of the experiment `one`, and this one is `other`"), "{said}");
    assert_eq!(files(&results), before);
    // The same experiment may change.
    std::fs::write(&plan, small.replace("100", "200")).unwrap();
    assert!(stdout(&["sweep", &plan, "-o", text(&results)]).contains("1 run now"));
    std::fs::write(&plan, format!("{}seeds = [1, 2, 1]\n", small.split_once('[').unwrap().0)).unwrap();
    let said = refusal(&["sweep", &plan, "-o", text(&results)]);
    assert!(said.contains("seeds: 1 is there twice"), "{said}");
}
