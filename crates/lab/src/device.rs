//! A device as it is described: a preset or a file, plug-ins, settings, in this order.

use std::fs::File;
use std::io::{self, Read};

use nandlab::config::{Builder, Config, DEFAULT_DEVICE, DEVICES, PluginConfig, Precondition};
use nandlab::engine::Ssd;
use nandlab::error::ConfigError;
use nandlab::types::{Bytes, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::capacity::Capacity;
use crate::error::Error;
use crate::memory;
use crate::own_buffer::OwnBuffer;
use crate::source::Source;
use crate::watch::{Stop, Watch};
use crate::word;
use crate::workload::Workload;

/// Longest configuration that is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The description of a device, as it is written in TOML or on a command line. [`Device::configure`] makes a configuration of
/// it, from which the simulated one ([`Ssd`](nandlab::engine::Ssd)) is built.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    /// A preset (`nandlab list devices`) or the path of a TOML file.
    pub base: String,
    /// Data buffer: name or `name:key=value:key=value`; `None` keeps that of the base.
    pub buffer: Option<String>,
    /// Flash translation layer, in the same form.
    pub ftl: Option<String>,
    /// Any keys of the configuration, as in `ram.dram=8MiB`; the last one of a key wins.
    pub set: Vec<String>,
    /// What the host can address at least: planes get more erase blocks until it is so.
    #[serde(with = "word::maybe")]
    pub capacity: Option<Capacity>,
    /// What stands in the file that the base names, once it was read ([`Device::read`]).
    #[serde(skip)]
    pub text: Option<String>,
    /// A policy of the caller's own instead of the buffer.
    #[serde(skip)]
    pub own: Option<OwnBuffer>,
}

impl Default for Device {
    /// The default preset.
    fn default() -> Self {
        Self::of(DEFAULT_DEVICE)
    }
}

impl Device {
    /// A preset or the path of a TOML file, as it is.
    pub fn of(base: impl Into<String>) -> Self {
        Self { base: base.into(), buffer: None, ftl: None, set: Vec::new(), capacity: None, text: None, own: None }
    }

    /// The same with the file read that the base names, which is not read again: it may be a pipe.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(mut self) -> Result<Self, Error> {
        if self.text.is_none() && !is_preset(&self.base) {
            self.text = Some(read(&self.base)?);
        }
        Ok(self)
    }

    /// The base, without plug-ins and settings.
    pub(crate) fn base(&self) -> Result<Builder, Error> {
        match &self.text {
            Some(text) => of_file(&self.base, text),
            None if is_preset(&self.base) => Ok(Builder::preset(&self.base)?),
            None => of_file(&self.base, &read(&self.base)?),
        }
    }

    /// The configuration, and the builder, which finds the places of errors in the user's file.
    ///
    /// # Errors
    /// The base cannot be read, or a key or a value is impossible. [`Capacity::Fit`] is ignored: it needs a workload.
    pub fn configure(&self) -> Result<(Builder, Config), Error> {
        self.over(&self.base()?)
    }

    /// The device itself, preconditioned, and its configuration.
    ///
    /// # Errors
    /// As [`Device::configure`]; a plug-in does not fit, or the machine has too little memory. With
    /// [`Precondition::Trace`] or [`Capacity::Fit`] there is no trace. [`Error::Stopped`] if the work is to end.
    pub fn build(&self, stop: &Stop) -> Result<(Box<dyn Ssd>, Config), Error> {
        let (builder, config) = self.configure()?;
        if self.capacity == Some(Capacity::Fit) {
            let problem = "capacity = \"fit\" is as large as a trace needs, and here is none";
            return Err(Error::input(problem, "give a size"));
        }
        if config.precondition == Precondition::Trace {
            let problem = "precondition = \"trace\" replays a trace first, and here is none";
            return Err(Error::input(problem, "use none, full or {steady=N}"));
        }
        memory::check(&config)?;
        Ok((built(&builder, &config, self.own.as_ref(), stop)?, config))
    }

    /// The same over a base that was read before.
    pub(crate) fn over(&self, base: &Builder) -> Result<(Builder, Config), Error> {
        let parse =
            |text: &Option<String>, section| text.as_deref().map(|text| PluginConfig::parse(text, section)).transpose();
        let (buffer, ftl) = (parse(&self.buffer, "buffer")?, parse(&self.ftl, "ftl")?);
        Ok(self.with(base.clone(), buffer.as_ref(), ftl.as_ref(), &self.set)?)
    }

    /// The base with these plug-ins (`None` keeps those of the base) and these settings instead of its own.
    pub(crate) fn with(
        &self,
        mut builder: Builder,
        buffer: Option<&PluginConfig>,
        ftl: Option<&PluginConfig>,
        settings: &[String],
    ) -> Result<(Builder, Config), ConfigError> {
        if let Some(buffer) = buffer {
            builder = builder.plugin("buffer", buffer);
        }
        if let Some(ftl) = ftl {
            builder = builder.plugin("ftl", ftl);
        }
        for assignment in settings {
            builder = builder.set(assignment)?;
        }
        if let Some(Capacity::Size(size)) = self.capacity {
            builder.grow(size);
        }
        let config = builder.finish()?;
        Ok((builder, config))
    }

    /// Replaces [`Capacity::Fit`] by the size that the workload needs, which takes a pass over it; `config` is the device
    /// before.
    ///
    /// # Errors
    /// The workload cannot be read, its addresses are changed by its policy, or no device is that large.
    pub(crate) fn fitted(&self, workload: &Workload, config: &Config, watch: &Watch<'_>) -> Result<Self, Error> {
        if self.capacity != Some(Capacity::Fit) {
            return Ok(self.clone());
        }
        if workload.address != Address::Reject {
            return Err(Error::input(
                "--capacity fit keeps all addresses of the trace as they are, and --address changes them",
                "leave one of the two out",
            ));
        }
        let kept = Workload { address: Address::Keep, ..workload.clone() };
        let size = Bytes(Source::open(&kept, config, watch)?.reach()? * SECTOR_BYTES);
        if config.device.clone().grow(size).is_err() {
            let problem = format!("--capacity fit: the trace reaches to {size}, which no device has");
            return Err(Error::input(problem, "--address compact numbers the erase blocks that are used"));
        }
        // A trace without a read or a write needs no room; that nothing is in it is said later.
        let capacity = (size.0 > 0).then_some(Capacity::Size(size));
        Ok(Self { capacity, ..self.clone() })
    }
}

