//! Files that are written as a whole or not at all.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
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
/// The new content lies next to it under a hidden name, which is removed if it is never completed, and has the
/// permissions of the file whose place it takes. A link stays a link: the file that it leads to is replaced. Devices
/// and pipes are written directly, and so is what a process has open (`/dev/stdout`, `/dev/fd/N`, `/proc/self/fd/N`): standard
/// output and error go on where they are, other files are written at their end.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    path: PathBuf,
    /// Where the content lies until it is complete; `None` for what is written directly, and when it has been renamed.
    temporary: Option<PathBuf>,
}

impl WholeFile {
    /// Begins a file.
    ///
    /// # Errors
    /// This is not the name of a file, the file or its folder cannot be written, or the disk is full.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let (path, is_open) = linked(path.as_ref())?;
        if is_open {
            return Ok(Self { file: opened(&path)?, path, temporary: None });
        }
        let name = path.file_name().ok_or_else(|| io::Error::other("this is not the name of a file"))?;
        if path.metadata().is_ok_and(|data| !data.is_file()) {
            return Ok(Self { file: OpenOptions::new().write(true).open(&path)?, path, temporary: None });
        }
        let mut unfinished = unfinished();
        let (temporary, file) = hidden(&path, name)?;
        unfinished.insert(temporary.clone());
        drop(unfinished);
        let mut whole = Self { file, path, temporary: Some(temporary) };
        whole.try_out()?;
        Ok(whole)
    }

    /// Whether the file may be replaced, and whether there is room for anything at all, before there is something to lose.
    fn try_out(&mut self) -> io::Result<()> {
        if self.path.exists() {
            let old = OpenOptions::new().write(true).open(&self.path)?;
            self.file.set_permissions(old.metadata()?.permissions())?;
        }
        self.file.write_all(&[0; 4096])?;
        self.file.set_len(0)?;
        self.file.rewind()
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

/// A new file next to `path`. A process that was killed may have left one, and another machine may use the same number of a
/// process in a shared folder: then the next name is tried.
fn hidden(path: &Path, name: &OsStr) -> io::Result<(PathBuf, File)> {
    const TRIES: u32 = 1000;
    let mut tries = 0;
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{tries}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Where a chain of links leads to, whether there is a file yet or not; true if it is the name of what a process has open,
/// which is a link that leads nowhere when that is a pipe.
fn linked(path: &Path) -> io::Result<(PathBuf, bool)> {
    const LINKS_MAX: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        if descriptor(&path).is_some() {
            return Ok((path, true));
        }
        let Ok(next) = fs::read_link(&path) else { return Ok((path, false)) };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

/// The number of what a process has open, if that is what a path names, and whether it is this process.
fn descriptor(path: &Path) -> Option<(u32, bool)> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = path.parent()?;
    if folder == Path::new("/dev/fd") {
        return Some((number, true));
    }
    // `/proc/self/fd` is `/proc/PID/fd`.
    let folder = folder.canonicalize().ok()?;
    if !folder.starts_with("/proc") || !folder.ends_with("fd") {
        return None;
    }
    Some((number, folder == Path::new("/proc").join(std::process::id().to_string()).join("fd")))
}

/// What a process has open, for writing behind what is there.
fn opened(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        // Whoever shares it goes on behind what is written here: a file that is opened once more would begin at its start.
        match descriptor(path) {
            Some((1, true)) => {
                io::stdout().flush()?;
                return Ok(io::stdout().as_fd().try_clone_to_owned()?.into());
            }
            Some((2, true)) => return Ok(io::stderr().as_fd().try_clone_to_owned()?.into()),
            _ => {}
        }
    }
    OpenOptions::new().append(true).open(path)
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
