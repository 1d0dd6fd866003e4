//! `nandlab fit` on the command line: its tables, its files, its errors.

mod common;

use std::fmt::Write as _;

use common::{TINY, file, json, nandlab, refusal, stderr, stdout, temporary};

/// `tiny` as it is fitted: with the arrivals of the trace.
fn unscaled(name: &str) -> String {
    let text = std::fs::read_to_string(TINY).unwrap();
    assert!(text.contains("time_scale = 10.0"), "{text}");
    file(&format!("{name}.toml"), text.replace("time_scale = 10.0", "time_scale = 1.0"))
}

/// A trace with the latencies of `tiny`, of which the time of a page read is another one.
fn trace(name: &str) -> String {
    let rows = temporary(&format!("{name}.rows.csv")).to_str().unwrap().to_owned();
    let run = ["run", "make:uniform:span=8MiB:writes=0.1", "-n", "400", "-d", TINY, "--quiet", "--latencies", &rows];
    stdout(&[&run[..], &["--set", "device.timing.page_read=100us"]].concat());
    let text = std::fs::read_to_string(rows).unwrap();
    let mut trace = "time_ns,device,op,offset,length,latency_ns\n".to_owned();
    for row in text.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let bytes = |cell: &str| cell.parse::<u64>().unwrap() * 512;
        let (time, op, response) = (10 * cells[1].parse::<u64>().unwrap(), cells[2], cells[7]);
        writeln!(trace, "{time},0,{op},{},{},{response}", bytes(cells[3]), bytes(cells[4])).unwrap();
    }
    file(name, trace)
}

/// All that is searched by itself is fixed, except for the page read.
const FIXED: [&str; 9] = [
    "device.timing.page_program=750us",
    "device.timing.block_erase=3.8ms",
    "device.timing.page_transfer=12us",
    "device.geometry.channels=2",
    "device.geometry.dies_per_chip=1",
    "device.host.link=none",
    "device.host.read_overhead=0ns",
    "device.host.write_overhead=0ns",
    "ram.dram=512KiB",
];

#[test]
fn fitted_device_is_a_device_and_the_tables_say_what_is_told() {
    let (trace, tiny) = (trace("fit_cli.csv"), unscaled("fit_cli_tiny"));
    let target = temporary("fit_cli.toml").to_str().unwrap().to_owned();
    let mut args = vec!["fit", &trace, "--format", "nandlab", "-d", &tiny, "--evaluations", "40"];
    args.extend(FIXED.iter().flat_map(|set| ["--set", set]));
    let text = stdout(&[&args[..], &["--output", &target]].concat());
    let row = text.lines().find(|line| line.starts_with("device.timing.page_read")).unwrap();
    assert!(row.contains("its value"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("held out") && line.contains("p50")), "{text}");
    let result = json(&stdout(&[&args[..], &["--json", "-", "--threads", "1"]].concat()));
    let read = result["parameters"][0]["number"].as_f64().unwrap();
    assert!((read / 100e3 - 1.0).abs() < 0.02, "{result}");
    let report = json(&stdout(&["run", "-n", "100", "-d", &target, "--json", "-"]));
    assert_eq!(report["config"]["device"]["timing"]["page_read"], result["parameters"][0]["value"]);
    assert!(report["config"]["device"]["source"].as_str().unwrap().contains("fit_cli.csv"));
}

#[test]
fn choice_of_a_scheduler_is_shown_in_short() {
    let (trace, tiny) = (trace("fit_cli_scheduler.csv"), unscaled("fit_cli_scheduler_tiny"));
    let mut args = vec!["fit", &trace, "--format", "nandlab", "-d", &tiny, "--evaluations", "10", "--threads", "1"];
    args.extend(FIXED.iter().flat_map(|set| ["--set", set]));
    let text = stdout(&[&args[..], &["--set", "device.timing.model=scheduled"]].concat());
    let row = text.lines().find(|line| line.starts_with("device.scheduler ")).unwrap();
    assert!(row.contains("policy=") && row.contains("suspend="), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 160), "{text}");
    // Which choices do as well is listed.
    assert!(row.ends_with(" choices"), "{text}");
    let listed = text.lines().skip_while(|line| *line != "device.scheduler: as good are").skip(1);
    assert!(listed.take_while(|line| line.starts_with("  policy=")).count() > 1, "{text}");
}

