//! Plug-ins by name: a list of every kind, of buffers, of FTLs and of the [rules] that parameters choose.
//!
//! A line in a list declares the module and yields its name, typed parameters with defaults and schema, its manual
//! page (the `//!` text of its file and its [parameters](crate::params)) and its place in every test that runs over the
//! registry.

mod params;
pub mod rules;
mod typed;

use serde_json::Value;

use crate::error::ConfigError;

pub use params::{Bounded, Need, Parameter, Parameters, Range, check_needs, outside, schema, section};
pub use typed::{Misfit, typed};

/// End of the title of a plug-in that is built from summaries of its source.
pub const RECONSTRUCTION: &str = "(reconstruction)";

/// One plug-in of a list; `B` is how it is built.
#[derive(Clone, Copy, Debug)]
pub struct Plugin<B> {
    /// Name of its module.
    pub module: &'static str,
    /// Text of its file.
    pub text: &'static str,
    /// Its parameters as they are declared.
    pub parameters: fn() -> &'static [Parameter],
    /// Default parameters.
    pub defaults: fn() -> Value,
    /// JSON schema of the parameters.
    pub schema: fn() -> Value,
    /// Refuses parameters with unknown keys or wrong types.
    pub check: fn(Value) -> Result<(), ConfigError>,
    /// Builds it from parameters and its surroundings.
    pub build: B,
}

impl<B> Plugin<B> {
    /// Name as users write it: the module name with `-` for `_`.
    pub fn name(&self) -> String {
        self.module.replace('_', "-")
    }
    /// Manual page: the module's doc comment and its parameters. They come after what the comment says about what the
    /// plug-in does; a section `# Parameters` of its own holds what is to be said of several of them, or why there is none.
    pub fn manual(&self) -> String {
        let page = module_text(self.text);
        let (list, defaults) = ((self.parameters)(), (self.defaults)());
        if !defaults.is_object() {
            return page;
        }
        let at = |heading: &str| page.find(&format!("\n# {heading}")).map(|at| at + 1);
        let heading = "# Parameters\n";
        let (before, after) = match at("Parameters") {
            Some(_) if list.is_empty() => return page,
            Some(own) => page.split_at(own + heading.len()),
            None => page.split_at(at("Deviations").or_else(|| at("Known")).unwrap_or(page.len())),
        };
        let section = section(list, &defaults, &(self.schema)());
        let (before, after) = (before.trim_end_matches(heading).trim_end(), after.trim_start());
        format!("{before}\n\n{heading}{section}\n{after}").trim_end().to_owned()
    }
    /// What follows the name in the first line of the manual page.
    pub fn title(&self) -> String {
        let page = module_text(self.text);
        let first = page.lines().next().unwrap_or("");
        first.split_once(" - ").map_or(first, |(_, title)| title).to_owned()
    }
    /// True if the original text of the algorithm was not available, so that its numbers must not be published under the
    /// paper's name: the title ends in [`RECONSTRUCTION`].
    pub fn is_reconstruction(&self) -> bool {
        self.title().ends_with(RECONSTRUCTION)
    }
}

/// The text at the top of a file of Rust: its doc comment, of which manual pages are made.
pub fn module_text(file: &str) -> String {
    let lines = file.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// Finds a plug-in; `-` and `_` are the same.
///
/// # Errors
/// Names the nearest plug-in, or lists all.
pub fn find<'a, B>(list: &'a [Plugin<B>], kind: &str, name: &str) -> Result<&'a Plugin<B>, ConfigError> {
    let wanted = name.replace('-', "_");
    if let Some(plugin) = list.iter().find(|p| p.module == wanted) {
        return Ok(plugin);
    }
    let names: Vec<String> = list.iter().map(Plugin::name).collect();
    let help = match nearest(name, &names) {
        Some(near) => format!("did you mean `{near}`? `nandlab list {kind}s` shows all"),
        None => format!("use one of {}", names.join(", ")),
    };
    Err(ConfigError::new(format!("{kind}.name"), format!("there is no {kind} `{name}`"), help))
}

/// The name within an edit distance of two, or a third of its length.
pub fn nearest<'a>(wanted: &str, names: &'a [String]) -> Option<&'a String> {
    let best = names.iter().map(|n| (distance(wanted, n), n)).min()?;
    (best.0 <= 2.max(wanted.len() / 3) && best.0 < best.1.len()).then_some(best.1)
}

