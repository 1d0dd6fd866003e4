//! The files that a command reads and writes: no result takes the place of an input, or of another result.

use std::path::{Path, PathBuf};

use nandlab_trace::expand;

use crate::fail::Failure;

/// What a command reads and writes.
#[derive(Default)]
pub struct Files {
    /// Files, patterns, or names of what is no file.
    inputs: Vec<String>,
    /// Options and what they name; `-` is standard output.
    outputs: Vec<(&'static str, String)>,
}

impl Files {
    /// Those that read traces, with patterns.
    pub fn reading<'a>(inputs: impl IntoIterator<Item = &'a String>) -> Self {
        Self { inputs: inputs.into_iter().cloned().collect(), outputs: Vec::new() }
    }

    /// The same and what else is read.
    pub fn and<'a>(mut self, inputs: impl IntoIterator<Item = &'a String>) -> Self {
        self.inputs.extend(inputs.into_iter().cloned());
        self
    }

    /// The same and a result, if it was asked for.
    pub fn writing(mut self, option: &'static str, target: Option<impl Into<String>>) -> Self {
        self.outputs.extend(target.map(|target| (option, target.into())));
        self
    }

    /// Two results must not go to the same file: the one that is written first would be lost; and none may go to a file that
    /// is read, which would be gone. Devices and pipes may be both.
    ///
    /// # Errors
    /// One does.
    pub fn check(&self) -> Result<(), Failure> {
        // A pattern that is none is an error of reading.
        let read = |name: &String| expand(std::slice::from_ref(name)).unwrap_or_else(|_| vec![name.clone()]);
        let inputs: Vec<PathBuf> =
            self.inputs.iter().flat_map(read).filter_map(|name| Path::new(&name).canonicalize().ok()).collect();
        let mut known: Vec<(PathBuf, &str)> = Vec::new();
        for (option, target) in &self.outputs {
            let Some(place) = place(target) else { continue };
            if inputs.contains(&place) {
                let problem =
                    format!("{option} names {target}, which this command reads and which would be written over");
                return Err(Failure::bad(problem, "give the result a file of its own"));
            }
            if let Some((_, other)) = known.iter().find(|(known, _)| *known == place) {
                let problem =
                    format!("{other} and {option} both name {target}, and only one of the results would be there");
                return Err(Failure::bad(problem, "give each a file of its own"));
            }
            known.push((place, option));
        }
        Ok(())
    }
}

/// Links that lead to each other at most, as in Linux.
const LINKS_MAX: usize = 40;

/// Where a result takes the place of what is there; nothing for standard output, devices and pipes.
fn place(target: &str) -> Option<PathBuf> {
    let mut path = PathBuf::from(target);
    if target == "-" || path.metadata().is_ok_and(|data| !data.is_file()) {
        return None;
    }
    // A link may lead to what is not there yet.
    for _ in 0..LINKS_MAX {
        let Ok(to) = path.read_link() else { break };
        path.set_file_name(to);
    }
    // What is not there yet lies in a folder that is.
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let beside = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    Some(path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.clone()))
}
