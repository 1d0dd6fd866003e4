//! Are unmodified programs recorded, with the right bytes, files and call stacks?

mod common;

use std::process::{Command, Output};
use std::time::Duration;

use common::{json, nandlab, path, refusal, stderr, temporary};

/// Runs `nandlab record` without reading ahead; nothing where the system lets nobody trace.
fn record(test: &str, target: &str, limit: &str, command: &[&str]) -> Option<Output> {
    let options = ["record", "-o", target, "--memory-limit", limit, "--read-ahead", "0", "--"];
    let output = nandlab(&[&options, command].concat());
    let said = stderr(&output);
    if said.contains("needs ptrace") || said.contains("Linux on x86-64 only") {
        eprintln!("{test} skipped: {said}");
        return None;
    }
    Some(output)
}

/// The rows of a trace: op, length, page of the file, stack.
fn rows(trace: &str) -> Vec<(String, u64, u64, u64)> {
    let output = nandlab(&["trace", "convert", trace]);
    let text = String::from_utf8(output.stdout).expect("text");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse().expect("a number");
        (fields[2].to_owned(), number(4), number(11), number(12))
    };
    text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).map(row).collect()
}

#[test]
fn every_byte_of_dd_is_recorded_in_order() {
    let (from, to, trace) = (path("dd.in"), path("dd.out"), path("dd.parquet"));
    std::fs::write(&from, vec![7; 100_000]).unwrap();
    let command = ["dd", &format!("if={from}"), &format!("of={to}"), "bs=8192", "status=none"];
    let Some(output) = record("dd", &trace, "0", &command) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(std::fs::read(&to).unwrap(), vec![7; 100_000], "the program does what it does");
    let rows = rows(&trace);
    let of = |op: &str| -> Vec<(u64, u64)> {
        // The loader reads the heads of libraries: less than a page.
        rows.iter().filter(|row| row.0 == op && row.1 > 1024).map(|row| (row.1, row.2)).collect()
    };
    let expected: Vec<(u64, u64)> = (0..13).map(|at| (if at == 12 { 1696 } else { 8192 }, 2 * at)).collect();
    assert_eq!(of("W"), expected);
    assert!(of("R").ends_with(&expected), "{:?}", of("R"));
    assert!(rows.iter().all(|row| row.3 != 0), "every request has a call stack");
}

#[test]
fn page_cache_hides_what_is_read_twice() {
    let (file, trace) = (path("twice.in"), path("twice.parquet"));
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    let read_pages = |limit: &str| {
        let command = ["sh", "-c", &format!("cat {file} {file} > /dev/null; cat {file} > /dev/null")];
        record("cat", &trace, limit, &command)?;
        Some(rows(&trace).iter().filter(|row| row.0 == "R" && row.1 >= 4096).map(|row| row.1).sum::<u64>() >> 20)
    };
    let Some(without) = read_pages("0") else { return };
    assert_eq!((without, read_pages("64MiB"), read_pages("64KiB")), (3, Some(1), Some(3)), "MiB that are read");
}

#[test]
fn two_runs_at_other_addresses_have_the_same_call_stacks() {
    let script = "import sys\nfor _ in range(3):\n  for name in sys.argv[1:]:\n    open(name, 'rb').read()\n";
    let inputs: Vec<String> = (0..3).map(|n| path(&format!("aslr.{n}"))).collect();
    for input in &inputs {
        std::fs::write(input, vec![3; 50_000]).unwrap();
    }
    let stacks = |trace: &str| {
        let mut command = vec!["python3", "-c", script];
        command.extend(inputs.iter().map(String::as_str));
        record("python3", trace, "0", &command)?;
        let rows = rows(trace);
        Some(rows.iter().filter(|row| row.1 == 50_000).map(|row| row.3).collect::<Vec<_>>())
    };
    let Some(one) = stacks(&path("aslr-1.parquet")) else { return };
    assert_eq!(one.len(), 9, "three files, three times");
    assert_eq!(Some(one), stacks(&path("aslr-2.parquet")));
    let report = nandlab(&["trace", "patterns", &path("aslr-1.parquet"), "--json", "-"]);
    let report = json(&report.stdout);
    let frames = report["locations"][0]["frames"].as_array().expect("frames");
    assert!(frames.len() >= 5, "{report:#}");
}