/// True if a base is the name of a preset, or meant as one.
fn is_preset(base: &str) -> bool {
    let looks_like_file = base.contains(['/', '\\', '.']);
    DEVICES.iter().any(|(name, _)| *name == base) || !looks_like_file && !std::path::Path::new(base).is_file()
}

fn of_file(base: &str, text: &str) -> Result<Builder, Error> {
    let device = Builder::preset(DEFAULT_DEVICE)?.file(base, text)?;
    let says_nothing = toml::from_str::<toml::Table>(text).is_ok_and(|table| table.is_empty());
    if says_nothing {
        let help = "give it a key, as in preset = \"lab\"; `nandlab config > FILE` writes a whole one";
        return Err(Error::input(format!("--device {base}: there is nothing in it"), help));
    }
    Ok(device)
}

/// A configuration, which may come through a pipe. What never ends is not a configuration.
fn read(base: &str) -> Result<String, Error> {
    let text = || {
        let mut text = String::new();
        let read = File::open(base)?.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text)?;
        if read as u64 > CONFIG_BYTES_MAX {
            let problem = format!("it has more than {}, and a configuration is a short text", Bytes(CONFIG_BYTES_MAX));
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(text)
    };
    text().map_err(|error| {
        let help =
            "give the path of a TOML file or a preset (`nandlab list devices`); `nandlab config > FILE` writes one";
        Error::input(format!("--device {base}: cannot be read: {error}"), help)
    })
}

/// The device of a configuration, around a policy of one's own if there is one, preconditioned.
///
/// # Errors
/// A plug-in does not fit; [`Error::Stopped`] if the work is to end.
pub(crate) fn built(
    builder: &Builder,
    config: &Config,
    own: Option<&OwnBuffer>,
    stop: &Stop,
) -> Result<Box<dyn Ssd>, Error> {
    let fresh = own.map_or_else(|| config.fresh(), |own| own.device(config));
    let mut device = fresh.map_err(|error| builder.locate(error))?;
    let done = config.precondition(&mut *device, &mut || !stop.is_stopped());
    if done { Ok(device) } else { Err(Error::Stopped) }
}
