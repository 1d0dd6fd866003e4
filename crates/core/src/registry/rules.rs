//! Rules that a parameter chooses by name: kinds of plug-ins without parameters of their own, a file and a line each.
//!
//! [`rules!`](crate::registry::rules) declares the list of a kind, [`Choice`] is the type of the parameter: what the
//! configuration, its schema and its messages know of a rule comes from the list. What code must know of a rule is a typed
//! fact in it; nothing asks for its name.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::params::Bounded;
use super::{Plugin, find};

/// A rule of a kind.
pub trait Rule: Copy + fmt::Debug + 'static {
    /// What messages call one of them; with an `s`, a family of `nandlab list`.
    const KIND: &'static str;
    /// All of them. The first is the default and takes no number.
    const ALL: &'static [Plugin<Self>];
    /// A key of the configuration that takes one, for example `ftl.victim`.
    const KEY: &'static str;
    /// What has such a key, for example `FTLs that map pages`.
    const CHOSEN_BY: &'static str;
    /// The number that the rule takes.
    fn number(&self) -> Option<Number> {
        None
    }
}

/// How a number comes with a rule, and what it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// `{ NAME = 10 }`: a whole number from 1 on.
    Named(&'static str),
    /// `0.5`: the number alone stands for the rule. At most one rule of a kind has it.
    Alone(&'static str),
}

/// A rule with its number, as a configuration names it.
pub struct Choice<R> {
    /// Its place in the list.
    index: u8,
    /// 0 if it takes none.
    number: f64,
    kind: PhantomData<fn() -> R>,
}

impl<R: Rule> Choice<R> {
    /// The rule of this name, without a number.
    ///
    /// # Panics
    /// If there is none, or it takes a number: names in code are those of the list.
    pub fn named(name: &str) -> Self {
        Self::find(name, None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The rule that a number alone stands for.
    ///
    /// # Panics
    /// If the kind has none.
    pub fn alone(number: f64) -> Self {
        Self::of_number(number).unwrap_or_else(|| panic!("a number is not a {}", R::KIND))
    }

    /// # Errors
    /// Says what is wrong with the name or its number.
    fn find(name: &str, number: Option<u32>) -> Result<Self, String> {
        let plugin = find(R::ALL, R::KIND, name).map_err(|error| format!("{}; {}", error.problem, error.help))?;
        let index = R::ALL.iter().position(|known| known.module == plugin.module).expect("it was found there");
        let choice = Self { index: index as u8, number: number.map_or(0.0, f64::from), kind: PhantomData };
        match (plugin.build.number(), number) {
            (Some(Number::Named(meaning)), Some(0)) => {
                Err(format!("{{ {name} = 0 }} is too few: use 1 or more ({meaning})"))
            }
            (Some(Number::Named(_)), Some(_)) | (None, None) => Ok(choice),
            (Some(Number::Named(meaning)), None) => {
                Err(format!("`{name}` takes a number ({meaning}): {{ {name} = 10 }}"))
            }
            (Some(Number::Alone(meaning)), _) => Err(format!("`{name}` is given by its number alone ({meaning}): 0.5")),
            (None, Some(_)) => Err(format!("`{name}` takes no number: \"{name}\"")),
        }
    }

    fn of_number(number: f64) -> Option<Self> {
        let index = R::ALL.iter().position(|plugin| matches!(plugin.build.number(), Some(Number::Alone(_))))?;
        Some(Self { index: index as u8, number, kind: PhantomData })
    }

    fn plugin(self) -> &'static Plugin<R> {
        &R::ALL[self.index as usize]
    }
    /// The rule.
    #[inline]
    pub fn rule(self) -> R {
        R::ALL[self.index as usize].build
    }
    /// Its place in the list.
    #[inline]
    pub const fn index(self) -> u8 {
        self.index
    }
    /// Its number, 0 if it takes none.
    #[inline]
    pub const fn number(self) -> f64 {
        self.number
    }
    /// Its name as configurations write it.
    pub fn name(self) -> &'static str {
        self.plugin().module
    }
}

impl<R> Clone for Choice<R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Choice<R> {}

impl<R> PartialEq for Choice<R> {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.number) == (other.index, other.number)
    }
}

