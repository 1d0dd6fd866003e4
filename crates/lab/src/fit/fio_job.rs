//! What a job of fio does, by its options: the requests that are simulated in its place.

use nandlab::types::{Bytes, SECTOR_BYTES};

use super::fio_options::Options;

/// Reads alone leave the drive as it is: of a longer job that many tell the same.
const READS_MAX: u64 = 4_000;
/// Most requests of a job with writes that is simulated.
const WRITES_MAX: u64 = 65_536;
/// Most requests that a device admits at a time.
const DEPTH_MAX: u64 = 65_536;
/// The engine if none is named, except for Windows.
const ENGINE: &str = "psync";
/// Engines that wait for every request.
const WAITS: [&str; 5] = ["sync", "psync", "vsync", "pvsync", "pvsync2"];

/// What a job does.
#[derive(Debug)]
pub(super) struct Shape {
    /// The generator that makes its requests.
    pub(super) generator: String,
    /// Requests in the drive at a time.
    pub(super) depth: u64,
    pub(super) requests: u64,
}

impl Shape {
    /// Of a job that did this many requests; or why it cannot be simulated on a device of `capacity` bytes.
    pub(super) fn of(options: &Options<'_>, all: u64, capacity: u64) -> Result<Self, String> {
        let engine = options.text("ioengine").unwrap_or_else(|| ENGINE.to_owned());
        let [jobs, mut depth] =
            [options.number("numjobs", 1, 1..=DEPTH_MAX)?, options.number("iodepth", 1, 1..=DEPTH_MAX)?];
        if WAITS.contains(&engine.as_str()) {
            depth = 1;
        }
        options.refuse(&engine, depth)?;
        let depth = jobs * depth;
        if depth > DEPTH_MAX {
            return Err(format!("{depth} requests at a time: at most {DEPTH_MAX} are simulated"));
        }
        let (generator, writes) = direction(options)?;
        let requests = match writes {
            0.0 => all.min(READS_MAX),
            _ if all > WRITES_MAX => {
                return Err(format!("{all} requests: with writes at most {WRITES_MAX} are simulated"));
            }
            _ => all,
        };
        let bytes = options.sectors(&["bs", "blocksize"])?.unwrap_or(4096);
        // Requests in a row follow each other without gaps, whatever the alignment.
        let align = match generator {
            "uniform" => options.sectors(&["ba", "blockalign"])?.unwrap_or(bytes),
            _ => bytes,
        };
        let size = options.part_or_size("size", capacity)?.filter(|size| *size > 0);
        let span = size.unwrap_or(capacity).min(capacity) / SECTOR_BYTES * SECTOR_BYTES;
        if bytes.max(align) > span {
            let place = if size.is_some_and(|size| size < capacity) { "its `size`" } else { "the device" };
            let [bytes, align, span] = [bytes, align, span].map(Bytes);
            return Err(format!("{place} of {span} has no room for requests of {bytes} at multiples of {align}"));
        }
        let generator =
            format!("make:{generator}:span={span}:size={bytes}:align={align}:writes={writes}:arrival=closed");
        Ok(Self { generator, depth, requests })
    }
}

