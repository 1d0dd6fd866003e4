//! The micro-benchmark whose results a fit wants: jobs for fio.

use nandlab::types::Bytes;

/// Reads and writes of one page of most hosts.
const BLOCK: &str = "4k";
/// Sizes of requests.
const SIZES: [&str; 9] = ["4k", "8k", "16k", "32k", "64k", "128k", "256k", "512k", "1m"];
/// Requests in the drive at a time.
const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// What is written at a time, after a rest, to see where the write buffer ends: MiB.
const BURSTS_MIB: [u64; 6] = [1, 4, 16, 64, 256, 1024];
/// Requests of a job: enough for a 99th percentile.
const REQUESTS: u32 = 4_000;

/// A micro-benchmark of a real drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicroBenchmark {
    /// The file or block device, all of which is overwritten.
    pub file: String,
    /// Bytes of it that are used.
    pub size: Bytes,
}

impl MicroBenchmark {
    /// Jobs for fio. Each waits for the one before, writes of the same kind for a rest in which the drive empties its buffers.
    pub fn fio(&self) -> String {
        let Self { file, size } = self;
        let mut script = format!(
            "; Written by `nandlab probe`: what a drive does with sizes, depths, alignment, bursts and long writes.\n\
             ; IT OVERWRITES {file}. All data there is lost.\n\
             ;   fio --output-format=json --output=drive.json THIS_FILE\n\
             ;   nandlab fit drive.json --device modern-tlc -o drive.toml\n\
             ; The logs *_bw.log and *_iops.log tell by the second (time in ms, value): the jobs `slc-cache` (where the rate\n\
             ; of writes falls) and `collection` (where the rate of overwrites falls). `fit` does not simulate these two.\n\n\
             [global]\nfilename={}\nsize={}\nioengine=libaio\ndirect=1\nnorandommap=1\nrandrepeat=1\n\
             refill_buffers=1\nlog_avg_msec=1000\npercentile_list=1:5:10:25:50:75:90:95:98:99:99.9\n\n",
            // Between file names fio has colons.
            file.replace('\\', "\\\\").replace(':', "\\:"),
            size.0
        );
        let mut job = |name: &str, lines: &[String]| {
            script += &format!("[{name}]\nstonewall\n{}\n\n", lines.join("\n"));
        };
        let shape = |rw: &str, size: &str, depth: u32| {
            vec![format!("rw={rw}"), format!("bs={size}"), format!("iodepth={depth}")]
        };
        let number = |requests: u32| format!("number_ios={requests}");
        // `startdelay` counts from the start of fio, not from the end of the job before.
        let rest = |seconds: u32| format!("exec_prerun=sleep {seconds}");
        // Fills the drive, so that reads find data.
        job("slc-cache", &[shape("write", "1m", 32), vec!["write_bw_log=slc-cache".to_owned()]].concat());
        for rw in ["randread", "read"] {
            for size in SIZES {
                job(&format!("{rw}-{size}"), &[shape(rw, size, 1), vec![number(REQUESTS)]].concat());
            }
        }
        for size in [BLOCK, "128k"] {
            for depth in &DEPTHS[1..] {
                job(
                    &format!("randread-{size}-depth-{depth}"),
                    &[shape("randread", size, *depth), vec![number(REQUESTS)]].concat(),
                );
            }
        }
        for rw in ["randwrite", "write"] {
            for size in SIZES {
                job(&format!("{rw}-{size}"), &[shape(rw, size, 1), vec![number(REQUESTS / 4), rest(5)]].concat());
            }
        }
        for depth in &DEPTHS[1..] {
            let name = format!("randwrite-{BLOCK}-depth-{depth}");
            job(&name, &[shape("randwrite", BLOCK, *depth), vec![number(REQUESTS), rest(5)]].concat());
        }
        for (percent, depth) in [(70, 1), (70, 8), (70, 32), (30, 8)] {
            let mix = vec![format!("rwmixread={percent}"), number(REQUESTS), rest(5)];
            job(&format!("mix-{percent}-depth-{depth}"), &[shape("randrw", BLOCK, depth), mix].concat());
        }
        for rw in ["randread", "randwrite"] {
            for align in ["512", "4k"] {
                let lines = vec![format!("blockalign={align}"), number(REQUESTS / 4), rest(5)];
                job(&format!("{rw}-16k-align-{align}"), &[shape(rw, "16k", 1), lines].concat());
            }
        }
        for burst in BURSTS_MIB {
            let lines = vec![format!("number_ios={}", burst * 16), rest(20)];
            job(&format!("write-buffer-{burst}m"), &[shape("write", "64k", 4), lines].concat());
        }
        let log = vec![format!("io_size={}", size.0.saturating_mul(2)), "write_iops_log=collection".to_owned()];
        job("collection", &[shape("randwrite", BLOCK, 32), log].concat());
        script.truncate(script.trim_end().len());
        script + "\n"
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn jobs_have_names_of_their_own_and_wait_for_each_other() {
        let script = MicroBenchmark { file: "/dev/nvme9n1".into(), size: Bytes(8 << 30) }.fio();
        let names: Vec<&str> = script.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert_eq!(script.matches("stonewall").count(), names.len() - 1);
        assert!(script.contains("IT OVERWRITES /dev/nvme9n1") && script.contains("\nsize=8589934592\n"));
        for part in
            ["rw=randread\nbs=1m", "iodepth=256", "blockalign=512", "write_bw_log", "write_iops_log", "rwmixread"]
        {
            assert!(script.contains(part), "{part}");
        }
    }
}
