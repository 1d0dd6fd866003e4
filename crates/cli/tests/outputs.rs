//! Results that go to what a shell has open: they are written there, and nothing of it is lost.
#![cfg(unix)]

mod common;

use std::process::Command;

use common::{TINY, file, folder};

/// Output of a line of `bash` in a folder, with `$nandlab` and the small device as `$tiny`.
fn shell(line: &str, folder: &std::path::Path) -> String {
    let mut bash = Command::new("bash");
    let bash = bash.args(["-c", line]).current_dir(folder).env("nandlab", env!("CARGO_BIN_EXE_nandlab"));
    let output = bash.env("tiny", TINY).env("LC_ALL", "C").output().expect("there is a shell");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

#[test]
fn result_in_an_open_file_stands_between_what_others_write() {
    let folder = folder("outputs-file");
    let run = "\"$nandlab\" run make:zipf -n 2 --address compact -q -d \"$tiny\" --latencies";
    for (target, more) in
        [("/dev/stdout", ""), ("/dev/fd/1", ""), ("/proc/self/fd/1", ""), ("link", "ln -sf /dev/stdout link;")]
    {
        let text = shell(&format!("(echo keepme; {more} {run} {target}; echo after) > f; cat f"), &folder);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines.last(), lines.len()), ("keepme", Some(&"after"), 5), "{target}: {text}");
    }
    let text = shell(&format!("echo keepme > f; {run} /dev/fd/3 3>> f; cat f"), &folder);
    assert!(text.starts_with("keepme\n") && text.lines().count() == 4, "{text}");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn result_goes_into_a_pipe_by_any_name() {
    let folder = folder("outputs-pipe");
    let trace = file("outputs.spc", "0,8,4096,w,1.0\n0,16,4096,r,3.0\n");
    for line in [
        format!("\"$nandlab\" trace convert {trace} -o /dev/stdout | cat"),
        format!("\"$nandlab\" trace convert {trace} -o /dev/fd/3 3>&1 | cat"),
        format!("\"$nandlab\" trace convert {trace} -o >(cat > made); wait $!; cat made"),
    ] {
        let text = shell(&line, &folder);
        assert!(text.contains("\n1000000000,0,W,4096,4096\n"), "{line}: {text}");
    }
    let text = shell(&format!("\"$nandlab\" trace info {trace} --json /dev/stdout | cat"), &folder);
    assert!(text.contains("\"requests\""), "{text}");
}
