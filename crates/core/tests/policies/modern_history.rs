//! arc, two-q and lirs: they remember pages that left.

use serde_json::{Value, json};

use super::paged::{Order, Pages, check, down, half_up, take, to_front};

/// Lists of figure 4 of the paper, most recent first.
#[derive(Default)]
struct Arc {
    c: usize,
    p: f64,
    t1: Vec<u32>,
    t2: Vec<u32>,
    b1: Vec<u32>,
    b2: Vec<u32>,
    /// What the missed page was found in: 0, 1 or 2.
    case: u32,
}

impl Arc {
    fn replace(&mut self, in_b2: bool) -> u32 {
        let length = self.t1.len() as f64;
        if !self.t1.is_empty() && (length > self.p || in_b2 && length == self.p) || self.t2.is_empty() {
            let lpn = self.t1.pop().unwrap();
            self.b1.insert(0, lpn);
            lpn
        } else {
            let lpn = self.t2.pop().unwrap();
            self.b2.insert(0, lpn);
            lpn
        }
    }
    fn forget(&mut self) {
        while self.t1.len() + self.b1.len() > self.c && self.b1.pop().is_some() {}
        let seen = |arc: &Self| arc.t1.len() + arc.t2.len() + arc.b1.len() + arc.b2.len();
        while seen(self) > 2 * self.c && self.b2.pop().is_some() {}
    }
}

impl Order for Arc {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.t1.retain(|page| *page != lpn);
        to_front(&mut self.t2, lpn);
    }
    fn miss(&mut self, lpn: u32) {
        let (b1, b2) = (self.b1.len() as f64, self.b2.len() as f64);
        let c = self.c as f64;
        self.case = 0;
        if self.b1.contains(&lpn) {
            self.case = 1;
            self.p = c.min(self.p + if b1 >= b2 { 1.0 } else { b2 / b1 });
            take(&mut self.b1, lpn);
        } else if self.b2.contains(&lpn) {
            self.case = 2;
            self.p = 0.0_f64.max(self.p - if b2 >= b1 { 1.0 } else { b1 / b2 });
            take(&mut self.b2, lpn);
        } else if self.t1.len() + self.b1.len() == self.c {
            if self.t1.len() < self.c {
                self.b1.pop();
            }
        } else if self.t1.len() + self.t2.len() + self.b1.len() + self.b2.len() == 2 * self.c {
            self.b2.pop();
        }
    }
    fn victim(&mut self, incoming: Option<u32>, _: &Pages) -> u32 {
        if incoming.is_some() && self.case == 0 && self.t1.len() == self.c {
            return self.t1.pop().unwrap();
        }
        let victim = self.replace(incoming.is_some() && self.case == 2);
        if incoming.is_none() {
            self.forget();
        }
        victim
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        if self.case == 0 { &mut self.t1 } else { &mut self.t2 }.insert(0, lpn);
        assert!(self.t1.len() + self.b1.len() <= self.c, "the bound of the paper");
        assert!(self.t1.len() + self.t2.len() + self.b1.len() + self.b2.len() <= 2 * self.c, "the bound of the paper");
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        self.t1.retain(|page| *page != lpn);
        self.t2.retain(|page| *page != lpn);
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        self.c = frames as usize;
        self.p = self.p.min(f64::from(frames));
        self.forget();
    }
    fn state(&self, pages: &Pages) -> Value {
        let list = |list| pages.golden_list(list);
        json!({"t1": list(&self.t1), "t2": list(&self.t2), "b1": self.b1, "b2": self.b2, "p": self.p})
    }
}

#[test]
fn arc_steers_the_two_lists_by_what_it_remembers() {
    check("arc", 41, |_, _| (json!({}), Arc::default()));
}

#[derive(Default)]
struct TwoQ {
    ratios: [f64; 2],
    kin: usize,
    kout: usize,
    a1in: Vec<u32>,
    am: Vec<u32>,
    a1out: Vec<u32>,
    returns: bool,
}

impl Order for TwoQ {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        if self.am.contains(&lpn) {
            to_front(&mut self.am, lpn);
        }
    }
    fn miss(&mut self, lpn: u32) {
        self.returns = self.a1out.contains(&lpn);
        self.a1out.retain(|page| *page != lpn);
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        if self.a1in.len() > self.kin || self.am.is_empty() {
            let lpn = self.a1in.pop().unwrap();
            self.a1out.insert(0, lpn);
            self.a1out.truncate(self.kout);
            return lpn;
        }
        self.am.pop().unwrap()
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        if self.returns { &mut self.am } else { &mut self.a1in }.insert(0, lpn);
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        self.a1in.retain(|page| *page != lpn);
        self.am.retain(|page| *page != lpn);
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        [self.kin, self.kout] = self.ratios.map(|ratio| half_up(ratio, frames));
        self.a1out.truncate(self.kout);
    }
    fn state(&self, pages: &Pages) -> Value {
        let list = |list| pages.golden_list(list);
        json!({"a1in": list(&self.a1in), "am": list(&self.am), "a1out": self.a1out})
    }
}

