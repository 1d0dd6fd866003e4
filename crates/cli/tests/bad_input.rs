//! Is every wrong input refused with its place, what is allowed and how to fix it?

mod common;

use common::{TINY, file, nandlab, nandlab_reading, stderr};

/// Exit code 2, and standard error says all of `parts` (separated by `|`).
fn refused(output: &std::process::Output, what: &str, parts: &str) -> Result<(), String> {
    let said = stderr(output);
    if output.status.code() != Some(2) {
        return Err(format!("{what}: exit {:?}, not 2: {said}", output.status.code()));
    }
    let missing: Vec<&str> = parts.split('|').filter(|part| !said.contains(part)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{what}: no {missing:?} in: {said}")) }
}

fn all(results: impl Iterator<Item = Result<(), String>>) {
    let failures: Vec<String> = results.filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{} of the cases:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn wrong_command_line_is_refused() {
    let cases = [
        ("frob", "frob|--help"),
        ("run --frob", "--frob|--help"),
        ("run --ram 8MB", "--ram|8MiB"),
        ("run --ram -1", "--ram|0 and 1048576TiB"),
        ("run --ram ten", "--ram|KiB, MiB"),
        ("run --ram 0", "ram|0 page frames|at least 1|4KiB"),
        ("run --ram 2TiB", "ram.dram|outside 0 to 1099511627776"),
        ("run --nvram x", "--nvram|KiB, MiB"),
        ("run --queue-depth 0", "--queue-depth|1 to 65536"),
        ("run --queue-depth -3", "--queue-depth|1 to 65536"),
        ("run --queue-depth 65537", "--queue-depth|1 to 65536"),
        ("run --seed -1", "--seed|from 0"),
        ("run --seed 1e3", "--seed|whole number"),
        ("run --limit 0", "--limit|from 1"),
        ("run --limit -5", "--limit|from 1"),
        ("run --skip-bad x", "--skip-bad|from 0"),
        ("run --mode sideways", "--mode|open, closed, fast"),
        ("run --address foo", "--address|reject|modulo|compact"),
        ("run --volumes pick:x", "--volumes|stack|pick:N"),
        ("run --precondition steady", "--precondition|steady:N"),
        ("run --precondition steady:-1", "--precondition|0 to 1000"),
        ("run --precondition steady:nan", "--precondition|0 to 1000"),
        ("run --set precondition=steady", "precondition|write \"steady:N\" or { steady = N }"),
        ("run --set precondition=steady:x", "precondition.steady|expected a number"),
        ("run --set precondition=gone", "precondition|expected one of `none`"),
        (
            "run --set seed=18446744073709551615",
            "seed: 18446744073709551615, expected a whole number from 0 to 9223372036854775807",
        ),
        ("run --seed 18446744073709551615", "--seed|from 0 to 9223372036854775807"),
        ("run --device labb", "device|did you mean `lab`"),
        ("run --device nothere.toml", "nothere.toml|nandlab list devices"),
        ("run --ftl pgae", "ftl.name|pgae|did you mean `page`"),
        ("run --ftl zzzzzzzz", "ftl.name|zzzzzzzz|use one of page"),
        ("run --buffer lur", "buffer.name|did you mean `lru`"),
        ("run --buffer lru:x", "buffer|lru:x|name:key=value"),
        ("run --buffer lru:k=1", "buffer.k|unknown field|describe lru"),
        ("run --format mrs trace.csv", "--format|did you mean `msr`"),
        ("run --format msr", "--format|no trace is named"),
        ("run --volumes stack", "--volumes stack|no trace is named|help:"),
        ("compare --volumes pick:2 --buffers lru --ftls page", "--volumes pick:2|no trace is named"),
        ("run make:zipf --object-unit 512", "make:zipf: object_unit|leave --object-unit out"),
        ("run make:zipf --columns op=1,offset=2,size=3", "columns = op=1,offset=2,size=3|a generator has no columns"),
        ("run make:zipf --cap-gap 0s", "--cap-gap <TIME>|a time above zero"),
        ("run make:zipf --rebase=0s", "--rebase[=<TIME>]|a time above zero"),
        ("run nothere.csv", "nothere.csv|help:"),
        ("run /", "/: |help:"),
        ("compare --buffers lru, --ftls page", "buffer.name|help:"),
        ("compare --buffers lru --ftls pagee", "ftl.name|did you mean `page`"),
        ("compare --buffers lru,fifo,lru", "buffer: lru is there twice"),
        ("compare --ftls fast:k=8,fast:k=8", "ftl: fast:k=8 is there twice"),
        ("run -n 9 --json {out}/one --latencies {out}/../{tail}/one", "--latencies|--json|both name"),
        ("compare --threads 0", "--threads|1 to 1024"),
        ("compare --csv --markdown", "--csv|--markdown"),
        ("list bufers", "bufers|buffers"),
        ("describe lur", "lur|did you mean `lru`"),
        ("conform", "FILE"),
        ("conform nothere.json", "nothere.json|help:"),
        ("completions ksh", "ksh|bash"),
        ("probe --file ", "--file"),
    ];
    let folder = common::temporary("command-line");
    std::fs::create_dir_all(&folder).unwrap();
    let tail = folder.file_name().unwrap().to_str().unwrap();
    all(cases.iter().map(|(line, parts)| {
        let line = line.replace("{out}", folder.to_str().unwrap()).replace("{tail}", tail);
        let args: Vec<&str> = line.split(' ').collect();
        refused(&nandlab(&args), &line, parts)
    }));
}

#[test]
fn argument_that_would_not_mean_what_it_says_is_refused() {
    let cases = [
        ("run --buffer cflru:window_ratio=0.1:window_ratio=0.9", "buffer|`window_ratio` is there twice"),
        ("run --set device.timing.page_read=0.3ns", "device.timing.page_read|less than a nanosecond"),
        ("run --latencies rows.csv.bz2 --limit 10", "rows.csv.bz2|.zst or .gz"),
    ];
    all(cases.iter().map(|(line, parts)| refused(&nandlab(&line.split(' ').collect::<Vec<_>>()), line, parts)));
}

#[test]
fn wrong_setting_is_refused_with_its_key() {
    let cases = [
        ("foo", "--set|key=value"),
        ("=1", "--set|key=value"),
        ("foo.bar=1", "foo|unknown field|nandlab config"),
        ("ram.darm=1", "ram.darm|dram"),
        ("ram=3", "ram|expected a table"),
        ("ram.dram.x=3", "ram.dram.x|nandlab config"),
        ("ram.dram=true", "ram.dram|8MiB"),
        ("ram.dram=8GB", "ram.dram|8GiB"),
        ("seed=-1", "seed|from 0"),
        ("seed=99999999999999999999", "seed|from 0"),
        ("device.geometry.channels=0", "device.geometry.channels|1 to 1024"),
        ("device.geometry.channels=-4", "device.geometry.channels|from 0"),
        ("device.geometry.channels=1.5", "device.geometry.channels|whole number"),
        ("device.geometry.chips_per_channel=65", "device.geometry.chips_per_channel|1 to 64"),
        ("device.geometry.pages_per_block=0", "device.geometry.pages_per_block|2 to 16384"),
        ("device.geometry.page_bytes=0", "device.geometry.page_bytes|512 to 32768"),
        ("device.geometry.page_bytes=1000", "device.geometry.page_bytes|multiple of 512"),
        ("device.geometry.blocks_per_plane=1000000000", "device.geometry.blocks_per_plane|1 to 16777216"),
        ("device.over_provisioning={spare_over_physical=0}", "over_provisioning|erase blocks|raise"),
        ("device.over_provisioning={spare_over_physical=1}", "device.over_provisioning|0 to 1"),
        ("device.over_provisioning={spare_over_logical=-0.1}", "device.over_provisioning|0 to 100"),
        ("device.over_provisioning={logical_pages=0}", "device.over_provisioning|outside 1 to"),
        ("device.over_provisioning={logical_pages=4000000000}", "device.over_provisioning|outside 1 to"),
        ("device.over_provisioning={percent=7}", "device.over_provisioning|spare_over_logical"),
        ("device.timing.page_read=25", "device.timing.page_read|25us"),
        ("device.timing.page_read=1h", "device.timing.page_read|ns, us, ms or s"),
        ("device.timing.page_read=2s", "device.timing.page_read|0s to 1s"),
        ("device.timing.model=quantum", "device.timing.model|serial"),
        ("device.media=tape", "device.media|memory"),
        ("device.program_order=sideways", "device.program_order|strict"),
        ("replay.queue_depth=0", "replay.queue_depth|1 to 65536"),
        ("replay.time_scale=0", "replay.time_scale|0 (excluded) to 1,000,000|fast"),
        ("replay.time_scale=-1", "replay.time_scale|0 (excluded)"),
        ("replay.time_scale=nan", "replay.time_scale|expected a number"),
        ("replay.time_scale=inf", "replay.time_scale|expected a number"),
        ("replay.think_time=1001s", "replay.think_time|1000s"),
        ("replay.mode=slow", "replay.mode|closed"),
        ("precondition={steady=-2}", "precondition.steady|0 to 1,000"),
        ("precondition=wet", "precondition|steady"),
        ("ftl.reserve=0", "ftl.reserve|use 1 or more"),
        ("ftl.reserve=-1", "ftl.reserve|from 0"),
        ("ftl.reserve=lots", "ftl.reserve|whole number|describe page"),
        ("ftl.reserve=4000000", "ftl.reserve|erase blocks|raise"),
        ("ftl.bogus=1", "ftl.bogus|unknown field|describe page"),
        ("ftl.victim=best", "ftl.victim|greedy"),
    ];
    all(cases.iter().map(|(setting, parts)| {
        refused(&nandlab(&["run", "--device", TINY, "--limit", "10", "--set", setting]), setting, parts)
    }));
}

#[test]
fn relations_between_plug_ins_and_device_are_checked() {
    let cases: [(&[&str], &str); 5] = [
        (&["--ftl", "fast:rw_blocks=0"], "ftl.rw_blocks|use 1 to"),
        (&["--ftl", "fast:rw_blocks=100000"], "ftl.rw_blocks|use at most"),
        (&["--ftl", "bast:log_blocks=100000"], "ftl.log_blocks|use at most"),
        (&["--ftl", "block", "--set", "device.program_order=strict"], "device.program_order|ascending"),
        (&["--buffer", "fab", "--ram", "64KiB"], "ram|16 page frames|at least 32|128KiB"),
    ];
    all(cases.iter().map(|(args, parts)| {
        refused(&nandlab(&[&["run", "--limit", "10", "--device", TINY], *args].concat()), &args.join(" "), parts)
    }));
}

#[test]
fn wrong_configuration_file_is_refused_with_its_line() {
    let cases = [
        ("", "bad.toml: there is nothing in it|nandlab config"),
        ("# nothing\n", "bad.toml: there is nothing in it|nandlab config"),
        ("seed = \n", "bad.toml: line 1|TOML"),
        ("seed = 1\n[ram\n", "bad.toml: line 2|TOML"),
        ("seed = 1\nseed = 2\n", "bad.toml: line 2|TOML"),
        ("[ram]\ndarm = 1\n", "bad.toml:2|darm|dram"),
        ("[ram]\ndram = -1\n", "bad.toml:2|ram.dram"),
        ("[replay]\n\ntime_scale = nan\n", "bad.toml:3|replay.time_scale"),
        ("[replay]\nqueue_depth = 0\n", "bad.toml:2|replay.queue_depth|1 to 65536"),
        ("[device.geometry]\nchannels = \"two\"\n", "bad.toml:2|device.geometry.channels|whole number"),
        ("[ftl]\nname = \"pagee\"\n", "bad.toml:2|ftl.name|did you mean `page`"),
        ("[ftl]\nname = \"page\"\nreserve = 0\n", "bad.toml:3|ftl.reserve|use 1 or more"),
        ("[ftl]\nname = \"page\"\nresreve = 2\n", "bad.toml:3|resreve|describe page"),
        ("[buffer]\nname = 7\n", "bad.toml:2|buffer"),
        ("preset = \"labb\"\n", "bad.toml|preset|did you mean `lab`"),
        ("preset = 7\n", "bad.toml|preset|nandlab list devices"),
        ("precondition = \"wet\"\n", "bad.toml:1|precondition|steady"),
        ("\u{0}\u{1}", "bad.toml: line 1|TOML"),
    ];
    all(cases.iter().enumerate().map(|(i, (content, parts))| {
        let folder = common::temporary(&format!("bad-{i}"));
        std::fs::create_dir_all(&folder).unwrap();
        let path = file(&format!("bad-{i}/bad.toml"), content);
        refused(&nandlab(&["run", "--device", &path, "--limit", "10"]), content, parts)
    }));
    let binary = file("binary.toml", [0xFF, 0xFE, 0x00]);
    all(std::iter::once(refused(&nandlab(&["run", "--device", &binary]), "not UTF-8", "binary.toml|UTF-8")));
}

#[test]
fn wrong_trace_is_refused_with_its_line() {
    let good = "0,8,4096,w,0.5\n0,16,4096,r,0.75\n";
    let after = |row: &str| format!("{good}{good}{good}{row}\n{good}");
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "no data"),
        (b"\n\n\n".to_vec(), "help:"),
        (b"hello world, this is a letter\n".to_vec(), "--format|nandlab list formats"),
        (vec![0u8; 4096], "binary|--format"),
        (after("0,8,4096,w").into(), "line 7|missing|--skip-bad"),
        (after("0,8,4096,x,1.5").into(), "line 7|Opcode `x`|--skip-bad"),
        (after("0,-8,4096,w,1.5").into(), "line 7|LBA `-8`|negative"),
        (after("0,99999999999999999999999,4096,w,1.5").into(), "line 7|LBA|too large"),
        (after("0,8,99999999999,w,1.5").into(), "line 7|Size|1 GiB"),
        (after("0,8,4096,w,nan").into(), "line 7|Timestamp `nan`|not a number"),
        (after("0,8,4096,w,-1").into(), "line 7|Timestamp|negative"),
        (after("0,8,4096,w,1e400").into(), "line 7|Timestamp"),
        (after("1,8,4096,w,1.5").into(), "line 7|device 1|--volumes stack"),
        (after("0,80000000,4096,w,1.5").into(), "line 7|capacity|--address compact|--address modulo"),
        (after("0,8,4096,w,17000000000.0").into(), "request 7|years|--mode fast"),
        (b"\x28\xb5\x2f\xfd\x04\x00".to_vec(), "zstd|cut off"),
        (b"\x1f\x8b\x08\x00rubbish that is not deflate".to_vec(), "gzip"),
    ];
    all(cases.iter().enumerate().map(|(i, (content, parts))| {
        let path = file(&format!("bad-{i}.spc"), content);
        let shown = String::from_utf8_lossy(&content[..content.len().min(60)]).into_owned();
        refused(&nandlab(&["run", &path, "--device", TINY]), &shown, parts)?;
        let piped = nandlab_reading(&["run", "-", "--device", TINY], content);
        refused(&piped, &format!("<stdin> {shown}"), parts)
    }));
}

