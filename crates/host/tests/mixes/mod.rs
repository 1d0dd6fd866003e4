//! Workloads with labels: programs that each do one thing, taking turns by chance.
#![allow(dead_code, reason = "each test uses a part")]

use nandlab::types::Pattern;
use nandlab_host::FileAccess;

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }
}

/// An access and what it is by construction.
#[derive(Clone, Copy)]
pub struct Labelled {
    pub access: FileAccess,
    pub label: Pattern,
}

/// What a program does.
enum Doing {
    /// Files from beginning to end, each once: pieces of this many bytes, files of this many pages.
    Through { piece: u64, pages: u64 },
    /// The same files again and again: pieces, files, pages of each; of each pass at most 24 requests.
    Again { piece: u64, files: u64, pages: u64 },
    /// A few pages of a file, some more often than others.
    Around { pages: u64 },
    /// Any pages of a large file.
    Anywhere { pages: u64, long: u64 },
}

struct Program {
    pc: u32,
    /// Its own files begin with this number.
    files: u64,
    doing: Doing,
    label: Pattern,
    offset: u64,
    file: u64,
}

impl Program {
    fn new(number: u64, random: &mut Random) -> Self {
        let piece = [512, 1024, 4096, 4096, 16384, 65536][random.below(6) as usize];
        let (doing, label) = match random.below(4) {
            0 => (Doing::Through { piece, pages: random.between(1, 400) }, Pattern::Sequential),
            1 => {
                let piece = piece.max(4096);
                let pages = random.between(1, 8) * piece / 4096;
                let files = random.between(1, 24 / (pages * 4096 / piece));
                (Doing::Again { piece, files, pages }, Pattern::Looping)
            }
            2 => (Doing::Around { pages: random.between(4, 64) }, Pattern::ClusteredHot),
            _ => {
                let (pages, long) = (random.between(30_000, 1_000_000), random.between(1, 3));
                (Doing::Anywhere { pages, long }, Pattern::Random)
            }
        };
        Self { pc: random.next() as u32 | 1, files: number << 20, doing, label, offset: 0, file: 0 }
    }

    /// The next access: file, first byte, bytes.
    fn next(&mut self, random: &mut Random) -> (u64, u64, u64) {
        let mut onward = |piece: u64, bytes: u64, files: u64| {
            let place = (self.file % files, self.offset, piece.min(bytes - self.offset));
            self.offset += place.2;
            if self.offset >= bytes {
                (self.offset, self.file) = (0, self.file + 1);
            }
            place
        };
        match self.doing {
            Doing::Through { piece, pages } => onward(piece, pages * 4096, u64::MAX),
            Doing::Again { piece, files, pages } => onward(piece, pages * 4096, files),
            // The square of a share lies near 0 more often. Page 0 would be the beginning of a file, and pages lie apart.
            Doing::Around { pages } => {
                let share = random.below(1 << 20);
                let page = (((share * share) >> 20) * pages) >> 20;
                (0, (1 + 3 * page) * 4096, 4096)
            }
            Doing::Anywhere { pages, long } => (0, random.between(1, pages) * 4096, long * 4096),
        }
    }
}

/// A mix of 2 to 12 programs, 5,000 accesses.
pub fn mix(seed: u64) -> impl Iterator<Item = Labelled> {
    let mut random = Random(seed);
    let mut programs: Vec<_> = (0..random.between(2, 12)).map(|number| Program::new(number, &mut random)).collect();
    (0..5_000).map(move |_| {
        let turn = random.below(programs.len() as u64) as usize;
        let program = &mut programs[turn];
        let (file, offset, length) = program.next(&mut random);
        let access = FileAccess { pc: program.pc, file: (program.files + file) as u32 + 1, offset, length };
        Labelled { access, label: program.label }
    })
}
