//! A memory cgroup: how much of the host's memory a process tree has, its page cache included.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use crate::RecordError;

const ROOT: &str = "/sys/fs/cgroup";

/// A group that lives as long as this.
pub(super) struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// A group with this many bytes.
    pub fn create(bytes: u64) -> Result<Self, RecordError> {
        let root = Path::new(ROOT);
        // Version 2 has one tree for everything, version 1 one for memory.
        let is_one = root.join("cgroup.controllers").exists();
        let (parent, limit) =
            if is_one { (root.to_path_buf(), "memory.max") } else { (root.join("memory"), "memory.limit_in_bytes") };
        let folder = parent.join(format!("nandlab-{}", std::process::id()));
        let failed = |what: &Path, error: io::Error| RecordError::Memory {
            path: what.display().to_string(),
            reason: error.to_string(),
        };
        if is_one {
            let file = root.join("cgroup.subtree_control");
            fs::write(&file, "+memory").map_err(|error| failed(&file, error))?;
        }
        fs::create_dir(&folder).map_err(|error| failed(&folder, error))?;
        let group = Self(folder);
        let file = group.0.join(limit);
        fs::write(&file, bytes.to_string()).map_err(|error| failed(&file, error))?;
        Ok(group)
    }

    /// Processes of the group that the kernel killed because they needed more. 0 where it does not say (before Linux 4.13).
    pub fn killed(&self) -> u64 {
        // Version 2 and 1. Of the groups below nothing is counted in the second: a command rarely makes some.
        let files = ["memory.events", "memory.oom_control"].map(|file| fs::read_to_string(self.0.join(file)));
        let told = files.into_iter().flatten().collect::<String>();
        told.lines().filter_map(|line| line.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok()).sum()
    }

    /// A process becomes one of the group, and what it will start.
    pub fn take(&self, process: Pid) -> Result<(), RecordError> {
        let file = self.0.join("cgroup.procs");
        fs::write(&file, process.to_string())
            .map_err(|error| RecordError::Memory { path: file.display().to_string(), reason: error.to_string() })
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        _ = fs::remove_dir(&self.0);
    }
}