#[test]
fn sizes_that_no_device_can_have_are_refused() {
    let cases = [
        ("run -f dftl:reserve=4294967295", "the device has|blocks but needs"),
        ("run -f dftl:idle_free=4294967295", "ftl.idle_free|that are never free"),
        ("run -d lab -f page:idle_free=1024", "ftl.idle_free|that are never free"),
        ("run -b vbbms:vb_random=4294967295", "buffer.vb_random|1 to 1024"),
        ("config --set ram.flush={above=nan}", "ram.flush"),
    ];
    all(cases.iter().map(|(line, parts)| {
        let args: Vec<&str> = line.split(' ').collect();
        refused(&nandlab(&args), line, parts)
    }));
}

#[test]
fn wrong_choices_about_a_trace_are_refused() {
    let path = file("two.spc", "0,8,4096,w,0.5\n1,16,4096,r,0.75\n");
    let cases: [(&[&str], &str); 6] = [
        (&[], "line 2|device 1|--volumes stack"),
        (&["--object-unit", "512", "--volumes", "merge"], "object_unit|leave --object-unit out|try: nandlab run"),
        (&["--columns", "op=4,offset=2,size=3", "--format", "spc"], "those of spc are fixed|leave one of the two out"),
        (&["--volumes", "pick:7"], "device 7|0, 1|--volumes pick:N"),
        (&["--volumes", "merge", "--format", "msr"], "line 1|--format NAME"),
        (&["--volumes", "merge", "--format", "vscsi"], "two.spc"),
    ];
    all(cases.iter().map(|(args, parts)| {
        refused(&nandlab(&[&["run", &path, "--device", TINY], *args].concat()), &args.join(" "), parts)
    }));
    let skipped = file("skip.spc", "0,8,4096,w,0.5\nrubbish\n0,16,4096,r,0.75\nrubbish\n");
    let skip = |n| nandlab(&["run", &skipped, "--format", "spc", "--device", TINY, "--skip-bad", n]);
    assert!(skip("2").status.success(), "{}", stderr(&skip("2")));
    all(std::iter::once(refused(&skip("1"), "one bad row too many", "line 4|1 bad rows were allowed")));
}