/// The generator of its places, and the share of writes.
fn direction(options: &Options<'_>) -> Result<(&'static str, f64), String> {
    let (name, rw) = options.first(&["rw", "readwrite"]).unwrap_or_else(|| ("rw", "read".to_owned()));
    let mixed = || {
        let (name, _) = options.first(&["rwmixread", "rwmixwrite"]).unwrap_or_default();
        let percent = options.number(name, 50, 0..=100)?;
        let reads = if name == "rwmixwrite" { 100 - percent } else { percent };
        Ok::<_, String>(1.0 - reads as f64 / 100.0)
    };
    Ok(match rw.as_str() {
        "read" => ("sequential", 0.0),
        "write" => ("sequential", 1.0),
        "rw" | "readwrite" => ("sequential", mixed()?),
        "randread" => ("uniform", 0.0),
        "randwrite" => ("uniform", 1.0),
        "randrw" => ("uniform", mixed()?),
        other => return Err(format!("`{name}={other}` is not simulated")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fio_options::map;
    use super::*;

    /// Of a job of 1,000 requests on a drive of 1 GiB; all jobs go past the host's cache, with an engine that does not wait.
    fn shape(options: &[(&str, &str)]) -> Result<Shape, String> {
        shape_of(&[("ioengine", "libaio"), ("direct", "1")], options)
    }

    fn shape_of(global: &[(&str, &str)], job: &[(&str, &str)]) -> Result<Shape, String> {
        Shape::of(&Options { job: &map(job), global: &map(global) }, 1_000, 1 << 30)
    }

    #[test]
    fn engine_that_waits_has_one_request_at_a_time() {
        let depth = |global: &[(&str, &str)], job: &[(&str, &str)]| {
            let global = [&[("direct", "1"), ("iodepth", "32")], global].concat();
            shape_of(&global, job).unwrap().depth
        };
        // Without a name it is psync.
        assert_eq!(depth(&[], &[]), 1);
        assert_eq!(depth(&[], &[("numjobs", "4")]), 4);
        assert_eq!(depth(&[("ioengine", "pvsync2")], &[]), 1);
        assert_eq!(depth(&[("ioengine", "libaio")], &[]), 32);
        assert_eq!(depth(&[("ioengine", "libaio")], &[("numjobs", "4")]), 128);
        assert_eq!(depth(&[("ioengine", "libaio")], &[("ioengine", "psync")]), 1);
        assert_eq!(depth(&[("ioengine", "psync")], &[("ioengine", "io_uring")]), 32);
    }

    #[test]
    fn random_requests_are_aligned_as_fio_does() {
        let has = |options: &[(&str, &str)], part: &str| {
            let generator = shape(options).unwrap().generator;
            assert!(generator.contains(part), "{part}: {generator}");
        };
        has(&[("rw", "randread")], "make:uniform:span=1073741824:size=4096:align=4096:");
        has(&[("rw", "randread"), ("bs", "16k"), ("ba", "512")], ":size=16384:align=512:");
        has(&[("rw", "randread"), ("ba", "64k")], ":size=4096:align=65536:");
        has(&[("rw", "randread"), ("blockalign", "64k"), ("size", "64k")], ":span=65536:size=4096:align=65536:");
        has(&[("rw", "randread"), ("size", "25%")], "make:uniform:span=268435456:size=4096:");
        has(&[("rw", "randread"), ("size", "512MB")], "make:uniform:span=536870912:size=4096:");
        has(&[("rw", "randread"), ("size", "512MiB"), ("bs", "4kb")], "make:uniform:span=512000000:size=4096:");
        has(&[("rw", "read"), ("size", "0")], "make:sequential:span=1073741824:size=4096:");
        // Alignment is of random requests only.
        has(&[("rw", "write"), ("ba", "64k")], "make:sequential:span=1073741824:size=4096:align=4096:writes=1:");
    }

    #[test]
    fn mix_is_that_of_the_job() {
        let writes = |global: &[(&str, &str)], job: &[(&str, &str)]| {
            let global = [&[("direct", "1"), ("rw", "randrw")], global].concat();
            let generator = shape_of(&global, job).unwrap().generator;
            let text = generator.split(':').find_map(|part| part.strip_prefix("writes=")).unwrap().to_owned();
            (text.parse::<f64>().unwrap() * 100.0).round()
        };
        assert_eq!(writes(&[], &[]), 50.0);
        assert_eq!(writes(&[("rwmixread", "70")], &[]), 30.0);
        assert_eq!(writes(&[("rwmixread", "70")], &[("rwmixwrite", "80")]), 80.0);
    }

    #[test]
    fn odd_job_is_left_out_with_a_reason() {
        let most = u64::MAX.to_string();
        for (options, reason) in [
            (&[("bs", "1000")][..], "`bs=1000` is not a number of whole sectors"),
            (&[("bs", "0")], "`bs=0` is not"),
            (&[("bs", "4k,64k")], "`bs=4k,64k` is not a number of whole sectors"),
            (&[("bs", "4µ")], "`bs=4µ` is not a number of whole sectors"),
            (&[("bs", "4KiB")], "`bs=4KiB` is not a number of whole sectors"),
            (&[("rw", "randread"), ("ba", "100")], "`ba=100` is not a number of whole sectors"),
            (&[("rw", "randrw"), ("rwmixread", "130")], "`rwmixread=130` is not a number from 0 to 100"),
            (&[("iodepth", "0")], "`iodepth=0` is not a number from 1 to 65536"),
            (&[("iodepth", &most), ("numjobs", &most)], "is not a number from 1 to 65536"),
            (&[("iodepth", "65536"), ("numjobs", "65536")], "4294967296 requests at a time"),
            (&[("size", "2k")], "its `size` of 2KiB has no room for requests of 4KiB at multiples of 4KiB"),
            (&[("size", "120%")], "`size=120%` is neither bytes nor a part from 1% to 100%"),
            (&[("size", "half")], "`size=half` is neither bytes nor a part"),
            (&[("bs", "2g")], "the device of 1GiB has no room for requests of 2GiB"),
            (&[("rw", "randread"), ("ba", "2m"), ("size", "1m")], "its `size` of 1MiB has no room"),
            (&[("rw", "trim")], "`rw=trim` is not simulated"),
        ] {
            let error = shape(options).unwrap_err();
            assert!(error.contains(reason), "{reason}: {error}");
        }
    }
}
