//! When pages are flushed: an LRU list over one die, looked at from one instant to the next.

/// One request of whole pages, or, of no pages, a flush of the host.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub at: u64,
    pub write: bool,
    pub lpn: u32,
    pub pages: u32,
}

/// A device of one die whose channel takes `transfer`, with `frames` pages of LRU above it, and what it flushes ahead.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub frames: usize,
    pub depth: usize,
    pub read: u64,
    pub program: u64,
    pub transfer: u64,
    /// Frames are free when the page has left the RAM.
    pub until_transfer: bool,
    pub marks: Option<(f64, f64)>,
    pub age: Option<u64>,
    /// Pages that are written together.
    pub gather: Option<usize>,
    pub most: usize,
    /// Writes wait until they are programmed.
    pub through: bool,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    lpn: u32,
    /// Since when it has been dirty, and how many pages became dirty before.
    dirty_since: Option<(u64, u64)>,
    /// When the read that filled it is over.
    filled: u64,
    /// When the last write that left it in its frame is over.
    written: u64,
}

/// What happened.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Told {
    /// Programs: when they were handed to the flash, and the page.
    pub programs: Vec<(u64, u32)>,
    /// When the requests were complete, in their order.
    pub completed: Vec<u64>,
    /// From when pages were handed to the flash to the end of their programs, in all.
    pub write_ns: u64,
    pub by_fill: u64,
    pub by_age: u64,
    pub gathered: u64,
    pub waits: u64,
    pub drops: u64,
}

/// See the module text.
pub struct Reference {
    shape: Shape,
    now: u64,
    /// When the die is done with all that it was handed, and with the programs among that.
    free: u64,
    programmed: u64,
    /// The least recently used first.
    pages: Vec<Page>,
    /// When frames that were given up are free, in the order in which they were given up.
    leaving: Vec<u64>,
    /// When what was written ahead is programmed.
    ahead: Vec<u64>,
    /// When requests in the device are over.
    inside: Vec<u64>,
    evicting: bool,
    /// Pages that became dirty.
    dated: u64,
    pub told: Told,
}

impl Reference {
    pub fn new(shape: Shape, now: u64) -> Self {
        let (pages, leaving, ahead, inside) = (vec![], vec![], vec![], vec![]);
        let (programmed, evicting, dated, told) = (now, false, 0, Told::default());
        Self { shape, now, free: now, programmed, pages, leaving, ahead, inside, evicting, dated, told }
    }

    /// The die does something next: when it begins.
    fn begin(&mut self, takes: u64) -> u64 {
        let begin = self.free.max(self.now);
        self.free = begin + takes;
        begin
    }

    fn read(&mut self) -> u64 {
        self.begin(self.shape.read + self.shape.transfer);
        self.free
    }

    /// When the frame of the page is free.
    fn program(&mut self, lpn: u32) -> u64 {
        self.told.programs.push((self.now, lpn));
        let begin = self.begin(self.shape.transfer + self.shape.program);
        self.programmed = self.free;
        self.told.write_ns += self.free - self.now;
        if self.shape.until_transfer { begin + self.shape.transfer } else { self.free }
    }

    /// The least recently used page leaves: when its frame is free.
    fn evict(&mut self, ahead: bool) -> u64 {
        let page = self.pages.remove(0);
        if page.dirty_since.is_none() {
            self.told.drops += 1;
            return page.written;
        }
        let done = self.program(page.lpn);
        if ahead {
            self.told.by_fill += 1;
            self.ahead.push(self.programmed);
        }
        done
    }

    /// The dirty pages, those that have been so for the longest first.
    fn oldest(&self) -> Vec<Page> {
        let mut dirty: Vec<Page> = self.pages.iter().filter(|page| page.dirty_since.is_some()).copied().collect();
        dirty.sort_by_key(|page| page.dirty_since);
        dirty
    }

    /// Writes a page that stays: when that is over.
    fn clean(&mut self, lpn: u32) -> u64 {
        let done = self.program(lpn);
        let page = self.pages.iter_mut().find(|page| page.lpn == lpn).unwrap();
        (page.dirty_since, page.written) = (None, done);
        done
    }

