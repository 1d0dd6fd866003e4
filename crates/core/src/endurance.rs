//! How long the cells last: the endurance assumed of a device, and what a run says about the life of a drive.
//!
//! TBW (bytes the host may write until the cells are worn out) = capacity * P/E cycles / write amplification, the usual
//! estimate of JEDEC's rating (Insignis, NAND write endurance). Here the capacity is the physical one, because spare
//! blocks wear too, and the write amplification is that of the measured run in bytes; a page in SLC mode takes the share of an
//! erase that it fills of its block. The formula takes wear to be
//! perfectly level; next to it stands the projection in which the drive dies with its most worn block, at the ratio of
//! mean to greatest erase count that the run has reached. DWPD (drive writes a day) = TBW / (logical capacity * days of
//! warranty). Neither retention, read disturb, bad blocks nor the wear of a future change of workload is modelled.

use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::types::Nanos;

/// Years of warranty that DWPD refers to: usual for data-centre drives.
pub const WARRANTY_YEARS: f64 = 5.0;
const DAYS_PER_YEAR: f64 = 365.0;
const SECONDS_PER_YEAR: f64 = DAYS_PER_YEAR * 86_400.0;

/// Bits in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    /// One.
    Slc,
    /// Two.
    Mlc,
    /// Three.
    Tlc,
    /// Four.
    Qlc,
}

impl CellType {
    /// Bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// How often a block may be programmed and erased.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnduranceConfig {
    /// Bits in a cell, shown next to the limit: `slc`, `mlc`, `tlc` or `qlc`.
    pub cell: CellType,
    /// P/E cycles that a block lasts, 1 to 10,000,000.
    pub pe_cycles: u32,
    /// Where that limit comes from.
    pub source: String,
}

impl EnduranceConfig {
    /// Checks the limit.
    ///
    /// # Errors
    /// If it is outside its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        if (1..=10_000_000).contains(&self.pe_cycles) {
            return Ok(());
        }
        let problem = format!("{} is outside 1 to 10000000", self.pe_cycles);
        Err(ConfigError::new("device.endurance.pe_cycles", problem, "QLC lasts some hundred, SLC 100000 P/E cycles"))
    }
}

/// What a run measured of all that wears a drive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// Bytes of all flash pages.
    pub physical_bytes: u64,
    /// Bytes that the host can address.
    pub logical_bytes: u64,
    /// Bytes that the host wrote.
    pub written_bytes: u64,
    /// Bytes programmed, all causes, and those of pages that stay without data next to them.
    pub programmed_bytes: u64,
    /// Bytes that blocks would have held for the same erases: those programmed, and of every page in SLC mode what its cells
    /// hold otherwise.
    pub worn_bytes: f64,
    /// Simulated time of the run.
    pub simulated: Nanos,
    /// Mean erases of a block.
    pub erases_mean: f64,
    /// Erases of the most worn block.
    pub erases_max: u32,
}

/// Life of the drive if it went on as in this run. See `docs/models.md`, 'Endurance'.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Endurance {
    /// Cells assumed (`device.endurance.cell`).
    pub cell: CellType,
    /// P/E cycles assumed of every block (`device.endurance.pe_cycles`).
    pub pe_cycles: u32,
    /// Bytes programmed, dummy pages included / bytes the host wrote, in the measured run.
    pub byte_amplification: Option<f64>,
    /// The same as it wears the cells: a page in SLC mode counts as the share of its block that it takes, with TLC three pages.
    pub wear_amplification: Option<f64>,
    /// Mean / greatest erase count of a block, preconditioning included: 1 is perfectly level. Nothing without erases.
    pub levelling: Option<f64>,
    /// With perfectly level wear.
    pub level: Projection,
    /// With the levelling observed: the drive dies with its most worn block.
    pub observed: Projection,
}

/// How long a drive lasts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Projection {
    /// TBW: bytes that the host can write = physical bytes * P/E cycles / `wear_amplification` (* `levelling`).
    pub tbw_bytes: Option<f64>,
    /// Drive writes a day over a warranty of 5 years of 365 days = `tbw_bytes` / (logical bytes * 1825).
    pub dwpd: Option<f64>,
    /// Years of 365 days at the write rate of this run = `tbw_bytes` / (bytes written / simulated time). In a closed loop
    /// that rate is the device's own, without a pause.
    pub lifetime_years: Option<f64>,
}

/// `a / b`, nothing without a positive `b`.
fn ratio(a: f64, b: f64) -> Option<f64> {
    (b > 0.0).then(|| a / b)
}

