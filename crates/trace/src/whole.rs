//! Files that are written as a whole or not at all.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The hidden files that exist now, of this process.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file that is not complete: for a process that ends without leaving its scopes.
pub fn remove_unfinished() {
    for temporary in std::mem::take(&mut *unfinished()) {
        _ = fs::remove_file(temporary);
    }
}

/// A file that takes the place of `path` when it is complete; until then `path` stays as it was.
///
/// The new content lies beside it under a hidden name, which is removed if it is never completed. Devices and pipes
/// are written directly.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    path: PathBuf,
    /// Where the content lies until it is complete; `None` for devices and pipes, and when it has been renamed.
    temporary: Option<PathBuf>,
}

impl WholeFile {
    /// Begins a file.
    ///
    /// # Errors
    /// This is not the name of a file, or its folder cannot be written.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let name = path.file_name().ok_or_else(|| io::Error::other("this is not the name of a file"))?;
        if path.metadata().is_ok_and(|data| !data.is_file()) {
            return Ok(Self { file: OpenOptions::new().write(true).open(&path)?, path, temporary: None });
        }
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let mut unfinished = unfinished();
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        unfinished.insert(temporary.clone());
        Ok(Self { file, path, temporary: Some(temporary) })
    }

    /// Puts the complete file in its place.
    ///
    /// # Errors
    /// The disk is full or broken; the old file, if there was one, is as it was.
    pub fn commit(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            self.file.sync_all()?;
            let mut unfinished = unfinished();
            fs::rename(temporary, &self.path)?;
            unfinished.remove(temporary);
            self.temporary = None;
        }
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            _ = fs::remove_file(temporary);
            unfinished().remove(temporary);
        }
    }
}
