//! The runs of one program location that are thought to be under way.

/// Runs that are thought to be under way at once.
const RUNS: usize = 4;

/// A run under way.
#[derive(Clone, Copy, Default, Debug)]
struct RunLength {
    stream: u32,
    pages: u32,
}

/// Runs under way, the one used last at the front.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RunsUnderWay([RunLength; RUNS]);

impl RunsUnderWay {
    /// A stream of the location has this many pages now. The pages of the run that has ended, if this one is new and there
    /// are too many.
    pub fn run(&mut self, stream: u32, pages: u32) -> Option<u32> {
        let at = self.0.iter().position(|run| run.pages > 0 && run.stream == stream);
        let moved = at.unwrap_or(RUNS - 1);
        let ended = if at.is_none() { Some(self.0[moved].pages).filter(|pages| *pages > 0) } else { None };
        self.0.copy_within(0..moved, 1);
        self.0[0] = RunLength { stream, pages };
        ended
    }

    /// The pages of a stream grew because someone else went on with it.
    pub fn outgrow(&mut self, stream: u32, pages: u32) {
        let run = self.0.iter_mut().find(|run| run.pages > 0 && run.stream == stream);
        if let Some(run) = run {
            run.pages = pages;
        }
    }

    /// Pages of the run used last.
    pub fn latest(&self) -> u32 {
        self.0[0].pages
    }
    /// Pages of the longest of the others.
    pub fn longest_before(&self) -> u32 {
        self.0[1..].iter().map(|run| run.pages).max().unwrap_or(0)
    }
    /// Pages of the run that was under way before the one used last; 0 = none.
    pub fn before(&self) -> u32 {
        self.0[1].pages
    }
}
