//! Whether a device works as those of papers do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Config, FlushConfig, HostConfig, SleepConfig};
use crate::config::ControllerConfig;
use crate::engine::EvictWait;
use crate::error::ConfigError;
use crate::flash::clock::Suspend;
use crate::flash::{CellConfig, CommandConfig};
use crate::ftl::FTLS;
use crate::registry;

/// Whether a device works as those of papers do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceMode {
    /// As the other keys say.
    #[default]
    Drive,
    /// As the papers on RAM in SSDs simulate a device: dies take what comes first, a victim of collection or a merge goes to them
    /// whole when its space is needed, nothing is done in the background or ahead, a frame is free when its page is programmed,
    /// and link and controller take no time. What a preset of a drive says of all that is left out, with its commands and its
    /// kinds of cells; asking for it is an error.
    Paper,
}

/// Parameters of FTLs that say when they work, and where that is so that dies are kept busy.
const OF_DRIVES: [&str; 6] = ["gc_slice", "gc_lag", "idle_free", "map_write_buffer", "placement", "whole_units"];

/// A preset with defaults under it, as a device of a paper: what it is made of stays, how a drive works with that goes.
pub(super) fn as_paper(preset: &mut Value) {
    let device = &mut preset["device"];
    device["timing"]["model"] = json!(if device["timing"]["model"] == "serial" { "serial" } else { "parallel" });
    without(device, &["commands", "cells", "scheduler", "host", "controller", "sleep"]);
    without(&mut preset["ram"], &["flush", "evict_wait"]);
    preset["ram"]["evict_wait"] = json!("program");
    without(&mut preset["ftl"], &OF_DRIVES);
    without(&mut preset["ftl"], &["slc", "slc_blocks"]);
}

