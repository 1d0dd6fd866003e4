//! ycsb - Key-value workloads A to F through an LSM tree or a B-tree: the block requests that result
//!
//! # Source
//! Cooper, Silberstein, Tam, Ramakrishnan, Sears: Benchmarking cloud serving systems with YCSB (SoCC 2010), table 2, for
//! workloads A to E; F is the sixth core workload of the YCSB software. The engines are models made here, after O'Neil et
//! al., The log-structured merge-tree (1996), with levels as in LevelDB, and Comer, The ubiquitous B-tree (1979).
//!
//! # What it does
//! | workload | operations | keys |
//! |-|-|-|
//! | a | 50 % read, 50 % update | zipfian |
//! | b | 95 % read, 5 % update | zipfian |
//! | c | read | zipfian |
//! | d | 95 % read, 5 % insert | latest: the newer, the more popular |
//! | e | 95 % scan of 1 to 100 records, 5 % insert | zipfian |
//! | f | 50 % read, 50 % read-modify-write | zipfian |
//!
//! Every operation is turned into the block requests of the engine, all at the time of the operation. The store is
//! loaded at the beginning, and what it keeps in memory is empty. A request is of the host's file, which has no cache of
//! its own.
//!
//! **lsm**: updates are appended to a log in whole sectors and held in a memtable of `memory`; a full one is written as a
//! sorted file to level 0. Four files there are merged into level 1, which holds four memtables; each further level holds
//! `ratio` times the one above, the last everything. A level that is too full merges one file, in turn by key, with those
//! it overlaps in the next. Merges read all their inputs and write their output in 256 KiB, sequentially, into the space
//! that has been free for longest; overwritten versions vanish where two meet. A read finds the newest version as
//! with perfect filters and a table of contents in memory: one read of the 4 KiB blocks that hold the record, or none if
//! it is in the memtable. A scan reads the blocks of its range in every level.
//!
//! **btree**: pages of 16 KiB, 69 % full (ln 2: Yao, On random 2-3 trees, 1978), read into a pool of `memory` by least
//! recent use; a dirty page is written when it is evicted. Updates are appended to a log in whole sectors; when `memory`
//! bytes of log have been written, all dirty pages are written in page order (a checkpoint) and the log starts over.
//!
//! # Deviations and chosen readings
//! - An insert takes the place of the oldest record, so that the store keeps its size and a run of any length runs in
//!   constant memory: a B-tree never splits, and the keys of `latest` go round.
//! - Popular keys are scattered over the store by a fixed bijection, where YCSB takes a hash (which lets keys collide).
//! - Not modelled: compression, compaction in the background or on several threads, discards, misses of filters and
//!   their blocks, the manifest, and log group commit.

mod btree;
mod lsm;

use std::collections::VecDeque;

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, HostOp};

use super::random::{Alias, SplitMix, ZIPF_ITEMS_MAX, scatter_below, zipf};
use super::shape::Clock;
use super::{Context, RequestStream, wrong};
use crate::row::TraceRecord;

/// Bytes of a sequential request.
const CHUNK: u64 = 256 << 10;
/// Longest scan in records.
const SCAN_MAX: u64 = 100;
/// Idle operations (all in memory) before the next block request, at most.
const QUIET_MAX: u32 = 100_000_000;

nandlab::params! {
    pub struct Params {
        /// Which of the workloads: a to f.
        workload: String = "a".to_owned();
        /// `lsm` or `btree`.
        engine: String = "lsm".to_owned();
        /// Number of records.
        records: u64 = 1_000_000, in 1000..=ZIPF_ITEMS_MAX;
        /// Bytes of a record.
        record: Bytes = Bytes::kib(1), in Bytes(64)..=Bytes::kib(8);
        /// Memtable, or pool and log.
        memory: Bytes = Bytes::mib(64), in Bytes::mib(1)..=Bytes(64 << 30);
        /// Size of a level by that of the one above; only for `lsm`.
        ratio: Option<u64> = None, in 2..=100, absent "10";
        /// `zipfian`, `latest` or `uniform` instead of what belongs to the workload.
        keys: Option<String> = None, absent "as the workload says";
        /// Exponent of `zipfian` and `latest`.
        theta: f64 = 0.99, in 0.0..=8.0;
        /// When operations come, as in `nandlab describe zipf`.
        arrival: String = "exponential@1ms".to_owned();
    }
}

/// Block requests that wait to be delivered.
#[derive(Default)]
struct Io(VecDeque<(HostOp, u64, u64)>);

impl Io {
    fn push(&mut self, op: HostOp, offset: u64, length: u64) {
        self.0.push_back((op, offset, length));
    }
    /// In pieces of [`CHUNK`].
    fn stream(&mut self, op: HostOp, offset: u64, length: u64) {
        let mut done = 0;
        while done < length {
            let piece = CHUNK.min(length - done);
            self.push(op, offset + done, piece);
            done += piece;
        }
    }
}

/// A log in a region of its own, written round and round in whole sectors.
struct Log {
    bytes: u64,
    head: u64,
}

