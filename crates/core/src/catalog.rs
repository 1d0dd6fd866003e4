//! The catalogue of buffer policies: for each a device of its own, compiled around its code.
//!
//! It stands above the engine and the policies, which know nothing of it. The names come from the list at the end of
//! `buffer/mod.rs`.

use serde_json::Value;

use crate::buffer::{BufferShape, policies};
use crate::engine::{Engine, Hits, Parts, Ssd};
use crate::error::ConfigError;
use crate::registry::{Parameters, Plugin, plugin};

/// How a device with a certain buffer policy is built from the policy's parameters.
#[derive(Clone, Copy, Debug)]
pub struct BuildDevice {
    /// The policy over an FTL and flash.
    pub device: fn(Value, Parts) -> Result<Box<dyn Ssd>, ConfigError>,
    /// The policy over nothing, for hit ratios.
    pub hits: fn(Value, BufferShape) -> Result<Box<dyn Hits>, ConfigError>,
}

macro_rules! list_buffers {
    ($($name:ident,)+) => {
        use crate::buffer::{$($name),+};
        /// Every buffer policy.
        pub static BUFFERS: &[Plugin<BuildDevice>] = &[$(
            plugin!($name, "buffer", concat!("buffer/", stringify!($name), ".rs"), BuildDevice {
                device: |params, parts| {
                    let buffer = $name::build(parameters(stringify!($name), params)?, &parts.buffer_shape())?;
                    Ok(Box::new(Engine::new(parts, buffer)?))
                },
                hits: |params, shape| {
                    let buffer = $name::build(parameters(stringify!($name), params)?, &shape)?;
                    Ok(Box::new(Engine::over_nothing(&shape, buffer)))
                },
            }),
        )+];
    };
}
policies!(list_buffers);

fn parameters<P: Parameters>(name: &str, params: Value) -> Result<P, ConfigError> {
    crate::registry::parameters("buffer", name, params)
}
