//! Layers of a configuration: built-in defaults, a device preset, a TOML file, `key=value` settings.

use serde_json::{Map, Value, json};

use super::inherited::{Laid, without_what_hangs};
use super::lines::{line_at, line_of_key};
use super::text::{not_finite, scalar};
use super::{Config, PluginConfig, mode};
use crate::catalog::BUFFERS;
use crate::error::ConfigError;
use crate::flash::clock::SchedulerConfig;
use crate::ftl::FTLS;
use crate::registry::{self, Plugin};
use crate::types::Bytes;

/// Built-in device presets: name and TOML text.
pub const DEVICES: &[(&str, &str)] = &[
    ("lab", include_str!("../../devices/lab.toml")),
    ("lab-drive", include_str!("../../devices/lab-drive.toml")),
    ("aalru", include_str!("../../devices/aalru.toml")),
    ("hitstat", include_str!("../../devices/hitstat.toml")),
    ("rftl", include_str!("../../devices/rftl.toml")),
    ("urm", include_str!("../../devices/urm.toml")),
    ("wpa", include_str!("../../devices/wpa.toml")),
    ("modern-tlc", include_str!("../../devices/modern-tlc.toml")),
    ("modern-qlc", include_str!("../../devices/modern-qlc.toml")),
    ("nvme-enterprise", include_str!("../../devices/nvme-enterprise.toml")),
    ("nvme-client", include_str!("../../devices/nvme-client.toml")),
    ("sata-tlc", include_str!("../../devices/sata-tlc.toml")),
    ("sata-qlc", include_str!("../../devices/sata-qlc.toml")),
    ("ufs", include_str!("../../devices/ufs.toml")),
    ("g1", include_str!("../../devices/g1.toml")),
];

/// The device of a run that names none.
pub const DEFAULT_DEVICE: &str = "lab-drive";

/// Layers of a configuration on their way to a [`Config`].
#[derive(Clone, Debug)]
pub struct Builder {
    root: Value,
    preset_name: &'static str,
    /// Built-in defaults and the preset, and what was laid over them since.
    preset: Value,
    laid: Vec<Laid>,
    /// The user's file, to point at a line of it.
    file: Option<UserFile>,
    /// Bytes that the host can address at least.
    capacity: Bytes,
}

/// A file that was laid over a preset.
#[derive(Clone, Debug)]
struct UserFile {
    path: String,
    text: String,
    /// Keys that it says it is without.
    without: Vec<String>,
    /// How many of [`Builder::laid`] are of it, or came before it.
    laid: usize,
}

impl UserFile {
    /// The line, from 1, on which it says something of a key, if it does.
    fn line(&self, key: &str) -> Option<usize> {
        let is_without = self.without.iter().any(|without| without == key);
        line_of_key(&self.text, if is_without { "without" } else { key })
    }
}

impl Builder {
    /// Built-in defaults and a device preset.
    ///
    /// # Errors
    /// If there is no such preset.
    pub fn preset(name: &str) -> Result<Self, ConfigError> {
        let mut builder = Self::over("", defaults());
        let Some((name, text)) = DEVICES.iter().find(|(known, _)| *known == name) else {
            let names: Vec<String> = DEVICES.iter().map(|(known, _)| (*known).to_owned()).collect();
            let help = match registry::nearest(name, &names) {
                Some(near) => format!("did you mean `{near}`? `nandlab list devices` shows all"),
                None => format!("use one of {}, or the path of a TOML file", names.join(", ")),
            };
            return Err(ConfigError::new("device", format!("there is no device `{name}`"), help));
        };
        let layer: Value = toml::from_str(text).map_err(|e| ConfigError::new("device", e.to_string(), ""))?;
        builder.lay(layer);
        Ok(Self::over(name, builder.root))
    }

