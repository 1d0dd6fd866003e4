//! The only place that writes results.

use std::io::{self, Write};

use nandlab_lab::Error;
pub use nandlab_lab::json;
use nandlab_trace::WholeFile;

use crate::fail::{Exit, Failure};

/// Writes to standard output. A reader that went away ends the program quietly.
pub fn print(text: &str) -> Result<(), Failure> {
    print_with(|| io::stdout().lock().write_all(text.as_bytes()))
}

/// The same with something that writes by itself.
pub fn print_with(write: impl FnOnce() -> io::Result<()>) -> Result<(), Failure> {
    match write().and_then(|()| io::stdout().lock().flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Hangup),
        Err(error) => Err(Failure::Message(Exit::Failed, format!("standard output: {error}"))),
    }
}

/// Writes a message to standard error; a failure of that cannot be reported.
pub fn complain(text: &str) {
    _ = writeln!(io::stderr().lock(), "{text}");
}

/// Where a result goes: opened before the work, so that a result that cannot be written costs no work.
#[must_use]
pub struct Target {
    name: Option<String>,
    /// Nothing for standard output.
    file: Option<WholeFile>,
}

impl Target {
    /// Opens the file, if one is named; `-` is standard output.
    pub fn open(name: Option<&str>) -> Result<Self, Failure> {
        let file = name
            .filter(|name| *name != "-")
            .map(|name| WholeFile::create(name).map_err(|error| cannot_write(name, error)));
        Ok(Self { name: name.map(str::to_owned), file: file.transpose()? })
    }

    /// Writes the result, as a whole or not at all, if it was asked for.
    pub fn write(self, result: impl FnOnce() -> String) -> Result<(), Failure> {
        match self.name {
            Some(_) => self.write_bytes(result().as_bytes()),
            None => Ok(()),
        }
    }

    /// The same for what need not be text.
    pub fn write_bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(mut file) = self.file else { return print(&String::from_utf8_lossy(bytes)) };
        let written = file.write_all(bytes).and_then(|()| file.commit());
        written.map_err(|error| cannot_write(&self.name.unwrap_or_default(), error))
    }
}

fn cannot_write(target: &str, error: io::Error) -> Failure {
    Error::Write { target: target.to_owned(), source: error }.into()
}

/// Makes a folder and those above it, if they are not there.
pub fn make_folder(folder: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))
}

/// Writes a file as a whole or not at all.
pub fn write_file(target: &str, bytes: &[u8]) -> Result<(), Failure> {
    Target::open(Some(target))?.write_bytes(bytes)
}
