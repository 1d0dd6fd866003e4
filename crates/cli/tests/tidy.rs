//! Does the code of all crates keep the rules of the house? Files import each other in one direction and can be read in
//! one sitting; no two public items share a name; the laboratory knows no terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module by its path from the root of its crate.
type Module = Vec<String>;

const CRATES: [&str; 8] = ["cli", "lab", "core", "trace", "plot", "host", "record", "py"];

/// Names that several public items have, and why they have one meaning all the same.
const SHARED: [(&str, &str); 1] = [("build", "each plug-in has one, which builds it from its parameters")];

/// A folder of a crate, such as `src`.
fn folder(krate: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join(name)
}

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
    for krate in CRATES {
        let modules = modules(&folder(krate, "src"));
        let imports = imports(&modules);
        let edges: usize = imports.values().map(BTreeSet::len).sum();
        assert!(edges * 2 > modules.len(), "{krate}: only {edges} imports were found in {} files", modules.len());
        let circle = circle(imports);
        assert!(circle.is_empty(), "{krate} imports in a circle: {}", circle.join("; "));
    }
}

fn module(name: &str) -> Module {
    name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Modules by their names.
fn house(files: &[(&str, &str)]) -> BTreeMap<Module, String> {
    files.iter().map(|(name, code)| (module(name), (*code).to_owned())).collect()
}

#[test]
fn circle_over_several_files_is_found() {
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

/// What the `pub use` of a module give: the path by which each item can be named, and the path that it is taken from.
fn exports(module: &Module, code: &str) -> Vec<(Module, Module)> {
    let parent = &module[..module.len().saturating_sub(1)];
    let mut found = Vec::new();
    for statement in code.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or_default()) {
        let (prefix, group) = statement.split_once('{').unwrap_or(("", statement));
        for item in group.trim_end_matches('}').split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (path, alias) = item.split_once(" as ").unwrap_or((item, ""));
            let path = format!("{prefix}{path}");
            let mut parts: Vec<String> = path.split("::").map(str::to_owned).collect();
            let base = match parts[0].as_str() {
                "crate" => &[],
                "super" => parent,
                _ => &module[..],
            };
            if ["crate", "super", "self"].contains(&parts[0].as_str()) {
                parts.remove(0);
            }
            let name = if alias.is_empty() { parts.last().expect("a path").clone() } else { alias.to_owned() };
            let (here, there) = ([&module[..], &[name]].concat(), [base, &parts].concat());
            // A macro is passed on by its own module.
            found.extend((here != there).then_some((here, there)));
        }
    }
    found
}

/// The public items of a crate: name and path of the definition. Modules are left out: they are named for what they hold.
fn public_items(modules: &BTreeMap<Module, String>) -> BTreeSet<(String, Module)> {
    let exports_of = |module: &Module| exports(module, &format!("\n{}", modules[module]));
    let taken_from: BTreeMap<Module, Module> = modules.keys().flat_map(exports_of).collect();
    let mut items = BTreeSet::new();
    let mut open = vec![Module::new()];
    while let Some(module) = open.pop() {
        let code = &modules[&module];
        let inside = |name: &str| [&module[..], &[name.to_owned()]].concat();
        for line in code.lines().filter_map(|line| line.strip_prefix("pub ")) {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            let kind = words.next().unwrap_or_default();
            match words.find(|word| *word != "fn") {
                Some(name) if kind == "mod" => open.push(inside(name)),
                Some(name) if kind != "use" => drop(items.insert((name.to_owned(), inside(name)))),
                _ => {}
            }
        }
        // The modules of a list of plug-ins are public too.
        let list = code.split("plugins! {").nth(1).into_iter().flat_map(str::lines);
        let listed = list.filter_map(|line| line.strip_prefix("    ")?.strip_suffix(',')).map(inside);
        open.extend(listed.filter(|path| modules.contains_key(path)));
        for (path, mut source) in exports_of(&module) {
            while let Some(before) = taken_from.get(&source) {
                source.clone_from(before);
            }
            items.insert((path.last().expect("a name").clone(), source));
        }
    }
    items
}

/// Names that stand for several public items, and where those are.
fn shared_names(crates: &[(&str, BTreeMap<Module, String>)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (krate, modules) in crates {
        for (name, path) in public_items(modules) {
            places.entry(name).or_default().insert(format!("{krate}::{}", path.join("::")));
        }
    }
    assert!(crates.len() < 3 || places.len() > 400, "only {} public items were found", places.len());
    places.retain(|_, places| places.len() > 1);
    places
}

#[test]
fn public_items_have_a_name_of_their_own() {
    // The command line is a program, which has no public items.
    let crates = CRATES[1..].iter().map(|krate| (*krate, modules(&folder(krate, "src"))));
    let mut shared = shared_names(&crates.collect::<Vec<_>>());
    for (name, reason) in SHARED {
        assert!(shared.remove(name).is_some(), "`{name}` is no exception any more ({reason})");
    }
    assert!(shared.is_empty(), "one of each should have another name, or be private: {shared:#?}");
}

#[test]
fn public_items_of_one_name_are_found() {
    let lab = house(&[
        ("", "pub mod table;\nmod row;\npub use row::Row;\npub use table::{Cell, Table};"),
        ("row", "pub struct Row;\npub struct Hidden;"),
        ("table", "pub struct Table {\n    pub cell: Cell,\n}\npub enum Cell {}\npub(crate) struct Column;"),
    ]);
    let plain = ("", "pub mod series;\npub mod table;\npub use series::Series as Line;");
    let plot = |code| house(&[plain, ("table", "pub const fn table() {}"), ("series", code)]);
    let shared = |code| shared_names(&[("lab", lab.clone()), ("plot", plot(code))]);
    assert_eq!(shared("pub struct Series;\nstruct Cell;\npub type Hidden = Column;"), BTreeMap::new());
    for (code, name) in [
        ("pub struct Series;\npub struct Row;", "Row"),
        ("pub struct Series;\npub trait Cell {}", "Cell"),
        ("pub struct Series;\npub const fn table() {}", "table"),
        ("pub struct Series;\npub type Line = u32;", "Line"),
    ] {
        assert_eq!(shared(code).keys().collect::<Vec<_>>(), [name], "{code}");
    }
}

#[test]
fn every_file_can_be_read_in_one_sitting() {
    let mut folders: Vec<PathBuf> = CRATES
        .iter()
        .flat_map(|krate| ["src", "tests", "benches", "examples"].map(|name| folder(krate, name)))
        .collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let (text, name) = (fs::read_to_string(&path).expect("readable"), path.display());
                let lines = text.lines().count();
                assert!(lines <= 450, "{name} has {lines} lines: split it by what it is about");
                assert!(text.starts_with("//!"), "{name} does not say what it is for");
                for (number, line) in text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//")) {
                    assert!(line.chars().count() <= 130, "{name}:{} is too long", number + 1);
                }
                files += 1;
            }
        }
    }
    assert!(files > 500, "only {files} files were found");
}

#[test]
fn laboratory_knows_no_terminal() {
    for (module, code) in modules(&folder("lab", "src")) {
        for word in ["clap", "indicatif", "std::io::stdout", "println!", "eprintln!", "std::env::", "process::exit"] {
            assert!(!code.contains(word), "{}: {word}", module.join("::"));
        }
    }
}