#[test]
fn synchronised_writes_reach_the_device_and_deleted_files_do_not() {
    let (kept, gone, trace) = (path("kept"), path("gone"), path("sync.parquet"));
    let script = format!(
        "import os\nfor name in ['{gone}', '{kept}']:\n  f = open(name, 'wb', buffering=0)\n  f.write(b'x' * 40960)\n\
         os.unlink('{gone}')\nos.fsync(f.fileno())\nf.write(b'y' * 4096)\n"
    );
    let Some(output) = record("python3", &trace, "64MiB", &["python3", "-c", &script]) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&trace);
    let written: Vec<_> = rows.iter().filter(|row| row.0 != "R").map(|row| (row.0.as_str(), row.1, row.2)).collect();
    assert_eq!(written, [("W", 40960, 0), ("F", 0, 0), ("W", 4096, 10)]);
}

#[test]
fn process_tree_is_followed_and_its_end_is_told() {
    let (file, trace) = (path("tree.in"), path("tree.parquet"));
    std::fs::write(&file, vec![1; 5000]).unwrap();
    let script = format!("for i in 1 2 3 4 5; do (cat {file} & cat {file}; wait) > /dev/null; done; exit 7");
    let Some(output) = record("sh", &trace, "0", &["sh", "-c", &script]) else { return };
    let said = stderr(&output);
    assert!(output.status.code() == Some(7) && said.contains("ended with status 7"), "{said}");
    assert_eq!(rows(&trace).iter().filter(|row| row.1 == 5000).count(), 10);
    let Some(output) = record("sh", &trace, "0", &["sh", "-c", "kill -9 $$"]) else { return };
    assert!(output.status.code() == Some(137) && stderr(&output).contains("signal 9"), "{}", stderr(&output));
}

#[test]
fn command_that_is_not_there_leaves_no_file() {
    let trace = path("none.parquet");
    let Some(output) = record("none", &trace, "0", &["/no/such/program"]) else { return };
    assert_eq!(output.status.code(), Some(127));
    assert!(stderr(&output).contains("/no/such/program: cannot be run") && !temporary("none.parquet").exists());
}

#[test]
fn interrupted_recording_is_readable() {
    let (file, trace) = (path("stop.in"), path("stop.parquet"));
    std::fs::write(&file, vec![1; 5000]).unwrap();
    if record("probe", &trace, "0", &["true"]).is_none() {
        return;
    }
    std::fs::remove_file(&trace).unwrap();
    let ready = path("stop.ready");
    _ = std::fs::remove_file(&ready);
    let script = format!("cat {file} > /dev/null; > {ready}; exec sleep 60");
    let child = Command::new(env!("CARGO_BIN_EXE_nandlab"))
        .args(["record", "-o", &trace, "--memory-limit", "0", "--", "sh", "-c", &script])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !std::path::Path::new(&ready).exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(rows(&trace).iter().any(|row| row.1 == 5000), "{}", stderr(&output));
}

#[test]
fn stream_is_read_ahead_and_belongs_to_who_reads_it() {
    let (file, trace) = (path("ahead.in"), path("ahead.parquet"));
    std::fs::write(&file, vec![1; 60 * 4096]).unwrap();
    let (from, command) = (format!("if={file}"), ["dd", "of=/dev/null", "bs=4096", "status=none"]);
    if record("dd", &trace, "1MiB", &["true"]).is_none() {
        return;
    }
    let all = [&["record", "-o", &trace, "--memory-limit", "1MiB", "--"], &command[..], &[&from]].concat();
    assert!(nandlab(&all).status.success());
    let rows = rows(&trace);
    let stream: Vec<_> = rows.iter().map(|row| (row.1 / 4096, row.2)).collect();
    assert!(stream.windows(4).any(|four| four == [(4, 0), (8, 4), (16, 12), (32, 28)]), "{stream:?}");
}

#[test]
fn requests_of_libaio_are_recorded_with_their_places() {
    let (file, trace) = (path("aio.dat"), path("aio.parquet"));
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("libaio skipped: fio is not installed");
        return;
    }
    let size = format!("--filename={file}");
    let command = ["fio", "--name=a", "--size=1M", "--bs=8k", "--rw=read", "--ioengine=libaio", "--iodepth=4", &size];
    let Some(output) = record("fio", &trace, "0", &command) else { return };
    if !output.status.success() {
        eprintln!("libaio skipped: {}", stderr(&output));
        return;
    }
    let rows = rows(&trace);
    let read: Vec<u64> = rows.iter().filter(|row| row.0 == "R" && row.1 == 8192).map(|row| row.2).collect();
    assert_eq!(read[read.len() - 128..], (0..128).map(|at| 2 * at).collect::<Vec<_>>());
}