fn without(table: &mut Value, keys: &[&str]) {
    if let Some(table) = table.as_object_mut() {
        table.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

impl Config {
    /// Checks that a device of a paper does nothing that those do not.
    ///
    /// # Errors
    /// Names the first key that says otherwise.
    pub(super) fn check_mode(&self) -> Result<(), ConfigError> {
        if self.device.mode == DeviceMode::Drive {
            return Ok(());
        }
        let (device, ram, scheduler) = (&self.device, &self.ram, &self.device.scheduler);
        let overtakes = device.timing.model.rule().schedules && !scheduler.policy.rule().keeps_order;
        let keys = [
            ("device.scheduler.policy", overtakes),
            ("device.scheduler.suspend", scheduler.suspend != Suspend::None),
            ("device.commands", device.commands != CommandConfig::default()),
            ("device.cells", device.cells != CellConfig::default()),
            ("device.host", device.host != HostConfig::default()),
            ("device.controller", device.controller != ControllerConfig::default()),
            ("device.sleep", device.sleep != SleepConfig::default()),
            ("ram.flush", ram.flush != FlushConfig::default()),
            ("ram.evict_wait", ram.evict_wait != EvictWait::Program),
        ];
        let key = keys.iter().find(|(_, is_said)| *is_said).map(|(key, _)| (*key).to_owned());
        let Some(key) = key.or(self.ftl_of_a_drive()?) else { return Ok(()) };
        let problem = "with device.mode = \"paper\" the device works as those of papers do, which have none of this";
        Err(ConfigError::new(key, problem, "leave it out, or use device.mode = \"drive\""))
    }

    /// The first parameter of the FTL, if any, by which it works as in a drive.
    fn ftl_of_a_drive(&self) -> Result<Option<String>, ConfigError> {
        let defaults = (registry::find(FTLS, "ftl", &self.ftl.name)?.defaults)();
        let said =
            |params: &Map<String, Value>, key: &str| params.get(key).is_some_and(|value| *value != defaults[key]);
        let key = OF_DRIVES.into_iter().find(|key| said(&self.ftl.params, key));
        Ok(key.map(|key| format!("ftl.{key}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Builder, DEVICES};

    fn config(preset: &str, settings: &[&str]) -> Result<Config, ConfigError> {
        settings.iter().try_fold(Builder::preset(preset)?, |builder, setting| builder.set(setting))?.finish()
    }

    #[test]
    fn device_of_each_paper_works_as_in_the_paper() {
        for (name, _) in DEVICES {
            let is_of_a_paper = ["aalru", "hitstat", "rftl", "urm", "wpa"].contains(name);
            assert_eq!(config(name, &[]).unwrap().device.mode == DeviceMode::Paper, is_of_a_paper, "{name}");
        }
    }

    #[test]
    fn drive_works_as_a_device_of_a_paper_when_asked() {
        for (name, _) in DEVICES {
            let drive = config(name, &[]).unwrap();
            let paper = config(name, &["device.mode=paper"]).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(!paper.device.timing.model.rule().schedules, "{name}");
            assert_eq!((paper.device.geometry, paper.ram.dram), (drive.device.geometry, drive.ram.dram), "{name}");
            assert_eq!(paper.logical_pages(), drive.logical_pages(), "{name}");
            assert_eq!(paper.device.timing.page_program, drive.device.timing.page_program, "{name}");
        }
        let smaller = ["device.mode=paper", "device.geometry.blocks_per_plane=48"];
        config("lab-drive", &smaller).unwrap().build().unwrap();
    }

    #[test]
    fn mode_may_be_said_before_or_after_what_else_is_said() {
        let of = |settings: &[&str]| config("nvme-client", settings).unwrap().to_toml();
        let first = of(&["device.mode=paper", "ram.dram=8MiB", "ftl.reserve=5"]);
        assert_eq!(first, of(&["ram.dram=8MiB", "ftl.reserve=5", "device.mode=paper"]));
        assert!(first.contains("reserve = 5") && !first.contains("pcie"), "{first}");
        let by_file =
            Builder::preset("ufs").unwrap().file("x.toml", "preset = \"nvme-client\"\n[device]\nmode = \"paper\"\n");
        let by_file = by_file.and_then(|b| b.set("ram.dram=8MiB")).and_then(|b| b.set("ftl.reserve=5"));
        assert_eq!(first, by_file.and_then(|b| b.finish()).unwrap().to_toml());
        let drive = of(&["device.mode=paper", "device.mode=drive"]);
        assert_eq!(drive, of(&[]), "what is said last holds");
    }

    #[test]
    fn device_of_a_paper_refuses_what_only_drives_do() {
        let cases = [
            ("device.timing.model=scheduled device.scheduler.policy=read_first", "device.scheduler.policy"),
            ("device.timing.model=scheduled device.scheduler.suspend=erase", "device.scheduler"),
            (
                "device.timing.model=scheduled device.scheduler.policy=fifo device.commands.unit_pages=2",
                "device.commands",
            ),
            ("device.host.link=pcie3x4", "device.host"),
            ("device.controller.read_time=1us", "device.controller"),
            ("device.sleep.after=1ms device.sleep.wake_time=1ms", "device.sleep"),
            ("ram.flush.above=0.5", "ram.flush"),
            ("ram.evict_wait=transfer", "ram.evict_wait"),
            ("ftl.gc_slice=paced", "ftl.gc_slice"),
            ("ftl.placement=least_busy", "ftl.placement"),
            ("ftl.map_write_buffer=8", "ftl.map_write_buffer"),
        ];
        for (settings, key) in cases {
            let settings: Vec<&str> = settings.split(' ').collect();
            let error = config("urm", &settings).unwrap_err().to_string();
            assert!(error.contains(key), "{settings:?}: {error}");
            let settings = [&settings[..], &["device.mode=drive"]].concat();
            if let Err(error) = config("urm", &settings) {
                assert!(!error.to_string().contains("device.mode"), "{settings:?}: {error}");
            }
        }
        let fifo = ["device.timing.model=scheduled", "device.scheduler.policy=fifo"];
        assert!(config("urm", &fifo).is_ok(), "it only tells what waits for what");
    }
}
