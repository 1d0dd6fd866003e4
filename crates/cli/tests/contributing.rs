//! Can a newcomer add a plug-in of every kind by following CONTRIBUTING.md to the letter?

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BUFFER: &str = "crates/core/src/buffer/mru.rs";
const EVIDENCE: &str = "crates/core/EVIDENCE.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The place for a copy of the project and what is built of it.
fn temporary(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The first fenced block of a language after a heading text.
fn block<'a>(text: &'a str, after: &str, language: &str) -> &'a str {
    let from = text.find(after).unwrap_or_else(|| panic!("CONTRIBUTING.md has no `{after}`"));
    let fence = format!("```{language}\n");
    let start = from + text[from..].find(&fence).expect("a code block follows") + fence.len();
    &text[start..start + text[start..].find("```").expect("the block ends")]
}

/// A section of the guide, up to the next heading.
fn section<'a>(guide: &'a str, heading: &str) -> &'a str {
    let heading = format!("\n## {heading} in ");
    let from = guide.find(&heading).unwrap_or_else(|| panic!("CONTRIBUTING.md has no `{heading}`"));
    let end = guide[from + 4..].find("\n## ").map_or(guide.len(), |at| from + 4 + at);
    &guide[from..end]
}

/// A step of a section.
fn step<'a>(section: &'a str, number: usize, language: &str) -> &'a str {
    block(section, &format!("**{number}.**"), language)
}

/// Carries out the steps of a section: each of these files is written, in its language, and the list is changed as the diff
/// says.
fn follow(section: &str, files: &[(&str, &str)], list: &str, copy: &Path) {
    for (at, (language, file)) in files.iter().enumerate() {
        fs::write(copy.join(file), step(section, at + 1, language)).unwrap();
    }
    add_lines(&copy.join(list), step(section, files.len() + 1, "diff"));
}

/// Adds the lines of a diff behind those that are there.
fn add_lines(file: &Path, diff: &str) {
    let lines = |mark: char| diff.split_inclusive('\n').filter_map(move |line| line.strip_prefix(mark));
    let (context, added): (String, String) = (lines(' ').collect(), lines('+').collect());
    edit(file, &context, &format!("{context}{added}"));
}

/// Replaces the one place of a file that has this text.
fn edit(file: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{} has once:\n{old}", file.display());
    fs::write(file, text.replace(old, new)).unwrap();
}

/// Copies what is under version control.
fn copy_project(to: &Path) {
    _ = fs::remove_dir_all(to);
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output().expect("git");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    for file in String::from_utf8(listed.stdout).unwrap().lines().filter(|file| root().join(file).exists()) {
        fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
        fs::copy(root().join(file), to.join(file)).unwrap();
    }
}

/// Saves building other people's crates again: links to those that this test was built with, or as many as can be had.
fn link_dependencies(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    _ = fs::create_dir_all(to);
    for entry in entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().contains("nandlab")) {
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        if old.is_dir() {
            link_dependencies(&old, &new);
        } else if old.components().any(|part| part.as_os_str() == ".fingerprint") {
            // Cargo writes these in place.
            _ = fs::copy(old, new);
        } else {
            _ = fs::hard_link(old, new);
        }
    }
}

/// Where a copy is built: each has its own, so that no copy runs what another has built.
fn target_of(copy: &Path) -> PathBuf {
    let mut target = copy.as_os_str().to_owned();
    target.push("-target");
    target.into()
}

/// A command in the copy.
fn command(program: &str, arguments: &[&str], copy: &Path) -> Output {
    let target = target_of(copy);
    if !target.is_dir() {
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../debug");
        for part in ["deps", "build", ".fingerprint"] {
            link_dependencies(&built.join(part), &target.join("debug").join(part));
        }
    }
    Command::new(program).args(arguments).current_dir(copy).env("CARGO_TARGET_DIR", target).output().unwrap()
}

/// Builds the command in the copy, and an example, because an example has the features that tests have: no crate of others
/// is built again. Only the core is optimised, without which the commands of the guide would take longer than the build; nobody
/// looks for the lines of a panic.
fn build(copy: &Path) {
    let settings: Vec<String> = ["nandlab-trace", "nandlab-plot", "nandlab-host", "nandlab-record"]
        .iter()
        .map(|name| format!("--config=profile.dev.package.{name}.opt-level=0"))
        .chain(["package.nandlab.opt-level=1", "debug=false"].map(|setting| format!("--config=profile.dev.{setting}")))
        .collect();
    let cargo =
        ["build", "--quiet", "--offline", "--locked", "--workspace", "--bin", "nandlab", "--example", "bare_lru"];
    let output =
        command(env!("CARGO"), &cargo.into_iter().chain(settings.iter().map(String::as_str)).collect::<Vec<_>>(), copy);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !err.contains("warning"), "{err}");
}

