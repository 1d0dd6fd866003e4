//! What a write buffer makes of a preset: the figures by which it is judged.

use nandlab::ledger::Ledger;
use nandlab_trace::generators::{CheckRow, FlushedUnit, Judged, Preset};

use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::source::{BATCH, Source};
use crate::watch::Watch;
use crate::workload::Workload;

/// The whole workload through every buffer that is named, alone: nothing below a buffer changes what it writes back, or when.
///
/// # Errors
/// A buffer cannot be built, or `watch` stopped the work.
pub fn judge(preset: &Preset, seed: u64, watch: &Watch<'_>) -> Result<Vec<CheckRow>, Error> {
    let mut runs: Vec<(&str, &str, u64)> = Vec::new();
    for judged in preset.judged {
        for buffer in [Some(judged.buffer), judged.over].into_iter().flatten() {
            let run = (judged.device, buffer, judged.dram_mib);
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
    }
    let ledgers = parallel::map(None, &watch.stop, &runs, |run| simulate(preset, seed, *run, watch))?;
    let of = |judged: &Judged, buffer: &str| {
        let wanted = (judged.device, buffer, judged.dram_mib);
        runs.iter().zip(&ledgers).find(|(run, _)| **run == wanted).map_or_else(Ledger::default, |(_, ledger)| *ledger)
    };
    let row = |judged: &Judged| {
        let ledger = of(judged, judged.buffer);
        let groups = ledger.write_back_commands as f64;
        let achieved = match (judged.what, judged.over) {
            (FlushedUnit::Groups, None) => groups,
            (FlushedUnit::Groups, Some(over)) => groups / of(judged, over).write_back_commands as f64,
            (FlushedUnit::PagesWritten, _) => ledger.host_page_writes as f64 / groups,
        };
        CheckRow { column: judged.title(), target: Some(judged.target), achieved, judged: true }
    };
    Ok(preset.judged.iter().map(row).collect())
}

fn simulate(
    preset: &Preset,
    seed: u64,
    (device, buffer, mib): (&str, &str, u64),
    watch: &Watch<'_>,
) -> Result<Ledger, Error> {
    let set = vec![format!("ram.dram={mib}MiB"), format!("seed={seed}")];
    let (_, config) = Device { buffer: Some(buffer.to_owned()), set, ..Device::of(device) }.configure()?;
    let mut source = Source::open(&Workload::of(format!("make:{}", preset.name)), &config, watch)?;
    let mut hits = config.build_hits()?;
    let mut batch = Vec::with_capacity(BATCH);
    while source.fill(&mut batch)? {
        hits.run(&batch).map_err(|error| Error::input(error, "the preset is larger than the device"))?;
    }
    Ok(hits.ledger())
}
