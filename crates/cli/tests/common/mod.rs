//! Runs the binary and looks at what it says.
#![allow(dead_code, reason = "every test binary uses its own part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Path of a small device.
pub const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tiny.toml");

/// The binary in a neutral environment.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nandlab"));
    command.args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub fn nandlab(args: &[&str]) -> Output {
    command(args).output().expect("the binary runs")
}

/// Runs it with something on standard input.
pub fn nandlab_reading(args: &[&str], input: &[u8]) -> Output {
    let mut command = command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    // A program that refuses its arguments does not read its input.
    _ = child.stdin.take().expect("standard input").write_all(input);
    child.wait_with_output().expect("the binary ends")
}

/// Standard output of a run that must succeed.
pub fn stdout(args: &[&str]) -> String {
    let output = nandlab(args);
    assert!(output.status.success(), "nandlab {args:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// Standard error of a run that must be refused as bad input.
#[track_caller]
pub fn refusal(args: &[&str]) -> String {
    let output = nandlab(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "nandlab {args:?}: {said}");
    said
}

/// Standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A path in the folder for temporary files of tests.
pub fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The same as text.
pub fn path(name: &str) -> String {
    temporary(name).to_str().expect("its name is UTF-8").to_owned()
}

/// A folder of its own for a test, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = temporary(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    folder
}

/// A file with this content.
pub fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = temporary(name);
    std::fs::write(&path, content).expect("the folder for temporary files is writable");
    path.to_str().expect("its name is UTF-8").to_owned()
}

/// Standard output of a tool that must succeed, with its arguments in a line.
pub fn tool(line: &str, input: &str) -> String {
    let args: Vec<&str> = line.split(' ').collect();
    let output = nandlab_reading(&args, input.as_bytes());
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// JSON.
pub fn json(text: &(impl AsRef<[u8]> + ?Sized)) -> serde_json::Value {
    serde_json::from_slice(text.as_ref()).expect("this is JSON")
}