    /// Nothing laid over a preset.
    fn over(name: &'static str, preset: Value) -> Self {
        let mut root = preset.clone();
        keep_known(&mut root["ftl"]);
        Self { root, preset_name: name, preset, laid: Vec::new(), file: None, capacity: Bytes(0) }
    }

    /// Lays a TOML file over what there is. A top-level `preset = "NAME"` in it starts from that device instead, and keys that
    /// `without = ["KEY", ...]` names are left out, whatever the preset says.
    ///
    /// # Errors
    /// If it is not TOML (with its line), or names an unknown preset.
    pub fn file(mut self, name: &str, text: &str) -> Result<Self, ConfigError> {
        let parsed: Result<toml::Table, _> = toml::from_str(text);
        let table = parsed.map_err(|e| {
            let line = e.span().map_or(1, |span| line_at(text, span.start));
            let mut error = ConfigError::new(format!("line {line}"), e.message().to_owned(), "the file must be TOML");
            error.file = Some(name.to_owned());
            error
        })?;
        let in_file = |key: &str, mut error: ConfigError| {
            key.clone_into(&mut error.key);
            error.file = Some(line_of_key(text, key).map_or_else(|| name.to_owned(), |line| format!("{name}:{line}")));
            error
        };
        if let Some(key) = not_finite(&table) {
            let problem = "this value is not a finite number";
            return Err(in_file(&key, ConfigError::new("", problem, "leave the key out, or give a number")));
        }
        let mut layer = serde_json::to_value(table).expect("numbers are finite");
        let mut take = |key| layer.as_object_mut().and_then(|table| table.remove(key));
        let (preset, without) = (take("preset"), take("without").unwrap_or_else(|| json!([])));
        if let Some(preset) = preset {
            let Some(preset) = preset.as_str() else {
                let problem = format!("{preset} is not the name of a device");
                return Err(in_file("preset", ConfigError::new("", problem, "`nandlab list devices` shows all")));
            };
            self = Self::preset(preset).map_err(|error| in_file("preset", error))?;
        }
        let without: Vec<String> = serde_json::from_value(without).map_err(|_| {
            let help = "keys of the preset that are left out, as in without = [\"ftl.gc_lag\"]";
            in_file("without", ConfigError::new("", "this is not a list of keys", help))
        })?;
        self.lay(layer);
        for key in &without {
            self.set_value(key, Value::Null).map_err(|error| in_file("without", error))?;
        }
        self.file = Some(UserFile { path: name.to_owned(), text: text.to_owned(), without, laid: self.laid.len() });
        Ok(self)
    }

    /// Sets one dotted key, for example `ftl.reserve=2`. Without a value, as in `ftl.gc_lag=`, the key is left out, whatever
    /// the preset or the file says.
    ///
    /// # Errors
    /// If it is not `key=value` or the path leads through something that is not a table.
    pub fn set(mut self, assignment: &str) -> Result<Self, ConfigError> {
        let parts = assignment.split_once('=').filter(|(key, _)| !key.trim().is_empty());
        let Some((key, value)) = parts else {
            let problem = format!("`{assignment}` is not key=value");
            return Err(ConfigError::new("--set", problem, "for example --set ftl.reserve=2"));
        };
        let value = value.trim();
        self.set_value(key.trim(), if value.is_empty() { Value::Null } else { scalar(value) })?;
        Ok(self)
    }

