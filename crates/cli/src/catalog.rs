//! `nandlab list` and `nandlab describe`: everything that has a name.

use clap::ValueEnum;
use nandlab::buffer::tools::PaddingRule;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, DEVICES};
use nandlab::flash::clock::{SchedulerRule, TimingRule};
use nandlab::ftl::FTLS;
use nandlab::ftl::cache::CmtOrderRule;
use nandlab::ftl::{alloc, chain_victim, pace, placement, victim};
use nandlab::registry::rules::{Number, Rule};
use nandlab::registry::{self, Plugin};
use nandlab::report::Report;
use nandlab::types::Bytes;
use nandlab_lab::Experiment;
use nandlab_lab::pages::{manual, measured};
use nandlab_lab::papers::{PAPERS, Paper};
use nandlab_trace::formats;
use nandlab_trace::generators::{self, GENERATORS, PRESETS};
use nandlab_trace::tools::{ToolInfo, trace_tools};
use serde_json::Value;

use crate::args::Family;
use crate::fail::Failure;
use crate::output;
use crate::style::{Style, Table, count, plural};

/// Something with a manual page.
struct Entry {
    family: &'static str,
    name: String,
    title: String,
    page: Box<dyn Fn() -> String>,
}

/// Prints one family.
pub fn list(family: Family, style: Style) -> Result<(), Failure> {
    let mut table = Table::new(2);
    table.row(["NAME", "TITLE"]);
    for entry in entries(family) {
        table.row([entry.name, entry.title]);
    }
    output::print(&table.render(style))
}

/// Prints the manual pages of everything with this name.
pub fn describe(name: &str, family: Option<Family>, style: Style) -> Result<(), Failure> {
    let families = match family {
        Some(family) => vec![family],
        None => Family::value_variants().to_vec(),
    };
    let mut all: Vec<Entry> = families.into_iter().flat_map(entries).collect();
    if family.is_none() {
        all.extend(extras());
    }
    let wanted = name.replace('_', "-").to_lowercase();
    let found: Vec<&Entry> = all.iter().filter(|entry| entry.name.replace('_', "-") == wanted).collect();
    if found.is_empty() {
        let names: Vec<String> = all.into_iter().map(|entry| entry.name).collect();
        let help = match registry::nearest(name, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", names.join(", ")),
        };
        return Err(Failure::bad(format!("there is nothing called `{name}`"), help));
    }
    let mut text = String::new();
    for entry in found {
        let heading = format!("{} {} - {}", entry.family, entry.name, entry.title);
        text += &format!("{}\n\n{}\n", style.bold(&heading), headings((entry.page)().trim(), style));
    }
    output::print(&text)
}

/// Sections of a manual page begin with `# `.
fn headings(page: &str, style: Style) -> String {
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(title) => style.bold(&title.to_uppercase()) + "\n",
        None => format!("{line}\n"),
    };
    page.lines().map(line).collect()
}

