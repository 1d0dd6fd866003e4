//! The formulas of times: responses, operations of the flash, the link, the controller.

use nandlab::config::{Config, ReplayMode};
use nandlab::engine::Ssd;
use nandlab::flash::clock::OpClass;
use nandlab::ledger::Op;
use nandlab::replay::Outcome;
use nandlab::types::Nanos;
use serde_json::{Value, json};

use super::{Expected, Fake, over, ratio, total};

impl Expected {
    /// What the clock counted; that its counts are right is seen in `--test timing`.
    pub(super) fn operations(&mut self, fake: &Fake) {
        let Some(waits) = fake.flash().clock.waits() else { return };
        let name = |class: OpClass| class.name().replace(' ', "_");
        for class in OpClass::ALL {
            let (of_class, path) = (waits.of(class), format!("operations.{}", name(class)));
            let count = of_class.latency.count();
            let mean = |time: Nanos| ratio(time.0, count);
            self.set(
                &path,
                &[
                    ("dependency_mean_ns", mean(of_class.dependency)),
                    ("channel_mean_ns", mean(of_class.channel)),
                    ("company_mean_ns", mean(of_class.company)),
                    ("suspended_mean_ns", mean(of_class.suspended)),
                    ("suspensions", json!(of_class.suspensions)),
                ],
            );
            let busy = OpClass::ALL.map(|busy| (name(busy), mean(of_class.die[busy as usize])));
            self.set(&format!("{path}.die_mean_ns"), &busy.each_ref().map(|(name, value)| (&**name, value.clone())));
            // Of nothing there is no time.
            let known = |value: Value| if count == 0 { Value::Null } else { value };
            let at = |percent| known(json!(of_class.latency.percentile(percent).0));
            let fields = [
                ("count", json!(count)),
                ("mean_ns", known(json!(of_class.latency.mean_ns()))),
                ("p50_ns", at(50.0)),
                ("p95_ns", at(95.0)),
                ("p99_ns", at(99.0)),
                ("p999_ns", at(99.9)),
                ("max_ns", known(json!(of_class.latency.max().0))),
            ];
            self.set(&format!("{path}.latency"), &fields);
        }
    }

    /// Of a sorted list: the smallest value that the share of all does not exceed.
    fn latency(&mut self, section: &str, sorted: &[u64]) {
        let n = sorted.len() as u64;
        // In thousandths, so that the rank is whole arithmetic.
        let at = |thousandths: u64| match n {
            0 => None,
            n => Some(sorted[((thousandths * n).div_ceil(1_000)).max(1) as usize - 1]),
        };
        let sum: u128 = sorted.iter().map(|d| u128::from(*d)).sum();
        self.set(
            section,
            &[
                ("count", json!(n)),
                ("mean_ns", over(sum as f64, n as f64)),
                ("p50_ns", json!(at(500))),
                ("p95_ns", json!(at(950))),
                ("p99_ns", json!(at(990))),
                ("p999_ns", json!(at(999))),
                ("max_ns", json!(sorted.last())),
            ],
        );
    }

    pub(super) fn times(&mut self, config: &Config, fake: &Fake, outcome: &Outcome) {
        let mut together = fake.responses.concat();
        together.sort_unstable();
        for (kind, durations) in ["reads", "writes", "others"].iter().zip(&fake.responses) {
            self.latency(&format!("response.{kind}"), durations);
        }
        self.latency("response.all", &together);
        // Without times of admission, as in a closed loop, the response is the device's time.
        self.latency("device_time", &together);
        let l = &fake.ledger;
        let makespan = fake.times.last_completion.0 - outcome.start.0.min(fake.times.last_completion.0);
        let rate = |n: u64| over(n as f64, makespan as f64 / 1e9);
        let requests = l.host_read_requests + l.host_write_requests + l.host_trim_requests + l.host_flush_requests;
        self.set(
            "throughput",
            &[
                ("requests_per_second", rate(requests)),
                ("pages_per_second", rate(l.host_page_reads + l.host_page_writes)),
                ("read_bytes_per_second", rate(512 * l.host_sector_reads)),
                ("written_bytes_per_second", rate(512 * l.host_sector_writes)),
            ],
        );
        self.link(config, fake, makespan);
        let (busy, cores) = (fake.times.controller_busy.0, u64::from(config.device.controller.cores));
        self.set("controller", &[("busy_ns", json!(busy)), ("utilisation", ratio(busy, cores * makespan))]);
        let open = config.replay.mode == ReplayMode::Open;
        let over_a_hundredth = 100 * outcome.backlog > outcome.requests;
        self.set(
            "load",
            &[
                ("overloaded", json!(open && over_a_hundredth)),
                ("backlog_requests", json!(outcome.backlog)),
                ("last_arrival_ns", json!(outcome.last_arrival.0 - outcome.start.0)),
            ],
        );
        let timing = &config.device.timing;
        let hitstat = total(l, Op::Erase) * timing.block_erase.0 + total(l, Op::Program) * timing.page_program.0;
        let service: u64 = l.op_ns.iter().flatten().sum();
        self.set(
            "elapsed",
            &[
                ("simulated_ns", json!(makespan)),
                ("flash_service_ns", json!(service)),
                ("hitstat_ns", json!(hitstat)),
                ("hitstat_bytes_per_second", over(512.0 * l.host_sector_writes as f64, hitstat as f64 / 1e9)),
            ],
        );
    }

    fn link(&mut self, config: &Config, fake: &Fake, makespan: u64) {
        let (rate, both) = match config.device.host.link.to_string().as_str() {
            "none" => (None, false),
            "10MiB/s" => (Some(10 * 1024 * 1024), false),
            "20MiB/s half-duplex" => (Some(20 * 1024 * 1024), true),
            link => panic!("{link}: what does it carry?"),
        };
        let [down, up] = fake.times.link.busy.map(|busy| busy.0);
        let share = |busy: u64| if rate.is_none() { Value::Null } else { ratio(busy, makespan) };
        let busiest = if both {
            down + up
        } else if down > up {
            down
        } else {
            up
        };
        self.set("link", &[("bytes_per_second", json!(rate)), ("utilisation", share(busiest))]);
        for (way, bytes, busy) in
            [("to_device", fake.times.link.bytes[0], down), ("to_host", fake.times.link.bytes[1], up)]
        {
            self.set(
                &format!("link.{way}"),
                &[("bytes", json!(bytes)), ("busy_ns", json!(busy)), ("utilisation", share(busy))],
            );
        }
    }
}
