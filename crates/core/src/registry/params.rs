//! Parameters of plug-ins, declared once: name, type, default, range, unit and text.
//!
//! [`params!`](crate::params) makes the typed struct of such a declaration. Everything else follows from it: the section
//! `# Parameters` of the manual page, bounds and descriptions of the JSON schema, the check of the ranges and its message.

use std::fmt::{self, Display};
use std::ops::{Bound, RangeBounds};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::ConfigError;
use crate::types::Bytes;

/// Longest line of a manual page.
const COLUMNS: usize = 118;

/// What is known of a parameter besides its type.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
    /// What it does.
    pub text: &'static str,
    /// Values that may be given; `None`: all of its type.
    pub range: Option<Range>,
    /// What its number counts, for example `pages`; may be empty.
    pub unit: &'static str,
    /// What holds when it is left out and has no fixed default; may be empty.
    pub absent: &'static str,
    /// The other parameter on which its effect depends.
    pub needs: Option<Need>,
}

/// The value that another parameter must have, or must not have, for a parameter to have an effect.
#[derive(Clone, PartialEq, Debug)]
pub struct Need {
    /// Key of the other one.
    pub name: &'static str,
    /// Its value, as JSON.
    pub value: Value,
    /// Whether it must have that value.
    pub equal: bool,
}

impl Need {
    fn is_met(&self, values: &Value) -> bool {
        (values[self.name] == self.value) == self.equal
    }
}

/// As it follows after "needs".
impl Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, equal } = self;
        if *equal { write!(f, "`{name} = {value}`") } else { write!(f, "another `{name}` than {}", shown(value)) }
    }
}

/// Values that a parameter may have.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    /// Keywords of a JSON schema with their limits.
    limits: Vec<(&'static str, Value)>,
    words: String,
}

/// The parameters of a plug-in, as [`params!`](crate::params) declares them.
pub trait Parameters: Default + Serialize + DeserializeOwned + schemars::JsonSchema {
    /// All of them, in their order.
    fn list() -> &'static [Parameter];
    /// What they are by default, as JSON.
    fn defaults() -> &'static Value;
    /// Refuses a value out of its range, and one other than the default that would have no effect.
    ///
    /// # Errors
    /// Names the parameter with its section, its value, the range with its unit, and the default, or what it needs.
    fn check(&self, section: &str, defaults: &Value) -> Result<(), ConfigError>;
}

/// A type of parameters that may have a range.
pub trait Bounded {
    /// What the ends of the range are.
    type Bound: PartialOrd + Display + Serialize;
    /// The value to compare with them; `None` if the parameter is left out.
    fn bound(&self) -> Option<Self::Bound>;
}

macro_rules! bounded {
    ($($number:ty)+) => {
        $(impl Bounded for $number {
            type Bound = Self;
            fn bound(&self) -> Option<Self> {
                Some(*self)
            }
        })+
    };
}
bounded!(u32 u64 f64 Bytes);

impl<T: Bounded> Bounded for Option<T> {
    type Bound = T::Bound;
    fn bound(&self) -> Option<T::Bound> {
        self.as_ref().and_then(Bounded::bound)
    }
}

/// The value, if it is out of the range.
pub fn outside<T: Bounded>(value: &T, range: &impl RangeBounds<T::Bound>) -> Option<String> {
    value.bound().filter(|value| !range.contains(value)).map(|value| value.to_string())
}

impl Range {
    /// The range of a parameter of type `T`.
    ///
    /// # Panics
    /// If it has no lower end, or an upper end that does not belong to it: no parameter has such a range.
    pub fn of<T: Bounded>(range: &impl RangeBounds<T::Bound>) -> Self {
        let limit = |keyword, bound: &T::Bound| (keyword, json!(bound));
        match (range.start_bound(), range.end_bound()) {
            (Bound::Included(low), Bound::Included(high)) => {
                Self { limits: vec![limit("minimum", low), limit("maximum", high)], words: format!("{low} to {high}") }
            }
            (Bound::Included(low), Bound::Unbounded) => {
                Self { limits: vec![limit("minimum", low)], words: format!("{low} or more") }
            }
            (Bound::Excluded(low), Bound::Unbounded) => {
                Self { limits: vec![limit("exclusiveMinimum", low)], words: format!("more than {low}") }
            }
            _ => panic!("a range is low..=high, low.. or (Excluded(low), Unbounded)"),
        }
    }
}