/// Runs a command of the guide.
fn try_it(line: &str, copy: &Path) -> String {
    let arguments = line.trim().strip_prefix("./nandlab ").expect("the guide runs ./nandlab").split(' ');
    build(copy);
    let binary = target_of(copy).join("debug/nandlab");
    let output = command(&binary.to_string_lossy(), &arguments.collect::<Vec<_>>(), copy);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {err}");
    assert!(!err.contains("warning"), "{line}: {err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Follows all sections in a copy of the project; none if this is such a copy.
fn follow_the_guide(name: &str) -> Option<(String, PathBuf)> {
    if root().join(BUFFER).exists() {
        return None;
    }
    let copy = temporary(name);
    copy_project(&copy);
    let guide = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let rust = |file| vec![("rust", file)];
    let experiment = vec![("toml", "crates/lab/experiments/loop_reads.toml")];
    for (heading, files, list) in [
        ("A new buffer policy", rust(BUFFER), "crates/core/src/buffer/mod.rs"),
        ("A new FTL", rust("crates/core/src/ftl/whole.rs"), "crates/core/src/ftl/mod.rs"),
        ("A new victim policy", rust("crates/core/src/ftl/victim/worn_last.rs"), "crates/core/src/ftl/victim.rs"),
        ("A new experiment", experiment, "crates/lab/src/papers/mod.rs"),
        ("A new trace format", rust("crates/trace/src/formats/at_signs.rs"), "crates/trace/src/formats.rs"),
        ("A new generator", rust("crates/trace/src/generators/ends.rs"), "crates/trace/src/generators/mod.rs"),
    ] {
        follow(section(&guide, heading), &files, list, &copy);
    }
    fs::write(copy.join("example.at"), "W@2048@8\nR@2048@8\n").unwrap();
    Some((guide, copy))
}

#[test]
fn guide_leads_to_plugins_that_work() {
    let Some((guide, copy)) = follow_the_guide("contributing") else { return };
    for (heading, number, answers) in [
        ("A new buffer policy", 3, ["mru", "lru"]),
        ("A new FTL", 3, ["whole", "block"]),
        ("A new victim policy", 3, ["page:victim=worn_last", "lru"]),
        ("A new experiment", 3, ["4 cells", "Of 1 claim 1 holds in every case under every condition"]),
        ("A new trace format", 3, ["at_signs", "because its rows are `R@number@number`"]),
        ("A new generator", 3, ["make:ends", "20,000"]),
    ] {
        let out = try_it(step(section(&guide, heading), number, "sh"), &copy);
        assert!(answers.iter().all(|answer| out.contains(answer)), "{heading}: {out}");
    }
}

/// The rest of the guide, and then all that must hold before a change is taken.
#[test]
#[ignore = "as long as ./test; run it before a release: cargo test -p nandlab-cli --test contributing -- --ignored"]
fn guide_leads_to_a_project_that_passes_its_tests() {
    let Some((guide, copy)) = follow_the_guide("contributing-whole") else { return };
    try_it(step(section(&guide, "A new buffer policy"), 4, "sh"), &copy);

    let row = step(section(&guide, "A new FTL"), 4, "text");
    let last = fs::read_to_string(copy.join(EVIDENCE)).unwrap();
    let last = last.lines().rfind(|line| line.starts_with("| ")).unwrap().to_owned() + "\n";
    edit(&copy.join(EVIDENCE), &last, &format!("{last}{row}"));
    let counted = ["test", "--quiet", "--locked", "-p", "nandlab", "--test", "every_ftl", "--no-fail-fast"];
    let counted = command(env!("CARGO"), &counted, &copy);
    let mut cells: Vec<String> = row.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    let table = fs::read_to_string(copy.join(EVIDENCE)).unwrap();
    let columns: Vec<&str> = table.lines().find(|line| line.starts_with("| FTL")).unwrap().split('|').collect();
    for line in String::from_utf8_lossy(&counted.stdout).lines() {
        let Some((_, told)) = line.split_once("EVIDENCE.md tells 0 ") else { continue };
        let (column, number) = told.split_once(" of whole, counted ").expect("of the new FTL alone");
        let index = columns.iter().position(|name| name.trim() == column).expect("a column of the table");
        cells[index - 1] = number.trim_end_matches(": write that").to_owned();
    }
    edit(&copy.join(EVIDENCE), row, &format!("| {} |\n", cells.join(" | ")));

    let checksums = copy.join("crates/trace/tests/generators.rs");
    add_lines(&checksums, step(section(&guide, "A new generator"), 4, "diff"));
    let (before, now) = (common::stdout(&["list", "generators"]), try_it("./nandlab list generators", &copy));
    edit(&copy.join("docs/workloads.md"), &before, &now);

    for args in [["init", "--quiet"].as_slice(), &["add", "--all"]] {
        assert!(command("git", args, &copy).status.success());
    }
    // Where there is no Python the stubs are not tested either.
    let stubs = command("scripts/python.sh", &["stubs"], &copy);
    assert!(stubs.status.success(), "{}", String::from_utf8_lossy(&stubs.stderr));
    let tested = command("./test", &[], &copy);
    let (out, err) = (String::from_utf8_lossy(&tested.stdout), String::from_utf8_lossy(&tested.stderr));
    assert!(tested.status.success(), "{out}\n{err}");
}
