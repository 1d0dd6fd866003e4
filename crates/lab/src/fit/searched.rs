//! Which parameters a fit searches.

use nandlab::config::{Builder, Config, ReplayMode};

use super::{Fit, FitParameter};
use crate::device::Device;
use crate::error::Error;

impl Fit {
    /// Refuses to scale the arrivals of a trace: its latencies were recorded at those that it has.
    pub(super) fn keeps_arrivals(&self, is_fio: bool, config: &Config) -> Result<(), Error> {
        let scale = "replay.time_scale";
        let is_scaled = config.replay.mode == ReplayMode::Open && config.replay.time_scale != 1.0;
        if is_fio || !is_scaled && self.parameters.iter().all(|parameter| parameter.key != scale) {
            return Ok(());
        }
        let problem = format!("{scale}: it would scale the recorded arrivals, and not the recorded latencies");
        Err(Error::input(problem, format!("leave it out, or --set {scale}=1 over what the device says")))
    }

    /// What is searched: the physical parameters and those that were asked for, except for what the device's settings fix.
    pub(super) fn searched(
        &self,
        builder: &Builder,
        device: &Device,
        config: &Config,
    ) -> Result<Vec<FitParameter>, Error> {
        let blocks = "device.geometry.blocks_per_plane";
        if self.parameters.iter().any(|parameter| parameter.key == blocks) {
            let problem =
                format!("--parameter {blocks}: a fit keeps the number of erase blocks, whatever shape it tries");
            return Err(Error::input(problem, "set it instead: --set device.geometry.blocks_per_plane=N"));
        }
        for (at, parameter) in self.parameters.iter().enumerate() {
            if self.parameters[..at].iter().any(|other| other.key == parameter.key) {
                return Err(Error::input(format!("--parameter {}: it is there twice", parameter.key), "give it once"));
            }
            if let Some((key, why)) =
                FitParameter::not_searched(config).into_iter().find(|(key, _)| *key == parameter.key)
            {
                return Err(Error::input(format!("--parameter {key}: {why}"), "leave it out"));
            }
            let fixed = device.set.iter().find(|setting| parameter.is_fixed_by(setting));
            if let Some(setting) = fixed {
                let problem = format!("--parameter {}: --set {setting} fixes it", parameter.key);
                return Err(Error::input(problem, "leave one of the two out"));
            }
        }
        let asked = |key: &str| self.parameters.iter().find(|parameter| parameter.key == key);
        let physical = FitParameter::physical(config);
        let physical = physical.into_iter().map(|known| asked(&known.key).cloned().unwrap_or(known));
        let mut all: Vec<FitParameter> =
            physical.filter(|parameter| !device.set.iter().any(|set| parameter.is_fixed_by(set))).collect();
        for parameter in &self.parameters {
            if !all.iter().any(|known| known.key == parameter.key) {
                all.push(parameter.clone());
            }
        }
        for parameter in &self.parameters {
            check_values(parameter, &all, builder, device)?;
        }
        if all.is_empty() {
            return Err(Error::input("--set fixes every parameter: nothing is left to be searched", "set fewer"));
        }
        Ok(all)
    }
}

/// Finds before the work a key that does not exist, a range both of whose ends are impossible, and a choice that is impossible by
/// itself and with every value of each other parameter that is searched.
fn check_values(
    parameter: &FitParameter,
    searched: &[FitParameter],
    builder: &Builder,
    device: &Device,
) -> Result<(), Error> {
    let build = |more: &[String]| {
        let set = [&device.set[..], more].concat();
        Device { set, ..device.clone() }.over(builder).map(|_| ())
    };
    let others = searched.iter().filter(|other| other.key != parameter.key).flat_map(FitParameter::settings);
    let others: Vec<String> = others.collect();
    let try_it = |setting: &String| {
        let alone = build(std::slice::from_ref(setting));
        let with = |other: &String| build(&[other.clone(), setting.clone()]).is_ok();
        alone.or_else(|error| if others.iter().any(with) { Ok(()) } else { Err(error) })
    };
    let settings = parameter.settings();
    let failed: Vec<Error> = settings.iter().filter_map(|setting| try_it(setting).err()).collect();
    let too_many = if parameter.choices().is_some() { 1 } else { settings.len() };
    let is_wrong = failed.len() >= too_many;
    failed.into_iter().next().filter(|_| is_wrong).map_or(Ok(()), Err)
}