impl<R: Rule> Default for Choice<R> {
    fn default() -> Self {
        Self { index: 0, number: 0.0, kind: PhantomData }
    }
}

impl<R: Rule> fmt::Debug for Choice<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.name()).field(&self.number).finish()
    }
}

/// The number alone, for its range.
impl<R: Rule> Bounded for Choice<R> {
    type Bound = f64;
    fn bound(&self) -> Option<f64> {
        matches!(self.rule().number(), Some(Number::Alone(_))).then_some(self.number)
    }
}

impl<R: Rule> Serialize for Choice<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.rule().number() {
            None => serializer.serialize_str(self.name()),
            Some(Number::Alone(_)) => serializer.serialize_f64(self.number),
            Some(Number::Named(_)) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(self.name(), &(self.number as u32))?;
                map.end()
            }
        }
    }
}

impl<'de, R: Rule> Deserialize<'de> for Choice<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

struct Reader<R>(PhantomData<R>);

impl<R: Rule> Reader<R> {
    fn number<E: Error>(&self, number: f64) -> Result<Choice<R>, E> {
        let unexpected = serde::de::Unexpected::Float(number);
        Choice::of_number(number).ok_or_else(|| E::invalid_type(unexpected, self))
    }
}

impl<'de, R: Rule> Visitor<'de> for Reader<R> {
    type Value = Choice<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let takes = |wanted: fn(&Number) -> bool| R::ALL.iter().any(|p| p.build.number().as_ref().is_some_and(wanted));
        write!(f, "the name of {}", with_article(R::KIND))?;
        if takes(|number| matches!(number, Number::Named(_))) {
            f.write_str(", or { NAME = number }")?;
        }
        if takes(|number| matches!(number, Number::Alone(_))) {
            f.write_str(", or a number")?;
        }
        Ok(())
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<Choice<R>, E> {
        Choice::find(name, None).map_err(E::custom)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Choice<R>, E> {
        self.number(number)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Choice<R>, E> {
        self.number(number as f64)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Choice<R>, E> {
        self.number(number as f64)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Choice<R>, A::Error> {
        let Some((name, number)) = map.next_entry::<String, u32>()? else {
            return Err(A::Error::custom(format!("{{}} names no {}", R::KIND)));
        };
        if map.next_key::<String>()?.is_some() {
            return Err(A::Error::custom(format!("one {} at a time", R::KIND)));
        }
        Choice::find(&name, Some(number)).map_err(A::Error::custom)
    }
}

impl<R: Rule> schemars::JsonSchema for Choice<R> {
    fn schema_name() -> Cow<'static, str> {
        R::KIND.into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let form = |plugin: &Plugin<R>| form(plugin.module, &(plugin.title() + "."), plugin.build.number().as_ref());
        let forms: Vec<Value> = R::ALL.iter().map(form).collect();
        let description = format!("One of `nandlab list {}s`.", R::KIND);
        json!({"description": description, "oneOf": forms}).try_into().expect("an object is a schema")
    }
}

/// How a rule is written, as a JSON schema.
fn form(module: &str, title: &str, number: Option<&Number>) -> Value {
    match number {
        None => json!({"description": title, "const": module}),
        Some(Number::Alone(_)) => json!({"description": title, "type": "number"}),
        Some(Number::Named(meaning)) => {
            let number = json!({"description": meaning, "type": "integer", "format": "uint32", "minimum": 1});
            json!({
                "description": title, "type": "object", "properties": {module: number},
                "required": [module], "additionalProperties": false,
            })
        }
    }
}

/// `a placement`, `an allocation`.
fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// Declares the modules of a kind of rules, in a folder next to the file, and their list. Each has its rule as `RULE`.
#[macro_export]
macro_rules! rules {
    ($(#[$doc:meta])* $list:ident : $rule:ty, $folder:literal; $($name:ident,)+) => {
        $(mod $name;)+
        $(#[$doc])*
        pub static $list: &[$crate::registry::Plugin<$rule>] = &[$($crate::registry::Plugin {
            module: stringify!($name),
            text: include_str!(concat!($folder, "/", stringify!($name), ".rs")),
            parameters: || &[],
            defaults: || serde_json::Value::Null,
            schema: || serde_json::Value::Null,
            check: |_| Ok(()),
            build: $name::RULE,
        },)+];
    };
}
pub use rules;
