//! `nandlab search`: a small part of the work finds the front of the whole sweep.

mod common;

use std::collections::BTreeMap;
use std::fs;

use common::{TINY, json, nandlab, stderr, stdout, temporary};

/// 252 cells: buffers, FTLs, sizes.
fn plan() -> String {
    let mut text = format!(
        "name = 'space'\n[workloads.w]\ntrace = ['make:zipf:theta=0.9:span=8MiB:writes=0.6']\nlimit = 100000\naddress = 'modulo'\n\
         [devices.tiny]\nbase = '{TINY}'\nset = ['replay.settle=none']\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\nsieve = 'sieve'\n\
         lirs = 'lirs'\ntwo-q = 'two-q'\narc = 'arc'\nclock = 'clock'\ns3-fifo = 's3-fifo'\nw-tinylfu = 'w-tinylfu'\n\
         cflru = 'cflru'\nlru-wsr = 'lru-wsr'\nad-lru = 'ad-lru'\nfab = 'fab'\nbplru = 'bplru'\nvbbms = 'vbbms'\n\
         lb-clock = 'lb-clock'\nclc = 'clc'\ncfdc = 'cfdc'\naalru = 'aalru'\nhitstat = 'hitstat'\nnone = 'none'\n[ftls]\npage = 'page'\ndftl = 'dftl'\nsftl = 'sftl'\n[axes.ram]\n"
    );
    let sizes = [128, 256, 512, 1024].map(|kib| format!("{kib}KiB = ['ram.dram={kib}KiB']\n"));
    text += &sizes.concat();
    text
}

/// p99 and RAM of the front of the whole sweep.
fn front(results: &str) -> BTreeMap<String, [f64; 2]> {
    let rows = json(&stdout(&["sweep", "status", results, "--json"]));
    let number =
        |row: &serde_json::Value, path: &str| row["report"].pointer(path).and_then(serde_json::Value::as_f64).unwrap();
    let values = |row: &serde_json::Value| {
        let ram = number(row, "/ram/data_bytes") + number(row, "/ram/map_bytes");
        (row["cell"].as_str().unwrap().to_owned(), [number(row, "/response/all/mean_ns"), ram])
    };
    let all: Vec<(String, [f64; 2])> = rows["cells"].as_array().unwrap().iter().map(values).collect();
    let is_beaten =
        |own: &[f64; 2]| all.iter().any(|(_, other)| other[0] <= own[0] && other[1] <= own[1] && (other != own));
    all.iter().filter(|(_, own)| !is_beaten(own)).cloned().collect()
}

#[test]
fn search_finds_the_front_of_the_whole_sweep_with_a_tenth_of_the_work() {
    let folder = temporary("search");
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).into_os_string().into_string().unwrap();
    fs::write(folder.join("plan.toml"), plan()).unwrap();
    let arguments = ["search", &path("plan.toml"), "--minimise", "mean,ram", "-o", &path("found"), "--csv", "-"];
    let found = stdout(&arguments);
    stdout(&["sweep", &path("plan.toml"), "-o", &path("all"), "-q"]);
    let whole = front(&path("all"));
    let rows: Vec<(String, [f64; 2])> = found
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (cells[0].to_owned(), [cells[2].parse().unwrap(), cells[3].parse().unwrap()]))
        .collect();
    assert!(rows.len() > 2, "{found}");
    // Every point that was found is a cell of the sweep, and none is beaten by more than 3 %.
    for (name, [time, ram]) in &rows {
        let better = whole.iter().find(|(_, [other, size])| size <= ram && *other < time * 0.97);
        assert!(better.is_none(), "{name} {time} {ram} is beaten by {better:?}\n{found}");
    }
    // For every point of the front of the sweep one was found that is within 3 % of it in both.
    for (name, [time, ram]) in &whole {
        let near = rows.iter().any(|(_, [other, size])| *size <= ram * 1.03 && *other <= time * 1.03);
        assert!(near, "{name} {time} {ram} was missed\n{found}");
    }
    let table = stdout(&arguments[..arguments.len() - 2]);
    let spent: f64 = table.split(" % of the requests").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(spent <= 10.0, "{table}");
    // Nothing is run again.
    assert_eq!(stdout(&arguments), found);
}

#[test]
fn mistakes_of_a_search_say_what_is_there() {
    let folder = temporary("search-errors");
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let plan_file = folder.join("plan.toml").into_os_string().into_string().unwrap();
    let out = folder.join("out").into_os_string().into_string().unwrap();
    fs::write(&plan_file, plan()).unwrap();
    for (arguments, words) in [
        (&["--minimise", "p98"][..], "did you mean `p99`?"),
        (&["--minimise", "p99", "--budget", "0.01"][..], "is too little to search"),
        (&["--minimise", "p99", "--budget", "2"][..], "above 0 and up to 1"),
        (&[][..], "--minimise"),
    ] {
        let output = nandlab(&[&["search", &plan_file, "-o", &out], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn failed_simulations_are_told_and_end_with_an_error() {
    let folder = temporary("search-failing");
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).into_os_string().into_string().unwrap();
    let text = format!(
        "name = 'few'\n[workloads.w]\ntrace = ['make:zipf:span=4MiB']\nlimit = 2000\naddress = 'modulo'\n[devices.tiny]\n\
         base = '{TINY}'\nset = ['replay.settle=none']\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\n[axes.ram]\n\
         1MiB = ['ram.dram=1MiB']\nmuch = ['ram.dram=much']\n"
    );
    fs::write(folder.join("plan.toml"), text).unwrap();
    // The second time nothing is run, and the failures are still there.
    for _ in 0..2 {
        let output =
            nandlab(&["search", &path("plan.toml"), "--minimise", "mean", "--budget", "1", "-o", &path("found")]);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert_eq!(output.status.code(), Some(4), "{out}{err}");
        assert!(out.contains("simulations failed"), "{out}{err}");
    }
}