impl Log {
    fn append(&mut self, record: u64, io: &mut Io) {
        let length = record.next_multiple_of(512);
        if self.head + length > self.bytes {
            self.head = 0;
        }
        io.push(HostOp::Write, self.head, length);
        self.head += length;
    }
}

/// How records are stored; keys are positions in the order of the store.
trait Engine: Send {
    fn read(&mut self, key: u64, io: &mut Io);
    fn write(&mut self, key: u64, io: &mut Io);
    fn scan(&mut self, key: u64, records: u64, io: &mut Io);
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

#[derive(Clone, Copy)]
enum Keys {
    Zipfian,
    Latest,
    Uniform,
}

struct Ycsb {
    engine: Box<dyn Engine>,
    /// What an operation is, else, and how many of 100 are the first.
    kinds: (Kind, Kind, u64),
    keys: Keys,
    ranks: Alias,
    records: u64,
    /// Records inserted so far; the newest is the one before.
    inserted: u64,
    clock: Clock,
    random: SplitMix,
    io: Io,
    at_ns: u64,
}

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let (kinds, usual) = match params.workload.to_lowercase().as_str() {
        "a" => ((Kind::Read, Kind::Update, 50), Keys::Zipfian),
        "b" => ((Kind::Read, Kind::Update, 95), Keys::Zipfian),
        "c" => ((Kind::Read, Kind::Read, 100), Keys::Zipfian),
        "d" => ((Kind::Read, Kind::Insert, 95), Keys::Latest),
        "e" => ((Kind::Scan, Kind::Insert, 95), Keys::Zipfian),
        "f" => ((Kind::Read, Kind::ReadModifyWrite, 50), Keys::Zipfian),
        other => return Err(wrong("workload", format!("there is no workload `{other}`"), "use a, b, c, d, e or f")),
    };
    let keys = match params.keys.as_deref() {
        None => usual,
        Some("zipfian") => Keys::Zipfian,
        Some("latest") => Keys::Latest,
        Some("uniform") => Keys::Uniform,
        Some(other) => {
            return Err(wrong("keys", format!("`{other}` is not a distribution"), "use zipfian, latest or uniform"));
        }
    };
    let (records, record) = (params.records, params.record.0);
    let memory = params.memory.0.next_multiple_of(CHUNK);
    let engine: Box<dyn Engine> = match (params.engine.as_str(), params.ratio) {
        ("lsm", ratio) => Box::new(lsm::Lsm::new(records, record, memory, ratio.unwrap_or(10))),
        ("btree", None) => Box::new(btree::Btree::new(records, record, memory)),
        ("btree", Some(_)) => return Err(wrong("ratio", "a B-tree has no levels of this kind", "leave it out")),
        (other, _) => return Err(wrong("engine", format!("there is no engine `{other}`"), "use lsm or btree")),
    };
    Ok(Box::new(Ycsb {
        engine,
        kinds,
        keys,
        ranks: zipf(records, params.theta),
        records,
        inserted: 0,
        clock: Clock::new(&params.arrival)?,
        random: SplitMix(context.seed),
        io: Io::default(),
        at_ns: 0,
    }))
}

impl Ycsb {
    fn key(&mut self) -> u64 {
        let number = match self.keys {
            Keys::Uniform => return self.random.below(self.records),
            Keys::Zipfian => self.ranks.draw(&mut self.random),
            Keys::Latest => {
                let age = 1 + self.ranks.draw(&mut self.random);
                (self.inserted + self.records - age) % self.records
            }
        };
        scatter_below(number, self.records)
    }

    fn operate(&mut self) {
        let (usual, other, percent) = self.kinds;
        let kind = if self.random.below(100) < percent { usual } else { other };
        match kind {
            Kind::Insert => {
                let key = scatter_below(self.inserted % self.records, self.records);
                self.inserted = (self.inserted + 1) % self.records;
                self.engine.write(key, &mut self.io);
            }
            Kind::Read => {
                let key = self.key();
                self.engine.read(key, &mut self.io);
            }
            Kind::Update => {
                let key = self.key();
                self.engine.write(key, &mut self.io);
            }
            Kind::ReadModifyWrite => {
                let key = self.key();
                self.engine.read(key, &mut self.io);
                self.engine.write(key, &mut self.io);
            }
            Kind::Scan => {
                let key = self.key();
                let count = 1 + self.random.below(SCAN_MAX);
                self.engine.scan(key, count.min(self.records - key), &mut self.io);
            }
        }
    }
}

impl Iterator for Ycsb {
    type Item = TraceRecord;

    /// Ends only if everything that is read lies in memory, so that no request ever follows.
    fn next(&mut self) -> Option<TraceRecord> {
        for _ in 0..QUIET_MAX {
            if let Some((op, offset, length)) = self.io.0.pop_front() {
                return Some(TraceRecord::plain(self.at_ns, op, offset, length));
            }
            self.at_ns = self.clock.now;
            self.operate();
            self.clock.advance(&mut self.random);
        }
        None
    }
}
