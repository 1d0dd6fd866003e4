//! Does the code keep its own rules? (ARCHITECTURE.md, 'Rules')

use std::fs;
use std::path::{Path, PathBuf};

use nandlab::registry::{self, Plugin};
use serde_json::{Value, json};

fn source(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("readable");
                files.push((path, text));
            }
        }
    }
    assert!(!files.is_empty(), "no source files in {folder}");
    files.sort();
    files
}

/// Lines of code: without comments and without the test module at the end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[..end].lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn forbid(files: &[(PathBuf, String)], words: &[&str], rule: &str) {
    for (path, text) in files {
        for (number, line) in code(text) {
            for word in words {
                assert!(!line.contains(word), "{}:{}: `{word}`: {rule}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn flash_knows_nothing_above_it() {
    forbid(
        &source("flash"),
        &["crate::ftl", "crate::buffer", "crate::engine", "crate::catalog", "crate::config"],
        "flash is the lowest layer",
    );
}

#[test]
fn ftls_know_nothing_above_them() {
    forbid(
        &source("ftl"),
        &["crate::buffer", "crate::engine", "crate::catalog", "crate::config"],
        "an FTL knows the flash only",
    );
}

#[test]
fn policies_know_neither_ftl_nor_flash() {
    let policies = source("buffer");
    let words = ["crate::ftl", "crate::flash", "crate::engine", "crate::catalog", "crate::config", "super::super"];
    forbid(&policies, &words, "a policy senses the world through `Sense` and answers with a `Plan`");
}

#[test]
fn engine_knows_nothing_above_it() {
    let engine: Vec<_> = source("engine");
    forbid(&engine, &["crate::catalog", "crate::config"], "the catalogue and the configuration build the engine");
}

#[test]
fn core_uses_nothing_ambient() {
    let words = ["std::fs", "std::env", "std::net", "std::thread", "Instant", "SystemTime", "println!", "eprintln!"];
    forbid(&source(""), &words, "time, randomness and I/O are arguments in the core");
}

#[test]
fn plug_ins_are_enumerated_by_the_lists_only() {
    // A policy's name in quotes outside its own file and the tests would be a second registry. The padding model must
    // know which FTLs merge (specs of HitStat): it is the one exception.
    let names: Vec<String> = nandlab::catalog::BUFFERS.iter().map(|p| format!("\"{}\"", p.module)).collect();
    for (path, text) in source("engine").into_iter().chain(source("flash")) {
        for (number, line) in code(&text) {
            for name in &names {
                assert!(!line.contains(name.as_str()), "{}:{}: names {name}", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn merges_are_counted_in_one_place() {
    let ftls = source("ftl").into_iter().filter(|(path, _)| !path.ends_with("log/report.rs")).collect::<Vec<_>>();
    forbid(&ftls, &["ledger.merges_", "ledger.padding_"], "an FTL reports its merges to `ftl/log/report.rs`");
}

#[test]
fn every_parameter_is_explained_in_the_manual_page() {
    let buffers = nandlab::catalog::BUFFERS.iter().map(|p| (p.name(), p.manual(), (p.defaults)()));
    let ftls = nandlab::ftl::FTLS.iter().map(|p| (p.name(), p.manual(), (p.defaults)()));
    for (name, manual, defaults) in buffers.chain(ftls) {
        for parameter in defaults.as_object().expect("parameters are a table").keys() {
            assert!(manual.contains(&format!("`{parameter}`")), "{name}: parameter `{parameter}` is not explained");
        }
    }
}

/// Whether every range holds where it is said: in the schema, in the check and in the message.
fn ranges_hold<B>(list: &[Plugin<B>], section: &str) -> usize {
    let mut seen = 0;
    for plugin in list {
        let (schema, manual) = ((plugin.schema)(), plugin.manual());
        for parameter in (plugin.parameters)() {
            let name = parameter.name;
            let check = |value: &Value| {
                let mut params = json!({name: value});
                if let Some(need) = parameter.needs.as_ref().filter(|need| need.equal) {
                    params[need.name] = need.value.clone();
                }
                (plugin.check)(params)
            };
            let limits = ["minimum", "maximum", "exclusiveMinimum"].map(|keyword| &schema["properties"][name][keyword]);
            let Some(range) = &parameter.range else { continue };
            for (limit, step) in limits.into_iter().zip([-1, 1, 0]).filter(|(limit, _)| limit.is_number()) {
                let beyond = match limit.as_i64() {
                    Some(whole) => json!(whole + step),
                    None => json!(limit.as_f64().unwrap() + f64::from(step as i32)),
                };
                let error = check(&beyond).expect_err(name);
                assert_eq!(error.key, format!("{section}.{name}"), "{}: {error}", plugin.name());
                // A negative number is no value of an unsigned type in the first place.
                let is_typed = beyond.is_i64() && !beyond.is_u64();
                assert!(is_typed || error.to_string().contains(&range.to_string()), "{}: {error}", plugin.name());
                assert_eq!(check(limit).is_ok(), step != 0, "{}: {name} = {limit}", plugin.name());
                seen += 1;
            }
            assert!(manual.contains(&range.to_string()), "{}: {name}: {range}", plugin.name());
        }
    }
    seen
}

#[test]
fn range_of_every_parameter_is_checked_and_told() {
    assert!(ranges_hold(nandlab::catalog::BUFFERS, "buffer") > 40);
    ranges_hold(nandlab::ftl::FTLS, "ftl");
}

#[test]
fn values_of_an_enumerated_parameter_are_in_the_manual_page() {
    let page = registry::find(nandlab::catalog::BUFFERS, "buffer", "fab").unwrap().manual();
    for value in ["  - `aalru`: By AALRU's threshold", "  - a number: From this share", "  - `lab`: "] {
        assert!(page.contains(value), "{value} in\n{page}");
    }
}