#[test]
fn device_sees_what_programs_made_dirty_with_their_call_stacks() {
    let (file, trace) = (path("device.dat"), path("device.parquet"));
    _ = std::fs::remove_file(&file);
    let to = format!("of={file}");
    let command = ["dd", "if=/dev/zero", &to, "bs=4096", "count=64", "conv=fsync", "status=none"];
    let output = nandlab(&[&["record", "--level", "device", "-o", &trace, "--"], &command[..]].concat());
    let said = stderr(&output);
    if said.contains("the device level needs") || said.contains("needs ptrace") || said.contains("Linux on x86-64 only")
    {
        eprintln!("device level skipped: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(nandlab(&["trace", "convert", &trace]).stdout).expect("text");
    let files = text.lines().filter_map(|line| line.strip_prefix("# ")).filter(|line| line.starts_with("{\"file\""));
    let Some(id) =
        files.map(json).find(|told| told["file"][1]["path"].as_str().is_some_and(|at| at.ends_with("device.dat")))
    else {
        eprintln!("device level skipped: {file} lies on no block device");
        return;
    };
    let id = id["file"][0].to_string();
    let is_its = |line: &&str| line.split(',').nth(10) == Some(&id) && line.split(',').nth(2) == Some("W");
    let writes: Vec<&str> = text.lines().filter(is_its).collect();
    let field = |line: &&str, at: usize| line.split(',').nth(at).and_then(|n| n.parse::<u64>().ok()).expect("a number");
    let pages: Vec<u64> =
        writes.iter().flat_map(|line| (field(line, 11)..).take((field(line, 4) / 4096) as usize)).collect();
    assert_eq!(pages, (0..64).collect::<Vec<_>>(), "{text}");
    assert!(writes.iter().all(|line| field(line, 12) != 0), "{text}");
}

#[test]
fn process_that_needs_more_than_the_limit_is_said_to_be_killed_for_it() {
    let trace = path("killed.parquet");
    let hungry = ["sh", "-c", "head -c 64M /dev/zero | tail -c 64M > /dev/null"];
    let limit = ["record", "--level", "device", "--memory-limit", "16MiB", "-o", &trace, "--"];
    let said = stderr(&nandlab(&[&limit[..], &hungry].concat()));
    if said.contains("the device level needs") || said.contains("needs ptrace") || said.contains("cgroup") {
        eprintln!("device level skipped: {said}");
        return;
    }
    assert!(said.contains("killed because the command needed more than --memory-limit 16MiB: 1; give"), "{said}");
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let trace = path("refused.parquet");
    for (options, words) in [
        (vec!["--level", "device", "--read-ahead", "64KiB", "-o", &trace], "--read-ahead belongs to --level syscall"),
        (vec!["--memory-limit", "1KiB", "-o", &trace], "less than a page"),
        (vec!["-o", "-"], "among the requests"),
    ] {
        let said = refusal(&[&["record"], &options[..], &["--", "true"]].concat());
        assert!(said.contains(words) && !temporary("refused.parquet").exists(), "{said}");
    }
}

#[test]
fn files_that_change_names_keep_what_was_written() {
    let trace = path("names.parquet");
    let [same, one, other, gone] = ["same", "one", "other", "gone"].map(|name| path(&format!("names.{name}")));
    let script = format!(
        "import ctypes, os\n\
         def new(name, pages):\n  open(name, 'wb', buffering=0).write(b'x' * 4096 * pages)\n\
         new('{same}', 1)\nos.rename('{same}', '{same}')\n\
         new('{one}', 2)\nnew('{other}', 3)\n\
         changed = ctypes.CDLL(None).renameat2(-100, b'{one}', -100, b'{other}', 2)\nassert changed == 0\n\
         new('{gone}', 4)\nnew('{gone}.new', 5)\nos.replace('{gone}.new', '{gone}')\n"
    );
    let Some(output) = record("names", &trace, "64MiB", &["python3", "-c", &script]) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&trace);
    let mut written: Vec<_> = rows.iter().filter(|row| row.0 == "W").map(|row| row.1 / 4096).collect();
    written.sort_unstable();
    assert_eq!(written, [1, 2, 3, 5], "only what another file took the name of is dropped");
}

#[test]
fn what_is_cut_off_before_it_is_written_back_never_is() {
    let trace = path("cut.parquet");
    let [open, call, name, punched] = ["open", "call", "name", "punched"].map(|name| path(&format!("cut.{name}")));
    let script = format!(
        "import os, subprocess\n\
         def new(name):\n  f = open(name, 'wb', buffering=0)\n  f.write(b'x' * 40960)\n  return f\n\
         new('{open}').close()\nopen('{open}', 'wb', buffering=0).write(b'y' * 4096)\n\
         f = new('{call}')\nos.ftruncate(f.fileno(), 8192)\n\
         os.chdir(os.path.dirname('{name}'))\nnew('{name}')\nos.truncate('../' + os.path.basename(os.getcwd()) + '/cut.name', 4097)\n\
         new('{punched}')\nsubprocess.run(['fallocate', '-p', '-o', '8192', '-l', '12288', '{punched}'], check=True)\n\
         f = os.open('{punched}', os.O_RDONLY)\nos.posix_fadvise(f, 0, 8192, os.POSIX_FADV_DONTNEED)\n"
    );
    let Some(output) = record("cut", &trace, "64MiB", &["python3", "-c", &script]) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    let mut written: Vec<_> = rows(&trace).iter().filter(|row| row.0 == "W").map(|row| (row.2, row.1 / 4096)).collect();
    assert_eq!(written[0], (0, 2), "what is not needed any more is written first");
    written.sort_unstable();
    assert_eq!(written, [(0, 1), (0, 2), (0, 2), (0, 2), (5, 5)], "opened anew, by number, by name, punched twice");
}

/// What a script did: its writes as (first page, pages), reads after the first write, and flushes.
type Done = (Vec<(u64, u64)>, usize, usize);

/// Runs a Python script with `nandlab record`.
fn recorded_script(name: &str, limit: &str, script: &str) -> Option<Done> {
    let trace = path(&format!("{name}.parquet"));
    let output = record(name, &trace, limit, &["python3", "-I", "-S", "-c", script])?;
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&trace);
    // The interpreter reads itself: libraries, before anything is written.
    let first = rows.iter().position(|row| row.0 == "W").unwrap_or(rows.len());
    let of = |op: &str| rows[first..].iter().filter(|row| row.0 == op).count();
    let pages = |bytes: u64| bytes.div_ceil(4096);
    let writes = rows.iter().filter(|row| row.0 == "W").map(|row| (row.2, pages(row.1))).collect();
    Some((writes, of("R"), of("F")))
}

