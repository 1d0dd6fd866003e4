//! Where text is written: a file, compressed if its name says so, or any place.

use std::io::{self, Write};

use flate2::write::GzEncoder;

use crate::whole::WholeFile;

/// The level of `zstd` on the command line.
const ZSTD_LEVEL: i32 = 3;

/// Where text goes.
pub(crate) enum Sink {
    Any(Box<dyn Write + Send>),
    File(WholeFile),
    Zstd(zstd::Encoder<'static, WholeFile>),
    Gzip(GzEncoder<WholeFile>),
}

/// Whether a name ends so, in any case.
pub(crate) fn ends(name: &str, ending: &str) -> bool {
    name.len() > ending.len() && name.to_ascii_lowercase().ends_with(ending)
}

impl Sink {
    pub(crate) fn create(target: &str) -> io::Result<Self> {
        if ["bz2", "xz", "lz4", "zip", "7z", "parquet.gz", "parquet.zst"].iter().any(|e| ends(target, &format!(".{e}")))
        {
            let problem = "written are .parquet (compressed inside), text, and text with .zst or .gz at the end";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(match target {
            "-" => Self::Any(Box::new(io::stdout())),
            _ if ends(target, ".zst") => {
                let mut encoder = zstd::Encoder::new(WholeFile::create(target)?, ZSTD_LEVEL)?;
                // Gzip has one anyway: a changed bit is an error and no other number.
                encoder.include_checksum(true)?;
                Self::Zstd(encoder)
            }
            _ if ends(target, ".gz") => {
                Self::Gzip(GzEncoder::new(WholeFile::create(target)?, flate2::Compression::default()))
            }
            _ => Self::File(WholeFile::create(target)?),
        })
    }
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Any(out) => out.write_all(bytes),
            Self::File(out) => out.write_all(bytes),
            Self::Zstd(out) => out.write_all(bytes),
            Self::Gzip(out) => out.write_all(bytes),
        }
    }
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Any(mut out) => out.flush(),
            Self::File(out) => out.commit(),
            Self::Zstd(out) => out.finish()?.commit(),
            Self::Gzip(out) => out.finish()?.commit(),
        }
    }
}
