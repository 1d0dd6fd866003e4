//! Generators: endless streams of synthetic requests. One file each, one line in the list below; presets are
//! generators with the parameters of a paper's workload. What the user reads is the doc comment of the file.

mod check;
mod figures;
mod presets;
pub(crate) mod random;
mod shape;
mod text;

use nandlab::config::PluginConfig;
use nandlab::error::ConfigError;
use nandlab::registry::{self, Parameters, Plugin};
use serde_json::{Map, Value};

pub use check::{CheckRow, check};
pub use figures::{Characteristic, Class, FlushedUnit, Judged, Preset, Target};
pub use presets::PRESETS;

use crate::options::Options;
use crate::row::TraceRecord;

/// An endless stream of requests.
pub type RequestStream = Box<dyn Iterator<Item = TraceRecord> + Send>;

/// What a trace argument that names a generator begins with.
pub const PREFIX: &str = "make:";
/// Requests of a generator when no number is asked for and none belongs to it.
pub const REQUESTS: u64 = 1_000_000;
/// Generators inside generators, at most.
const DEPTH_MAX: u32 = 8;

/// Where a generator is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// Seed of every random choice.
    pub seed: u64,
    /// Sectors of the device for which the requests are; of all generators only `oltp` adapts to it.
    pub capacity_sectors: u64,
    /// How many generators this one is inside of.
    depth: u32,
}

impl Context {
    /// A seed, and a device without limit.
    pub const fn new(seed: u64) -> Self {
        Self { seed, capacity_sectors: u64::MAX, depth: 0 }
    }
    /// Seed and device of the options of a trace.
    pub(crate) fn of(options: &Options) -> Self {
        Self { capacity_sectors: options.capacity_sectors.unwrap_or(u64::MAX), ..Self::new(options.seed) }
    }
}

/// What a specification names.
pub struct Made {
    /// The specification.
    pub name: String,
    /// Requests when no number is asked for.
    pub requests: u64,
    /// The requests, without end.
    pub records: RequestStream,
}

/// Makes the generator or preset that `NAME[:key=value:...]` describes.
///
/// # Errors
/// Unknown names and keys (with the nearest known one), and values out of range.
pub fn make(spec: &str, context: Context) -> Result<Made, ConfigError> {
    if context.depth > DEPTH_MAX {
        let problem = format!("generators lie more than {DEPTH_MAX} deep inside each other");
        return Err(ConfigError::new("generator", problem, "use fewer parentheses"));
    }
    let mut config = PluginConfig::parse(spec, "generator")?;
    let mut requests = REQUESTS;
    if let Some(preset) = presets::find(&config.name) {
        let given = std::mem::take(&mut config.params);
        config = PluginConfig::parse(preset.spec, "generator")?;
        config.params.extend(given);
        requests = preset.requests;
    }
    let plugin = find(&config.name)?;
    let params = sorted(plugin, config.params)?;
    let records = (plugin.build)(params, context).map_err(|mut error| {
        error.key = error.key.replace("generator.shape", "generator");
        error
    })?;
    Ok(Made { name: spec.to_owned(), requests, records })
}

fn find(name: &str) -> Result<&'static Plugin<Build>, ConfigError> {
    let wanted = name.replace('-', "_").to_lowercase();
    if let Some(plugin) = GENERATORS.iter().find(|plugin| plugin.module == wanted) {
        return Ok(plugin);
    }
    let names: Vec<String> =
        GENERATORS.iter().map(Plugin::name).chain(PRESETS.iter().map(|preset| preset.name.to_owned())).collect();
    let help = match registry::nearest(name, &names) {
        Some(near) => format!("did you mean `{near}`? `nandlab list generators` shows all"),
        None => format!("use one of {}", names.join(", ")),
    };
    Err(ConfigError::new("generator", format!("there is no generator `{name}`"), help))
}

/// Parameters in their places: those that many generators share are in a table of their own inside.
fn sorted(plugin: &Plugin<Build>, given: Map<String, Value>) -> Result<Value, ConfigError> {
    let (own, shared) = parameters_of(plugin);
    let (mut params, mut shape) = (Map::new(), Map::new());
    for (key, value) in given {
        let key = key.replace('-', "_");
        if shared.contains_key(&key) {
            shape.insert(key, value);
        } else if own.contains_key(&key) {
            params.insert(key, value);
        } else {
            let names: Vec<String> = own.keys().chain(shared.keys()).cloned().collect();
            let help = match registry::nearest(&key, &names) {
                Some(near) => format!("did you mean `{near}`? `nandlab describe {}` explains all", plugin.name()),
                None if names.is_empty() => "leave it out".to_owned(),
                None => format!("use one of {}", names.join(", ")),
            };
            return Err(ConfigError::new(
                format!("generator.{key}"),
                format!("`{}` has no such parameter", plugin.name()),
                help,
            ));
        }
    }
    if !shape.is_empty() {
        // What is not given keeps the default of this generator, which may differ from that of others.
        let mut whole = shared;
        whole.extend(shape);
        params.insert("shape".to_owned(), Value::Object(whole));
    }
    Ok(Value::Object(params))
}

/// The parameters of a generator with their defaults: its own, and those it shares with others.
pub fn parameters_of(plugin: &Plugin<Build>) -> (Map<String, Value>, Map<String, Value>) {
    let Value::Object(mut own) = (plugin.defaults)() else { return Default::default() };
    let shared = match own.shift_remove("shape") {
        Some(Value::Object(shape)) => shape,
        _ => Map::new(),
    };
    (own, shared)
}

/// The manual of the parameters that a generator shares with others, with its own defaults; empty if it has none.
pub fn shared_manual(plugin: &Plugin<Build>) -> String {
    let (_, shared) = parameters_of(plugin);
    if shared.is_empty() {
        return String::new();
    }
    let schema = registry::schema::<shape::Shape>();
    format!("# Shared parameters\n{}", registry::section(shape::Shape::list(), &Value::Object(shared), &schema))
}

/// A value of a parameter that cannot be used.
fn wrong(key: &str, problem: impl Into<String>, help: impl Into<String>) -> ConfigError {
    ConfigError::new(format!("generator.{key}"), problem, help)
}

/// Checks a number.
fn within(key: &str, value: u64, low: u64, high: u64) -> Result<u64, ConfigError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(wrong(key, format!("{value} is out of range"), format!("use a whole number from {low} to {high}")))
}

nandlab::registry::plugins! {
    /// All generators, in the order in which they are listed.
    GENERATORS: RequestStream, "generator", |params, module, context: Context| module::build(&params, context);
    uniform,
    zipf,
    hot_cold,
    sequential,
    loops,
    mix,
    phases,
    rewrites,
    disksim,
    oltp,
    ycsb,
}