fn entries(family: Family) -> Vec<Entry> {
    match family {
        Family::Buffers => plugins(BUFFERS, "buffer", |plugin| {
            manual(plugin, "buffer") + "\n" + &measured(&plugin.name()).replace("## ", "# ")
        }),
        Family::Ftls => plugins(FTLS, "ftl", |plugin| manual(plugin, "ftl") + &evidence(&plugin.name())),
        Family::Victims => rules::<victim::VictimRule>(),
        Family::ChainVictims => rules::<chain_victim::ChainVictimRule>(),
        Family::Allocations => rules::<alloc::AllocRule>(),
        Family::Placements => rules::<placement::PlacementRule>(),
        Family::Paces => rules::<pace::PaceRule>(),
        Family::Paddings => rules::<PaddingRule>(),
        Family::Timings => rules::<TimingRule>(),
        Family::Schedulers => rules::<SchedulerRule>(),
        Family::CmtOrders => rules::<CmtOrderRule>(),
        Family::Devices => DEVICES
            .iter()
            .map(|(name, text)| entry("device", *name, device_title(name), || device_page(name, text)))
            .collect(),
        Family::Formats => {
            formats().iter().map(|format| entry("format", format.name, format.title, || format_page(format))).collect()
        }
        Family::Generators => {
            let presets = PRESETS.iter();
            let presets = presets.map(|preset| entry("preset", preset.name, preset.title, || preset_page(preset)));
            plugins(GENERATORS, "generator", generator_page).into_iter().chain(presets).collect()
        }
        Family::Experiments => {
            let entry = |paper: &'static Paper| {
                let experiment = paper.experiment().expect("experiments are tested");
                entry("experiment", paper.name(), experiment.sentence.clone(), move || experiment_page(&experiment))
            };
            PAPERS.iter().map(entry).collect()
        }
        Family::Tools => trace_tools()
            .into_iter()
            .map(|tool| entry("tool", tool.name, tool.title.clone(), move || tool_page(&tool)))
            .collect(),
    }
}

fn entry(
    family: &'static str,
    name: impl Into<String>,
    title: impl Into<String>,
    page: impl Fn() -> String + 'static,
) -> Entry {
    Entry { family, name: name.into(), title: title.into(), page: Box::new(page) }
}

fn extras() -> [Entry; 1] {
    [entry("report", "metrics", "Every field of the result with its formula", metrics)]
}

fn plugins<B>(list: &'static [Plugin<B>], family: &'static str, page: fn(&Plugin<B>) -> String) -> Vec<Entry> {
    list.iter().map(|plugin| entry(family, plugin.name(), plugin.title(), move || page(plugin))).collect()
}

/// The first line of a manual page repeats name and title.
fn without_title(manual: &str) -> String {
    manual.split_once('\n').map_or("", |(_, rest)| rest).to_owned()
}

fn rules<R: Rule>() -> Vec<Entry> {
    plugins(R::ALL, R::KIND, rule_page::<R>)
}

/// The manual page, and how to choose the rule.
fn rule_page<R: Rule>(plugin: &Plugin<R>) -> String {
    let parameter = R::KEY.rsplit('.').next().unwrap_or(R::KEY);
    let choice = match plugin.build.number() {
        None => format!("`{parameter} = \"{}\"`", plugin.module),
        Some(Number::Named(meaning)) => format!("`{parameter} = {{ {} = 10 }}`: {meaning} (1 or more)", plugin.module),
        Some(Number::Alone(meaning)) => format!("`{parameter} = 0.5`: {meaning}"),
    };
    let page = without_title(&plugin.manual()).trim().to_owned();
    format!("{page}\n\n# Parameter of {}\n{choice}, as in --set {}=...\n", R::CHOSEN_BY, R::KEY)
}