#[test]
fn two_q_keeps_what_comes_back_after_it_left_a1in() {
    check("two-q", 42, |random, _| {
        let kin = [0.0, 0.25, 0.25, 1.0, f64::from(random.below(101)) / 100.0][random.below(5) as usize];
        let kout = [0.0, 0.5, 0.5, 3.0, f64::from(random.below(101)) / 50.0][random.below(5) as usize];
        (json!({"kin": kin, "kout": kout}), TwoQ { ratios: [kin, kout], ..TwoQ::default() })
    });
}

/// The stack and the queue as the paper draws them; most recent first, and the end of the queue first.
#[derive(Default)]
struct Lirs {
    ratios: [f64; 2],
    libcachesim: bool,
    lir_max: usize,
    history: usize,
    stack: Vec<u32>,
    queue: Vec<u32>,
    lir: Vec<u32>,
    /// Pages that left while in the stack, latest first.
    gone: Vec<u32>,
}

impl Lirs {
    fn prune(&mut self) {
        while let Some(bottom) = self.stack.last().copied().filter(|lpn| !self.lir.contains(lpn)) {
            self.stack.pop();
            self.gone.retain(|page| *page != bottom);
        }
    }
    fn make_lir(&mut self, lpn: u32) {
        self.queue.retain(|page| *page != lpn);
        self.lir.push(lpn);
        self.demote();
    }
    fn demote(&mut self) {
        while self.lir.len() > self.lir_max {
            let bottom = self.stack.pop().unwrap();
            take(&mut self.lir, bottom);
            self.queue.insert(0, bottom);
            self.prune();
        }
    }
    fn forget(&mut self) {
        let over = |lirs: &Self| if lirs.libcachesim { lirs.stack.len() } else { lirs.gone.len() } > lirs.history;
        while over(self) && !self.gone.is_empty() {
            let lpn = self.gone.pop().unwrap();
            take(&mut self.stack, lpn);
        }
    }
    fn touch(&mut self, lpn: u32) {
        let in_stack = self.stack.contains(&lpn);
        to_front(&mut self.stack, lpn);
        if !self.lir.contains(&lpn) {
            if in_stack || self.lir.len() < self.lir_max {
                self.make_lir(lpn);
            } else {
                to_front(&mut self.queue, lpn);
            }
        }
        self.prune();
    }
}

impl Order for Lirs {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.touch(lpn);
        self.forget();
    }
    fn victim(&mut self, incoming: Option<u32>, _: &Pages) -> u32 {
        let lpn = self.queue.pop().unwrap();
        if self.stack.contains(&lpn) {
            self.gone.insert(0, lpn);
        }
        if !self.libcachesim || incoming.is_none() {
            self.forget();
        }
        lpn
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.gone.retain(|page| *page != lpn);
        self.touch(lpn);
        self.forget();
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        for list in [&mut self.stack, &mut self.queue, &mut self.lir] {
            list.retain(|page| *page != lpn);
        }
        self.prune();
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        let [hir, history] = self.ratios.map(|r| if self.libcachesim { down(r, frames) } else { half_up(r, frames) });
        self.lir_max = (frames as usize).saturating_sub(hir.max(1));
        self.history = history;
        self.demote();
        self.forget();
    }
    fn state(&self, pages: &Pages) -> Value {
        let name = |lpn: &u32| match (self.lir.contains(lpn), self.gone.contains(lpn)) {
            (true, false) => "lir",
            (false, false) => "hir",
            (false, true) => "remembered",
            (true, true) => panic!("{lpn} is LIR and gone"),
        };
        let stack: Vec<Value> = self.stack.iter().map(|lpn| json!({"lpn": lpn, "state": name(lpn)})).collect();
        json!({"stack": stack, "queue": pages.golden_list(&self.queue)})
    }
}

#[test]
fn lirs_ranks_pages_by_the_distance_of_their_last_two_accesses() {
    for (libcachesim, compat) in [(false, "spec"), (true, "libcachesim")] {
        check("lirs", 43, |random, _| {
            let hir = [0.0, 0.01, 0.1, 1.0, f64::from(random.below(101)) / 100.0][random.below(5) as usize];
            let history = [0.0, 2.0, 2.0, 100.0, f64::from(random.below(101)) / 50.0][random.below(5) as usize];
            let params = json!({"hir": hir, "history": history, "compat": compat});
            (params, Lirs { ratios: [hir, history], libcachesim, ..Lirs::default() })
        });
    }
}
