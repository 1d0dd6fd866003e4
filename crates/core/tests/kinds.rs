//! Is every plug-in of every kind what a registry promises: described, found by its name, and at work?

use nandlab::buffer::tools::PaddingRule;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, Config, PluginConfig};
use nandlab::engine::Payload;
use nandlab::error::ConfigError;
use nandlab::flash::clock::{SchedulerRule, TimingRule};
use nandlab::ftl::cache::CmtOrderRule;
use nandlab::ftl::{FTLS, alloc, chain_victim, pace, placement, victim};
use nandlab::registry::Plugin;
use nandlab::registry::rules::{Number, Rule};
use nandlab::types::{HostOp, HostRequest, Nanos};
use serde_json::{Value, json};

mod kit;

use kit::Dice;

/// Sections of a manual page, in this order.
const HEADINGS: [&str; 5] =
    ["Source", "What it does", "Parameters", "Deviations and chosen readings", "Known ambiguities"];

/// One of a kind.
struct Named {
    name: String,
    manual: String,
    /// How a configuration names it.
    value: Value,
}

/// A kind of plug-ins.
struct Kind {
    name: &'static str,
    /// Key of a configuration that takes one.
    key: &'static str,
    /// Sections that every manual page has.
    headings: &'static [&'static str],
    all: Vec<Named>,
}

fn plugins<B>(name: &'static str, key: &'static str, list: &[Plugin<B>]) -> Kind {
    let named =
        |plugin: &Plugin<B>| Named { name: plugin.name(), manual: plugin.manual(), value: json!(plugin.name()) };
    Kind { name, key, headings: &HEADINGS, all: list.iter().map(named).collect() }
}

fn rules<R: Rule>() -> Kind {
    let named = |plugin: &Plugin<R>| {
        let value = match plugin.build.number() {
            None => json!(plugin.module),
            Some(Number::Named(_)) => json!({plugin.module: 3}),
            // Pages are whole, shares are not.
            Some(Number::Alone(meaning)) => json!(if meaning.starts_with("pages") { 2.0 } else { 0.5 }),
        };
        Named { name: plugin.name(), manual: plugin.manual(), value }
    };
    Kind { name: R::KIND, key: R::KEY, headings: &["What it does"], all: R::ALL.iter().map(named).collect() }
}

fn kinds() -> Vec<Kind> {
    vec![
        plugins("buffer", "buffer.name", BUFFERS),
        plugins("ftl", "ftl.name", FTLS),
        rules::<victim::VictimRule>(),
        rules::<chain_victim::ChainVictimRule>(),
        rules::<alloc::AllocRule>(),
        rules::<placement::PlacementRule>(),
        rules::<pace::PaceRule>(),
        rules::<PaddingRule>(),
        rules::<TimingRule>(),
        rules::<SchedulerRule>(),
        rules::<CmtOrderRule>(),
    ]
}

/// True if a parameter of a plug-in takes a rule of a kind.
fn takes<B>(plugin: &Plugin<B>, parameter: &str, kind: &str) -> bool {
    (plugin.schema)()["properties"][parameter].to_string().contains(&format!("\"#/$defs/{kind}\""))
}

/// The pairs of a buffer and an FTL of which one takes rules of a kind; a plain pair for a key of the device.
fn users(kind: &Kind) -> Vec<(String, String)> {
    let (section, parameter) = kind.key.rsplit_once('.').unwrap();
    let of = |name: &str, ftl: &str| (name.to_owned(), ftl.to_owned());
    match (section, parameter) {
        // Every FTL has what a policy in blocks needs; merges are those of a log.
        ("buffer", _) if parameter != "name" => {
            BUFFERS.iter().filter(|p| takes(p, parameter, kind.name)).map(|p| of(&p.name(), "bast")).collect()
        }
        ("ftl", _) if parameter != "name" => {
            FTLS.iter().filter(|p| takes(p, parameter, kind.name)).map(|p| of("lru", &p.name())).collect()
        }
        _ => vec![of("lru", "page")],
    }
}

const LOGICAL_PAGES: u32 = 512;

/// A small device of four dies, which stores bytes.
fn config((buffer, ftl): &(String, String), key: &str, value: &Value) -> Result<Config, ConfigError> {
    let mut builder = Builder::preset("lab")?;
    builder = builder.plugin("buffer", &PluginConfig::named(buffer)).plugin("ftl", &PluginConfig::named(ftl));
    for setting in [
        "device.geometry={channels=2, chips_per_channel=2, dies_per_chip=1, planes_per_die=1, blocks_per_plane=48, \
         pages_per_block=8, page_bytes=512}",
        "device.media=memory",
        "ram.dram=16KiB",
        "ram.nvram=16KiB",
    ] {
        builder = builder.set(setting)?;
    }
    builder.set_value("device.over_provisioning", json!({"logical_pages": LOGICAL_PAGES}))?;
    // Maps on flash have entries for a small part of the device.
    let small = FTLS.iter().find(|plugin| plugin.name() == *ftl).map(|plugin| (plugin.defaults)()).unwrap_or_default();
    for (parameter, value) in [("entries_per_tp", 32), ("cmt_entries", 24)] {
        if small.get(parameter).is_some() {
            builder.set_value(&format!("ftl.{parameter}"), json!(value))?;
        }
    }
    if key == "ftl.gc_slice" && value != "whole" {
        builder.set_value("ftl.gc_frontier", json!("separate"))?;
    }
    if key.starts_with("device.scheduler") {
        builder = builder.set("device.timing.model=scheduled")?;
    }
    match (key.strip_suffix(".name"), value.as_str()) {
        (Some(section), Some(name)) => builder = builder.plugin(section, &PluginConfig::named(name)),
        _ => builder.set_value(key, value.clone())?,
    }
    builder.finish()
}

