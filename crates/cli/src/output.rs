//! The only place that writes results.

use std::io::{self, Write};
use std::path::Path;

use crate::fail::{Exit, Failure};

/// Writes to standard output. A reader that went away ends the program quietly.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Hangup),
        Err(error) => Err(Failure::Message(Exit::Failed, format!("standard output: {error}"))),
    }
}

/// Writes a message to standard error; nobody is left to tell when that fails.
pub fn complain(text: &str) {
    _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a file as a whole or not at all; `-` is standard output.
pub fn write(target: &str, text: &str) -> Result<(), Failure> {
    if target == "-" { print(text) } else { write_file(target, text.as_bytes()) }
}

/// Writes a file as a whole or not at all.
pub fn write_file(target: &str, bytes: &[u8]) -> Result<(), Failure> {
    replace(Path::new(target), bytes).map_err(|error| {
        let help = "the file was left as it was; check the folder, its permissions and the space on the disk";
        Failure::Message(Exit::Failed, format!("{target}: cannot be written: {error}\n  help: {help}"))
    })
}

/// Writes a new file beside the old one, then renames it over the old one. Devices and pipes are written directly.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("this is not the name of a file"))?;
    if path.metadata().is_ok_and(|data| !data.is_file()) {
        return std::fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(hidden);
    let written = (|| {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    })();
    if written.is_err() {
        _ = std::fs::remove_file(&temporary);
    }
    written
}

/// JSON for files: indented, with a line end.
pub fn json(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("results are plain data");
    text.push('\n');
    text
}
