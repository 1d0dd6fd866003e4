//! Does a device keep what it is given?

use nandlab::buffer::Frames;
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Shape};
use nandlab::ssd::{Arrival, EvictWait, PartialWrite, Parts, Payload, RamTimes, Settings};
use nandlab::types::{HostOp, HostRequest, Nanos};

#[test]
fn does_every_read_return_the_last_write() {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 12,
        pages_per_block: 4,
        page_bytes: 1024,
    };
    let times = ClockTimes {
        page_read: Nanos(10),
        page_program: Nanos(100),
        block_erase: Nanos(1000),
        page_transfer: Nanos(5),
        command: Nanos(0),
    };
    let logical_pages = 64;
    for buffer in nandlab::buffer::BUFFERS {
        let flash = Flash::new(
            geometry,
            ProgramOrder::Ascending,
            Media::Memory,
            Clock::new(TimingModel::Parallel, times, 2, 2),
        );
        let ftl = (FTLS[0].build)(
            serde_json::json!({}),
            &Shape { geometry, logical_pages, order: ProgramOrder::Ascending, seed: 1 },
        )
        .unwrap();
        let settings = Settings {
            logical_pages,
            arrival: Arrival::Closed { think: Nanos(0) },
            queue_depth: 4,
            evict_wait: EvictWait::Program,
            partial_write: PartialWrite::Mask,
            write_miss_fetch: false,
            shared_dram: None,
            nvram_frames: 0,
            ram_times: RamTimes::default(),
            seed: 1,
        };
        let mut device = (buffer.build)(
            serde_json::json!({}),
            Parts { flash, ftl, ftl_name: "page", frames: Frames { dram: 8, nvram: 0 }, settings },
        )
        .unwrap();
        let mut model = vec![0u8; logical_pages as usize * 1024];
        let mut x = 1u64;
        for i in 0..20_000u64 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let lba = (x >> 33) % 120;
            let sectors = (x >> 20) as u32 % 8 + 1;
            let range = lba as usize * 512..(lba as usize + sectors as usize) * 512;
            if x >> 63 == 0 {
                let data: Vec<u8> = (0..sectors as usize * 512).map(|k| (i as usize + k) as u8).collect();
                model[range].copy_from_slice(&data);
                device.submit(&HostRequest::new(Nanos(0), HostOp::Write, lba, sectors), Payload::Write(&data)).unwrap();
            } else {
                let mut data = vec![0; sectors as usize * 512];
                device
                    .submit(&HostRequest::new(Nanos(0), HostOp::Read, lba, sectors), Payload::Read(&mut data))
                    .unwrap();
                assert!(data == model[range], "request {i}");
            }
            device.check();
        }
        device.finish();
        assert!(device.ledger().gc_runs > 100);
    }
}
