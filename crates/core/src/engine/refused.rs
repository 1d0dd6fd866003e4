//! Requests that a device does not carry out.

/// A request the device cannot serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfRange {
    /// First sector asked for.
    pub lba: u64,
    /// Sectors asked for.
    pub sectors: u32,
    /// Sectors there are.
    pub capacity_sectors: u64,
}

impl std::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lba, sectors, capacity_sectors } = self;
        write!(f, "request for {sectors} sectors at {lba} is beyond the device's {capacity_sectors} sectors")
    }
}
impl std::error::Error for OutOfRange {}

/// Why a device refuses a request. Nothing happened then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// It lies beyond the device.
    OutOfRange(OutOfRange),
    /// It would change data, and the device is worn out.
    ReadOnly {
        /// First sector of the request.
        lba: u64,
        /// Its sectors.
        sectors: u32,
        /// Blocks that failed in use.
        retired: u32,
    },
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfRange(error) => error.fmt(f),
            Self::ReadOnly { lba, sectors, retired } => write!(
                f,
                "write or trim of {sectors} sectors at {lba}: the device is worn out and read-only ({retired} blocks failed, and \
                 a die has no spare block left); raise device.endurance.pe_cycles or device.reliability.spare_blocks_per_die"
            ),
        }
    }
}
impl std::error::Error for Refused {}