fn generator_page(plugin: &Plugin<generators::Build>) -> String {
    let (own, shared) = generators::parameters_of(plugin);
    let mut page = without_title(&plugin.manual()).trim().to_owned();
    if !shared.is_empty() {
        page += &format!("\n\n{}", generators::shared_manual(plugin).trim_end());
    }
    page += "\n\n# With all defaults\n";
    let absent: Vec<String> =
        own.iter().chain(&shared).filter(|(_, value)| value.is_null()).map(|(key, _)| format!("`{key}`")).collect();
    if !absent.is_empty() {
        page += &format!("Absent by default: {}.\n\n", absent.join(", "));
    }
    page += &format!("make:{}", plugin.name());
    for (key, value) in own.iter().chain(&shared).filter(|(_, value)| !value.is_null()) {
        page += &format!(":{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    }
    page
}

fn tool_page(tool: &ToolInfo) -> String {
    format!("# What it does\n{}\n\n# Options\n`nandlab trace {} --help` lists them.\n", tool.manual, tool.name)
}

fn preset_page(preset: &generators::Preset) -> String {
    format!(
        "# Source\n{}\n\n# What it does\n{} requests of this generator, whose parameters can be overridden:\n\n{}\n\n\
         `nandlab trace make {} --check` prints the published figures next to those achieved; docs/workloads.md has all.",
        preset.source,
        count(preset.requests),
        preset.spec,
        preset.name
    )
}

/// What is known to hold for an FTL: its row of crates/core/EVIDENCE.md.
fn evidence(name: &str) -> String {
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim);
    let row =
        |first: &str| nandlab::EVIDENCE.lines().find(|line| cells(line).next() == Some(first) && line.starts_with('|'));
    let mut text = "\n\n# Evidence (EVIDENCE.md)\n".to_owned();
    let (Some(head), Some(row)) = (row("FTL"), row(name)) else { return text + "None is recorded.\n" };
    for (what, value) in cells(head).zip(cells(row)).skip(1) {
        text += &format!("{what}: {value}\n");
    }
    text
}

fn device_title(name: &str) -> String {
    let config = Builder::preset(name).and_then(|builder| builder.finish()).expect("presets are tested");
    let geometry = &config.device.geometry;
    let capacity = Bytes(u64::from(config.logical_pages()) * u64::from(geometry.page_bytes));
    format!(
        "{capacity}, {} x {}, blocks of {} pages of {}, {} DRAM",
        plural(u64::from(geometry.channels), "channel"),
        plural(u64::from(geometry.dies() / geometry.channels), "die"),
        geometry.pages_per_block,
        Bytes(geometry.page_bytes.into()),
        config.ram.dram
    )
}

fn device_page(name: &str, text: &str) -> String {
    let config = Builder::preset(name).and_then(|builder| builder.finish()).expect("presets are tested");
    let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
    let geometry = &config.device.geometry;
    let (physical, logical) = (geometry.pages(), u64::from(config.logical_pages()));
    let spare = physical - logical;
    format!(
        "{}\n\nPhysical: {} pages in {} blocks; logical: {} pages; spare: {:.2} % of the logical, {:.2} % of the \
         physical pages.\n\n# Configuration\n{}",
        comment.join("\n"),
        count(physical),
        count(geometry.blocks().into()),
        count(logical),
        100.0 * spare as f64 / logical as f64,
        100.0 * spare as f64 / physical as f64,
        config.to_toml()
    )
}

fn experiment_page(experiment: &Experiment) -> String {
    let (name, manual) = (&experiment.name, experiment.manual().expect("experiments are tested"));
    format!(
        "{manual}\n`nandlab reproduce {name} -o FOLDER` carries it out and judges the claims; docs/claims.md has the verdicts.\n"
    )
}

fn format_page(format: &nandlab_trace::FormatInfo) -> String {
    let endings = match format.extensions {
        [] => String::new(),
        list => format!("\nUsual endings of file names: {}.\n", list.join(", ")),
    };
    format!("{}{endings}", format.manual)
}

/// The definitions of the JSON schema, one line for each field.
fn metrics() -> String {
    let schema = Report::schema();
    let mut text = String::from(
        "Names are those of the JSON (`--json`). Times are nanoseconds, ratios lie between 0 and 1, and a ratio of \
         nothing\nis null.\n\n",
    );
    fields(&schema, &schema, "", &mut text);
    text
}

fn fields(root: &Value, of: &Value, path: &str, text: &mut String) {
    let Some(properties) = of["properties"].as_object() else { return };
    for (name, property) in properties {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let about = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        *text += &format!("{path}\n    {about}\n");
        let optional = property["anyOf"][0]["$ref"].as_str();
        let target = property["$ref"].as_str().or(optional).and_then(|target| target.strip_prefix("#/$defs/"));
        match target {
            // A configuration has its own manual: `nandlab config --schema`.
            Some("Config") | None => {}
            Some(target) => fields(root, &root["$defs"][target], &path, text),
        }
    }
}
