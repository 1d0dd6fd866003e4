//! The plug-ins by their families, as classes and functions of Python are made of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use nandlab::catalog::BUFFERS;
use nandlab::config::{DEVICES, PluginConfig};
use nandlab::ftl::FTLS;
use nandlab::registry::{Plugin, find};
use nandlab_trace::generators::{self, GENERATORS, PRESETS};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::errors::{ConfigError, from_json, wrong};

/// What Python reserves.
const RESERVED: [&str; 1] = ["None"];

/// How names are written in the manual pages, by their letters without case and hyphens: `hitstat` is `HitStat`.
static WRITTEN: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let texts = BUFFERS.iter().map(|plugin| plugin.text).chain(FTLS.iter().map(|plugin| plugin.text));
    let lines = texts.flat_map(|text| text.lines().take_while(|line| line.starts_with("//!")));
    let words = lines.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')));
    let mut counts: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for word in words.map(|word| word.replace('-', "")) {
        if word.starts_with(char::is_alphabetic) && word.chars().skip(1).any(char::is_uppercase) {
            *counts.entry(word.to_ascii_lowercase()).or_default().entry(word).or_default() += 1;
        }
    }
    let most = |forms: BTreeMap<String, u32>| forms.into_iter().max_by_key(|(_, count)| *count).unwrap_or_default().0;
    counts.into_iter().map(|(word, forms)| (word, most(forms))).collect()
});

/// The name of a class: that of the plug-in as the manual pages write it, the whole or each of its parts.
fn class_name<B>(plugin: &Plugin<B>) -> String {
    let capital = |part: &str| part[..1].to_ascii_uppercase() + &part[1..];
    let part = |part: &str| WRITTEN.get(part).cloned().unwrap_or_else(|| capital(part));
    let whole = WRITTEN.get(&plugin.module.replace('_', "")).cloned();
    let name = whole.unwrap_or_else(|| plugin.module.split('_').map(part).collect());
    if RESERVED.contains(&name.as_str()) { name + "_" } else { name }
}

/// The names of a family: for each plug-in the one in Python and the one in nandlab.
fn names<B>(list: &[Plugin<B>]) -> Vec<(String, String)> {
    list.iter().map(|plugin| (class_name(plugin), plugin.name())).collect()
}

/// The names of a family (`buffer`, `ftl` or `generator`): for each plug-in that of its class or function, and its own.
///
/// # Errors
/// There is no such family.
#[pyfunction]
pub fn plugin_names(family: &str) -> PyResult<Vec<(String, String)>> {
    match family {
        "buffer" => Ok(names(BUFFERS)),
        "ftl" => Ok(names(FTLS)),
        "generator" => {
            let made = GENERATORS.iter().map(|plugin| (plugin.module.to_owned(), plugin.name()));
            let presets = PRESETS.iter().map(|preset| (preset.name.replace('-', "_"), preset.name.to_owned()));
            Ok(made.chain(presets).collect())
        }
        _ => Err(wrong(format!("there is no family {family:?}"))),
    }
}

fn described<B>(plugin: &Plugin<B>) -> (String, Value, Value) {
    (plugin.manual(), (plugin.schema)(), (plugin.defaults)())
}

/// Manual page, JSON schema of the parameters and their defaults, both as JSON.
///
/// # Errors
/// There is no such plug-in.
#[pyfunction]
pub fn describe(family: &str, name: &str) -> PyResult<(String, String, String)> {
    let unknown = |error: nandlab::error::ConfigError| ConfigError::new_err(error.to_string());
    let (manual, schema, defaults) = match family {
        "buffer" => described(find(BUFFERS, family, name).map_err(unknown)?),
        "ftl" => described(find(FTLS, family, name).map_err(unknown)?),
        _ => generator(name).ok_or_else(|| wrong(format!("there is no {family} {name:?}")))?,
    };
    Ok((manual, schema.to_string(), defaults.to_string()))
}

/// A generator with the parameters that it shares with others next to its own; of a preset those of its generator.
fn generator(name: &str) -> Option<(String, Value, Value)> {
    if let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) {
        let text = format!(
            "{} - {}\n\n# Source\n{}\n\n# Generator\n`{}`",
            preset.name, preset.title, preset.source, preset.spec
        );
        return Some((text, json!({"properties": {}}), json!({})));
    }
    let plugin = GENERATORS.iter().find(|plugin| plugin.name() == name)?;
    let (own, shared) = generators::parameters_of(plugin);
    let (manual, mut schema, _) = described(plugin);
    let shape = schema["properties"].as_object_mut().and_then(|own| own.remove("shape"));
    if shape.is_some()
        && let Some(all) = schema["$defs"]["Shape"]["properties"].as_object().cloned()
    {
        schema["properties"].as_object_mut()?.extend(all);
    }
    let defaults: Map<String, Value> = own.into_iter().chain(shared).collect();
    let manual = format!("{manual}\n\n{}", generators::shared_manual(plugin)).trim_end().to_owned();
    Some((manual, schema, Value::Object(defaults)))
}

/// The short form of a plug-in with parameters, which are given as JSON, after a check of them.
///
/// # Errors
/// A parameter is unknown, of another type, or out of its range.
#[pyfunction]
pub fn short_form(family: &str, name: &str, parameters: &str) -> PyResult<String> {
    let params: Map<String, Value> = from_json(parameters)?;
    let checked = match family {
        "buffer" => find(BUFFERS, family, name).and_then(|plugin| (plugin.check)(Value::Object(params.clone()))),
        "ftl" => find(FTLS, family, name).and_then(|plugin| (plugin.check)(Value::Object(params.clone()))),
        _ => Ok(()),
    };
    let label = PluginConfig { name: name.to_owned(), params }.label();
    let checked = checked.and_then(|()| match family {
        "generator" => generators::make(&label, generators::Context::new(1)).map(|_| ()),
        _ => Ok(()),
    });
    checked.map_err(|error| ConfigError::new_err(error.to_string()))?;
    Ok(if family == "generator" { format!("{}{label}", generators::PREFIX) } else { label })
}

/// The presets of devices.
#[pyfunction]
pub fn devices() -> Vec<&'static str> {
    DEVICES.iter().map(|(name, _)| *name).collect()
}
