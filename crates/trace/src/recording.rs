//! What the ids of files and call stacks in a trace stand for.
//!
//! Ids are hashes of what they stand for: two recordings of one program give its call stacks the same ids wherever its
//! modules were loaded, and joining the tables of several traces renumbers nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The files, call stacks and modules that the requests of a trace name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Recording {
    /// Programs and libraries by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    modules: BTreeMap<u32, Module>,
    /// Call stacks by id, the innermost frame first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    stacks: BTreeMap<u32, Vec<StackFrame>>,
    /// Files by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<u32, FileName>,
}

/// A program or library of which code ran.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Module {
    /// Its path as it was mapped.
    pub path: String,
    /// What the linker calls this build of it, in hexadecimal digits; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build: String,
}

/// A return address (of the innermost frame: the instruction after the system call), relative to its module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct StackFrame(
    /// The module, by its id; 0 = code in no file.
    pub u32,
    /// Address within the module, as its linker numbers it.
    pub u64,
);

/// A file, as its file system tells it from all others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct FileName {
    /// Path when it was opened.
    pub path: String,
    /// Number of its file system.
    pub device: u64,
    /// Number of its inode.
    pub inode: u64,
    /// Which of the files that had this inode one after the other.
    pub generation: u64,
}

/// One line of the tables, as text has it in a comment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingEntry {
    /// A program or library and its id.
    Module(u32, Module),
    /// A call stack and its id.
    Stack(u32, Vec<StackFrame>),
    /// A file and its id.
    File(u32, FileName),
}

impl Recording {
    /// Nothing.
    pub(crate) const NOTHING: Self = Self { modules: BTreeMap::new(), stacks: BTreeMap::new(), files: BTreeMap::new() };

    /// It says nothing.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.stacks.is_empty() && self.files.is_empty()
    }

    /// A program or library.
    pub fn module(&self, id: u32) -> Option<&Module> {
        self.modules.get(&id)
    }
    /// The frames of a call stack, the innermost first.
    pub fn stack(&self, id: u32) -> Option<&[StackFrame]> {
        self.stacks.get(&id).map(Vec::as_slice)
    }
    /// A file.
    pub fn file(&self, id: u32) -> Option<&FileName> {
        self.files.get(&id)
    }
    /// All call stacks with their ids.
    pub fn stacks(&self) -> impl Iterator<Item = (u32, &[StackFrame])> {
        self.stacks.iter().map(|(id, frames)| (*id, frames.as_slice()))
    }
    /// How many files there are.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The id of a module, which is learnt if it is new.
    pub fn add_module(&mut self, module: Module) -> u32 {
        let name = if module.build.is_empty() { &module.path } else { &module.build };
        let id = hash([name.as_bytes()]);
        enter(&mut self.modules, id, module)
    }
    /// The id of a call stack, which is learnt if it is new; 0 for one without frames.
    pub fn add_stack(&mut self, frames: Vec<StackFrame>) -> u32 {
        if frames.is_empty() {
            return 0;
        }
        let id =
            hash(frames.iter().flat_map(|StackFrame(module, address)| {
                [module.to_le_bytes().to_vec(), address.to_le_bytes().to_vec()]
            }));
        enter(&mut self.stacks, id, frames)
    }
    /// The id of a file, which is learnt if it is new.
    pub fn add_file(&mut self, file: FileName) -> u32 {
        let numbers = [file.device, file.inode, file.generation].map(u64::to_le_bytes);
        let id = hash(std::iter::once(file.path.as_bytes()).chain(numbers.iter().map(<[u8; 8]>::as_slice)));
        enter(&mut self.files, id, file)
    }

    /// Learns a line of the tables; what an id stands for already stays.
    pub fn add(&mut self, entry: RecordingEntry) {
        match entry {
            RecordingEntry::Module(id, module) => drop(self.modules.entry(id).or_insert(module)),
            RecordingEntry::Stack(id, frames) => drop(self.stacks.entry(id).or_insert(frames)),
            RecordingEntry::File(id, file) => drop(self.files.entry(id).or_insert(file)),
        }
    }
    /// Learns what another trace says.
    pub fn join(&mut self, other: &Self) {
        other.entries().for_each(|entry| self.add(entry));
    }
    /// Every line of the tables.
    pub fn entries(&self) -> impl Iterator<Item = RecordingEntry> {
        let modules = self.modules.iter().map(|(id, module)| RecordingEntry::Module(*id, module.clone()));
        let stacks = self.stacks.iter().map(|(id, frames)| RecordingEntry::Stack(*id, frames.clone()));
        modules.chain(stacks).chain(self.files.iter().map(|(id, file)| RecordingEntry::File(*id, file.clone())))
    }
}

/// 32 bits of a hash (FNV-1a) of parts; never 0, which means unknown.
fn hash<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> u32 {
    let mut sum = 0xCBF2_9CE4_8422_2325_u64;
    for part in parts {
        for byte in part.as_ref() {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    ((sum >> 32) as u32 ^ sum as u32).max(1)
}

/// Enters a value under its id, or under the next that is free.
fn enter<T: PartialEq>(table: &mut BTreeMap<u32, T>, mut id: u32, value: T) -> u32 {
    while table.get(&id).is_some_and(|known| *known != value) {
        id = id.wrapping_add(1).max(1);
    }
    table.entry(id).or_insert(value);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_in_any_order_and_free_ones_solve_collisions() {
        let [one, two] = [vec![StackFrame(7, 0x1234)], vec![StackFrame(7, 0x1234), StackFrame(9, 1)]];
        let (mut here, mut there) = (Recording::default(), Recording::default());
        let ids = [here.add_stack(one.clone()), here.add_stack(two.clone())];
        assert_eq!([there.add_stack(two.clone()), there.add_stack(one.clone())], [ids[1], ids[0]]);
        assert_eq!(there, here);
        assert_eq!((here.add_stack(one.clone()), here.stack(ids[1])), (ids[0], Some(&two[..])));
        let mut full = BTreeMap::from([(u32::MAX, 5)]);
        assert_eq!((enter(&mut full, u32::MAX, 6), enter(&mut full, u32::MAX, 6)), (1, 1));
        assert_eq!(Recording::default().add_stack(Vec::new()), 0);
    }

    #[test]
    fn entries_are_the_whole() {
        let mut all = Recording::default();
        let module = all.add_module(Module { path: "/bin/x".to_owned(), build: String::new() });
        all.add_stack(vec![StackFrame(module, 4)]);
        all.add_file(FileName { path: "a \"b\"".to_owned(), device: 1, inode: 2, generation: 3 });
        let mut again = Recording::default();
        for entry in all.entries() {
            again.add(serde_json::from_str(&serde_json::to_string(&entry).unwrap()).unwrap());
        }
        assert_eq!(again, all);
    }
}
