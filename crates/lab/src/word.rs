//! Values that are written as one word, on a command line and in TOML alike.

use std::fmt;

use nandlab_trace::{BlockEvent, ColumnSpec, FileOrder, TimeUnit, TraceError, Volumes};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serializer};

/// A value that is written as one word.
pub trait Word: Sized {
    /// Reads the word.
    ///
    /// # Errors
    /// It is none of the allowed words; the text says which are.
    fn read(text: &str) -> Result<Self, String>;
    /// The word that [`Word::read`] reads as this value.
    fn word(&self) -> String;
}

impl Word for Volumes {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "reject" => Ok(Self::Reject),
            "stack" => Ok(Self::Stack),
            "merge" => Ok(Self::Merge),
            _ => {
                let number = text.strip_prefix("pick:").or_else(|| text.strip_prefix("pick="));
                let allowed = || "allowed is reject, stack, merge or pick:N with the number of a device".to_owned();
                number.and_then(|n| n.parse().ok()).map(Self::Pick).ok_or_else(allowed)
            }
        }
    }
    fn word(&self) -> String {
        match self {
            Self::Reject => "reject".to_owned(),
            Self::Stack => "stack".to_owned(),
            Self::Merge => "merge".to_owned(),
            Self::Pick(device) => format!("pick:{device}"),
        }
    }
}

impl Word for TimeUnit {
    fn read(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
    fn word(&self) -> String {
        self.name().to_owned()
    }
}

impl Word for FileOrder {
    fn read(text: &str) -> Result<Self, String> {
        let known = Self::NAMES.iter().find(|(name, _)| *name == text);
        known.map(|(_, order)| *order).ok_or_else(|| {
            "allowed is sequence (one after the other), merge (by time) or devices (by time, each a device)".to_owned()
        })
    }
    fn word(&self) -> String {
        self.name().to_owned()
    }
}

impl Word for BlockEvent {
    fn read(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| match error {
            TraceError::Option { allowed, .. } => format!("allowed is {allowed}"),
            other => other.to_string(),
        })
    }
    fn word(&self) -> String {
        self.letter().to_string()
    }
}

impl Word for ColumnSpec {
    fn read(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
    fn word(&self) -> String {
        self.to_string()
    }
}

/// For `serde(with)`: a value as its word.
pub(crate) fn serialize<T: Word, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.word())
}
pub(crate) fn deserialize<'de, T: Word, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    T::read(&text).map_err(|allowed| D::Error::custom(format!("`{text}`: {allowed}")))
}

/// For `serde(deserialize_with)`: a list of words, of which one may stand alone.
pub(crate) fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct OneOrSeveral;
    impl<'de> Visitor<'de> for OneOrSeveral {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or a list of strings, as in [\"a.csv\", \"b.csv\"]")
        }
        fn visit_str<E>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<String>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(OneOrSeveral)
}

/// The same for a value that may be absent.
pub(crate) mod maybe {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Word;

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(crate) fn serialize<T: Word, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_some(&value.word()),
            None => serializer.serialize_none(),
        }
    }
    pub(crate) fn deserialize<'de, T: Word, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let read = |text: String| T::read(&text).map_err(|allowed| D::Error::custom(format!("`{text}`: {allowed}")));
        text.map(read).transpose()
    }
}