#[test]
fn message_says_what_is_wrong_and_no_more() {
    let msr = file("mixed.csv", "128166372003061629,hm,1,Read,4096,512,41286\n");
    let spc = file("mixed.spc", "0,8,4096,w,1.0\n0,16,4096,r,3.0\n");
    let objects = file("objects.csv", "ts,obj_id,size\n1,5,50\n2,6,77\n");
    let wait = file("wait.iolog", "fio version 3 iolog\n0 a add\n1 a wait 5\n");
    let far = file(
        "far.csv",
        format!("time_ns,device,op,offset,length\n1,0,R,{0},512\n1,1,R,{0},512\n", (1u64 << 63) - (1 << 31)),
    );
    let cases = [
        (format!("run {objects} --object-unit 0"), "object_unit = 0: allowed is 1 byte or more"),
        (format!("trace convert {spc} make:uniform -n 7"), "a generator and files are not one trace|trace merge"),
        (format!("trace convert make:uniform {spc} -n 7"), "a generator and files are not one trace|trace merge"),
        (format!("trace convert {wait}"), "action `wait` is not known|in version 3 every row has a time"),
        (format!("run {far} --volumes stack --address modulo"), "need more than 2^63 bytes|pick N|compact"),
        (
            "run make:uniform:arrival=constant@9000000000s".to_owned(),
            "arrival|9000000000s is out of range|0ns to 1125899.9s",
        ),
        ("run make:disksim:size=normal@-1000@1".to_owned(), "size|sizes in sectors"),
        ("run make:disksim:general_gap=normal@-1000@1".to_owned(), "general_gap|times in ms"),
        (format!("run {msr} --time-unit s"), "(nandlab describe msr)"),
        ("run make:zipf --time-unit s".to_owned(), "the unit of the times of generator is fixed; leave it out"),
    ];
    all(cases.iter().map(|(line, parts)| refused(&nandlab(&line.split(' ').collect::<Vec<_>>()), line, parts)));
}

#[test]
fn unit_that_is_assumed_is_warned_of() {
    let row = |at: u64| format!("{at},R,{},8\n", at * 16);
    let rows: String = (0..40).map(row).collect();
    let path = file("assumed.csv", format!("time_ms,op,lba,size\n{rows}"));
    for line in [
        format!("run {path} --device {TINY}"),
        format!("trace convert {path}"),
        format!("trace convert {path} --to spc"),
    ] {
        let output = nandlab(&line.split(' ').collect::<Vec<_>>());
        let said = stderr(&output);
        assert!(
            output.status.success() && said.contains("warning: ") && said.contains("taken for sectors"),
            "{line}: {said}"
        );
    }
    let told = file("told.csv", format!("time_ms,op,lba,sectors\n{rows}"));
    let said = stderr(&nandlab(&["run", &told, "--device", TINY]));
    assert!(!said.contains("taken for sectors"), "{said}");
}
