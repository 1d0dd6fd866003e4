//! Inputs that are read more than once: what can be read only once is kept, and passes are checked to be equal.
//!
//! A file is opened again by each pass. A pipe (standard input, a FIFO, `<(...)`) gives its bytes once: the pass that
//! reaches them first keeps them, up to [`MEMORY_BYTES`] in memory and the rest in a temporary file without a name, which
//! the system removes however the process ends; other passes read what is kept and go on with the pipe where that ends.
//! Passes may be under way at the same time.
//!
//! A pass that begins finds the file as long and as old as the first did, and a pass that reaches the end finds as many
//! bytes with the same CRC-32 as the first that did; else it ends in an error.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Most bytes of a pipe that are kept in memory.
const MEMORY_BYTES: usize = 32 << 20;

/// The passes of a command over its inputs. Clones share what they know.
#[derive(Clone, Debug, Default)]
pub struct Passes(Arc<Mutex<BTreeMap<String, Known>>>);

impl PartialEq for Passes {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Passes {}

/// What earlier passes know of an input.
#[derive(Debug, Default)]
struct Known {
    /// Of a file: its length and when it was changed last.
    stamp: Option<(u64, Option<SystemTime>)>,
    /// What a pipe gave.
    kept: Option<Arc<Mutex<Kept>>>,
    /// Bytes of the whole input and their CRC-32.
    whole: Option<(u64, u32)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn changed(problem: &str) -> io::Error {
    io::Error::other(format!("the file changed between two passes over it ({problem}): do not write to it meanwhile"))
}

impl Passes {
    /// True if an input was opened.
    pub fn are_begun(&self) -> bool {
        !lock(&self.0).is_empty()
    }

    /// The bytes of an input from its beginning, for another pass. `open` opens it; a pipe is opened once.
    pub(crate) fn begin(
        &self,
        name: &str,
        open: impl FnOnce() -> io::Result<Opened>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let mut inputs = lock(&self.0);
        let known = inputs.entry(name.to_owned()).or_default();
        if known.kept.is_none() {
            match open()? {
                Opened::File(file, data) => {
                    let stamp = (data.len(), data.modified().ok());
                    let first = *known.stamp.get_or_insert(stamp);
                    if first != stamp {
                        let ((before, _), (now, _)) = (first, stamp);
                        return Err(changed(&format!("{before} bytes then, {now} now")));
                    }
                    return Ok(Box::new(self.pass(name, Box::new(file))));
                }
                Opened::Pipe(source) => known.kept = Some(Arc::new(Mutex::new(Kept::new(source)))),
            }
        }
        let kept = known.kept.clone().expect("it was put there");
        Ok(Box::new(self.pass(name, Box::new(Again { kept, at: 0 }))))
    }

    fn pass(&self, name: &str, source: Box<dyn Read + Send>) -> Pass {
        let crc = crc32fast::Hasher::new();
        Pass { source, name: name.to_owned(), passes: self.clone(), bytes: 0, crc, ended: false }
    }

    /// A pass has reached the end.
    fn compare(&self, name: &str, bytes: u64, crc: u32) -> io::Result<()> {
        let mut inputs = lock(&self.0);
        let (before, sum) = *inputs.entry(name.to_owned()).or_default().whole.get_or_insert((bytes, crc));
        if (before, sum) == (bytes, crc) {
            return Ok(());
        }
        Err(changed(&format!("{before} bytes with the checksum {sum:08x} then, {bytes} with {crc:08x} now")))
    }
}

/// An input that was just opened.
pub(crate) enum Opened {
    /// Can be opened again.
    File(File, Metadata),
    /// Gives its bytes once.
    Pipe(Box<dyn Read + Send>),
}

/// A pass over an input.
struct Pass {
    source: Box<dyn Read + Send>,
    name: String,
    passes: Passes,
    bytes: u64,
    crc: crc32fast::Hasher,
    ended: bool,
}

impl Read for Pass {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(out)?;
        if n > 0 {
            self.bytes += n as u64;
            self.crc.update(&out[..n]);
        } else if !out.is_empty() && !std::mem::replace(&mut self.ended, true) {
            self.passes.compare(&self.name, self.bytes, self.crc.clone().finalize())?;
        }
        Ok(n)
    }
}

/// A pipe and what it gave so far.
struct Kept {
    source: Box<dyn Read + Send>,
    memory: Vec<u8>,
    /// What is beyond the memory.
    file: Option<File>,
    /// Bytes kept.
    bytes: u64,
    ended: bool,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("bytes", &self.bytes).field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl Kept {
    fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, memory: Vec::new(), file: None, bytes: 0, ended: false }
    }

