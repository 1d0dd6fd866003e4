//! Capacity: how a device grows to a size, or to the addresses of a trace.

use std::str::FromStr;

use nandlab::config::Config;
use nandlab::types::{Bytes, SECTOR_BYTES};

use crate::address::Address;
use crate::args::{DeviceArgs, TraceArgs};
use crate::fail::Failure;
use crate::source::Source;

/// What the host can address at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// So many bytes.
    Size(Bytes),
    /// Every address of the trace.
    Fit,
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "fit" => Ok(Self::Fit),
            _ => match Bytes::parse(text) {
                Ok(Bytes(0)) => Err("a capacity is 1 byte at least".to_owned()),
                Ok(size) => Ok(Self::Size(size)),
                Err(problem) => Err(format!("{problem}, or `fit`: every address of the trace")),
            },
        }
    }
}

/// Replaces `--capacity fit` by the size that the trace needs, which takes a pass over it; `config` is the device before.
pub fn resolve(device: &DeviceArgs, trace: &TraceArgs, config: &Config) -> Result<DeviceArgs, Failure> {
    if device.capacity != Some(Capacity::Fit) {
        return Ok(device.clone());
    }
    if trace.address != Address::Reject {
        return Err(Failure::bad(
            "--capacity fit keeps all addresses of the trace as they are, and --address changes them",
            "leave one of the two out",
        ));
    }
    let kept = TraceArgs { address: Address::Keep, ..trace.clone() };
    let size = Bytes(Source::open(&kept, config)?.reach()? * SECTOR_BYTES);
    if config.device.clone().grow(size).is_err() {
        let problem = format!("--capacity fit: the trace reaches to {size}, which no device has");
        return Err(Failure::bad(problem, "--address compact numbers the erase blocks that are used"));
    }
    // A trace without a read or a write needs no room; that nothing is in it is said later.
    let capacity = (size.0 > 0).then_some(Capacity::Size(size));
    Ok(DeviceArgs { capacity, ..device.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_a_size_or_the_word_fit() {
        assert_eq!("fit".parse(), Ok(Capacity::Fit));
        assert_eq!("1TiB".parse(), Ok(Capacity::Size(Bytes(1 << 40))));
        for wrong in ["", "0", "1TB", "Fit", "-1"] {
            assert!(wrong.parse::<Capacity>().is_err(), "{wrong}");
        }
    }
}
