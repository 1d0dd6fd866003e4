//! URM's compressed table: its RAM, what it loads, and that it holds what it was told.

use nandlab::flash::{Flash, Media};
use nandlab::ftl::cache::compressed::{CompressedPage, Format};
use nandlab::ftl::urm_map::{Mode, Params, UrmMap};
use nandlab::ftl::{Batch, Ftl, PageRead};
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Bytes, Lpn, Ppn};
use proptest::prelude::*;

use super::device::{flash, host, shape, start};

fn urm(params: &Params) -> (UrmMap, Flash) {
    let shape = shape(1, 200, 64, 8192, 4096);
    (UrmMap::with(params, &shape).expect("valid"), flash(&shape, Media::None))
}

fn write_all(ftl: &mut UrmMap, flash: &mut Flash, lpns: impl Iterator<Item = u32>) {
    for lpn in lpns {
        ftl.write(flash, Batch::new(&[host(lpn, 1)], &[]), start());
    }
}

#[test]
fn compressed_table_ram_is_measured() {
    let headers = 8 * 8;
    let (mut ftl, mut flash) = urm(&Params::default());
    assert_eq!(ftl.map_bytes(), headers);
    write_all(&mut ftl, &mut flash, 0..1024);
    assert_eq!(ftl.map_bytes(), headers + 192, "a sequentially written translation page takes 32 entries");
    write_all(&mut ftl, &mut flash, (1024..2048).step_by(2));
    assert_eq!(ftl.map_bytes(), headers + 192 + 512 * 6, "no two pages are consecutive");
    write_all(&mut ftl, &mut flash, (1025..2048).step_by(2));
    assert_eq!(ftl.map_bytes(), headers + 192 + 4096, "a randomly written translation page stays raw");
    write_all(&mut ftl, &mut flash, 1024..2048);
    assert_eq!(ftl.map_bytes(), headers + 2 * 192, "written again in order, it is compressed again");
    ftl.check(&flash);

    let (mut ftl, mut flash) = urm(&Params { raw_fallback: false, ..Params::default() });
    write_all(&mut ftl, &mut flash, (0..1024).step_by(2).chain((1..1024).step_by(2)));
    assert_eq!(ftl.map_bytes(), headers + 1024 * 6, "without the fallback it is 1.5 times the raw table");
}

#[test]
fn demanded_table_keeps_its_budget_and_loads_what_is_asked() {
    let params = Params { mode: Mode::Demand, map_budget: Bytes(4200), load_entries: Some(102), ..Params::default() };
    let (mut ftl, mut flash) = urm(&params);
    write_all(&mut ftl, &mut flash, 0..8192);
    assert!(ftl.map_bytes() <= 4200 + 8 * 4);
    ftl.check(&flash);
    let misses = |ftl: &mut UrmMap, flash: &mut Flash, pages: std::ops::Range<u32>, mappings| {
        let before = flash.ledger;
        for lpn in pages {
            let page = PageRead { mappings, ..PageRead::new(Lpn(lpn), Cause::Host) };
            assert!(ftl.read(flash, page, start()).ppn.is_some());
        }
        let window = flash.ledger - before;
        assert_eq!(window.count(Op::Read, Cause::MapMiss), window.map_misses);
        window.map_misses
    };
    write_all(&mut ftl, &mut flash, (0..8192).step_by(2));
    assert_eq!(misses(&mut ftl, &mut flash, 0..1024, 0), 11, "a translation page is loaded in steps of 102");
    assert_eq!(misses(&mut ftl, &mut flash, 2048..3072, 400), 3, "408, 408 and the rest");
    assert_eq!(misses(&mut ftl, &mut flash, 4100..5120, u16::MAX), 1, "the whole page");
    assert_eq!(misses(&mut ftl, &mut flash, 6144..7168, 1), 11, "the smallest step");
    assert!(ftl.map_bytes() <= 4200 + 8 * 4);
    ftl.check(&flash);
}

/// Places in runs, so that there is something to compress.
fn places() -> impl Strategy<Value = Vec<Ppn>> {
    let piece = (0u32..5000, 1usize..60, 0u32..4);
    proptest::collection::vec(piece, 1..40).prop_map(|pieces| {
        let runs = pieces.into_iter().flat_map(|(first, len, kind)| {
            (0..len as u32).map(move |i| if kind == 0 { Ppn::NONE } else { Ppn(first + i * (kind / 2 + kind % 2)) })
        });
        let mut table: Vec<Ppn> = runs.take(1024).collect();
        table.resize(1024, Ppn::NONE);
        table
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn decompressing_gives_what_was_compressed(table in places(), max_run in 1u32..=32, raw_fallback: bool) {
        let mut page = CompressedPage::new(Format { entries_per_tp: 1024, max_run, raw_fallback });
        page.load(0, &table);
        page.check();
        prop_assert_eq!(&page.decompress(), &table);
        prop_assert!(table.iter().enumerate().all(|(rlpn, ppn)| page.look_up(rlpn as u32) == *ppn));
    }

    #[test]
    fn compressed_page_holds_what_it_was_told(
        table in places(),
        updates in proptest::collection::vec((0u32..1024, 0u32..3000, 1u32..40, 0u32..8), 1..80),
        max_run in 1u32..=32,
        raw_fallback: bool,
    ) {
        let mut page = CompressedPage::new(Format { entries_per_tp: 1024, max_run, raw_fallback });
        let mut plain = table.clone();
        page.load(0, &table);
        for (first, ppn, len, kind) in updates {
            for i in 0..len.min(1024 - first) {
                if kind == 0 {
                    page.unmap(first + i);
                    plain[(first + i) as usize] = Ppn::NONE;
                } else {
                    page.update(first + i, Ppn(ppn + i));
                    plain[(first + i) as usize] = Ppn(ppn + i);
                }
            }
            page.check();
        }
        prop_assert_eq!(page.decompress(), plain);
    }
}