    /// Bytes from `at` on: of what is kept, or else of the pipe.
    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        if let Some(kept) =
            usize::try_from(at).ok().and_then(|at| self.memory.get(at..)).filter(|kept| !kept.is_empty())
        {
            let n = out.len().min(kept.len());
            out[..n].copy_from_slice(&kept[..n]);
            return Ok(n);
        }
        if at < self.bytes {
            let file = self.file.as_mut().expect("what is beyond the memory is in the file");
            file.seek(SeekFrom::Start(at - self.memory.len() as u64))?;
            let most = out.len().min(usize::try_from(self.bytes - at).unwrap_or(usize::MAX));
            return file.read(&mut out[..most]);
        }
        if self.ended || out.is_empty() {
            return Ok(0);
        }
        let n = self.source.read(out)?;
        self.ended = n == 0;
        self.keep(&out[..n]).map_err(|error| {
            let folder = std::env::temp_dir();
            let problem = format!("what the pipe gave cannot be kept in {}: {error}", folder.display());
            io::Error::new(error.kind(), format!("{problem}; make room there, or name another folder in TMPDIR"))
        })?;
        Ok(n)
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (near, far) = bytes.split_at(bytes.len().min(MEMORY_BYTES - self.memory.len()));
        self.memory.extend_from_slice(near);
        if !far.is_empty() {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            file.seek(SeekFrom::End(0))?;
            file.write_all(far)?;
        }
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// A pass over a pipe.
struct Again {
    kept: Arc<Mutex<Kept>>,
    at: u64,
}

impl Read for Again {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = lock(&self.kept).read_at(self.at, out)?;
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, and each of them once.
    struct Drip(u64);

    const WHOLE: u64 = MEMORY_BYTES as u64 + 1_000_000;

    impl Read for Drip {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = out.len().min(70_001).min((WHOLE - self.0) as usize);
            for byte in &mut out[..n] {
                *byte = (self.0 % 251) as u8;
                self.0 += 1;
            }
            Ok(n)
        }
    }

    #[test]
    fn pipe_is_read_once_and_gives_every_pass_the_same() {
        let passes = Passes::default();
        let mut opened = 0;
        let mut begin = || {
            passes
                .begin("pipe", || {
                    opened += 1;
                    Ok(Opened::Pipe(Box::new(Drip(0))))
                })
                .unwrap()
        };
        let (mut one, mut other) = (begin(), begin());
        // One is ahead, then the other: each finds all bytes, across the end of the memory.
        let mut first = vec![0; MEMORY_BYTES - 10];
        one.read_exact(&mut first).unwrap();
        let mut all = Vec::new();
        other.read_to_end(&mut all).unwrap();
        one.read_to_end(&mut first).unwrap();
        assert!(all.len() as u64 == WHOLE && all == first);
        assert!(all.iter().enumerate().all(|(at, byte)| *byte == (at % 251) as u8));
        let mut third = Vec::new();
        begin().read_to_end(&mut third).unwrap();
        assert!(third == all && opened == 1);
    }

    #[test]
    fn change_between_two_passes_is_an_error() {
        let passes = Passes::default();
        let read = |bytes: &'static [u8]| passes.pass("x", Box::new(bytes)).read_to_end(&mut Vec::new());
        assert_eq!(read(b"0,0,512,w,0\n").unwrap(), 12);
        assert_eq!(read(b"0,0,512,w,0\n").unwrap(), 12);
        for other in [&b"0,0,512,r,0\n"[..], b"0,0,512,w,0\n0", b""] {
            let error = read(other).unwrap_err().to_string();
            assert!(error.contains("changed between two passes"), "{error}");
        }
    }
}
