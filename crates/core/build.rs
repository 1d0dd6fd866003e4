//! Gives the crate a number of its own sources, so that stored results can say which program they come from.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=src");
    let mut files = Vec::new();
    collect(Path::new("src"), &mut files);
    files.sort();
    let mut text = Vec::new();
    for file in files {
        text.extend_from_slice(&fs::read(&file).expect("a source file can be read"));
    }
    println!("cargo:rustc-env=NANDLAB_SOURCES={:032x}", twox_hash::XxHash3_128::oneshot(&text));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of the sources can be read") {
        let path = entry.expect("an entry of the folder can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
