//! Inputs are read once and outputs are opened first, whatever kind of file they are.
#![cfg(unix)]
mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{TINY, command, file, folder, json, nandlab, nandlab_reading, refusal, stderr, stdout, temporary};

/// A trace of some requests to two devices.
fn trace(rows: u64) -> String {
    let row = |n: u64| {
        let (device, op) = (n % 7 / 5, if n.is_multiple_of(3) { 'r' } else { 'w' });
        format!("{device},{},{},{op},{}.5\n", n * 7919 % 400 * 8, 4096 * (1 + n % 3), n / 10)
    };
    (0..rows).map(row).collect()
}

/// Runs to its end, which must come soon.
fn within_a_minute(args: &[&str]) -> Output {
    let child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (id, (send, ended)) = (child.id(), mpsc::channel());
    thread::spawn(move || _ = send.send(child.wait_with_output()));
    if let Ok(output) = ended.recv_timeout(Duration::from_secs(60)) {
        return output.unwrap();
    }
    _ = Command::new("kill").arg(id.to_string()).status();
    panic!("nandlab {args:?} does not end");
}

/// A FIFO through which this comes once.
fn fifo(folder: &std::path::Path, content: &str) -> String {
    let path = folder.join("fifo");
    _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let (target, content) = (path.clone(), content.to_owned());
    thread::spawn(move || _ = fs::write(target, content));
    path.to_str().unwrap().to_owned()
}

/// The commands that read a trace more than once, or look at its beginning; all print JSON, with the trace's name somewhere.
const COMMANDS: [&str; 9] = [
    "run TRACE --volumes merge --no-wall --json - -q",
    "run TRACE --volumes stack --no-wall --json - -q",
    "run TRACE --volumes separate --no-wall --json - -q",
    "run TRACE --volumes merge --precondition trace --no-wall --json - -q",
    "compare TRACE --volumes merge --buffers lru,fab --ftls page,bast --threads 2 --json - -q",
    "curve TRACE --volumes merge --buffers lru,cflru --ram 64KiB..256KiB --points 2 --json - -q",
    "curve TRACE --volumes merge --buffers lru --ftl page --ram 64KiB,128KiB --json - -q",
    "bound TRACE --volumes merge --ram 64KiB --buffers lru --json - -q",
    "trace info TRACE --json -",
];

#[test]
fn fifo_gives_what_a_file_gives() {
    // More than is read ahead at a time, so that the beginning is lost if it is read twice.
    let content = trace(20_000);
    let folder = folder("fifo");
    let path = file("fifo-as-a-file.spc", &content);
    for line in COMMANDS {
        let run = |trace: &str| {
            let mut words: Vec<&str> = line.split(' ').map(|word| if word == "TRACE" { trace } else { word }).collect();
            if !line.starts_with("trace") {
                words.extend(["--device", TINY, "--format", "spc"]);
            }
            let output = within_a_minute(&words);
            assert!(output.status.success(), "{line}: {}", stderr(&output));
            String::from_utf8(output.stdout).unwrap().replace(trace, "TRACE")
        };
        let from_file = run(&path);
        assert!(run(&fifo(&folder, &content)) == from_file, "{line}");
        json(&from_file);
    }
}

#[test]
fn standard_input_gives_what_a_file_gives() {
    let content = trace(20_000);
    let path = file("stdin-as-a-file.spc", &content);
    for line in COMMANDS {
        let words = |trace: &'static str| -> Vec<&str> {
            let device = ["--device", TINY, "--format", "spc"];
            let words = line.split(' ').map(move |word| if word == "TRACE" { trace } else { word });
            if line.starts_with("trace") { words.collect() } else { words.chain(device).collect() }
        };
        let piped = nandlab_reading(&words("-"), content.as_bytes());
        assert!(piped.status.success(), "{line}: {}", stderr(&piped));
        let piped = String::from_utf8(piped.stdout).unwrap().replace("<stdin>", "TRACE");
        let from_file = line.replace("TRACE", &path);
        let mut from_file: Vec<&str> = from_file.split(' ').collect();
        if !line.starts_with("trace") {
            from_file.extend(["--device", TINY, "--format", "spc"]);
        }
        assert!(stdout(&from_file).replace(&path, "TRACE") == piped, "{line}");
        // By another name it is the same pipe.
        let named = nandlab_reading(&words("/dev/stdin"), content.as_bytes());
        assert!(String::from_utf8(named.stdout).unwrap().replace("/dev/stdin", "TRACE") == piped, "{line}");
    }
}

#[test]
fn tools_with_two_passes_read_a_pipe() {
    let content = trace(3_000);
    let path = file("two-passes.spc", &content);
    let from_file = stdout(&["trace", "remap", &path, "--stack"]);
    let piped = nandlab_reading(&["trace", "remap", "-", "--stack"], content.as_bytes());
    let rows = |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    assert_eq!(rows(&String::from_utf8(piped.stdout).unwrap()), rows(&from_file));
    assert!(rows(&from_file).lines().count() > 3_000);
}

