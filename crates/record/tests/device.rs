//! Do events of the kernel become the requests that they are, with their owners, and damaged ones nothing?

use nandlab::types::HostOp;
use nandlab_record::{DeviceEvent, DeviceWork, FileKey, Joiner, RawStack};
use nandlab_trace::Recording;

const FILE: FileKey = FileKey { device: 7, inode: 12, generation: 3 };

/// The bytes of an event, field by field as `bpf/record.bpf.c` has them.
fn bytes(kind: u32, process: u32, numbers: [u64; 11], follows: &[u8], count: u64) -> Vec<u8> {
    let [at, inode, place, length, sector, target, operation, direct, ip, sp, bp] = numbers;
    let mut bytes = Vec::new();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(process.to_le_bytes());
    bytes.extend(at.to_le_bytes());
    bytes.extend(FILE.device.to_le_bytes());
    bytes.extend(FILE.generation.to_le_bytes());
    bytes.extend([inode, place, length, sector].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend([target as u32, operation as u32].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend([direct, ip, sp, bp, count].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend(follows);
    bytes
}

#[test]
fn events_are_read_as_the_kernel_writes_them_and_cut_ones_are_nothing() {
    let stack = RawStack { ip: 1, sp: 2, bp: 3, bytes: vec![9; 512] };
    let dirty = bytes(1, 5, [100, 12, 40, 8, 0, 0, 0, 0, 1, 2, 3], &[9; 4096], 512);
    let what = DeviceWork::Dirty { page: 40, pages: 8, stack: stack.clone() };
    assert_eq!(DeviceEvent::parse(&dirty), Some(DeviceEvent { at_ns: 100, process: 5, file: FILE, what }));
    let request = bytes(2, 0, [200, 12, 41, 8192, 16, 77, 0x801, 0, 0, 0, 0], &[], 0);
    let what = DeviceWork::Request {
        target: 77,
        operation: 0x801,
        offset: 8192,
        length: 8192,
        place: 41,
        direct: 0,
        stack: RawStack::default(),
    };
    assert_eq!(DeviceEvent::parse(&request), Some(DeviceEvent { at_ns: 200, process: 0, file: FILE, what }));
    let mut parts = [0; 16 * 64];
    parts[..4].copy_from_slice(b"file");
    parts[64..67].copy_from_slice(b"dir");
    let name = bytes(3, 0, [0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0], &parts, 2);
    assert_eq!(DeviceEvent::parse(&name).map(|event| event.what), Some(DeviceWork::Name("/dir/file".to_owned())));
    for length in 0..104 {
        assert_eq!(DeviceEvent::parse(&dirty[..length]), None);
    }
    assert_eq!(DeviceEvent::parse(&bytes(9, 0, [0; 11], &[], 0)), None);
    assert_eq!(DeviceEvent::parse(&bytes(2, 0, [0, 0, 0, 0, u64::MAX, 0, 0, 0, 0, 0, 0], &[], 0)), None);
    let whole_memory = [0, 0, 8, u64::MAX, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(DeviceEvent::parse(&bytes(1, 0, whole_memory, &[], 0)), None, "nobody makes so many pages dirty");
    let lying =
        DeviceEvent::parse(&bytes(1, 0, [0; 11], &[9; 10], u64::MAX)).expect("a stack that is shorter than it says");
    assert!(matches!(lying.what, DeviceWork::Dirty { stack, .. } if stack.bytes.len() == 10));
}

#[test]
fn writes_belong_to_who_made_their_pages_dirty_and_direct_ones_to_who_asks() {
    let mut joiner = Joiner::default();
    let mut recording = Recording::default();
    let mut join = |event: Vec<u8>| {
        let event = DeviceEvent::parse(&event).expect("an event");
        // A stack is called by its instruction pointer here.
        joiner.event(event, &mut recording, |_, _, stack| stack.ip as u32)
    };
    let dirty =
        |process, page, pages, ip| bytes(1, process, [10, 12, page, pages, 0, 0, 0, 0, ip, 0, 0], &[1; 512], 512);
    let request = |process, operation, page, length, sector, direct, ip| {
        bytes(2, process, [20, 12, page, length, sector, 77, operation, direct, ip, 0, 0], &[1; 512], 512)
    };
    assert_eq!(join(dirty(5, 40, 2, 1001)), None);
    assert_eq!(join(dirty(6, 42, 1, 1002)), None);
    let told = |record: nandlab_trace::TraceRecord| {
        let origin = record.origin;
        (record.op, record.offset, record.length, record.process, origin.file_page, origin.stack)
    };
    // Written by a thread of the kernel; the flags beside the operation are none of ours.
    let written = join(request(0, 0x0801, 40, 3 * 4096, 800, 0, 0)).map(told);
    assert_eq!(written, Some((HostOp::Write, 800 * 512, 3 * 4096, 5, 40, 1001)));
    assert_eq!(join(request(0, 1, 40, 4096, 800, 0, 0)), None, "clean again: a write of somebody else");
    let read = join(request(5, 0, 50, 8192, 900, 0, 1003)).map(told);
    assert_eq!(read, Some((HostOp::Read, 900 * 512, 8192, 5, 50, 1003)));
    // One direct access of two requests, and another one at the same place.
    let direct = [(1000, 4096), (1008, 4096), (1000, 4096)];
    let pages: Vec<u32> = direct
        .iter()
        .map(|(sector, length)| join(request(5, 0, 1 << 20, *length, *sector, 99, 1004)).expect("it").origin.file_page)
        .collect();
    assert_eq!(pages, [256, 257, 256]);
    assert_eq!(join(request(5, 0x40001, 0, 0, 0, 0, 1005)).map(told), Some((HostOp::Flush, 0, 0, 5, 0, 1005)));
    let counts = joiner.counts();
    assert_eq!((counts.dirtied, counts.reads, counts.writes, counts.of_several, counts.of_others), (2, 4, 1, 1, 1));
}

#[test]
fn file_of_a_device_is_metadata_and_is_counted() {
    let (mut joiner, mut recording) = (Joiner::default(), Recording::default());
    // In order: the file of a block device has an empty name; one has a name; one is not told.
    let name = |inode, parts: &[u8], count| bytes(3, 0, [10, inode, 0, 0, 0, 0, 0, 0, 0, 0, 0], parts, count);
    let mut file = [0; 64];
    file[..4].copy_from_slice(b"file");
    let read = |inode| bytes(2, 5, [20, inode, 0, 4096, 8, 77, 0, 0, 1, 0, 0], &[1; 512], 512);
    let mut paths = Vec::new();
    for event in [name(12, &[], 0), name(13, &file, 1), read(12), read(13), read(14)] {
        let event = DeviceEvent::parse(&event).expect("an event");
        let record = joiner.event(event, &mut recording, |_, _, stack| stack.ip as u32);
        paths.extend(record.map(|record| recording.file(record.origin.file).expect("it has an id").path.clone()));
    }
    assert_eq!(paths, ["[metadata]", "/file", "[metadata]"]);
    assert_eq!((joiner.counts().reads, joiner.counts().without_file), (3, 2));
}