    /// When the page that has been dirty for the longest will have been so for too long.
    fn aged(&self) -> Option<u64> {
        Some(self.oldest().first()?.dirty_since?.0 + self.shape.age?)
    }

    /// All that is due at this instant.
    fn flush(&mut self) {
        loop {
            self.ahead.retain(|done| *done > self.now);
            if self.ahead.len() >= self.shape.most {
                return;
            }
            let (oldest, has_aged) = (self.oldest(), self.aged().is_some_and(|at| at <= self.now));
            if has_aged || self.shape.gather.is_some_and(|pages| oldest.len() >= pages) {
                let pages = oldest.iter().take(self.shape.gather.unwrap_or(1));
                let mut pages: Vec<u32> = pages.map(|page| page.lpn).collect();
                pages.sort_unstable();
                for lpn in pages {
                    self.clean(lpn);
                    *(if has_aged { &mut self.told.by_age } else { &mut self.told.gathered }) += 1;
                    self.ahead.push(self.programmed);
                }
                continue;
            }
            let Some((above, below)) = self.shape.marks else { return };
            let share = self.pages.len() as f64 / self.shape.frames as f64;
            self.evicting = share > if self.evicting { below } else { above };
            if !self.evicting {
                return;
            }
            let done = self.evict(true);
            self.leaving.push(done);
        }
    }

    /// A frame for a page that is not there: when it is free.
    fn take_frame(&mut self) -> u64 {
        if self.pages.len() == self.shape.frames {
            self.told.waits += 1;
            return self.evict(false);
        }
        self.leaving.retain(|done| *done > self.now);
        if self.leaving.len() < self.shape.frames - self.pages.len() {
            return self.now;
        }
        self.told.waits += 1;
        self.leaving.remove(0)
    }

    /// The host wants all that was written to be on flash.
    fn host_flush(&mut self) -> u64 {
        let mut dirty: Vec<u32> =
            self.pages.iter().filter(|page| page.dirty_since.is_some()).map(|page| page.lpn).collect();
        dirty.sort_unstable();
        for lpn in dirty {
            self.clean(lpn);
        }
        self.programmed.max(self.now)
    }

    fn serve(&mut self, request: Request) {
        let mut done = if request.pages == 0 { self.host_flush() } else { self.now };
        for lpn in request.lpn..request.lpn + request.pages {
            let known = self.pages.iter().position(|page| page.lpn == lpn);
            let mut page = if let Some(at) = known {
                self.pages.remove(at)
            } else {
                done = done.max(self.take_frame());
                let filled = if request.write { self.now } else { self.read() };
                Page { lpn, dirty_since: None, filled, written: 0 }
            };
            done = done.max(page.filled);
            if request.write && page.dirty_since.is_none() {
                page.dirty_since = Some((self.now, self.dated));
                self.dated += 1;
            }
            self.pages.push(page);
        }
        if self.shape.through && request.write {
            for lpn in request.lpn..request.lpn + request.pages {
                if self.pages.iter().any(|page| page.lpn == lpn && page.dirty_since.is_some()) {
                    done = done.max(self.clean(lpn));
                }
            }
        }
        self.told.completed.push(done);
        self.inside.push(done);
    }

    /// The next instant at which something happens; pages that age count while `busy`.
    fn next(&self, arrival: Option<u64>) -> Option<u64> {
        let work = self.inside.iter().chain(&self.ahead).chain([&self.free]).copied().chain(arrival);
        let work = work.filter(|at| *at > self.now).min()?;
        let aged = self.aged().filter(|at| *at > self.now);
        Some(work.min(aged.unwrap_or(work)))
    }

    /// Carries the requests out, and whatever goes on until all of them are complete.
    pub fn run(&mut self, requests: &[Request]) {
        let mut rest = requests;
        loop {
            self.inside.retain(|done| *done > self.now);
            if rest.is_empty() && self.inside.is_empty() {
                return;
            }
            self.flush();
            if let [request, later @ ..] = rest
                && request.at <= self.now
                && self.inside.len() < self.shape.depth
            {
                self.serve(*request);
                rest = later;
                continue;
            }
            self.now = self.next(rest.first().map(|request| request.at)).expect("a request is under way or comes");
        }
    }
}
