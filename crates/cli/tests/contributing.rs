//! Can a newcomer add a buffer by following CONTRIBUTING.md to the letter?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}

/// The first fenced block of a language after a heading text.
fn block<'a>(text: &'a str, after: &str, language: &str) -> &'a str {
    let from = text.find(after).unwrap_or_else(|| panic!("CONTRIBUTING.md has no `{after}`"));
    let fence = format!("```{language}\n");
    let start = from + text[from..].find(&fence).expect("a code block follows") + fence.len();
    &text[start..start + text[start..].find("```").expect("the block ends")]
}

#[test]
fn does_the_new_buffer_of_the_guide_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copy_root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    let _ = fs::remove_dir_all(&copy_root);
    fs::create_dir_all(&copy_root).unwrap();
    for file in ["Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"] {
        fs::copy(root.join(file), copy_root.join(file)).unwrap();
    }
    for krate in ["core", "trace", "cli"] {
        for part in ["src", "benches", "devices", "examples"] {
            let from = root.join("crates").join(krate).join(part);
            if from.is_dir() {
                copy(&from, &copy_root.join("crates").join(krate).join(part));
            }
        }
        let manifest = Path::new("crates").join(krate).join("Cargo.toml");
        fs::copy(root.join(&manifest), copy_root.join(&manifest)).unwrap();
    }

    let guide = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    // Step 1: the file.
    fs::write(copy_root.join("crates/core/src/buffer/mru.rs"), block(&guide, "**1.**", "rust")).unwrap();
    // Step 2: the line, as the diff says.
    let list = copy_root.join("crates/core/src/buffer/mod.rs");
    let diff = block(&guide, "**2.**", "diff");
    let lines = |mark: char| diff.split_inclusive('\n').filter_map(move |line| line.strip_prefix(mark));
    let (context, added): (String, String) = (lines(' ').collect(), lines('+').collect());
    let text = fs::read_to_string(&list).unwrap();
    assert_eq!(text.matches(&context).count(), 1, "the lines of the diff stand in buffer/mod.rs");
    fs::write(&list, text.replace(&context, &format!("{context}{added}"))).unwrap();
    // Step 3: the command, built here without optimisation because only its answer counts.
    let command = block(&guide, "**3.**", "sh").trim();
    let arguments = command.strip_prefix("./nandlab ").expect("the guide runs ./nandlab");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--locked", "-p", "nandlab-cli", "--"])
        .args(arguments.split(' '))
        .current_dir(&copy_root)
        .env("CARGO_TARGET_DIR", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("contributing-target"))
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert!(out.contains("mru") && out.contains("lru"), "{out}");
    assert!(!err.contains("warning"), "{err}");
}
