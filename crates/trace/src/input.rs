//! Bytes from a file, a pipe or any reader; decompressed by content, never by name.
//!
//! Decompression runs on its own thread, which hands blocks over a bounded channel: order and content are those of the
//! stream, whatever the timing.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use flate2::bufread::GzDecoder;

use crate::error::{Place, TraceError};
use crate::passes::{Opened, Passes};

/// Below the size at which the allocator asks the system for each block.
const BLOCK_BYTES: usize = 64 << 10;
/// Blocks in flight between the threads.
const BLOCKS: usize = 8;

/// First byte of a gzip member.
const GZIP_BEGINS: u8 = 0x1f;

/// What standard input is called in messages and reports.
pub(crate) const STDIN: &str = "<stdin>";

/// How the stream is compressed, if it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

impl Compression {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            // A frame, or a skippable frame (parallel compressors put one first).
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Some(Self::Bzip2),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }
}

/// A source of plain bytes that knows its name and its progress.
pub(crate) struct Input {
    pub(crate) name: Arc<str>,
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) compression: Option<Compression>,
    /// Bytes taken from the source so far (compressed, if it is compressed).
    pub(crate) taken: Arc<AtomicU64>,
}

impl Input {
    /// Opens `path`; `-` is standard input. With `passes` it can be opened again.
    pub(crate) fn open(path: &str, passes: Option<&Passes>) -> Result<Self, TraceError> {
        // However standard input is called, it is one pipe.
        let path = if is_stdin(path) { "-" } else { path };
        let source = match passes {
            Some(passes) => passes.begin(path, || open(path)),
            None => open(path).map(|opened| match opened {
                Opened::File(file, _) => Box::new(file),
                Opened::Pipe(source) => source,
            }),
        };
        let name = if path == "-" { STDIN } else { path };
        Self::new(name, source.map_err(|source| TraceError::Open { name: name.to_owned(), source })?)
    }

    /// Wraps any reader.
    pub(crate) fn new(name: &str, source: Box<dyn Read + Send>) -> Result<Self, TraceError> {
        let taken = Arc::new(AtomicU64::new(0));
        let mut counted = Counted { source, taken: Arc::clone(&taken) };
        let mut magic = Vec::with_capacity(8);
        (&mut counted).take(8).read_to_end(&mut magic).map_err(|source| TraceError::Read {
            name: name.to_owned(),
            place: Place::Byte(0),
            source,
        })?;
        if let Some((kind, help)) = unread_archive(&magic) {
            return Err(TraceError::Archive { name: name.to_owned(), kind, help });
        }
        let compression = Compression::of(&magic);
        let whole = io::Cursor::new(magic).chain(counted);
        let reader: Box<dyn Read + Send> = match compression {
            None => Box::new(whole),
            Some(kind) => Box::new(
                Decompressed::spawn(kind, Box::new(whole))
                    .map_err(|source| TraceError::Open { name: name.to_owned(), source })?,
            ),
        };
        Ok(Self { name: name.into(), reader, compression, taken })
    }
}

/// Standard input by another name, and a pipe: as a file it could be opened again.
fn is_stdin(path: &str) -> bool {
    ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&path)
        && std::fs::metadata(path).is_ok_and(|d| !d.is_file())
}

fn open(path: &str) -> io::Result<Opened> {
    if path == "-" {
        return Ok(Opened::Pipe(Box::new(io::stdin())));
    }
    let file = File::open(path)?;
    let data = file.metadata()?;
    match () {
        () if data.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        () if data.is_file() => Ok(Opened::File(file, data)),
        () => Ok(Opened::Pipe(Box::new(file))),
    }
}

fn unread_archive(magic: &[u8]) -> Option<(&'static str, &'static str)> {
    match magic {
        [b'P', b'K', 3, 4, ..] => Some(("a zip archive", "unpack it, or pipe it: unzip -p FILE | ... -")),
        [b'7', b'z', 0xBC, 0xAF, ..] => Some(("a 7z archive", "unpack it first")),
        [0x04, 0x22, 0x4D, 0x18, ..] => Some(("lz4 data", "pipe it: lz4 -dc FILE | ... -")),
        [0x1F, 0x9D, ..] => Some(("Unix compress (.Z) data", "pipe it: zcat FILE | ... -")),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some(("UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8")),
        _ => None,
    }
}

/// Counts what is read.
struct Counted {
    source: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(out)?;
        self.taken.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// The receiving end of a decompressing thread. An empty block is the end of the stream.
struct Decompressed {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Decompressed {
    fn spawn(kind: Compression, source: Box<dyn Read + Send>) -> io::Result<Self> {
        let (send, blocks) = sync_channel(BLOCKS);
        // The thread ends when the stream does, or at its next block after the receiver is dropped.
        std::thread::Builder::new().name(kind.name().to_owned()).spawn(move || decompress(kind, source, &send))?;
        Ok(Self { blocks, block: Vec::new(), at: 0, ended: false })
    }
}

/// The members of a gzip file one after the other, and the zeros with which tapes and archives fill what is left (gzip takes
/// them so, too).
struct Gzip<R> {
    /// Nothing when the last one has ended.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            let Some(mut source) = self.member.take().map(GzDecoder::into_inner) else { break };
            let next = loop {
                let bytes = source.fill_buf()?;
                let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
                if zeros == 0 {
                    break bytes.first().copied();
                }
                source.consume(zeros);
            };
            match next {
                None => {}
                Some(GZIP_BEGINS) => self.member = Some(GzDecoder::new(source)),
                Some(_) => return Err(io::Error::other("bytes that are no gzip follow its end")),
            }
        }
        Ok(0)
    }
}

fn decompress(kind: Compression, source: Box<dyn Read + Send>, send: &SyncSender<io::Result<Vec<u8>>>) {
    let source = BufReader::with_capacity(BLOCK_BYTES, source);
    let opened: io::Result<Box<dyn Read>> = match kind {
        Compression::Gzip => Ok(Box::new(Gzip { member: Some(GzDecoder::new(source)) })),
        Compression::Zstd => zstd::Decoder::with_buffer(source).map(|d| Box::new(d) as Box<dyn Read>),
        Compression::Bzip2 => Ok(Box::new(bzip2::bufread::MultiBzDecoder::new(source))),
        Compression::Xz => Ok(Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(source))),
    };
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(error) => return drop(send.send(Err(error))),
    };
    loop {
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        let result = (&mut reader).take(BLOCK_BYTES as u64).read_to_end(&mut block);
        // What came before an error is still good: hand it over first.
        let ended = block.is_empty();
        if (!ended || result.is_ok()) && send.send(Ok(block)).is_err() {
            return;
        }
        match result {
            Err(error) => return drop(send.send(Err(error))),
            Ok(_) if ended => return,
            Ok(_) => {}
        }
    }
}

impl Read for Decompressed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() && !self.ended {
            let next = self.blocks.recv();
            self.block = next.unwrap_or_else(|_| Err(io::Error::other("the decompressor stopped")))?;
            self.at = 0;
            self.ended = self.block.is_empty();
        }
        let n = out.len().min(self.block.len() - self.at);
        out[..n].copy_from_slice(&self.block[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
