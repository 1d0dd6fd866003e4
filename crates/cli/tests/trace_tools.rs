//! Do the trace tools work through pipes and files, as users call them?

mod common;

use std::fmt::Write;

use common::{TINY, json, nandlab, nandlab_reading, path, stderr, tool};

/// 1,000 writes of 4 KiB on two devices, one every microsecond.
fn text() -> String {
    let mut text = "# nandlab trace 1\ntime_ns,device,op,offset,length\n".to_owned();
    for i in 0..1000 {
        writeln!(text, "{},{},W,{},4096", i * 1000, i % 2, i % 100 * 4096).expect("text grows");
    }
    text
}

/// The rows without what is said about them.
fn rows(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("time_ns")).collect()
}

#[test]
fn tools_make_a_pipe_that_says_where_its_requests_come_from() {
    let cut = tool("trace cut - --from 100us --take 500", &text());
    let filtered = tool("trace filter - --device 1", &cut);
    let scaled = tool("trace scale - --time 1/2 -v", &filtered);
    let rows = rows(&scaled);
    assert_eq!(rows.len(), 250);
    assert_eq!(rows[1], "102000,1,W,12288,4096", "the gap of 2 us is 1 us now");
    let last: Vec<&str> = scaled.lines().rev().take_while(|line| line.starts_with('#')).collect();
    let counts: Vec<_> = last.iter().rev().map(|line| json(&line[1..])).collect();
    let tools: Vec<_> = counts.iter().map(|step| step["tool"].as_str().unwrap().split(' ').next().unwrap()).collect();
    assert_eq!(tools, ["cut", "filter", "scale"]);
    assert_eq!(counts[0]["counts"]["outside_window"], 100);
    assert_eq!(counts[1]["counts"]["requests_dropped"], 250);
    assert_eq!(counts[2]["counts"]["requests_read"], 250);
}

