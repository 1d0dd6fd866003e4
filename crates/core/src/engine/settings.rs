//! How the engine runs.

use super::{Arrival, HostTimes};
use crate::buffer::Bypass;
use crate::flash::Release;
use crate::types::{Bytes, Nanos};

/// When the frame of a page that is written back may be used again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvictWait {
    /// When the page is programmed.
    #[default]
    Program,
    /// When it has left the RAM over the channel.
    Transfer,
}

impl EvictWait {
    /// When the ticket of a page's program must resolve for that.
    pub(super) const fn release(self) -> Release {
        match self {
            Self::Program => Release::Done,
            Self::Transfer => Release::Transfer,
        }
    }
}

/// What happens to a partial write of a page that is not resident.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialWrite {
    /// The rest of the page is read at once (read-modify-write).
    #[default]
    Fetch,
    /// The frame keeps a mask of its sectors; the rest is read when it is needed or at the write-back.
    Mask,
}

/// When a write is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteAck {
    /// When its data is in RAM: a drive that caches writes.
    #[default]
    Ram,
    /// The same, and capacitors keep the RAM until its dirty pages are safe when power fails (power-loss protection): a flush of
    /// the host has nothing to write and nothing to wait for.
    ProtectedRam,
    /// When its pages are programmed: a drive that writes through. They stay in their frames, clean, if the policy keeps such
    /// pages; what lies in NVRAM is safe there and is not written through.
    Flash,
}

/// What is written in the background. Made from `ram.flush`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlushAhead {
    /// Evict ahead, and between which shares of the frames in use.
    pub marks: Option<FillMarks>,
    /// Write what has been dirty for this long.
    pub age: Option<Nanos>,
    /// Write this many dirty pages together, 1 or more, as soon as there are that many.
    pub gather: Option<u32>,
    /// A write begins when fewer pages than this are under way, 1 or more.
    pub most: u32,
}

/// Shares of the frames in use, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FillMarks {
    /// Evicting ahead begins above this.
    pub above: f64,
    /// It ends when no more than this is in use.
    pub below: f64,
}

/// Time of one page access to RAM, by memory and direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RamTimes {
    /// DRAM, read.
    pub dram_read: Nanos,
    /// DRAM, write.
    pub dram_write: Nanos,
    /// NVRAM, read.
    pub nvram_read: Nanos,
    /// NVRAM, write.
    pub nvram_write: Nanos,
}

/// How the engine runs. Made from a configuration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Pages the host can address.
    pub logical_pages: u32,
    /// When requests arrive.
    pub arrival: Arrival,
    /// Requests that the device admits at a time, 1 or more.
    pub queue_depth: u32,
    /// See [`EvictWait`].
    pub evict_wait: EvictWait,
    /// See [`PartialWrite`].
    pub partial_write: PartialWrite,
    /// See [`Bypass`].
    pub bypass: Bypass,
    /// Read the page from flash on every write miss, as the public lab simulator does.
    pub write_miss_fetch: bool,
    /// DRAM shared by map and data, or `None` when the data has its own frames.
    pub shared_dram: Option<Bytes>,
    /// NVRAM frames.
    pub nvram_frames: u32,
    /// RAM access times.
    pub ram_times: RamTimes,
    /// What the host interface costs.
    pub host: HostTimes,
    /// See [`WriteAck`].
    pub write_ack: WriteAck,
    /// What is written in the background, if anything is.
    pub flush: Option<FlushAhead>,
    /// Count the group hits of reads too: see `replay.read_groups`.
    pub read_groups: bool,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Settings {
    /// One request at a time, as fast as they go, over DRAM alone; partial writes are completed at once.
    pub fn one_at_a_time(logical_pages: u32) -> Self {
        Self {
            logical_pages,
            arrival: Arrival::Closed { think: Nanos::ZERO },
            queue_depth: 1,
            evict_wait: EvictWait::Program,
            partial_write: PartialWrite::Fetch,
            bypass: Bypass::None,
            write_miss_fetch: false,
            shared_dram: None,
            nvram_frames: 0,
            ram_times: RamTimes::default(),
            host: HostTimes::default(),
            write_ack: WriteAck::default(),
            flush: None,
            read_groups: false,
            seed: 1,
        }
    }
}