#[test]
fn fit_warns_if_nothing_is_held_out() {
    let (trace, tiny) = (trace("fit_cli_held_out.csv"), unscaled("fit_cli_held_out_tiny"));
    let fit = |parts: &'static str| {
        let of = ["fit", &trace, "--format", "nandlab", "-d", &tiny, "--evaluations", "10"];
        let more = ["--parameter", "device.timing.page_read=20us..200us", "--holdout-parts", parts];
        let output = nandlab(&[&of[..], &more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output).contains("--holdout 0.33: nothing is held out")
    };
    assert_eq!(["1", "10000"].map(fit), [false, true]);
}

#[test]
fn fit_refuses_with_a_reason() {
    let (trace, tiny) = (trace("fit_cli_refused.csv"), unscaled("fit_cli_refused_tiny"));
    let with =
        |more: &[&'static str]| refusal(&[&["fit", &trace, "--format", "nandlab", "-d", &tiny][..], more].concat());
    assert!(with(&["--parameter", "ram.dram=2MiB..1MiB"]).contains("the low end comes first"));
    assert!(with(&["--parameter", "ram.drum=1MiB..2MiB"]).contains("ram.drum"));
    // Every choice is possible, by itself or with a value of another parameter.
    let error = with(&["--parameter", "buffer.name=lru|nosuch"]);
    assert!(error.contains("nosuch"), "{error}");
    let suspends = ["--parameter", "device.scheduler.suspend=none|erase", "--set", "device.timing.model=scheduled"];
    let error = with(&[&suspends[..], &["--set", "device.scheduler.policy=fifo"]].concat());
    assert!(error.contains("suspend"), "{error}");
    assert!(
        with(&[&suspends[..], &["--limit", "50"]].concat()).contains("50 of 50 requests"),
        "the policy is searched too"
    );
    let policies = ["--parameter", "device.scheduler.policy=fifo|read_first", "--limit", "50"];
    assert!(with(&[&suspends[..], &policies].concat()).contains("50 of 50 requests"));
    assert!(with(&["--holdout", "1"]).contains("--holdout 1"));
    assert!(with(&["--holdout-parts", "0"]).contains("--holdout-parts"));
    assert!(with(&["--limit", "50"]).contains("50 of 50 requests"));
    for (parameter, words) in [
        ("=1..2", "--parameter =1..2: the key or a choice is empty"),
        ("ram.dram=|1MiB", "the key or a choice is empty"),
        ("replay.time_scale=1..10", "would scale the recorded arrivals"),
    ] {
        let said = refusal(&["fit", &trace, "--format", "nandlab", "-d", &tiny, "--parameter", parameter]);
        assert!(said.contains(words), "{parameter}: {said}");
    }
    assert!(
        with(&["--set", "replay.time_scale=2"]).contains("replay.time_scale: it would scale the recorded arrivals")
    );
    let twice = ["--parameter", "ram.dram=1MiB..2MiB", "--parameter", "ram.dram=1MiB..3MiB"];
    assert!(with(&twice).contains("--parameter ram.dram: it is there twice"));
    assert!(with(&["--limit", "50"]).contains("help: take a longer trace, or a larger --limit"));
    assert!(with(&["--flushes"]).contains("--flushes: 0 flushes of"));
    let fio = temporary("fit_flushes.json");
    std::fs::write(&fio, "{}").unwrap();
    let said = refusal(&["fit", fio.to_str().unwrap(), "-d", &tiny, "--flushes"]);
    assert!(said.contains("results of fio say nothing of flushes"), "{said}");
    assert!(with(&["--json", "-", "-o", "-"]).contains("both want standard output"));
    let said = refusal(&["fit", fio.to_str().unwrap(), fio.to_str().unwrap(), "-d", &tiny]);
    assert!(said.contains("2 files of results of fio: a fit is to one of them"), "{said}");
    let said = refusal(&["fit"]);
    assert!(said.contains("no trace to fit"), "{said}");
}

#[test]
fn probe_prints_jobs_that_fit_understands() {
    let script = stdout(&["probe", "--file", "/dev/nvme9n1", "--size", "2GiB"]);
    assert!(script.contains("[global]\nfilename=/dev/nvme9n1\nsize=2147483648\n"), "{script}");
    assert!(script.contains("IT OVERWRITES /dev/nvme9n1"));
    // fio takes a colon for the end of a file name.
    let script = stdout(&["probe", "--file", "/dev/disk/by-path/pci-0000:01:00.0-nvme-1"]);
    assert!(script.contains("\nfilename=/dev/disk/by-path/pci-0000\\:01\\:00.0-nvme-1\n"), "{script}");
    let two_lines = nandlab(&["probe", "--file", "/dev/x\n[another]"]);
    assert!(stderr(&two_lines).contains("without line breaks"), "{}", stderr(&two_lines));
    let small = nandlab(&["probe", "--size", "1MiB"]);
    assert!(stderr(&small).contains("at least 1GiB"));
}