#[test]
fn file_stays_the_same_under_every_name() {
    let [one, two, three, four, five] = ["1", "2", "3", "4", "5"].map(|name| path(&format!("same.{name}")));
    _ = std::fs::remove_file(&five);
    let folder = std::path::Path::new(&one).parent().expect("a folder").display();
    let script = format!(
        "import ctypes, os\n\
         def new(name, pages):\n  f = open(name, 'wb', buffering=0)\n  f.write(b'x' * 4096 * pages)\n  return f\n\
         f = new('{one}.tmp', 1)\nos.fsync(f.fileno())\nos.rename('{one}.tmp', '{one}')\nopen('{one}', 'rb').read()\n\
         new('{two}.tmp', 2)\nos.rename('{two}.tmp', '{two}')\nos.unlink('{two}')\n\
         new('{three}', 3)\nos.link('{three}', '{three}.link')\nos.unlink('{three}')\nos.unlink('{three}.link')\n\
         new('{four}.tmp', 4)\nos.rename('{four}.tmp', '{four}')\nf = os.open('{four}', os.O_RDONLY)\nos.fsync(f)\n\
         os.write(os.memfd_create('m'), b'x' * 4096 * 7)\n\
         f = os.open('{folder}', os.O_TMPFILE | os.O_RDWR)\nos.write(f, b'x' * 4096 * 5)\n\
         g = os.open('{folder}', os.O_TMPFILE | os.O_RDWR)\nos.write(g, b'x' * 4096 * 6)\n\
         ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % g, -100, b'{five}', 0x400)\n"
    );
    let script = format!("try:\n  exec({script:?})\nexcept OSError as error:\n  print(error)\n");
    let Some((writes, reads, flushes)) = recorded_script("same", "64MiB", &script) else { return };
    let mut expected = vec![(0, 1), (0, 4)];
    // Not every file system has files without a name, or gives them one.
    expected.extend(std::path::Path::new(&five).exists().then_some((0, 6)));
    assert_eq!((writes, reads, flushes), (expected, 0, 2), "of files that are there in the end");
}

