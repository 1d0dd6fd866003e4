//! Plain data as types, with the place of what does not fit.
//!
//! Written out because it is compiled for every table of parameters: a deserializer that is put around another to follow the
//! path compiles each type twice, which was a quarter of the time that this crate takes to build.

use std::fmt::Display;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::{Map, Value, map};

/// A value that is not of the type that was wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// The place in the value, `a.b[2]`; `.` for the whole.
    pub path: String,
    /// What serde says of it.
    pub problem: String,
}

/// Reads a value as a type. Keys of tables are strings, also where the type has a map.
///
/// # Errors
/// Says where the value does not fit, and why.
pub fn typed<T: DeserializeOwned>(value: Value) -> Result<T, Misfit> {
    T::deserialize(Tracked(value))
}

impl Misfit {
    /// The same, seen from what holds the value under this key or index.
    fn within(mut self, step: &str) -> Self {
        self.path = match self.path.as_str() {
            "." => step.to_owned(),
            path if path.starts_with('[') => format!("{step}{path}"),
            path => format!("{step}.{path}"),
        };
        self
    }
}

impl Misfit {
    /// The same for a word that is a choice: serde speaks of variants if the choice has a value.
    fn of_a_word(self, word: &str) -> Self {
        if !self.problem.contains("unit variant, expected newtype variant") {
            return self;
        }
        Self::custom(format!("`{word}` has a value: write \"{word}:N\" or {{ {word} = N }}"))
    }
    /// The same for a table of one key that is a choice: to serde a choice without a value has one of the type unit.
    fn of_a_table(self, key: &str) -> Self {
        if self.path != key || !self.problem.ends_with("expected unit") {
            return self;
        }
        Self::custom(format!("`{key}` has no value: write \"{key}\""))
    }
}

impl Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

impl std::error::Error for Misfit {}

impl Error for Misfit {
    fn custom<T: Display>(problem: T) -> Self {
        Self { path: ".".to_owned(), problem: problem.to_string() }
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match found {
            Unexpected::Unit => Self::custom(format!("invalid type: null, expected {expected}")),
            found => Self::custom(format!("invalid type: {found}, expected {expected}")),
        }
    }
}

/// The short spelling of a choice that has a value, `steady:2` for `{ steady = 2 }`.
fn with_value(text: &str, variants: &[&str]) -> Option<Map<String, Value>> {
    let (name, value) = text.split_once([':', '=']).map(|(name, value)| (name.trim(), value.trim()))?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    variants.contains(&name).then(|| Map::from_iter([(name.to_owned(), value)]))
}

/// A value to be read.
struct Tracked(Value);

