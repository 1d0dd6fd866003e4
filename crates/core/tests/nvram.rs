//! Does NVRAM change nothing for a policy that does not use it?

mod kit;

use kit::Dice;
use nandlab::catalog::BUFFERS;
use nandlab::ledger::Ledger;
use nandlab::types::{HostOp, HostRequest, Nanos};

fn ledger(buffer: &str, nvram: &str) -> Ledger {
    let settings = ["ram.dram=1MiB", "device.geometry.blocks_per_plane=16", "device.geometry.pages_per_block=16"];
    let (nvram, buffer) = (format!("ram.nvram={nvram}"), format!("buffer.name={buffer}"));
    let config = kit::lab(settings.into_iter().chain([nvram.as_str(), &buffer]));
    let mut device = config.build().unwrap();
    let mut dice = Dice(1);
    for n in 0..20_000 {
        let op = if dice.one_in(4) { HostOp::Read } else { HostOp::Write };
        let page = dice.below64(600) * dice.below64(3) / 2;
        device.run(&[HostRequest::new(Nanos(n * 500_000), op, page * 8, 8)]).unwrap();
    }
    device.drain();
    device.ledger()
}

#[test]
fn nvram_changes_nothing_for_a_policy_that_does_not_use_it() {
    let mut idle = 0;
    for plugin in BUFFERS {
        let with = ledger(&plugin.name(), "2MiB");
        if with.nvram_writes > 0 {
            continue;
        }
        idle += 1;
        assert!(with == ledger(&plugin.name(), "0"), "{}", plugin.name());
    }
    assert!(idle >= 8, "only {idle} policies left the NVRAM alone");
}
