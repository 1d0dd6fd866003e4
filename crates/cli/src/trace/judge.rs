//! What a write buffer makes of a preset: the figures by which it is judged.

use nandlab::config::{Builder, PluginConfig};
use nandlab::ledger::Ledger;
use nandlab_trace::generators::{CheckRow, Flushes, Judged, Preset};
use nandlab_trace::{Passes, Volumes};

use crate::address::Address;
use crate::args::{TraceArgs, VolumeChoice};
use crate::fail::Failure;
use crate::reading::{ReadArgs, ReadingArgs};
use crate::source::{BATCH, Source};
use crate::{parallel, setup};

/// The whole workload through every buffer that is named, alone: nothing below a buffer changes what it flushes when.
pub fn judge(preset: &Preset, seed: u64) -> Result<Vec<CheckRow>, Failure> {
    let mut runs: Vec<(&str, &str, u64)> = Vec::new();
    for judged in preset.judged {
        for buffer in [Some(judged.buffer), judged.over].into_iter().flatten() {
            let run = (judged.device, buffer, judged.dram_mib);
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
    }
    let ledgers = parallel::map(None, &runs, |run| simulate(preset, seed, *run))?;
    let of = |judged: &Judged, buffer: &str| {
        let wanted = (judged.device, buffer, judged.dram_mib);
        runs.iter().zip(&ledgers).find(|(run, _)| **run == wanted).map_or_else(Ledger::default, |(_, ledger)| *ledger)
    };
    let row = |judged: &Judged| {
        let ledger = of(judged, judged.buffer);
        let groups = ledger.write_back_commands as f64;
        let achieved = match (judged.what, judged.over) {
            (Flushes::Groups, None) => groups,
            (Flushes::Groups, Some(over)) => groups / of(judged, over).write_back_commands as f64,
            (Flushes::PagesWritten, _) => ledger.host_page_writes as f64 / groups,
        };
        CheckRow { column: judged.title(), target: Some(judged.target), achieved, judged: true }
    };
    Ok(preset.judged.iter().map(row).collect())
}

fn simulate(preset: &Preset, seed: u64, (device, buffer, mib): (&str, &str, u64)) -> Result<Ledger, Failure> {
    let buffer = PluginConfig::parse(buffer, "buffer")?;
    let settings = [format!("ram.dram={mib}MiB"), format!("seed={seed}")];
    let (_, config) = setup::config(Builder::preset(device)?, Some(&buffer), None, &settings)?;
    let trace = TraceArgs {
        read: ReadArgs {
            trace: vec![format!("make:{}", preset.name)],
            reading: ReadingArgs::default(),
            passes: Passes::default(),
        },
        address: Address::Reject,
        volumes: VolumeChoice::Together(Volumes::Reject),
        limit: None,
    };
    let (mut source, mut hits) = (Source::open(&trace, &config)?, config.build_hits()?);
    let mut batch = Vec::with_capacity(BATCH);
    while source.fill(&mut batch)? {
        hits.run(&batch).map_err(|error| Failure::bad(error, "the preset is larger than the device"))?;
    }
    Ok(hits.ledger())
}
