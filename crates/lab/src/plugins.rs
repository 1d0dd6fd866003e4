//! Lists of plug-ins.

use nandlab::config::{PluginConfig, split_outside};
use nandlab::registry::{self, Plugin};

use crate::error::Error;

/// The list that stands for every plug-in.
const ALL: &str = "all";

/// The plug-ins of a list of names, separated by commas, or `name:key=value:key=value`; `all` stands for every one that
/// there is. `section` is that of the configuration, `buffer` or `ftl`.
///
/// # Errors
/// A name is unknown, or a parameter is not `key=value`.
pub fn plugin_list<B>(list: &str, section: &str, known: &[Plugin<B>]) -> Result<Vec<PluginConfig>, Error> {
    if list == ALL {
        return Ok(known.iter().map(|plugin| PluginConfig::named(&plugin.name())).collect());
    }
    let parse = |text| {
        let plugin = PluginConfig::parse(text, section)?;
        registry::find(known, section, &plugin.name)?;
        Ok::<_, Error>(plugin)
    };
    let mut plugins: Vec<PluginConfig> = Vec::new();
    for text in split_outside(list, ',') {
        let plugin = parse(text.trim())?;
        if plugins.iter().any(|known| known.label() == plugin.label()) {
            return Err(Error::input(format!("{section}: {} is there twice", plugin.label()), "name each once"));
        }
        plugins.push(plugin);
    }
    Ok(plugins)
}