    /// Sets one dotted key to a value; null leaves the key out.
    ///
    /// # Errors
    /// If the path leads through something that is not a table.
    pub fn set_value(&mut self, key: &str, value: Value) -> Result<(), ConfigError> {
        let is_out = |laid: &Laid| matches!(laid, Laid::Key(other, Value::Null) if other == key);
        let is_out_already = value.is_null() && self.laid.iter().any(is_out);
        self.laid.push(Laid::Key(key.to_owned(), value.clone()));
        if let ("ftl.name", Some(name)) = (key, value.as_str()) {
            self.change_ftl(name);
        }
        let mut at = &mut self.root;
        let parts: Vec<&str> = key.split('.').collect();
        for part in &parts[..parts.len() - 1] {
            let Some(table) = at.as_object_mut() else {
                return Err(ConfigError::new(key, format!("there is no table above `{part}`"), ""));
            };
            at = table.entry((*part).to_owned()).or_insert_with(|| json!({}));
        }
        let Some(table) = at.as_object_mut() else {
            return Err(ConfigError::new(
                key,
                "the part before the last dot is a value, not a table",
                "`nandlab config` shows every key",
            ));
        };
        let last = parts[parts.len() - 1];
        // A null that stays names a key that is not there: if there is no such key at all, that is found.
        if !value.is_null() || table.remove(last).is_none() && !is_out_already {
            table.insert(last.to_owned(), value);
        }
        Ok(())
    }

    /// The device will have this capacity at least, whatever else is set: see [`super::DeviceConfig::grow`].
    pub const fn grow(&mut self, capacity: Bytes) {
        self.capacity = capacity;
    }

    /// Chooses a plug-in. Parameters of another one that stood there are dropped, but an FTL takes over those that it has too:
    /// what a device says of collection or placement holds for every FTL on it.
    #[must_use]
    pub fn plugin(mut self, section: &str, plugin: &PluginConfig) -> Self {
        let mut table = plugin.params.clone();
        table.insert("name".to_owned(), json!(plugin.name));
        self.lay(json!({ section: table }));
        self
    }

    /// Lays a layer over what there is.
    fn lay(&mut self, layer: Value) {
        self.laid.push(Laid::Layer(layer.clone()));
        if let Some(name) = layer["ftl"]["name"].as_str().map(str::to_owned) {
            self.change_ftl(&name);
        }
        merge(&mut self.root, layer);
    }

    /// Puts another FTL in the place of the one that stands there, with what the preset says of collection or placement, and over
    /// that what was said since, as far as the FTL has such parameters. What is the default of the one says nothing of the other,
    /// and blocks that suffice the one as its reserve may not suffice the other.
    fn change_ftl(&mut self, name: &str) {
        let (preset, before) = (&self.preset["ftl"], &self.root["ftl"]);
        if before["name"] == name {
            return;
        }
        let (old, new) = (before["name"].clone(), json!(name));
        let is_left_out = |key: &str| {
            let of_ftl = |all: &str| all.strip_prefix("ftl.") == Some(key);
            self.laid.iter().any(|laid| matches!(laid, Laid::Key(all, Value::Null) if of_ftl(all)))
        };
        let mut table = said_of(preset);
        // What the old FTL has otherwise than the preset was said since; but what it could not have is still the preset's.
        table.retain(|key, value| match before.get(key) {
            Some(kept) => kept == value || is_too_few(&old, key, value),
            None => !is_left_out(key) && (!is_known(&old, key, value) || is_too_few(&old, key, value)),
        });
        table.extend(said_of(before).into_iter().filter(|(key, value)| preset.get(key) != Some(value)));
        table.retain(|key, value| {
            // What the user says and neither of the two has stays, as an error to be found.
            let is_mistaken = preset.get(key) != Some(value) && !is_known(&old, key, value);
            !is_too_few(&new, key, value) && (is_known(&new, key, value) || is_mistaken)
        });
        table.insert("name".to_owned(), new);
        self.root["ftl"] = Value::Object(table);
    }

    /// All layers. If they ask for a device of a paper where the preset is a drive, without what the preset says of that.
    fn root(&self) -> Result<Value, ConfigError> {
        let asks = |root: &Value| root["device"]["mode"] == "paper";
        if !asks(&self.root) || asks(&self.preset) {
            return Ok(without_what_hangs(self.root.clone(), &self.laid));
        }
        let mut preset = self.preset.clone();
        mode::as_paper(&mut preset);
        let mut builder = Self::over(self.preset_name, preset);
        for laid in self.laid.clone() {
            match laid {
                Laid::Layer(layer) => builder.lay(layer),
                Laid::Key(key, value) => builder.set_value(&key, value)?,
            }
        }
        Ok(builder.root)
    }