/// Letters to add, drop, change or swap with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                _ => {
                    let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let best = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if swapped { best.min(rows[i - 2][j - 2] + 1) } else { best }
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

/// Reads typed parameters; unknown keys, wrong types and values out of range are refused.
///
/// # Errors
/// Names the section and what is wrong with it.
pub fn parameters<P: Parameters>(section: &str, name: &str, params: Value) -> Result<P, ConfigError> {
    let params: P = typed(params).map_err(|misfit| {
        let key = if misfit.path == "." { section.to_owned() } else { format!("{section}.{}", misfit.path) };
        let help = format!("`nandlab describe {}` explains every parameter", name.replace('_', "-"));
        ConfigError::new(key, plain_words(&misfit.problem), help)
    })?;
    params.check(section, P::defaults())?;
    Ok(params)
}

/// What TOML has of whole numbers.
const WHOLE: &str = "expected a whole number from 0 to 9223372036854775807 (2^63 - 1)";

/// What serde says about a value, in words of a user.
pub fn plain_words(problem: &str) -> String {
    let words = [
        ("invalid type: null", "this value is not a finite number"),
        ("expected u64", WHOLE),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected usize", WHOLE),
        ("expected f64", "expected a number"),
        ("invalid type: ", ""),
        ("invalid value: ", ""),
    ];
    let plain = words.iter().fold(problem.to_owned(), |text, (from, to)| text.replace(from, to));
    let plain = match plain.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => plain,
    };
    // A number that TOML does not have was kept as it was typed.
    let number = plain.strip_prefix("string \"").and_then(|rest| rest.split_once('"'));
    match number.filter(|(text, rest)| text.parse::<f64>().is_ok() && rest.contains(WHOLE)) {
        Some((text, rest)) => format!("{text}{rest}"),
        None => plain,
    }
}

/// One plug-in of a list: its name, the section of its parameters, its file, and how it is built. Its module is in scope
/// under its name. A crate that uses it depends on `serde_json`.
#[macro_export]
macro_rules! plugin {
    ($name:ident, $section:literal, $file:expr, $build:expr) => {
        $crate::registry::Plugin {
            module: stringify!($name),
            text: include_str!($file),
            parameters: <$name::Params as $crate::registry::Parameters>::list,
            defaults: || <$name::Params as $crate::registry::Parameters>::defaults().clone(),
            schema: $crate::registry::schema::<$name::Params>,
            check: |params| {
                $crate::registry::parameters::<$name::Params>($section, stringify!($name), params).map(|_| ())
            },
            build: $build,
        }
    };
}
pub use plugin;

/// Declares the modules of a family and its list. The `build` function of each module takes its own `Params`.
#[macro_export]
macro_rules! plugins {
    (
        $(#[$doc:meta])*
        $list:ident : $built:ty, $section:literal,
        |$params:ident, $module:ident, $context:ident : $ctx:ty| $build:expr;
        $($name:ident,)+
    ) => {
        $( pub mod $name; )+
        /// How a plug-in of this family is built.
        pub type Build = fn(serde_json::Value, $ctx) -> Result<$built, $crate::error::ConfigError>;
        $(#[$doc])*
        pub static $list: &[$crate::registry::Plugin<Build>] = &[$(
            $crate::registry::plugin!($name, $section, concat!(stringify!($name), ".rs"), |params, $context| {
                use $name as $module;
                let $params: $name::Params = $crate::registry::parameters($section, stringify!($name), params)?;
                $build
            }),
        )+];
    };
}
pub use plugins;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_is_too_large_is_called_a_number() {
        let builder = crate::config::Builder::preset("lab").unwrap();
        let refused =
            |seed: &str| builder.clone().set(&format!("seed={seed}")).unwrap().finish().unwrap_err().to_string();
        let error = refused("18446744073709551615");
        assert!(
            error.contains("18446744073709551615, expected a whole number from 0 to 9223372036854775807"),
            "{error}"
        );
        assert!(!error.contains("string"), "{error}");
        assert!(refused("many").contains("string \"many\""));
    }

    #[test]
    fn nearest_name_is_the_one_people_meant() {
        let names = ["lab", "lru", "arc", "msr", "page"].map(str::to_owned);
        let near = |wanted| nearest(wanted, &names).map(String::as_str);
        assert_eq!((near("lur"), near("mrs"), near("pagee")), (Some("lru"), Some("msr"), Some("page")));
        assert_eq!(near("something else"), None);
    }
}
