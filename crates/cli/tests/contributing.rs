//! Can a newcomer add a buffer, an FTL, a victim policy and an experiment by following CONTRIBUTING.md to the letter?

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

/// Carries out the steps of a section: each of these files is written, in its language, and the list is changed as the diff
/// says. Returns the command of the last step.
fn follow<'a>(guide: &'a str, section: &str, files: &[(&str, &str)], list: &str, root: &Path) -> &'a str {
    let from = guide.find(section).unwrap_or_else(|| panic!("CONTRIBUTING.md has no `{section}`"));
    let guide = &guide[from..];
    let step = |number: usize, language| block(guide, &format!("**{number}.**"), language);
    for (at, (language, file)) in files.iter().enumerate() {
        fs::write(root.join(file), step(at + 1, language)).unwrap();
    }
    let diff = step(files.len() + 1, "diff");
    let lines = |mark: char| diff.split_inclusive('\n').filter_map(move |line| line.strip_prefix(mark));
    let (context, added): (String, String) = (lines(' ').collect(), lines('+').collect());
    let text = fs::read_to_string(root.join(list)).unwrap();
    assert_eq!(text.matches(&context).count(), 1, "the lines of the diff stand in {list}");
    fs::write(root.join(list), text.replace(&context, &format!("{context}{added}"))).unwrap();
    step(files.len() + 2, "sh").trim()
}

/// Runs a command of the guide, built here without optimisation because only its answer counts.
fn try_it(command: &str, root: &Path) -> String {
    let arguments = command.strip_prefix("./nandlab ").expect("the guide runs ./nandlab");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--locked", "-p", "nandlab-cli", "--"])
        .args(arguments.split(' '))
        .current_dir(root)
        .env("CARGO_TARGET_DIR", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("contributing-target"))
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(!err.contains("warning"), "{err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn guide_leads_to_a_buffer_an_ftl_a_victim_policy_and_an_experiment_that_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copy_root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    let _ = fs::remove_dir_all(&copy_root);
    fs::create_dir_all(&copy_root).unwrap();
    for file in ["Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"] {
        fs::copy(root.join(file), copy_root.join(file)).unwrap();
    }
    for krate in ["core", "trace", "plot", "lab", "cli"] {
        for part in ["src", "benches", "devices", "examples", "experiments"] {
            let from = root.join("crates").join(krate).join(part);
            if from.is_dir() {
                copy(&from, &copy_root.join("crates").join(krate).join(part));
            }
        }
        let manifest = Path::new("crates").join(krate).join("Cargo.toml");
        fs::copy(root.join(&manifest), copy_root.join(&manifest)).unwrap();
    }
    for file in ["crates/core/EVIDENCE.md", "crates/lab/measured.csv"] {
        fs::copy(root.join(file), copy_root.join(file)).unwrap();
    }

    let guide = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let [buffer, ftl] =
        [("A new buffer policy", "buffer", "mru"), ("A new FTL", "ftl", "whole")].map(|(section, kind, name)| {
            let folder = format!("crates/core/src/{kind}");
            follow(
                &guide,
                section,
                &[("rust", &format!("{folder}/{name}.rs"))],
                &format!("{folder}/mod.rs"),
                &copy_root,
            )
        });
    let list = "crates/core/src/ftl/victim.rs";
    let victim =
        follow(&guide, "A new victim policy", &[("rust", "crates/core/src/ftl/victim/worn_last.rs")], list, &copy_root);
    let files = [("toml", "crates/lab/experiments/loop_reads.toml"), ("rust", "crates/lab/src/claims/loop_reads.rs")];
    let list = "crates/lab/src/claims/mod.rs";
    let experiment = follow(&guide, "A new experiment", &files, list, &copy_root);
    let out = try_it(buffer, &copy_root);
    assert!(out.contains("mru") && out.contains("lru"), "{out}");
    let out = try_it(ftl, &copy_root);
    assert!(out.contains("whole") && out.contains("block"), "{out}");
    let out = try_it(victim, &copy_root);
    assert!(out.contains("page:victim=worn_last"), "{out}");
    let out = try_it(experiment, &copy_root);
    assert!(out.contains("| LRU 0.00, LIRS 40.64 | **reproduced** | LRU drops 19,744 pages, LIRS 11,616 |"), "{out}");
}
