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
