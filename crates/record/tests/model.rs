//! Does the model of the page cache do what the slow definition does, and do damaged binaries end in no panic?

use std::collections::BTreeMap;

use nandlab::types::HostOp;
use nandlab_record::{Advice, Binary, Caller, FileRange, Mapping, PageCache, RawStack, Unwinder, mappings};
use nandlab_trace::Recording;

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
    *state >> 33
}

/// Pages in a list, the latest at its end; contents are versions.
#[derive(Default)]
struct Slow {
    /// File, page, dirty.
    pages: Vec<(u32, u64, bool)>,
    /// Pages that were read from the device.
    read: u64,
    /// What the device holds, and what programs wrote.
    device: BTreeMap<(u32, u64), u64>,
    programs: BTreeMap<(u32, u64), u64>,
}

#[test]
fn model_misses_as_a_list_does_and_loses_no_write() {
    for seed in 0..40 {
        let (mut state, limit) = (seed, 8 + seed % 30);
        let (mut cache, mut slow) = (PageCache::new(limit * 4096, 0), Slow::default());
        for at_ns in 1..2000 {
            let (file, first, pages) =
                (1 + next(&mut state) as u32 % 3, next(&mut state) % 40, 1 + next(&mut state) % 4);
            let range = FileRange { file, offset: first * 4096, length: pages * 4096, file_bytes: 64 * 4096 };
            let (is_write, caller) = (next(&mut state) & 1 == 0, Caller { at_ns, process: 1, stack: 1 });
            let what = next(&mut state) % 20;
            if what == 0 {
                // The file is cut off before the first page.
                slow.pages.retain(|(f, p, _)| *f != file || *p < first);
                slow.programs.retain(|(f, p), _| *f != file || *p < first);
                let kept = slow.device.range((file, first)..=(file, u64::MAX));
                slow.programs.extend(kept.map(|(name, version)| (*name, *version)));
                cache.discard(file, first..u64::MAX);
                continue;
            }
            if what == 1 {
                // What is clean goes, what is dirty is written and stays.
                slow.pages.retain(|(f, p, dirty)| *dirty || *f != file || !(first..first + pages).contains(p));
                cache.advise(Advice::Unneeded, &range, caller);
            }
            for page in if what == 1 { 0..0 } else { first..first + pages } {
                let present = slow.pages.iter().position(|(f, p, _)| (*f, *p) == (file, page));
                let was = present.map(|at| slow.pages.remove(at));
                slow.read += u64::from(was.is_none() && !is_write);
                slow.pages.push((file, page, is_write || was.is_some_and(|(_, _, dirty)| dirty)));
                if is_write {
                    slow.programs.insert((file, page), at_ns);
                }
            }
            let surplus = slow.pages.len().saturating_sub(limit as usize);
            slow.pages.drain(..surplus);
            match what {
                1 => {}
                _ if is_write => cache.write(&range, caller),
                _ => cache.read(&range, caller),
            }
            if at_ns > 1900 {
                cache.finish(at_ns);
            }
            for request in cache.take() {
                assert!(request.length > 0 && request.offset % 4096 == 0);
                if request.op == HostOp::Write {
                    for page in 0..u64::from(request.length) / 4096 {
                        let name = (request.origin.file, u64::from(request.origin.file_page) + page);
                        slow.device.insert(name, slow.programs[&name]);
                        slow.pages.iter_mut().filter(|(f, p, _)| (*f, *p) == name).for_each(|page| page.2 = false);
                    }
                }
            }
        }
        assert_eq!((cache.counts().misses, slow.device == slow.programs), (slow.read, true), "seed {seed}");
    }
}

#[test]
fn partly_written_page_of_a_file_is_read_first_and_a_new_one_is_not() {
    let mut cache = PageCache::new(1 << 20, 128 << 10);
    let caller = Caller::default();
    cache.write(&FileRange { file: 1, offset: 100, length: 10, file_bytes: 5000 }, caller);
    cache.write(&FileRange { file: 1, offset: 4096, length: 1000, file_bytes: 5000 }, caller);
    cache.write(&FileRange { file: 1, offset: 8192, length: 10, file_bytes: 5096 }, caller);
    let read: Vec<_> = cache.take().iter().map(|request| (request.op, request.origin.file_page)).collect();
    assert_eq!(read, [(HostOp::Read, 0)], "the second write covers all that page 1 holds");
    cache.forget(1);
    cache.finish(9);
    assert_eq!((cache.take().len(), cache.counts().dropped), (0, 3));
}