/// The range in words, as they follow after "use".
impl Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl Parameter {
    /// Its text on one line.
    fn sentence(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What is said about a value out of its range.
    pub fn refusal(&self, section: &str, value: &str, defaults: &Value) -> ConfigError {
        let default = &defaults[self.name];
        let words = self.range.as_ref().map_or("", |range| range.words.as_str());
        let unit = if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) };
        let default = match default {
            Value::Null if self.absent.is_empty() => "or leave it out".to_owned(),
            Value::Null => format!("or leave it out for {}", self.absent),
            default => format!("the default is {}", shown(default)),
        };
        let problem = format!("{value} is outside its range, {words}{unit}");
        ConfigError::new(format!("{section}.{}", self.name), problem, format!("use {words}; {default}"))
    }

    /// Completes what the type alone says in a JSON schema.
    fn complete(&self, property: &mut Value) {
        let mut text = self.sentence();
        let needs = self.needs.as_ref().map_or(String::new(), Need::to_string);
        for (what, words) in [("Unit", self.unit), ("If absent", self.absent), ("Needs", &needs)] {
            if !words.is_empty() {
                text.extend([" ", what, ": ", words, "."]);
            }
        }
        property["description"] = json!(text.trim_start());
        for (keyword, limit) in self.range.iter().flat_map(|range| &range.limits) {
            if limit.is_number() {
                property[*keyword] = limit.clone();
            }
        }
    }

    /// Its item of the manual page, with the values to choose from if it has any.
    fn item(&self, default: &Value, choices: &[(String, String)]) -> String {
        let default = match default {
            Value::Null if self.absent.is_empty() => "absent by default".to_owned(),
            Value::Null => format!("default {}", self.absent),
            default => format!("default {}", shown(default)),
        };
        let words = self.range.as_ref().map_or("", |range| range.words.as_str());
        let needs = self.needs.as_ref().map_or(String::new(), |need| format!("needs {need}"));
        let facts: Vec<&str> =
            [self.unit, words, &default, &needs].into_iter().filter(|fact| !fact.is_empty()).collect();
        let mut item = wrapped("- ", &format!("`{}` ({}): {}", self.name, facts.join(", "), self.sentence()));
        for (value, meaning) in choices {
            item += &wrapped("  - ", &format!("{value}: {meaning}"));
        }
        item
    }
}

/// A default value in a text.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`"))
}

/// Words in lines, the first of which begins with a bullet.
fn wrapped(bullet: &str, text: &str) -> String {
    let mut lines = bullet.trim_end().to_owned();
    let mut width = lines.len();
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width + 1 + length > COLUMNS {
            lines += "\n";
            lines += &" ".repeat(bullet.len() - 1);
            width = bullet.len() - 1;
        }
        lines.extend([" ", word]);
        width += 1 + length;
    }
    lines + "\n"
}

/// Refuses a value other than the default that would have no effect.
///
/// # Errors
/// Names the parameter with its section, and what it needs.
pub fn check_needs<P: Parameters>(params: &P, section: &str, defaults: &Value) -> Result<(), ConfigError> {
    let list = P::list();
    if list.iter().all(|parameter| parameter.needs.is_none()) {
        return Ok(());
    }
    let values = json!(params);
    let idle = |parameter: &&Parameter| parameter.needs.as_ref().is_some_and(|need| !need.is_met(&values));
    let given = |parameter: &&Parameter| values[parameter.name] != defaults[parameter.name];
    match list.iter().filter(idle).find(given) {
        Some(Parameter { name, needs: Some(need), .. }) => Err(ConfigError::new(
            format!("{section}.{name}"),
            format!("{} has no effect with `{} = {}`", shown(&values[name]), need.name, values[need.name]),
            format!("leave it out; it needs {need}"),
        )),
        _ => Ok(()),
    }
}

/// JSON schema of parameters: types, texts, defaults and bounds.
pub fn schema<P: Parameters>() -> Value {
    let mut schema = schemars::schema_for!(P).to_value();
    for parameter in P::list() {
        parameter.complete(&mut schema["properties"][parameter.name]);
    }
    schema
}

/// The items of the section `# Parameters` of a manual page.
pub fn section(list: &[Parameter], defaults: &Value, schema: &Value) -> String {
    let item = |parameter: &Parameter| parameter.item(&defaults[parameter.name], &choices(schema, parameter.name));
    if list.is_empty() { "None.\n".to_owned() } else { list.iter().map(item).collect() }
}

/// The values that a parameter of an enumerated type takes, and what they mean.
fn choices(schema: &Value, name: &str) -> Vec<(String, String)> {
    let property = &schema["properties"][name];
    // An enumerated type is a reference, or for an optional parameter one of the forms.
    let forms = property["anyOf"].as_array().into_iter().flatten();
    let Some(path) = [property].into_iter().chain(forms).find_map(|form| form["$ref"].as_str()) else { return vec![] };
    let target = &schema[schemars_path(path)][path.rsplit('/').next().unwrap_or(path)];
    let variants = target["oneOf"].as_array().or_else(|| target["anyOf"].as_array());
    let choice = |variant: &Value| {
        let meaning = variant["description"].as_str().unwrap_or("").to_owned();
        let value = match (&variant["const"], variant["properties"].as_object().and_then(|keys| keys.keys().next())) {
            (Value::String(word), _) => format!("`{word}`"),
            (_, Some(key)) => format!("`{{ {key} = N }}`"),
            _ if variant["type"] == "integer" => "a whole number".to_owned(),
            _ => "a number".to_owned(),
        };
        (value, meaning)
    };
    variants.into_iter().flatten().map(choice).collect()
}