#[test]
fn names_that_mean_the_process_itself_mean_the_one_that_is_recorded() {
    let [out, own, kept] = ["out", "own", "kept"].map(|name| path(&format!("self.{name}")));
    let script = format!(
        "import os\nf = os.open('{out}', os.O_CREAT | os.O_TRUNC | os.O_WRONLY)\nos.write(f, b'x' * 4096 * 2)\nos.dup2(f, 1)\n\
         g = os.open('{own}', os.O_CREAT | os.O_TRUNC | os.O_WRONLY)\nos.write(g, b'x' * 4096 * 3)\n\
         h = os.open('{kept}', os.O_CREAT | os.O_TRUNC | os.O_WRONLY)\nos.write(h, b'x' * 4096 * 4)\n\
         os.open('/dev/stdout', os.O_WRONLY | os.O_TRUNC)\nos.truncate('/proc/self/fd/%d' % g, 0)\nos.write(g, b'y')\n"
    );
    let Some((mut writes, ..)) = recorded_script("self", "64MiB", &script) else { return };
    // Files are written back in the order of their ids, which come from their paths.
    writes.sort_unstable();
    assert_eq!(writes, [(0, 4), (3, 1)], "what was cut off was never written");
}

#[test]
fn process_that_hides_what_it_has_open_makes_the_recording_incomplete() {
    let folder = common::folder("hidden");
    let (file, trace) = (folder.join("file"), folder.join("trace.csv"));
    let script =
        format!("import ctypes, os\nctypes.CDLL(None).prctl(4, 0)\nos.write(os.open({file:?}, 0o101), b'x' * 8192)\n");
    // Root may look into every process, so that somebody else records.
    let record = format!(
        "import os\nos.chmod({folder:?}, 0o777)\nif os.getuid() == 0:\n  os.setgid(65534); os.setuid(65534)\n\
         os.execv({0:?}, [{0:?}, 'record', '-o', {trace:?}, '--', 'python3', '-I', '-S', '-c', {script:?}])",
        env!("CARGO_BIN_EXE_nandlab")
    );
    let Ok(output) = Command::new("python3").args(["-I", "-S", "-c", &record]).output() else { return };
    let said = stderr(&output);
    let cannot = ["needs ptrace", "Linux on x86-64 only", "PermissionError"];
    if cannot.iter().any(|reason| said.contains(reason)) {
        return eprintln!("skipped: {said}");
    }
    assert!(said.contains("reads and writes of processes that hide what they have open (not dumpable): "), "{said}");
    assert!(std::fs::read_to_string(&trace).unwrap().contains("incomplete"), "{said}");
}

#[test]
fn writes_go_where_the_system_puts_them() {
    let [append, long, threads] = ["append", "long", "threads"].map(|name| path(&format!("where.{name}")));
    let script = format!(
        "import os\n\
         f = os.open('{append}', os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND)\nos.write(f, b'x' * 8192)\nos.pwrite(f, b'x' * 4096, 0)\n\
         f = os.open('{append}', os.O_WRONLY)\n\
         os.pwritev(f, [b'x' * 4096], 0, os.RWF_APPEND)\nos.pwritev(f, [b'x' * 4096], 0, os.RWF_DSYNC)\n\
         f = os.open('{long}', os.O_CREAT | os.O_WRONLY)\nos.write(f, b'x' * (1 << 20))\n"
    );
    let Some((writes, _, flushes)) = recorded_script("where", "0", &script) else { return };
    assert_eq!((writes, flushes), (vec![(0, 2), (2, 1), (3, 1), (0, 1), (0, 256)], 1));
    let script = format!(
        "import os, threading\n\
         f = os.open('{threads}', os.O_CREAT | os.O_TRUNC | os.O_WRONLY)\n\
         def run():\n  for _ in range(200):\n    os.write(f, b'x' * 4096)\n\
         all = [threading.Thread(target=run) for _ in range(4)]\n[t.start() for t in all]\n[t.join() for t in all]\n\
         for _ in range(3):\n  if os.fork() == 0:\n    f = os.open('{threads}', os.O_WRONLY | os.O_APPEND)\n    run()\n    os._exit(0)\n\
         [os.wait() for _ in range(3)]\n"
    );
    let Some((mut writes, ..)) = recorded_script("threads", "0", &script) else { return };
    writes.sort_unstable();
    assert_eq!(writes, (0..1400).map(|page| (page, 1)).collect::<Vec<_>>(), "every page once");
}
