//! The only place that writes results.

use std::io::{self, Write};

use nandlab_trace::WholeFile;

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
    let written = WholeFile::create(target).and_then(|mut file| {
        file.write_all(bytes)?;
        file.commit()
    });
    written.map_err(|error| {
        let help = "the file was left as it was; check the folder, its permissions and the space on the disk";
        Failure::Message(Exit::Failed, format!("{target}: cannot be written: {error}\n  help: {help}"))
    })
}

/// JSON for files: indented, with a line end.
pub fn json(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("results are plain data");
    text.push('\n');
    text
}
