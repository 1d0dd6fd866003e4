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
    fn list() -> Vec<Parameter>;
    /// Refuses a value out of its range.
    ///
    /// # Errors
    /// Names the parameter with its section, its value, the range with its unit, and the default.
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
        for (what, words) in [("Unit", self.unit), ("If absent", self.absent)] {
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

    /// Its item of the manual page, with the values to choose from if it has such.
    fn item(&self, default: &Value, choices: &[(String, String)]) -> String {
        let default = match default {
            Value::Null if self.absent.is_empty() => "absent by default".to_owned(),
            Value::Null => format!("default {}", self.absent),
            default => format!("default {}", shown(default)),
        };
        let words = self.range.as_ref().map_or("", |range| range.words.as_str());
        let facts: Vec<&str> = [self.unit, words, &default].into_iter().filter(|fact| !fact.is_empty()).collect();
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
/// absent), a unit, and what holds when it is absent. Attributes of serde are passed on. `: Copy` derives that too. At the end
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
    (@range $type:ty, $range:expr) => { Some($crate::registry::Range::of::<$type>(&$range)) };
    (
        $vis:vis struct $name:ident $(: $derive:ident)? {
            $(
                $(#[doc = $text:literal])*
                $(#[serde($($serde:tt)*)])*
                $field:ident : $type:ty = $default:expr
                $(, in $range:expr)? $(, $unit:literal)? $(, absent $absent:literal)?;
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
            fn list() -> Vec<$crate::registry::Parameter> {
                vec![$($crate::registry::Parameter {
                    name: stringify!($field),
                    text: concat!($($text, "\n",)*),
                    range: $crate::params!(@range $type $(, $range)?),
                    unit: concat!($($unit)?),
                    absent: concat!($($absent)?),
                },)*]
            }
            fn check(&self, section: &str, defaults: &serde_json::Value) -> Result<(), $crate::error::ConfigError> {
                let outside: Vec<Option<String>> = vec![$($crate::params!(@outside &self.$field, $type $(, $range)?),)*];
                for (parameter, value) in Self::list().iter().zip(outside) {
                    if let Some(value) = value {
                        return Err(parameter.refusal(section, &value, defaults));
                    }
                }
                $($crate::registry::Parameters::check(&self.$shared, section, &defaults[stringify!($shared)])?;)?
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Unbounded};

    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        /// The oldest first.
        Oldest,
        /// The page that was
        /// used last.
        #[serde(untagged)]
        Share(f64),
    }

    params! {
        struct Params {
            /// Size of the window: a long text, which does not fit into a line of the manual page, so that it is broken
            /// where the line ends.
            window: f64 = 0.5, in 0.0..=1.0, "fraction of the frames";
            /// How far it moves.
            #[serde(alias = "stride")]
            step: Option<u32> = None, in 1.., "pages", absent "a twentieth of the frames";
            /// A factor.
            beta: f64 = 5.0, in (Excluded(1.0), Unbounded);
            /// Room.
            room: Bytes = Bytes::kib(4), in Bytes(512)..=Bytes::mib(1);
            /// Who leaves.
            order: Option<Order> = None;
            /// Whether it moves.
            dynamic: bool = false;
        }
    }

    fn read(params: Value) -> Result<Params, ConfigError> {
        crate::registry::parameters("buffer", "example", params)
    }

    #[test]
    fn parameter_out_of_its_range_is_refused_with_what_to_do() {
        for (params, key, problem, help) in [
            (json!({"window": 1.5}), "buffer.window", "1.5 is outside", "use 0 to 1; the default is 0.5"),
            (json!({"window": -0.1}), "buffer.window", "0 to 1 (fraction of the frames)", "use 0 to 1"),
            (json!({"step": 0}), "buffer.step", "0 is outside", "use 1 or more; or leave it out for a twentieth"),
            (json!({"stride": 0}), "buffer.step", "1 or more (pages)", "use 1 or more"),
            (json!({"beta": 1}), "buffer.beta", "1 is outside", "use more than 1; the default is 5"),
            (json!({"room": 511}), "buffer.room", "511B is outside", "use 512B to 1MiB; the default is `4KiB`"),
            (json!({"room": "2MiB"}), "buffer.room", "2MiB is outside", "use 512B to 1MiB"),
            (json!({"window": "wide"}), "buffer.window", "expected a number", "describe example"),
            (json!({"widow": 1}), "buffer.widow", "unknown field", "describe example"),
        ] {
            let error = read(params.clone()).expect_err("it is refused");
            assert_eq!(error.key, key, "{params}");
            assert!(error.problem.contains(problem) && error.help.contains(help), "{params}: {error}");
        }
    }

    #[test]
    fn parameter_at_the_ends_of_its_range_is_accepted() {
        for params in [
            json!({"window": 0, "step": 1, "beta": 1.0_f64.next_up(), "room": 512}),
            json!({"window": 1, "step": null, "room": "1MiB", "order": 0.5}),
            json!({"step": u32::MAX}),
        ] {
            let read = read(params.clone()).unwrap_or_else(|error| panic!("{params}: {error}"));
            assert_eq!(
                json!(crate::registry::parameters::<Params>("buffer", "example", json!(read)).unwrap()),
                json!(read)
            );
        }
        assert_eq!(json!(read(json!({})).unwrap()), json!(Params::default()));
    }

    #[test]
    fn schema_has_bounds_defaults_and_texts() {
        let schema = schema::<Params>();
        let of = |name: &str, keyword: &str| schema["properties"][name][keyword].clone();
        assert_eq!((of("window", "minimum"), of("window", "maximum")), (json!(0.0), json!(1.0)));
        assert_eq!((of("step", "minimum"), of("step", "maximum")), (json!(1), Value::Null));
        assert_eq!((of("beta", "exclusiveMinimum"), of("window", "default")), (json!(1.0), json!(0.5)));
        let text = "How far it moves. Unit: pages. If absent: a twentieth of the frames.";
        assert_eq!(of("step", "description"), text);
        assert_eq!((of("dynamic", "minimum"), schema["additionalProperties"].clone()), (Value::Null, json!(false)));
    }

    #[test]
    fn manual_has_every_fact_of_a_parameter() {
        let wanted = "\
- `window` (fraction of the frames, 0 to 1, default 0.5): Size of the window: a long text, which does not fit into a
  line of the manual page, so that it is broken where the line ends.
- `step` (pages, 1 or more, default a twentieth of the frames): How far it moves.
- `beta` (more than 1, default 5.0): A factor.
- `room` (512B to 1MiB, default `4KiB`): Room.
- `order` (absent by default): Who leaves.
  - `oldest`: The oldest first.
  - a number: The page that was used last.
- `dynamic` (default false): Whether it moves.
";
        assert_eq!(section(&Params::list(), &json!(Params::default()), &schema::<Params>()), wanted);
        assert_eq!(section(&[], &json!({}), &json!({})), "None.\n");
    }
}
