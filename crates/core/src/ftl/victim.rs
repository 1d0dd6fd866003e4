//! Which closed block is collected: the victim policies of all page-mapped FTLs, one file and one line each.
//!
//! Ages count blocks closed since the block was closed, so that results do not depend on the timing model.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

pub use crate::ftl::blocks::pool::{Candidates, Rule};
use crate::registry::{self, Plugin};

macro_rules! victims {
    ($($name:ident,)+) => {
        $(mod $name;)+
        /// All victim policies; the first is the default.
        pub const VICTIMS: &[Plugin<Rule>] = &[$(Plugin {
            module: stringify!($name),
            text: include_str!(concat!("victim/", stringify!($name), ".rs")),
            parameters: Vec::new,
            defaults: || Value::Null,
            schema: || Value::Null,
            check: |_| Ok(()),
            build: $name::RULE,
        },)+];
    };
}

victims! {
    greedy,
    greedy_lowest,
    fifo,
    random,
    d_choices,
    windowed_greedy,
    cost_benefit,
    cost_age_times,
}

/// A victim policy with its number, as a configuration names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Victim {
    /// Its place in [`VICTIMS`].
    index: u8,
    number: u32,
}

impl Victim {
    /// The policy of this name, without a number.
    ///
    /// # Panics
    /// If there is none, or it takes a number: names in code are those of [`VICTIMS`].
    pub fn named(name: &str) -> Self {
        Self::find(name, None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// # Errors
    /// Says what is wrong with the name or its number.
    fn find(name: &str, number: Option<u32>) -> Result<Self, String> {
        let plugin =
            registry::find(VICTIMS, "victim", name).map_err(|error| format!("{}; {}", error.problem, error.help))?;
        let index = VICTIMS.iter().position(|known| known.module == plugin.module).expect("it was found there") as u8;
        match (plugin.build.number, number) {
            (Some(meaning), Some(0)) => Err(format!("{{ {name} = 0 }} leaves no victim: use 1 or more ({meaning})")),
            (Some(_), Some(number)) => Ok(Self { index, number }),
            (None, None) => Ok(Self { index, number: 0 }),
            (Some(meaning), None) => Err(format!("`{name}` takes a number ({meaning}): {{ {name} = 10 }}")),
            (None, Some(_)) => Err(format!("`{name}` takes no number: \"{name}\"")),
        }
    }

    const fn rule(self) -> Rule {
        VICTIMS[self.index as usize].build
    }
    /// What a pool of blocks is told of it: the rule and its number.
    pub(super) const fn parts(self) -> (Rule, u32) {
        (self.rule(), self.number)
    }
}

impl Serialize for Victim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = VICTIMS[self.index as usize].module;
        if self.rule().number.is_none() {
            return serializer.serialize_str(name);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, &self.number)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Victim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Named;
        impl<'de> Visitor<'de> for Named {
            type Value = Victim;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a victim policy, or { NAME = number }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Victim, E> {
                Victim::find(name, None).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Victim, A::Error> {
                let Some((name, number)) = map.next_entry::<String, u32>()? else {
                    return Err(A::Error::custom("{} names no victim policy"));
                };
                if map.next_key::<String>()?.is_some() {
                    return Err(A::Error::custom("one victim policy at a time"));
                }
                Victim::find(&name, Some(number)).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(Named)
    }
}

impl schemars::JsonSchema for Victim {
    fn schema_name() -> Cow<'static, str> {
        "Victim".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let plain = VICTIMS.iter().filter(|plugin| plugin.build.number.is_none());
        let mut forms: Vec<Value> =
            plain.map(|plugin| json!({"description": plugin.title(), "const": plugin.module})).collect();
        for plugin in VICTIMS {
            if let Some(meaning) = plugin.build.number {
                let number = json!({"description": meaning, "type": "integer", "format": "uint32", "minimum": 1});
                let properties = json!({plugin.module: number});
                forms.push(json!({
                    "description": plugin.title(), "type": "object", "properties": properties,
                    "required": [plugin.module], "additionalProperties": false,
                }));
            }
        }
        let schema = json!({"description": "A victim policy: see `nandlab list victims`.", "oneOf": forms});
        schema.try_into().expect("an object is a schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<Victim, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn victim_reads_back_as_it_is_written() {
        for plugin in VICTIMS {
            let value = match plugin.build.number {
                Some(_) => json!({plugin.module: 7}),
                None => json!(plugin.module),
            };
            let victim = read(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(victim).unwrap(), value);
        }
        assert_eq!(read(json!("greedy")).unwrap(), Victim::default());
        assert!(read(json!({"d_choices": 0})).unwrap_err().contains("use 1 or more (blocks drawn at random)"));
    }

    #[test]
    fn victim_that_is_wrong_is_named_with_what_is_right() {
        for (value, wanted) in [
            (json!("gredy"), "did you mean `greedy`?"),
            (json!("d_choices"), "takes a number (blocks drawn at random)"),
            (json!({"fifo": 3}), "takes no number"),
            (json!({"d_choices": 3, "fifo": 1}), "one victim policy"),
            (json!({}), "names no"),
            (json!(3), "the name of a victim policy"),
        ] {
            let error = read(value.clone()).unwrap_err();
            assert!(error.contains(wanted), "{value}: {error}");
        }
    }
}
