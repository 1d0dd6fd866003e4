//! The memory map of a process: which part of which file lies where.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a file that is mapped as code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mapping {
    /// Its addresses.
    pub addresses: Range<u64>,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// The file, or `[vdso]`.
    pub path: String,
}

/// The mappings of code that have a name, out of the text of `/proc/PID/maps`. Other lines are passed over.
pub fn mappings(text: &str) -> Vec<Mapping> {
    text.lines().filter_map(mapping).collect()
}

/// `55d0c8a00000-55d0c8a25000 r-xp 00008000 fe:01 1837 /usr/bin/cscope`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.trim_start().split_once(' ')?;
        rest = after;
        Some(word)
    };
    let (begin, end) = word()?.split_once('-')?;
    let is_code = word()?.as_bytes().get(2) == Some(&b'x');
    let number = |text| u64::from_str_radix(text, 16).ok();
    let offset = number(word()?)?;
    let (_device, _inode) = (word()?, word()?);
    let path = rest.trim_start();
    let addresses = number(begin)?..number(end)?;
    let is_known = is_code && !addresses.is_empty() && (path.starts_with('/') || path == "[vdso]");
    is_known.then(|| Mapping { addresses, offset, path: path.to_owned() })
}

/// Where file systems are mounted, by their device (`major << 20 | minor`), out of the text of `/proc/self/mountinfo`. Mounts
/// of a part of a file system, and other lines, are passed over.
pub fn mounts(text: &str) -> BTreeMap<u32, String> {
    text.lines().filter_map(mount).collect()
}

/// `36 35 98:0 / /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn mount(line: &str) -> Option<(u32, String)> {
    let mut words = line.split(' ').skip(2);
    let (major, minor) = words.next()?.split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    let is_whole = words.next()? == "/";
    let place = words.next()?.replace("\\040", " ");
    (is_whole && place.starts_with('/')).then(|| (major.wrapping_shl(20) | minor, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_whole_file_systems_are_found() {
        let text = "36 35 98:0 / /mnt\\0402 rw master:1 - ext3 /dev/root rw\n37 35 98:1 /part /x rw - ext3 y z\ngarbage\n1 2 x:y / /\n";
        assert_eq!(mounts(text), BTreeMap::from([(98 << 20, "/mnt 2".to_owned())]));
    }

    #[test]
    fn code_with_a_name_is_found_among_all_else() {
        let text = "55d0-55e0 r--p 00000000 fe:01 1837    /usr/bin/x\n\
                    5600-5700 r-xp 00001000 fe:01 1837    /usr/bin/a b (deleted)\n\
                    7000-7001 rw-p 00000000 00:00 0 \n\
                    7ffe-7fff r-xp 00000000 00:00 0       [vdso]\n\
                    8000-8001 r-xp 00000000 00:00 0 \n\
                    garbage\n-1-z r-xp q fe:01 1 /x\n9-8 r-xp 0 fe:01 1 /x\n";
        let found: Vec<_> = mappings(text).into_iter().map(|m| (m.addresses, m.offset, m.path)).collect();
        let vdso = (0x7ffe..0x7fff, 0, "[vdso]".to_owned());
        assert_eq!(found, [(0x5600..0x5700, 0x1000, "/usr/bin/a b (deleted)".to_owned()), vdso]);
    }
}
