//! The files of every crate import each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module by its path from the root of its crate.
type Module = Vec<String>;

/// The modules of a crate with their code, without comments and tests.
fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<(PathBuf, Module)> = vec![(source.to_path_buf(), Vec::new())];
    while let Some((folder, path)) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists") {
            let file = entry.expect("readable").path();
            let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
            let module = || [&path[..], std::slice::from_ref(&name)].concat();
            if file.is_dir() {
                folders.push((file.clone(), module()));
            } else {
                let text = fs::read_to_string(&file).expect("readable");
                let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
                let code = code.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
                let is_own = matches!(name.as_str(), "mod" | "main" | "lib");
                found.insert(if is_own { path.clone() } else { module() }, code);
            }
        }
    }
    found
}

/// The paths that a file's code names after `crate::` and `super::`, with the groups of `use` spelled out.
fn named(module: &Module, code: &str) -> Vec<Module> {
    let parent = module[..module.len().saturating_sub(1)].to_vec();
    let mut paths = Vec::new();
    for (word, base) in [("crate::", Vec::new()), ("super::", parent)] {
        for (at, _) in code.match_indices(word) {
            let rest = &code[at + word.len()..];
            let group = rest.strip_prefix('{').and_then(|rest| rest.split_once("};")).map(|(group, _)| group);
            for item in group.map_or(vec![rest], |group| group.split(',').collect()) {
                let name =
                    |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
                let parts = item.trim().split("::").map_while(|part| Some(name(part)).filter(|part| !part.is_empty()));
                paths.push([&base[..], &parts.collect::<Vec<_>>()].concat());
            }
        }
    }
    paths
}

/// What each module imports: the longest prefix of a path that is a module. Parents and children may know each other.
fn imports(modules: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let edges = |(module, code): (&'_ Module, &String)| {
        let target = |path: Module| {
            let lengths = (1..=path.len()).rev();
            let known = lengths.filter_map(|n| modules.get_key_value(&path[..n])).map(|(known, _)| known).next()?;
            (!known.starts_with(module) && !module.starts_with(known)).then(|| known.clone())
        };
        named(module, code).into_iter().filter_map(target).collect::<BTreeSet<_>>()
    };
    let known = |module: &Module| modules.get_key_value(module).expect("it is a module").0;
    modules.iter().map(|entry| (entry.0, edges(entry).iter().map(known).collect())).collect()
}

/// The imports that are left when those on no circle are taken out.
fn circle(mut imports: BTreeMap<&Module, BTreeSet<&Module>>) -> Vec<String> {
    // What imports nothing that is left is on no circle.
    while let Some(end) = imports.iter().find(|(_, to)| to.is_empty()).map(|(module, _)| *module) {
        imports.remove(end);
        for to in imports.values_mut() {
            to.remove(end);
        }
    }
    imports.iter().map(|(from, to)| format!("{} -> {to:?}", from.join("::"))).collect()
}

#[test]
fn files_import_each_other_in_one_direction() {
    for krate in ["cli", "lab", "core", "trace", "plot"] {
        let modules = modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src"));
        let imports = imports(&modules);
        let edges: usize = imports.values().map(BTreeSet::len).sum();
        assert!(edges > 20, "{krate}: only {edges} imports were found");
        let circle = circle(imports);
        assert!(circle.is_empty(), "{krate} imports in a circle: {}", circle.join("; "));
    }
}

#[test]
fn circle_over_several_files_is_found() {
    let module = |name: &str| name.split("::").map(str::to_owned).collect::<Module>();
    let house = |files: &[(&str, &str)]| -> BTreeMap<Module, String> {
        files.iter().map(|(name, code)| (module(name), (*code).to_owned())).collect()
    };
    let straight = [
        ("a", "mod part;\nuse crate::b::{One, Two};"),
        ("a::part", "use super::Whole;"),
        ("b", "use crate::c;"),
        ("c", ""),
    ];
    let straight = house(&straight);
    assert!(circle(imports(&straight)).is_empty(), "a parent and its child may know each other");
    for closing in ["use crate::a;", "use super::a::part::Part;", "use crate::{\n    a::Whole,\n    d::Other};"] {
        let mut round = straight.clone();
        round.insert(module("c"), closing.to_owned());
        round.insert(module("a::part"), "use crate::b;".to_owned());
        assert!(circle(imports(&round)).len() >= 3, "{closing}");
    }
}

#[test]
fn laboratory_knows_no_terminal() {
    for (module, code) in modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/src")) {
        for word in ["clap", "indicatif", "std::io::stdout", "println!", "eprintln!", "std::env::", "process::exit"] {
            assert!(!code.contains(word), "{}: {word}", module.join("::"));
        }
    }
}
