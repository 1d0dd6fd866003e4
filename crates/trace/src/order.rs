//! How several files become one trace.

/// How several files become one trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileOrder {
    /// Read one after the other, as they are named: parts of one log. What most formats suggest.
    Sequence,
    /// Merged by recorded time: logs kept side by side by one clock. What blktrace suggests, which has a file per CPU.
    Merge,
    /// Merged by recorded time, and each file is a device of its own, numbered from 0 in the order of the files. What
    /// msr (a file is a volume; files that begin with the same one are parts of it, and merged) and fio (a file is a job)
    /// suggest.
    Devices,
}

impl FileOrder {
    /// The words for the choices.
    pub const NAMES: [(&'static str, Self); 3] =
        [("sequence", Self::Sequence), ("merge", Self::Merge), ("devices", Self::Devices)];

    /// Its word.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// What the format suggests.
    pub(crate) fn of(format: &str) -> Self {
        match format {
            "blktrace" | "fio_lat" => Self::Merge,
            "msr" | "fio" => Self::Devices,
            _ => Self::Sequence,
        }
    }
}