impl<'de> Deserializer<'de> for Tracked {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(is) => visitor.visit_bool(is),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (.., number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => {
                let mut items = Items { given: items.len(), left: items.into_iter() };
                let read = visitor.visit_seq(&mut items)?;
                if items.left.len() > 0 {
                    return Err(Misfit::invalid_length(items.given, &"fewer elements in array"));
                }
                Ok(read)
            }
            Value::Object(table) => {
                let mut entries = Entries::of(table);
                let read = visitor.visit_map(&mut entries)?;
                if entries.left.len() > 0 {
                    return Err(Misfit::custom("invalid length: fewer elements in map expected"));
                }
                Ok(read)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::String(text) => {
                if let Some(table) = with_value(&text, variants) {
                    return Self(Value::Object(table)).deserialize_enum(name, variants, visitor);
                }
                let read = visitor.visit_enum(StringDeserializer::<Misfit>::new(text.clone()));
                read.map_err(|misfit| misfit.of_a_word(&text))
            }
            Value::Object(table) if table.len() == 1 => {
                let key = table.keys().next().cloned().unwrap_or_default();
                let read = visitor.visit_enum(MapAccessDeserializer::new(Entries::of(table)));
                read.map_err(|misfit| misfit.of_a_table(&key))
            }
            Value::Object(_) => Err(Misfit::custom("invalid value: map, expected map with a single key")),
            other => Err(Misfit::invalid_type(kind(&other), &"string or map")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// What serde calls it.
fn kind(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(is) => Unexpected::Bool(*is),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => Unexpected::Unsigned(number),
            (_, Some(number), _) => Unexpected::Signed(number),
            (.., number) => Unexpected::Float(number.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// The items of an array, in their order.
struct Items {
    given: usize,
    left: std::vec::IntoIter<Value>,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
        let index = self.given - self.left.len();
        let Some(item) = self.left.next() else { return Ok(None) };
        seed.deserialize(Tracked(item)).map(Some).map_err(|misfit| misfit.within(&format!("[{index}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// The entries of a table, in their order.
struct Entries {
    left: map::IntoIter,
    key: String,
    value: Value,
}

impl Entries {
    fn of(table: Map<String, Value>) -> Self {
        Self { left: table.into_iter(), key: String::new(), value: Value::Null }
    }

    fn advance(&mut self) -> bool {
        let Some((key, value)) = self.left.next() else { return false };
        (self.key, self.value) = (key, value);
        true
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        if !self.advance() {
            return Ok(None);
        }
        let key = seed.deserialize(StringDeserializer::<Misfit>::new(self.key.clone()));
        key.map(Some).map_err(|misfit| misfit.within(&self.key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Misfit> {
        seed.deserialize(Tracked(self.value.take())).map_err(|misfit| misfit.within(&self.key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        count: u32,
        share: f64,
        name: Option<String>,
        #[serde(default)]
        parts: Vec<Part>,
        #[serde(default)]
        pair: Option<(u8, i64)>,
        #[serde(default)]
        table: BTreeMap<String, bool>,
    }

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(rename_all = "snake_case")]
    enum Part {
        Nothing,
        Number(u32),
        Both(u32, u32),
        Named { size: u32 },
    }

    fn read(value: Value) -> Result<Whole, Misfit> {
        typed(value)
    }

    #[test]
    fn value_is_read_as_serde_json_reads_it() {
        for value in [
            json!({"count": 3, "share": 1, "name": null}),
            json!({"count": u32::MAX, "share": 0.25, "name": "x", "pair": [255, -7], "table": {"a": true, "b": false}}),
            json!({"count": 0, "share": -1.5, "parts": ["nothing", {"number": 4}, {"both": [1, 2]}, {"named": {"size": 9}}]}),
        ] {
            let same: Whole = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(read(value), Ok(same));
        }
    }

    #[test]
    fn choice_with_a_value_has_a_short_spelling() {
        let part = |text: &str| read(json!({"count": 3, "share": 1, "name": null, "parts": [text]}));
        let number = |text: &str| part(text).unwrap().parts.remove(0);
        assert_eq!((number("number:4"), number("number = 5")), (Part::Number(4), Part::Number(5)));
        assert_eq!(part("number:x").unwrap_err().path, "parts[0].number");
        assert!(part("other:4").unwrap_err().problem.contains("unknown variant `other:4`"));
        let table = json!({"count": 3, "share": 1, "name": null, "parts": [{"nothing": 1}]});
        assert_eq!(read(table).unwrap_err().problem, "`nothing` has no value: write \"nothing\"");
        assert_eq!(part("nothing:1").unwrap_err().problem, "`nothing` has no value: write \"nothing\"");
        let missing = part("number").unwrap_err();
        assert_eq!(
            (missing.path.as_str(), missing.problem.contains("write \"number:N\" or { number = N }")),
            ("parts[0]", true)
        );
    }

    #[test]
    fn misfit_names_its_place_and_says_what_serde_json_says() {
        let whole = |change: fn(&mut Value)| {
            let mut value = json!({"count": 3, "share": 1, "name": null});
            change(&mut value);
            value
        };
        for (value, path) in [
            (whole(|v| v["count"] = json!(-1)), "count"),
            (whole(|v| v["count"] = json!(1.5)), "count"),
            (whole(|v| v["count"] = json!(u64::MAX)), "count"),
            (whole(|v| v["count"] = Value::Null), "count"),
            (whole(|v| v["share"] = json!("wide")), "share"),
            (whole(|v| v["share"] = json!([1])), "share"),
            (whole(|v| v["name"] = json!(true)), "name"),
            (whole(|v| v["other"] = json!(1)), "other"),
            (whole(|v| v["parts"] = json!({})), "parts"),
            (whole(|v| v["parts"] = json!(["nothing", "all"])), "parts[1]"),
            (whole(|v| v["parts"] = json!(["nothing", 7])), "parts[1]"),
            (whole(|v| v["parts"] = json!([{"number": 1, "both": [1, 2]}])), "parts[0]"),
            (whole(|v| v["parts"] = json!([{"number": "x"}])), "parts[0].number"),
            (whole(|v| v["parts"] = json!([{"both": [1, "x"]}])), "parts[0].both[1]"),
            (whole(|v| v["parts"] = json!([{"named": {"size": []}}])), "parts[0].named.size"),
            (whole(|v| v["pair"] = json!([1, 2, 3])), "pair"),
            (whole(|v| v["pair"] = json!([256, 2])), "pair[0]"),
            (whole(|v| v["table"] = json!({"a": 1})), "table.a"),
            (json!({"share": 1}), "."),
            (json!(7), "."),
        ] {
            let misfit = read(value.clone()).unwrap_err();
            assert_eq!(misfit.path, path, "{value}");
            assert_eq!(misfit.problem, serde_json::from_value::<Whole>(value).unwrap_err().to_string());
        }
    }
}
