//! Which file a descriptor of another process is, and where in it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use nandlab_trace::FileName;
use nix::unistd::Pid;

/// An open file.
pub(super) struct OpenFile {
    pub name: FileName,
    /// It has a name in some folder, so that it can be opened again.
    pub is_named: bool,
    pub bytes: u64,
    /// Position for calls that have none of their own.
    pub position: u64,
    /// With which flags (`O_*`) it was opened.
    pub flags: i32,
}

impl OpenFile {
    /// It was opened with this flag: what is written goes to the end (`O_APPEND`), it bypasses the page cache
    /// (`O_DIRECT`), or every write is durable (`O_DSYNC`).
    pub fn is(&self, flag: i32) -> bool {
        self.flags & flag != 0
    }
}

/// Folders whose files are not on a device.
const ELSEWHERE: [&str; 3] = ["/proc/", "/sys/", "/dev/"];

/// What the names of files in memory that no folder has (`memfd_create`) begin with.
const MEMORY: &str = "/memfd:";

/// How a file is told from all others, if it is a regular file.
fn named(meta: &fs::Metadata, path: &Path) -> Option<FileName> {
    let path = path.to_string_lossy();
    // What the system adds to the name of an open file that has none any more.
    let path = if meta.nlink() == 0 { path.strip_suffix(" (deleted)").unwrap_or(&path) } else { &path };
    let is_memory = meta.nlink() == 0 && path.starts_with(MEMORY);
    if !meta.is_file() || is_memory || ELSEWHERE.iter().any(|folder| path.starts_with(folder)) {
        return None;
    }
    // A file of the same inode that is made later has another birth.
    let born = meta.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let generation = born.map_or(0, |time| time.as_nanos() as u64);
    Some(FileName { path: path.to_owned(), device: meta.dev(), inode: meta.ino(), generation })
}

/// The regular file behind a descriptor.
pub(super) fn open_file(task: Pid, descriptor: u64) -> Option<OpenFile> {
    // Descriptors are 32 bits wide, whatever the register held.
    let descriptor = descriptor as u32;
    let link = PathBuf::from(format!("/proc/{task}/fd/{descriptor}"));
    let meta = fs::metadata(&link).ok().filter(fs::Metadata::is_file)?;
    let name = named(&meta, &fs::read_link(&link).ok()?)?;
    let told = fs::read_to_string(format!("/proc/{task}/fdinfo/{descriptor}")).ok()?;
    let field = |name: &str| told.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some(OpenFile {
        name,
        is_named: meta.nlink() > 0,
        bytes: meta.len(),
        position: field("pos:").and_then(|text| text.parse().ok()).unwrap_or(0),
        flags: field("flags:").and_then(|text| i32::from_str_radix(text, 8).ok()).unwrap_or(0),
    })
}

/// Names of what a process has open.
const STANDARD: [(&str, &str); 3] = [("/dev/stdin", "0"), ("/dev/stdout", "1"), ("/dev/stderr", "2")];

/// The path that a process means by a name; `folder`: descriptor of the folder that it is relative to. What means the process
/// itself (`/proc/self`, `/dev/stdout`) means the task, and a root of its own (`chroot`) is where its absolute names begin.
fn path(task: Pid, folder: Option<u64>, name: &[u8]) -> Option<PathBuf> {
    let name = Path::new(std::ffi::OsStr::from_bytes(name));
    if name.is_absolute() {
        let own = PathBuf::from(format!("/proc/{task}"));
        let standard = STANDARD.iter().find(|(known, _)| name == Path::new(known));
        let below = |folder: &str| name.strip_prefix(folder).ok();
        return Some(match (below("/proc/self").or_else(|| below("/proc/thread-self")), below("/dev/fd"), standard) {
            (Some(rest), ..) => own.join(rest),
            (_, Some(rest), _) => own.join("fd").join(rest),
            (.., Some((_, descriptor))) => own.join("fd").join(descriptor),
            // The root of a process that hides it is taken to be ours.
            _ => fs::read_link(own.join("root")).map_or_else(|_| name.to_owned(), |root| below_root(&root, name)),
        });
    }
    let base = match folder.map(|folder| folder as i32) {
        None | Some(libc::AT_FDCWD) => format!("/proc/{task}/cwd"),
        Some(folder) => format!("/proc/{task}/fd/{folder}"),
    };
    Some(fs::read_link(base).ok()?.join(name))
}

fn below_root(root: &Path, name: &Path) -> PathBuf {
    root.join(name.strip_prefix("/").unwrap_or(name))
}

/// Nobody may see what the process of a task has open: neither what it reads nor what it writes.
pub(super) fn is_hidden(task: Pid) -> bool {
    fs::read_link(format!("/proc/{task}/exe")).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

/// The regular file that a name leads to.
pub(super) fn named_file(task: Pid, folder: Option<u64>, name: &[u8]) -> Option<FileName> {
    let path = fs::canonicalize(path(task, folder, name)?).ok()?;
    named(&fs::metadata(&path).ok()?, &path)
}

/// The regular file of a descriptor, if that is how a call of `linkat` names it: the only way to name one that has no name.
pub(super) fn linked_file(task: Pid, folder: u64, name: &[u8]) -> Option<FileName> {
    let descriptor = match name {
        b"" => folder,
        name => {
            let path = path(task, None, name)?;
            path.strip_prefix(format!("/proc/{task}/fd")).ok()?.to_str()?.parse().ok()?
        }
    };
    open_file(task, descriptor).map(|file| file.name)
}

/// The regular file of this name that has no other name.
pub(super) fn last_name(task: Pid, folder: Option<u64>, name: &[u8]) -> Option<FileName> {
    let path = path(task, folder, name)?;
    let meta = fs::symlink_metadata(&path).ok().filter(|meta| meta.nlink() == 1 && meta.is_file())?;
    // As an open file is called: without links and detours.
    named(&meta, &fs::canonicalize(&path).ok()?)
}
