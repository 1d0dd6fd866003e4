//! The device `lab` with other settings.

use nandlab::config::{Builder, Config};

/// The device `lab` with these settings, each `KEY=VALUE`.
pub fn lab<S: AsRef<str>>(settings: impl IntoIterator<Item = S>) -> Config {
    let set = |builder: Builder, setting: S| {
        let setting = setting.as_ref();
        builder.set(setting).unwrap_or_else(|error| panic!("{setting}: {error}"))
    };
    let builder = settings.into_iter().fold(Builder::preset("lab").expect("it is there"), set);
    builder.finish().unwrap_or_else(|error| panic!("{error}"))
}