    /// The typed configuration with the plug-ins' parameters expanded.
    ///
    /// # Errors
    /// At the first unknown key, wrong type or impossible value, with the line of the file it came from.
    pub fn finish(&self) -> Result<Config, ConfigError> {
        let parsed: Result<Config, _> = registry::typed(self.root()?);
        let mut config = parsed.map_err(|misfit| {
            let left_out = |laid: &Laid| matches!(laid, Laid::Key(key, Value::Null) if *key == misfit.path);
            let is_null = misfit.problem.starts_with("invalid type: null");
            let problem = if is_null && self.laid.iter().any(left_out) {
                "there is nothing to leave out: neither the preset nor a file sets it".to_owned()
            } else {
                registry::plain_words(&misfit.problem)
            };
            let path = if misfit.path == "." { "the configuration".to_owned() } else { misfit.path };
            self.locate(ConfigError::new(path, problem, "`nandlab config` shows every key"))
        })?;
        config.preset = self.preset_name;
        self.leave_out(&mut config);
        // The scheduler of the preset goes with its timing model; one that was asked for stays, and is refused.
        let schedules = config.device.timing.model.rule().schedules;
        if !schedules && self.root["device"]["scheduler"] == self.preset["device"]["scheduler"] {
            config.device.scheduler = SchedulerConfig::default();
        }
        config.expand().map_err(|e| self.locate(e))?;
        config.check().map_err(|e| self.locate(e))?;
        if self.capacity.0 > 0 {
            config.device.grow(self.capacity)?;
            config.check().map_err(|e| self.locate(e))?;
        }
        Ok(config)
    }

    /// Takes the parameters out that a setting leaves out although nothing had set them.
    fn leave_out(&self, config: &mut Config) {
        let ftl = defaults_of(FTLS, "ftl", &config.ftl.name);
        let buffer = defaults_of(BUFFERS, "buffer", &config.buffer.name);
        for (section, plugin, defaults) in [("ftl.", &mut config.ftl, ftl), ("buffer.", &mut config.buffer, buffer)] {
            plugin.params.retain(|name, value| {
                let is_named = |key: &str| key.strip_prefix(section) == Some(name);
                let is_left_out = |laid: &Laid| matches!(laid, Laid::Key(key, Value::Null) if is_named(key));
                !value.is_null() || defaults.get(name).is_none() || !self.laid.iter().any(is_left_out)
            });
        }
    }

    /// Adds file and line to an error about a key that the user's file sets, and nothing since.
    pub fn locate(&self, mut error: ConfigError) -> ConfigError {
        let Some(file) = &self.file else { return error };
        let (key, unknown) = (error.key.as_str(), error.problem.split('`').nth(1).unwrap_or(""));
        let said_since = |key: &str| {
            let pointer = format!("/{}", key.replace('.', "/"));
            self.laid[file.laid..].iter().any(|laid| laid.says(&pointer))
        };
        let keys = [format!("{key}.{unknown}"), unknown.to_owned(), key.to_owned()];
        let lines = keys.iter().filter(|key| !said_since(key)).map(|key| file.line(key));
        if let Some(line) = lines.flatten().next() {
            error.file = Some(format!("{}:{line}", file.path));
        }
        error
    }

    /// Keys that are there once a configuration is laid over the preset, and that it has not: it is without them.
    pub(super) fn left_out(mut self, config: &Value) -> Vec<String> {
        self.lay(config.clone());
        let mut missing = Vec::new();
        beyond(&self.root().expect("tables were laid over it"), config, "", &mut missing);
        missing
    }
}