#[test]
fn parquet_file_replays_like_its_text() {
    let (columns, plain) = (path("same.parquet"), path("same.csv"));
    std::fs::write(&plain, text()).unwrap();
    tool(&format!("trace convert {plain} -o {columns}"), "");
    assert_eq!(rows(&tool(&format!("trace convert {columns}"), "")), rows(&text()));
    let run = |trace: &str| {
        let args =
            ["run", trace, "--device", TINY, "--volumes", "stack", "--address", "compact", "--json", "-", "--no-wall"];
        let output = nandlab(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        let mut report = json(&output.stdout);
        report["trace"] = serde_json::Value::Null;
        report
    };
    assert_eq!(run(&columns), run(&plain));
}

#[test]
fn hints_survive_a_round_trip_through_a_file() {
    let text = "# nandlab trace 1\ntime_ns,device,op,offset,length,pc,pattern,run_pages,period\n5,0,R,0,1,7,l,3,4\n";
    let columns = path("hints.parquet");
    tool(&format!("trace convert - -o {columns}"), text);
    assert!(tool(&format!("trace convert {columns}"), "").contains("\n5,0,R,0,1,7,l,3,4\n"));
}

#[test]
fn split_parts_merge_to_the_whole() {
    let pattern = path("part-{}.parquet");
    tool(&format!("trace split - -o {pattern} --by-device"), &text());
    let parts = [path("part-0.parquet"), path("part-1.parquet")];
    let merged = tool(&format!("trace merge {} {} --keep-devices", parts[0], parts[1]), "");
    assert_eq!(rows(&merged), rows(&text()));
    let apart = tool(&format!("trace merge {} {}", parts[1], parts[0]), "");
    assert_eq!(rows(&apart)[0], "0,1,W,0,4096", "the device of the trace that was named first is 0");
    tool(&format!("trace split - -o {} --every 400", path("n{}.csv")), &text());
    let lengths = [0, 1, 2].map(|n| rows(&std::fs::read_to_string(path(&format!("n{n}.csv"))).unwrap()).len());
    assert_eq!(lengths, [400, 400, 200]);
}

#[test]
fn files_of_a_pattern_are_one_trace_of_a_merge() {
    let parts = [("m-0.csv", "0,5,W,0,4096\n"), ("m-1.csv", "9,5,W,4096,4096\n"), ("n-0.csv", "4,5,W,0,512\n")];
    for (name, row) in parts {
        std::fs::write(path(name), format!("# nandlab trace 1\ntime_ns,device,op,offset,length\n{row}")).unwrap();
    }
    let merged = tool(&format!("trace merge {} {}", path("m-*.csv"), path("n-0.csv")), "");
    assert_eq!(rows(&merged), ["0,0,W,0,4096", "4,1,W,0,512", "9,0,W,4096,4096"]);
    let output = nandlab(&["trace", "merge", &path("m-*.csv")]);
    assert!(stderr(&output).contains("needs two traces"), "{}", stderr(&output));
}

#[test]
fn sample_and_remap_do_what_they_say() {
    let half = tool("trace sample - --rate 0.5 --seed 3", &text());
    let kept = rows(&half).len();
    assert!((300..700).contains(&kept) && kept.is_multiple_of(10), "{kept} of 1000, every page ten times");
    assert_eq!(tool("trace sample - --rate 0.5 --seed 3", &text()), half);
    assert_eq!(rows(&tool("trace sample - --rate 1", &text())), rows(&text()));
    let remapped = tool("trace remap - --device 7 --offset 4096 --compact --modulo 40KiB", &text());
    assert_eq!(rows(&remapped)[11], "11000,7,W,4096,4096");
}

#[test]
fn wrong_options_are_refused() {
    let plain = path("wishes.csv");
    std::fs::write(&plain, text()).unwrap();
    let cases = [
        ("cut - --from 5s --to 1s", "--from and --to"),
        ("cut - --from 5", "write 5ns"),
        ("cut - --take 0", "from 1"),
        ("sample -", "--rate"),
        ("sample - --rate 2", "0 to 1"),
        ("sample - --rate -0.5", "0.25 or 1/3"),
        ("sample - --rate 0.1 --by device --unit 4KiB", "--unit"),
        ("scale -", "--time"),
        ("scale - --time 0", "above 0"),
        ("remap - --modulo 0", "at least 512 bytes"),
        ("remap - --offset=-4KiB", "line 3: the offset 0 is moved below 0"),
        ("remap - --device 4294967295", "0 to 4294967294"),
        ("merge -", "needs two traces"),
        ("merge - -", "standard input can be read once"),
        ("split - -o part.csv --every 5", "need one {}"),
        ("split - -o p{}.csv --every 0", "from 1"),
        ("filter - --op X", "allowed are R, W, D"),
        ("filter - --min-length 5 --max-length 4", "--min-length is above"),
        ("filter - --min-time 18446744074s", "outside 0 to 18446744073s"),
        ("filter - --max-offset 8388608TiB", "outside 0 to 9223372036854775807 bytes"),
        ("convert - -o x.csv.xz", "x.csv.xz: written are .parquet"),
        ("convert - --to spc -o x.bz2", "x.bz2: written are .parquet"),
        ("convert - -o /nowhere/x.parquet", "cannot be written"),
        ("convert - --to parquet -o x.csv", "files that end in .parquet"),
        ("convert - --to parquet", "files that end in .parquet"),
        ("convert - --to nandlab -o x.parquet", "would be no Parquet"),
        ("convert - --to spc -o x.parquet", "would be no Parquet"),
        ("convert nothere.parquet", "nothere.parquet"),
    ];
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|(line, part)| {
            let args: Vec<&str> = std::iter::once("trace").chain(line.split(' ')).collect();
            let output = nandlab_reading(&args, text().as_bytes());
            let said = stderr(&output);
            let good = matches!(output.status.code(), Some(1 | 2)) && said.contains(part) && said.contains("help:");
            let usage = output.status.code() == Some(2) && said.contains(part) && said.contains("--help");
            (!good && !usage).then(|| format!("{line}: {:?}: {said}", output.status.code()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let columns = path("wishes.parquet");
    tool(&format!("trace convert {plain} -o {columns}"), "");
    let output = nandlab_reading(&["run", "-", "--device", TINY], &std::fs::read(&columns).unwrap());
    assert!(stderr(&output).contains("pipe text: nandlab trace convert FILE -o -"), "{}", stderr(&output));
}

#[test]
fn tool_that_changes_nothing_says_so() {
    for (idle, busy, said) in [
        ("filter -", "filter - --op R,W", "note: no condition is given"),
        ("remap -", "remap - --device 0", "note: nothing is to be changed"),
    ] {
        let run = |line: &str| {
            let args: Vec<&str> = std::iter::once("trace").chain(line.split(' ')).collect();
            nandlab_reading(&args, text().as_bytes())
        };
        assert!(run(idle).status.success() && stderr(&run(idle)).contains(said), "{idle}");
        assert!(!stderr(&run(busy)).contains("note:"), "{busy}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_a_clear_error() {
    let output = nandlab_reading(&["trace", "convert", "-", "-o", "/dev/full"], text().as_bytes());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("/dev/full: cannot be written: No space left"), "{}", stderr(&output));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = common::command(&["trace", "make", "zipf", "-n", "100000"]).stdout(full).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("standard output: cannot be written: No space left") && !said.contains("file"), "{said}");
}

#[test]
fn file_times_of_windows_fit_our_own_text() {
    let rows = "128166372003061629,hm,1,Read,4096,512,41286\n128166372003061630,hm,1,Write,8192,512,7\n";
    let converted = tool("trace convert -", rows);
    let expected = "12816637200306162900,1,R,4096,512,4128600\n12816637200306163000,1,W,8192,512,700\n";
    assert!(
        converted.contains("time_ns,device,op,offset,length,latency_ns\n") && converted.contains(expected),
        "{converted}"
    );
    assert_eq!(self::rows(&tool("trace convert -", &converted)), self::rows(&converted));
    let later = tool("trace filter - --min-time 12816637200.3061630s --max-time 12816637400s", rows);
    assert_eq!(self::rows(&later), self::rows(&converted)[1..]);
    let far = "time_ns,device,op,offset,length\n1,0,R,4096,512\n1,0,R,6917529027641081856,512\n";
    let kept = tool("trace filter - --min-offset 6EiB".replace("6EiB", "6291456TiB").as_str(), far);
    assert!(kept.contains("\n1,0,R,6917529027641081856,") && !kept.contains("R,4096"), "{kept}");
    let back = tool("trace convert - --to msr", &converted);
    assert_eq!(back, rows.replace(",hm,", ",nandlab,"));
}

#[test]
fn conversions_say_what_they_lose() {
    let output =
        nandlab_reading(&["trace", "convert", "-", "--to", "fio"], b"0,8,4096,w,0.5000001\n0,16,4096,r,0.75\n");
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    assert!(
        text.starts_with("fio version 3 iolog\n0 device0 add\n0 device0 open\n0 device0 write 4096 4096\n"),
        "{text}"
    );
    assert!(text.ends_with("249999 device0 read 8192 4096\n249999 device0 close\n"), "{text}");
    assert!(
        stderr(&output).contains("note: fio") && stderr(&output).contains("times rounded down: 1"),
        "{}",
        stderr(&output)
    );
    let refused = nandlab_reading(&["trace", "convert", "-", "--to", "xyz"], b"0,8,4096,w,0.5\n");
    assert!(
        stderr(&refused).contains("--to <FORMAT>") && stderr(&refused).contains("spc, msr, disksim"),
        "{}",
        stderr(&refused)
    );
}