#[test]
fn deleted_file_that_is_open_is_still_cached() {
    let mut cache = PageCache::new(1 << 20, 0);
    let (file, caller) = (FileRange { file: 1, offset: 0, length: 8192, file_bytes: 0 }, Caller::default());
    cache.write(&file, caller);
    cache.forget(1);
    cache.read(&FileRange { file_bytes: 8192, ..file }, caller);
    cache.finish(9);
    assert_eq!((cache.take(), cache.counts().hits, cache.counts().dropped), (vec![], 2, 2));
}

#[test]
fn pages_of_a_deleted_file_make_room_first() {
    let mut cache = PageCache::new(4 * 4096, 0);
    let caller = Caller::default();
    let range = |file, page: u64, pages: u64| FileRange {
        file,
        offset: page * 4096,
        length: pages * 4096,
        file_bytes: 64 * 4096,
    };
    cache.read(&range(1, 0, 2), caller);
    cache.write(&range(2, 0, 2), caller);
    cache.forget(2);
    cache.read(&range(3, 0, 2), caller);
    cache.take();
    cache.read(&range(1, 0, 2), caller);
    cache.read(&range(3, 0, 2), caller);
    assert_eq!(cache.take(), [], "both of them are cached");
}

#[test]
fn direct_write_invalidates_what_is_cached_of_its_pages() {
    let mut cache = PageCache::new(1 << 20, 0);
    let (file, caller) = (FileRange { file: 1, offset: 0, length: 16384, file_bytes: 16384 }, Caller::default());
    cache.read(&file, caller);
    let part = FileRange { offset: 4096, length: 8192, ..file };
    cache.direct(HostOp::Read, &part, caller);
    cache.read(&file, caller);
    cache.direct(HostOp::Write, &part, caller);
    cache.read(&file, caller);
    let done: Vec<_> =
        cache.take().iter().map(|request| (request.op, request.origin.file_page, request.length)).collect();
    let (read, write) = (HostOp::Read, HostOp::Write);
    assert_eq!(done, [(read, 0, 16384), (read, 1, 8192), (write, 1, 8192), (read, 1, 8192)]);
}

#[test]
fn damaged_binaries_and_stacks_neither_panic_nor_hang() {
    // This program itself is a binary with all tables; its own stack need not be copied for that.
    let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let Some(map) = mappings(&text).into_iter().find(|map| map.path.starts_with('/')) else { return };
    let mut cache = framehop::x86_64::CacheX86_64::new();
    let mut state = 1;
    let mut unwind = |binary: Binary, map: &Mapping, state: &mut u64| {
        let mut recording = Recording::default();
        let shared = std::sync::Arc::new(binary);
        let unwinder = Unwinder::new(std::slice::from_ref(map), |_| shared.clone(), &mut recording);
        let span = map.addresses.end - map.addresses.start;
        for _ in 0..20 {
            let words = (0..512).flat_map(|_| {
                let word =
                    if next(state) & 1 == 0 { map.addresses.start + next(state) % span } else { next(state) << 30 };
                word.to_le_bytes()
            });
            let bytes: Vec<u8> = words.collect();
            let sp = if next(state).is_multiple_of(4) { u64::MAX - 64 } else { 0x7fff_0000 };
            let stack = RawStack { ip: map.addresses.start + next(state) % span, sp, bp: sp + 64, bytes };
            assert!(unwinder.frames(&stack, &mut cache).0.len() <= nandlab_record::FRAMES_MAX);
        }
    };
    unwind(Binary::parse(&whole), &map, &mut state);
    for round in 0..60 {
        let mut bytes = whole.clone();
        match round % 3 {
            0 => bytes.truncate(next(&mut state) as usize % whole.len()),
            1 => (0..2000).for_each(|_| {
                let at = next(&mut state) as usize % whole.len();
                bytes[at] = next(&mut state) as u8;
            }),
            _ => (0..8).for_each(|_| {
                // The head and the table of sections at the end.
                let at = if next(&mut state) & 1 == 0 {
                    next(&mut state) as usize % 1000
                } else {
                    whole.len() - 1 - next(&mut state) as usize % 3000
                };
                bytes[at] = next(&mut state) as u8;
            }),
        }
        unwind(Binary::parse(&bytes), &map, &mut state);
    }
    assert!(Binary::parse(b"").build().is_empty() && Binary::parse(b"\x7fELF").build().is_empty());
}

