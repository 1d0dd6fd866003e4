//! What several tests need.
#![allow(dead_code, reason = "each test uses its part")]

use std::io::Write;
use std::path::PathBuf;

use nandlab::config::{Builder, Config};
use nandlab::types::{HostOp, HostRequest};
use nandlab_trace::{Options, Trace, TraceError, TraceReport};

/// Path of a fixture.
pub fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Folder of the collection of real traces: `NANDLAB_TRACES` when the tests are built, or a place next to the
/// repository.
pub fn collection() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let folder = PathBuf::from(option_env!("NANDLAB_TRACES").unwrap_or(default));
    if folder.join("README.md").is_file() {
        return Some(folder);
    }
    eprintln!("skipped: no traces in {} (set NANDLAB_TRACES)", folder.display());
    None
}

/// The device `lab` with these settings, each `KEY=VALUE`.
pub fn lab<S: AsRef<str>>(settings: impl IntoIterator<Item = S>) -> Config {
    let set = |builder: Builder, setting: S| builder.set(setting.as_ref());
    let builder = settings.into_iter().try_fold(Builder::preset("lab").unwrap(), set);
    builder.and_then(|builder| builder.finish()).unwrap()
}

/// Options with a format.
pub fn format(name: &str) -> Options {
    Options { format: Some(name.to_owned()), ..Options::default() }
}

/// Everything a trace delivers, or its first error.
pub fn drain(mut trace: Trace) -> Result<(Vec<HostRequest>, TraceReport), TraceError> {
    let mut all = Vec::new();
    for request in &mut trace {
        all.push(request?);
    }
    Ok((all, trace.report()))
}

/// Reads bytes as a trace.
pub fn read(bytes: &[u8], options: &Options) -> Result<(Vec<HostRequest>, TraceReport), TraceError> {
    drain(Trace::from_reader("test", std::io::Cursor::new(bytes.to_vec()), options)?)
}

/// Reads a fixture.
pub fn read_fixture(name: &str, options: &Options) -> Result<(Vec<HostRequest>, TraceReport), TraceError> {
    drain(nandlab_trace::open(&fixture(name), options)?)
}

/// (time in ns, operation, first sector, sectors).
pub fn plain(requests: &[HostRequest]) -> Vec<(u64, char, u64, u32)> {
    let letter = |op| match op {
        HostOp::Read => 'R',
        HostOp::Write => 'W',
        HostOp::Trim => 'T',
        HostOp::Flush => 'F',
    };
    requests.iter().map(|r| (r.at.0, letter(r.op), r.lba, r.sectors)).collect()
}

/// gzip.
pub fn gz(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// zstd, with the checksum that the command line tool writes.
pub fn zst(data: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// bzip2.
pub fn bz2(data: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// xz.
pub fn xz(data: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Compresses a whole stream.
pub type Compress = fn(&[u8]) -> Vec<u8>;

/// The compressors by name.
pub const COMPRESSORS: [(&str, Compress); 4] = [("gzip", gz), ("zstd", zst), ("bzip2", bz2), ("xz", xz)];