impl Endurance {
    /// The projections of a run.
    pub fn new(config: &EnduranceConfig, run: &Measured) -> Self {
        let written = run.written_bytes as f64;
        let byte_amplification = ratio(run.programmed_bytes as f64, written);
        let levelling = ratio(run.erases_mean, f64::from(run.erases_max));
        let budget = run.physical_bytes as f64 * f64::from(config.pe_cycles);
        let wear_amplification = ratio(run.worn_bytes, written);
        let tbw = wear_amplification.and_then(|amplification| ratio(budget, amplification));
        let project = |tbw_bytes: Option<f64>| {
            let days = WARRANTY_YEARS * DAYS_PER_YEAR;
            let rate = ratio(written, run.simulated.as_secs());
            let seconds = tbw_bytes.zip(rate).and_then(|(tbw, rate)| ratio(tbw, rate));
            Projection {
                tbw_bytes,
                dwpd: tbw_bytes.and_then(|tbw| ratio(tbw, run.logical_bytes as f64 * days)),
                lifetime_years: seconds.map(|seconds| seconds / SECONDS_PER_YEAR),
            }
        };
        Self {
            cell: config.cell,
            pe_cycles: config.pe_cycles,
            byte_amplification,
            wear_amplification,
            levelling,
            level: project(tbw),
            observed: project(tbw.zip(levelling).map(|(tbw, levelling)| tbw * levelling)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pe_cycles: u32) -> EnduranceConfig {
        EnduranceConfig { cell: CellType::Tlc, pe_cycles, source: String::new() }
    }

    const RUN: Measured = Measured {
        physical_bytes: 1_280_000_000_000,
        logical_bytes: 1_000_000_000_000,
        written_bytes: 50_000_000_000,
        programmed_bytes: 125_000_000_000,
        worn_bytes: 125e9,
        simulated: Nanos(1_000_000_000_000),
        erases_mean: 6.0,
        erases_max: 8,
    };

    #[test]
    fn projections_match_a_hand_calculation() {
        // Amplification 125 / 50 = 2.5. TBW = 1.28 TB * 3650 / 2.5 = 1868.8 TB, and with levelling 6 / 8 1401.6 TB.
        // DWPD = 1868.8 TB / (1 TB * 1825 days) = 1.024; 0.768. The run writes 50 GB in 1,000 s, 50 MB/s:
        // 1868.8 TB / 50 MB/s = 37,376,000 s = 1.185185... years of 31,536,000 s; * 0.75 = 0.888...
        let endurance = Endurance::new(&config(3650), &RUN);
        assert_eq!(endurance.byte_amplification, Some(2.5));
        assert_eq!(endurance.levelling, Some(0.75));
        let near = |got: Option<f64>, expected: f64| assert!((got.unwrap() / expected - 1.0).abs() < 1e-12, "{got:?}");
        near(endurance.level.tbw_bytes, 1_868.8e12);
        near(endurance.level.dwpd, 1.024);
        near(endurance.level.lifetime_years, 37_376_000.0 / 31_536_000.0);
        near(endurance.observed.tbw_bytes, 1_401.6e12);
        near(endurance.observed.dwpd, 0.768);
        near(endurance.observed.lifetime_years, 28_032_000.0 / 31_536_000.0);
    }

    #[test]
    fn pages_in_slc_mode_wear_blocks_that_hold_fewer_of_them() {
        // 25 GB of the 125 were programmed with one bit in cells of three.
        let slc = Endurance::new(&config(3650), &Measured { worn_bytes: 175e9, ..RUN });
        assert_eq!((slc.byte_amplification, slc.wear_amplification), (Some(2.5), Some(3.5)));
        assert!((slc.level.tbw_bytes.unwrap() / 1_334.857_142_857e12 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn projection_is_absent_without_the_events_it_needs() {
        let of = |run: Measured| Endurance::new(&config(1000), &run);
        let fresh = of(Measured { erases_mean: 0.0, erases_max: 0, ..RUN });
        assert!(fresh.level.tbw_bytes.is_some() && fresh.levelling.is_none() && fresh.observed.tbw_bytes.is_none());
        let idle = of(Measured { written_bytes: 0, programmed_bytes: 0, worn_bytes: 0.0, ..RUN });
        assert!(idle.level.tbw_bytes.is_none() && idle.level.lifetime_years.is_none());
        let absorbed = of(Measured { programmed_bytes: 0, worn_bytes: 0.0, ..RUN });
        assert_eq!((absorbed.byte_amplification, absorbed.level.dwpd), (Some(0.0), None), "all rewrites in RAM");
        let at_once = of(Measured { simulated: Nanos::ZERO, ..RUN });
        assert!(at_once.level.dwpd.is_some() && at_once.level.lifetime_years.is_none());
    }

    #[test]
    fn impossible_limit_is_refused() {
        let error = config(0).check().unwrap_err().to_string();
        assert!(error.contains("device.endurance.pe_cycles") && error.contains("1 to 10000000"), "{error}");
        assert!(config(1).check().is_ok() && config(10_000_000).check().is_ok() && config(10_000_001).check().is_err());
    }
}
