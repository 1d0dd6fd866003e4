//! From arguments to a configuration: defaults, preset, file, options, settings, in this order.

use std::fs::File;
use std::io::{self, Read};

use nandlab::config::{Builder, Config, DEFAULT_DEVICE, DEVICES, PluginConfig};
use nandlab::error::ConfigError;
use nandlab::types::Bytes;
use serde_json::{Value, json};

use crate::args::{DeviceArgs, Mode, PluginArgs, SettleChoice, SizeArgs};
use crate::capacity::Capacity;
use crate::fail::Failure;

/// Longest configuration that is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The device without its plug-ins; `None` keeps the DRAM that it has.
pub fn builder(args: &DeviceArgs, ram: Option<Bytes>) -> Result<Builder, Failure> {
    let mut builder = start(&args.device)?;
    let mode = args.mode.map(|mode| match mode {
        Mode::Open => "open",
        Mode::Closed => "closed",
        Mode::Fast => "fast",
    });
    let settle = args.settle.map(|settle| match settle {
        SettleChoice::Flush => "flush",
        SettleChoice::Charge => "charge",
        SettleChoice::None => "none",
    });
    let options: [(&str, Option<Value>); 7] = [
        ("seed", args.seed.map(Value::from)),
        ("ram.dram", ram.map(|size| json!(size))),
        ("ram.nvram", args.nvram.map(|size| json!(size))),
        ("replay.mode", mode.map(Value::from)),
        ("replay.settle", settle.map(Value::from)),
        ("replay.queue_depth", args.queue_depth.map(Value::from)),
        ("precondition", args.precondition.clone()),
    ];
    for (key, value) in options {
        if let Some(value) = value {
            builder.set_value(key, value)?;
        }
    }
    if let Some(Capacity::Size(size)) = args.capacity {
        builder.grow(size);
    }
    Ok(builder)
}

fn start(device: &str) -> Result<Builder, Failure> {
    let is_preset = DEVICES.iter().any(|(name, _)| *name == device);
    let looks_like_file = device.contains(['/', '\\', '.']);
    if is_preset || !looks_like_file && !std::path::Path::new(device).is_file() {
        return Ok(Builder::preset(device)?);
    }
    let text = read(device).map_err(|error| {
        let help =
            "give the path of a TOML file or a preset (`nandlab list devices`); `nandlab config > FILE` writes one";
        Failure::bad(format!("--device {device}: cannot be read: {error}"), help)
    })?;
    Ok(Builder::preset(DEFAULT_DEVICE)?.file(device, &text)?)
}

/// A configuration, which may come through a pipe. What never ends is no configuration.
fn read(path: &str) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > CONFIG_BYTES_MAX {
        let problem = format!("it has more than {}, and a configuration is a short text", Bytes(CONFIG_BYTES_MAX));
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(text)
}

/// The configuration with its plug-ins; `None` keeps what the device says.
pub fn config(
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
    let config = builder.finish()?;
    Ok((builder, config))
}

/// The same from the arguments of a single device.
pub fn single(device: &DeviceArgs, size: SizeArgs, plugins: &PluginArgs) -> Result<(Builder, Config), Failure> {
    let parse =
        |text: &Option<String>, section| text.as_deref().map(|text| PluginConfig::parse(text, section)).transpose();
    let (buffer, ftl) = (parse(&plugins.buffer, "buffer")?, parse(&plugins.ftl, "ftl")?);
    Ok(config(builder(device, size.ram)?, buffer.as_ref(), ftl.as_ref(), &device.set)?)
}