/// The table of types in which a reference of a schema lies.
fn schemars_path(reference: &str) -> &str {
    reference.trim_start_matches("#/").split('/').next().unwrap_or(reference)
}

/// Declares the parameters of a plug-in.
///
/// Each has a text, a name, a type and a default; if they apply, a range (`in`, for numbers, sizes and such as may be
/// absent), a unit, what holds when it is absent, and the value that another parameter must have (`with`) or must not have
/// (`unless`) for it to have an effect. Attributes of serde are passed on. `: Copy` derives that too. At the end
/// may come parameters that several plug-ins share, in a table of their own: `..shape: Shape = Shape::default();`.
///
/// ```
/// nandlab::params! {
///     pub struct Params: Copy {
///         /// Size of the window, rounded half up.
///         window: f64 = 0.5, in 0.0..=1.0, "fraction of the frames";
///         /// How far the window moves at a time.
///         step: Option<u32> = None, in 1.., "pages", absent "a twentieth of the frames";
///     }
/// }
/// ```
#[macro_export]
macro_rules! params {
    (@range $type:ty) => { None };
    (@outside $value:expr, $type:ty) => { None };
    (@outside $value:expr, $type:ty, $range:expr) => { $crate::registry::outside::<$type>($value, &$range) };
    (@need) => { None };
    (@need $name:ident = $value:literal, $equal:literal) => {
        Some($crate::registry::Need { name: stringify!($name), value: serde_json::json!($value), equal: $equal })
    };
    (@range $type:ty, $range:expr) => { Some($crate::registry::Range::of::<$type>(&$range)) };
    (
        $vis:vis struct $name:ident $(: $derive:ident)? {
            $(
                $(#[doc = $text:literal])*
                $(#[serde($($serde:tt)*)])*
                $field:ident : $type:ty = $default:expr
                $(, in $range:expr)? $(, $unit:literal)? $(, absent $absent:literal)?
                $(, with $with:ident = $is:literal)? $(, unless $unless:ident = $is_not:literal)?;
            )*
            $(..$shared:ident : $table:ty = $tables:expr;)?
        }
    ) => {
        /// Parameters; the manual page explains them.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema $(, $derive)?)]
        #[serde(deny_unknown_fields, default)]
        $vis struct $name {
            $(
                $(#[doc = $text])*
                $(#[serde($($serde)*)])*
                pub $field: $type,
            )*
            $(
                /// Parameters that others have too.
                pub $shared: $table,
            )?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* $($shared: $tables,)? }
            }
        }

        impl $crate::registry::Parameters for $name {
            fn list() -> &'static [$crate::registry::Parameter] {
                // Made once: a test builds some FTL a million times.
                static LIST: std::sync::OnceLock<Vec<$crate::registry::Parameter>> = std::sync::OnceLock::new();
                LIST.get_or_init(|| vec![$($crate::registry::Parameter {
                    name: stringify!($field),
                    text: concat!($($text, "\n",)*),
                    range: $crate::params!(@range $type $(, $range)?),
                    unit: concat!($($unit)?),
                    absent: concat!($($absent)?),
                    needs: $crate::params!(@need $($with = $is, true)? $($unless = $is_not, false)?),
                },)*])
            }
            fn defaults() -> &'static serde_json::Value {
                static DEFAULTS: std::sync::OnceLock<serde_json::Value> = std::sync::OnceLock::new();
                DEFAULTS.get_or_init(|| serde_json::json!(Self::default()))
            }
            fn check(&self, section: &str, defaults: &serde_json::Value) -> Result<(), $crate::error::ConfigError> {
                let outside: Vec<Option<String>> = vec![$($crate::params!(@outside &self.$field, $type $(, $range)?),)*];
                for (parameter, value) in <Self as $crate::registry::Parameters>::list().iter().zip(outside) {
                    if let Some(value) = value {
                        return Err(parameter.refusal(section, &value, defaults));
                    }
                }
                $($crate::registry::Parameters::check(&self.$shared, section, &defaults[stringify!($shared)])?;)?
                $crate::registry::check_needs(self, section, defaults)
            }
        }
    };
}

#[cfg(test)]
mod tests;