/// Keys of a table, and of tables in it, that another one has not.
fn beyond(table: &Value, other: &Value, path: &str, missing: &mut Vec<String>) {
    let (Some(table), Some(other)) = (table.as_object(), other.as_object()) else { return };
    for (key, value) in table {
        let path = format!("{path}{key}");
        match other.get(key) {
            Some(other) => beyond(value, other, &format!("{path}."), missing),
            None => missing.push(path),
        }
    }
}

/// The parameters of an FTL, each with its default.
fn defaults_of<B>(list: &'static [Plugin<B>], kind: &'static str, name: &str) -> Value {
    registry::find(list, kind, name).map_or(Value::Null, |plugin| (plugin.defaults)())
}

/// What the table of an FTL says beyond the defaults of that FTL.
fn said_of(table: &Value) -> Map<String, Value> {
    let default = defaults_of(FTLS, "ftl", table["name"].as_str().unwrap_or(""));
    let mut said = table.as_object().cloned().unwrap_or_default();
    said.retain(|key, value| key != "name" && default.get(key) != Some(value));
    said
}

/// True for a reserve of fewer blocks than the FTL of this name has by default.
fn is_too_few(name: &Value, key: &str, value: &Value) -> bool {
    let default = || defaults_of(FTLS, "ftl", name.as_str().unwrap_or(""))["reserve"].as_u64();
    key == "reserve" && value.as_u64() < default()
}

/// True if the FTL of this name has such a parameter.
fn is_known(name: &Value, key: &str, value: &Value) -> bool {
    let Ok(ftl) = registry::find(FTLS, "ftl", name.as_str().unwrap_or("")) else { return key == "name" };
    let mut params = json!({ key: value });
    // Whether it has an effect is a question of the others.
    for need in (ftl.parameters)().iter().filter(|known| known.name == key).filter_map(|known| known.needs.as_ref()) {
        if need.equal {
            params[need.name] = need.value.clone();
        }
    }
    key == "name" || (ftl.check)(params).is_ok()
}

/// Takes the parameters out of an FTL's table that it does not have.
fn keep_known(ftl: &mut Value) {
    let name = ftl["name"].clone();
    if let Some(table) = ftl.as_object_mut() {
        table.retain(|key, value| is_known(&name, key, value));
    }
}

fn defaults() -> Value {
    json!({
        "seed": 1,
        "ram": {
            "dram": "8MiB", "nvram": 0, "budget": "fixed",
            "dram_read": "500ns", "dram_write": "500ns", "nvram_read": "500ns", "nvram_write": "500ns",
            "evict_wait": "program", "partial_write": "fetch", "write_miss_fetch": false,
        },
        "buffer": {"name": "lru"},
        "ftl": {"name": "page"},
        "replay": {"mode": "open", "queue_depth": 32, "time_scale": 1.0, "think_time": "0ns", "read_groups": false,
                   "settle": "flush"},
        "precondition": "full",
    })
}

/// Values that are choices, such as `{ spare_over_logical = 0.2 }`, and no tables of keys.
const CHOICES: [&str; 2] = ["over_provisioning", "precondition"];

/// Lays `layer` over `base`, table by table. Choices and parameters of plug-ins are replaced by others, not joined with them,
/// and so is a plug-in by another one.
fn merge(base: &mut Value, layer: Value) {
    match (base, layer) {
        (Value::Object(base), Value::Object(layer)) => {
            let is_plugin = base.contains_key("name") && !base.contains_key("geometry");
            if is_plugin && layer.get("name").is_some_and(|name| base["name"] != *name) {
                base.clear();
            }
            for (key, value) in layer {
                match base.get_mut(&key).filter(|_| !is_plugin && !CHOICES.contains(&key.as_str())) {
                    Some(known) => merge(known, value),
                    None => _ = base.insert(key, value),
                }
            }
        }
        (base, layer) => *base = layer,
    }
}

#[cfg(test)]
mod tests;