#[test]
fn neighbours_are_written_back_together_whoever_wrote_them() {
    let mut cache = PageCache::new(1 << 20, 0);
    // As stdio does: pages of one file by two call stacks in turn, and then a page of another process.
    for page in 0..10 {
        let caller = Caller { at_ns: page, process: 1 + u32::from(page == 9), stack: 5 + page as u32 % 2 };
        cache.write(&FileRange { file: 1, offset: page * 4096, length: 4096, file_bytes: 10 * 4096 }, caller);
    }
    cache.write(&FileRange { file: 1, offset: 20 * 4096, length: 4096, file_bytes: 21 * 4096 }, Caller::default());
    cache.finish(99);
    let written: Vec<_> =
        cache.take().iter().map(|r| (r.origin.file_page, r.length / 4096, r.process, r.origin.stack)).collect();
    assert_eq!(written, [(0, 10, 1, 5), (20, 1, 0, 0)]);
}

/// Pages that are read from the device, request by request.
fn read_pages(cache: &mut PageCache) -> Vec<(u32, u64)> {
    cache.take().iter().map(|request| (request.origin.file_page, u64::from(request.length) / 4096)).collect()
}

#[test]
fn advice_of_a_program_changes_what_is_read_ahead() {
    let whole = |offset, length| FileRange { file: 1, offset, length, file_bytes: 4096 * 4096 };
    let caller = Caller::default();
    let windows = |advice: Advice| {
        let mut cache = PageCache::new(64 << 20, 128 << 10);
        cache.advise(advice, &whole(0, 0), caller);
        (0..200).for_each(|page| cache.read(&whole(page * 4096, 4096), caller));
        let read = read_pages(&mut cache);
        (read.len(), read.iter().map(|(_, pages)| *pages).max())
    };
    assert_eq!(windows(Advice::Normal).1, Some(32), "128 KiB");
    assert_eq!(windows(Advice::Sequential).1, Some(64), "256 KiB");
    assert_eq!(windows(Advice::Random), (200, Some(1)));
    assert_eq!(windows(Advice::Needed).1, Some(320), "1,280 KiB at once");
    let mut cache = PageCache::new(1 << 20, 0);
    cache.advise(Advice::Needed, &whole(40 * 4096, 8192), caller);
    assert_eq!((read_pages(&mut cache), cache.counts().ahead), (vec![(40, 2)], 2));
    cache.advise(Advice::Needed, &whole(4095 * 4096, 0), caller);
    assert_eq!(read_pages(&mut cache), [(4095, 1)], "nobody reads beyond the end");
}

#[test]
fn last_page_of_a_file_is_dropped_with_its_last_byte() {
    let mut cache = PageCache::new(1 << 20, 0);
    let range = |length| FileRange { file: 1, offset: 0, length, file_bytes: 10_000 };
    for (length, read) in [(10_000, vec![(0, 3)]), (9_999, vec![(0, 2)]), (0, vec![(0, 3)])] {
        cache.read(&range(10_000), Caller::default());
        cache.take();
        cache.advise(Advice::Unneeded, &range(length), Caller::default());
        cache.read(&range(10_000), Caller::default());
        assert_eq!(read_pages(&mut cache).iter().map(|(_, pages)| pages).sum::<u64>(), read[0].1, "{length} bytes");
    }
}

#[test]
fn part_that_is_to_be_written_back_is_and_no_other() {
    let mut cache = PageCache::new(1 << 20, 0);
    let range = |first: u64, pages: u64| FileRange {
        file: 1,
        offset: first * 4096,
        length: pages * 4096,
        file_bytes: 64 * 4096,
    };
    cache.write(&range(0, 20), Caller { at_ns: 1, process: 4, stack: 5 });
    cache.begin_write_back(&range(4, 3), 9);
    let written = cache.take();
    let told: Vec<_> = written.iter().map(|r| (r.op, r.origin.file_page, r.length, r.at.0, r.process)).collect();
    assert_eq!(told, [(HostOp::Write, 4, 3 * 4096, 9, 4)]);
    cache.discard(1, 10..12);
    cache.begin_write_back(&range(8, 0), 10);
    assert_eq!(read_pages(&mut cache), [(8, 2), (12, 8)], "what was punched out is not written");
}