#[test]
fn device_without_an_end_is_refused() {
    let output = within_a_minute(&["run", "--device", "/dev/zero", "-n", "10"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--device /dev/zero") && stderr(&output).contains("more than 1MiB"));
}

#[test]
fn results_go_through_links_and_keep_permissions() {
    let folder = folder("linked");
    let (real, link) = (folder.join("real.json"), folder.join("link.json"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real.json", &link).unwrap();
    let run = |target: &PathBuf| {
        stdout(&["run", "--device", TINY, "-n", "100", "-q", "--json", target.to_str().unwrap()]);
    };
    run(&link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(json(&fs::read_to_string(&real).unwrap())["requests"]["total"], 100);
    // A link to what is not there yet.
    let dangling = folder.join("dangling.json");
    symlink(folder.join("new.json"), &dangling).unwrap();
    run(&dangling);
    assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink() && folder.join("new.json").is_file());
    let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["dangling.json", "link.json", "new.json", "real.json"]);
}

#[test]
fn links_to_the_same_place_are_no_two_files() {
    let folder = folder("linked-twice");
    let (new, link) = (folder.join("new"), folder.join("link"));
    symlink("new", &link).unwrap();
    let (new, link) = (new.to_str().unwrap(), link.to_str().unwrap());
    let said = refusal(&["run", "--device", TINY, "-n", "9", "-q", "--json", new, "--latencies", link]);
    assert!(said.contains("both name"), "{said}");
    assert!(!std::path::Path::new(new).exists());
}

#[test]
fn device_comes_through_a_pipe() {
    let device = fs::read(TINY).unwrap();
    let args = |device| ["run", "--device", device, "-n", "300", "-q", "--no-wall", "--json", "-"];
    let piped = nandlab_reading(&args("/dev/stdin"), &device);
    assert!(piped.status.success(), "{}", stderr(&piped));
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), stdout(&args(TINY)));
}

#[test]
fn outputs_are_opened_before_the_work() {
    // If the trace were read first, it would be missed first.
    for line in [
        "run nowhere.spc --json no/such/folder/out.json",
        "compare nowhere.spc --buffers lru --ftls page --json no/such/folder/out.json",
        "curve nowhere.spc --json no/such/folder/out.json",
        "curve nowhere.spc --plot no/such/folder/out.svg",
        "bound nowhere.spc --json no/such/folder/out.json",
        "trace info nowhere.spc --json no/such/folder/out.json",
        "trace info nowhere.spc --plot no/such/folder/out.png",
        "trace match nowhere.spc elsewhere.spc --json no/such/folder/out.json",
    ] {
        let output = nandlab(&line.split(' ').collect::<Vec<_>>());
        let said = stderr(&output);
        assert!(
            !output.status.success() && said.contains("no/such/folder/out") && !said.contains("nowhere"),
            "{line}: {said}"
        );
    }
    let output = nandlab(&["run", "-n", "10", "--json", temporary("").to_str().unwrap()]);
    assert!(!output.status.success(), "a folder is not a file");
}

#[test]
fn output_never_takes_the_place_of_an_input() {
    let folder = folder("inputs");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::create_dir(folder.join("sub")).unwrap();
    let (rows, own) = (trace(20), stdout(&["config", "--device", TINY]));
    for (name, content) in [
        ("t.spc", &rows),
        ("b.spc", &rows),
        ("0.spc", &rows),
        ("my.toml", &own),
        ("plan.toml", &own),
        ("plan.json", &own),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    symlink("t.spc", folder.join("link.spc")).unwrap();
    for line in [
        "run t.spc --json t.spc",
        "run t.spc --json link.spc",
        "run link.spc --latencies sub/../t.spc",
        "run [t].spc -d my.toml --json my.toml",
        "compare t.spc --json t.spc",
        "curve t.spc --json ./t.spc",
        "bound t.spc -d my.toml --json my.toml",
        "fit t.spc -o t.spc",
        "search plan.toml --minimise waf -o results --csv plan.toml",
        "ram -d my.toml --json my.toml",
        "report . -o plan.json",
        "trace info t.spc --json t.spc",
        "trace match t.spc b.spc --json b.spc",
        "trace convert t.spc -o t.spc",
        "trace merge t.spc b.spc -o b.spc",
        "trace split 0.spc --every 1000 -o {}.spc",
        "trace hint t.spc --lengths my.toml -o my.toml",
    ] {
        let output = command(&line.split(' ').collect::<Vec<_>>()).current_dir(&folder).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains("would be written over") && said.contains("a file of its own"), "{line}: {said}");
    }
    for (name, content) in [("t.spc", &rows), ("b.spc", &rows), ("0.spc", &rows), ("my.toml", &own)] {
        assert_eq!(&fs::read_to_string(path(name)).unwrap(), content, "{name}");
    }
    // What is no file may be both.
    let ram =
        command(&["ram", "-d", "my.toml", "-f", "page", "--json", "/dev/null"]).current_dir(&folder).output().unwrap();
    assert!(ram.status.success(), "{}", stderr(&ram));
}

#[test]
fn trace_without_any_request_is_no_trace() {
    let path = file("no-request.txt", "\n\n");
    let said = refusal(&["trace", "info", &path, "--format", "spc"]);
    let parts = ["no-request.txt", "there is no request in it", "spc", "--format"];
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}
