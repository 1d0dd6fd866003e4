//! The device `lab` with other settings.

use nandlab::config::{Builder, Config};
use nandlab::error::ConfigError;

/// The device of a preset with these settings, each `KEY=VALUE`, or why there is none.
pub fn try_preset<S: AsRef<str>>(name: &str, settings: impl IntoIterator<Item = S>) -> Result<Config, ConfigError> {
    let set = |builder: Builder, setting: S| builder.set(setting.as_ref());
    settings.into_iter().try_fold(Builder::preset(name)?, set)?.finish()
}

/// The device `lab` with these settings, or why there is none.
pub fn try_lab<S: AsRef<str>>(settings: impl IntoIterator<Item = S>) -> Result<Config, ConfigError> {
    try_preset("lab", settings)
}

/// The device `lab` with these settings.
pub fn lab<S: AsRef<str>>(settings: impl IntoIterator<Item = S>) -> Config {
    try_lab(settings).unwrap_or_else(|error| panic!("{error}"))
}

/// The same with one die of 64 blocks and a RAM of 64 frames of each kind.
pub fn small<S: AsRef<str>>(settings: impl IntoIterator<Item = S>) -> Config {
    let small = [
        "device.geometry={channels=1, chips_per_channel=1, dies_per_chip=1, planes_per_die=1, blocks_per_plane=64, \
         pages_per_block=16, page_bytes=4096}",
        "device.over_provisioning={spare_over_physical=0.25}",
        "ram.dram=256KiB",
        "ram.nvram=256KiB",
    ];
    let given: Vec<S> = settings.into_iter().collect();
    lab(small.into_iter().chain(given.iter().map(AsRef::as_ref)))
}