#[test]
fn every_name_has_a_manual_page_with_the_fixed_headings() {
    for kind in kinds() {
        assert!(!kind.all.is_empty(), "{}", kind.name);
        for Named { name, manual, .. } in &kind.all {
            let what = format!("{} {name}", kind.name);
            let title = manual.lines().next().unwrap().strip_prefix(&format!("{name} - "));
            assert!(title.is_some_and(|title| title.len() > 3), "{what}: the first line is `name - Title`");
            let mut known = HEADINGS.iter();
            let found: Vec<&str> = manual.lines().filter_map(|line| line.strip_prefix("# ")).collect();
            for heading in &found {
                assert!(known.any(|known| known == heading), "{what}: `{heading}` is unknown or out of order");
            }
            for heading in kind.headings {
                assert!(found.contains(heading), "{what}: `# {heading}` is missing");
            }
        }
    }
}

#[test]
fn every_name_is_read_back_as_it_is_written() {
    for kind in kinds() {
        for named in &kind.all {
            for user in users(&kind) {
                let (what, key) = (format!("{} {} of {user:?}", kind.name, named.name), kind.key);
                let written = config(&user, key, &named.value).unwrap_or_else(|error| panic!("{what}: {error}"));
                let value = serde_json::to_value(&written).unwrap();
                assert_eq!(value.pointer(&format!("/{}", key.replace('.', "/"))), Some(&named.value), "{what}");
                let text = written.to_toml();
                let read = Builder::preset("lab").and_then(|builder| builder.file("written.toml", &text));
                assert_eq!(read.and_then(|builder| builder.finish()).unwrap().to_toml(), text, "{what}");
                let mut plugin = PluginConfig::named(&user.1);
                plugin.params.insert("rule".to_owned(), named.value.clone());
                let read = PluginConfig::parse(&plugin.label(), "ftl").unwrap();
                assert_eq!(json!(read), json!(plugin), "{what}: {}", plugin.label());
            }
        }
    }
}

#[test]
fn misspelt_name_is_refused_with_the_nearest_one() {
    for kind in kinds() {
        for named in kind.all.iter().filter(|named| named.value.is_string()) {
            let user = &users(&kind)[0];
            let name = named.value.as_str().unwrap();
            let error = config(user, kind.key, &json!(format!("{name}x"))).expect_err(name);
            let text = error.to_string();
            assert!(text.contains("did you mean `"), "{}: {text}", kind.name);
            assert!(text.contains(&format!("`nandlab list {}s`", kind.name)), "{}: {text}", kind.name);
            assert_eq!(error.key, kind.key, "{}: {text}", kind.name);
        }
        let error = config(&users(&kind)[0], kind.key, &json!(true)).expect_err("it is no name").to_string();
        assert!(error.contains(kind.key.split('.').next().unwrap()), "{}: {error}", kind.name);
    }
}

#[test]
fn every_plug_in_returns_what_was_written_last() {
    for kind in kinds() {
        for named in &kind.all {
            for user in users(&kind) {
                let what = format!("{} {} of {user:?}", kind.name, named.name);
                let config = config(&user, kind.key, &named.value).unwrap_or_else(|error| panic!("{what}: {error}"));
                read_your_writes(&config, &what);
            }
        }
    }
}

/// Three times the capacity, most of it to a part of the pages, with reads of all of them.
fn read_your_writes(config: &Config, what: &str) {
    let mut device = config.build().unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut dice = Dice::of_case(&[config.seed]);
    let mut pages = vec![0_u64; LOGICAL_PAGES as usize];
    let mut read = vec![0; 512];
    let bytes = |tag: u64| tag.to_le_bytes().repeat(64);
    let request = |op, lpn: u32, at: u64| HostRequest::new(Nanos::from_us(at), op, lpn.into(), 1);
    for tag in 1..=3 * u64::from(LOGICAL_PAGES) {
        let span = if dice.one_in(4) { LOGICAL_PAGES } else { LOGICAL_PAGES / 8 };
        let lpn = dice.below(span);
        let at = 1000 * tag;
        if dice.one_in(4) {
            device.submit(&request(HostOp::Read, lpn, at), Payload::Read(&mut read)).unwrap();
            assert_eq!(read, bytes(pages[lpn as usize]), "{what}: page {lpn}");
        } else {
            pages[lpn as usize] = tag;
            device.submit(&request(HostOp::Write, lpn, at), Payload::Write(&bytes(tag))).unwrap();
        }
    }
    device.finish();
    device.test_port().check();
    for lpn in 0..LOGICAL_PAGES {
        device.submit(&request(HostOp::Read, lpn, u64::MAX >> 20), Payload::Read(&mut read)).unwrap();
        assert_eq!(read, bytes(pages[lpn as usize]), "{what}: page {lpn} at the end");
    }
    assert!(device.ledger().programs() > 0, "{what}: nothing reached the flash");
}
