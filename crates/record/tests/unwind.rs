//! Are stored stacks unwound through a stored binary without frame pointers, wherever it was loaded, and do damaged tables
//! end in fewer frames?

use framehop::x86_64::CacheX86_64;
use nandlab_record::{Binary, Mapping, RawStack, Unwinder};
use nandlab_trace::Recording;

/// `fixtures/nested.c`, compiled as it says.
const NESTED: &[u8] = include_bytes!("fixtures/nested.elf");
/// Where `objdump -d` says that functions go on after their calls, from the system call outwards.
const PLACES: [u64; 6] = [0x242, 0x266, 0x294, 0x2c3, 0x2ee, 0x310];
/// Where on the stack the return addresses lie: what the functions between take, `sub $N,%rsp`, and 8 bytes each.
const SLOTS: [usize; 5] = [0, 0x60, 0x140, 0x160, 0x1a0];

/// The stack in the system call, with the program loaded here; numbers between are no addresses of code.
fn stack(base: u64) -> RawStack {
    let mut bytes = vec![0xEE; 0x1b8];
    for (slot, place) in SLOTS.iter().zip(&PLACES[1..]) {
        bytes[*slot..slot + 8].copy_from_slice(&(base + place).to_le_bytes());
    }
    // Nobody called the first function.
    bytes[0x1b0..].fill(0);
    RawStack { ip: base + PLACES[0], sp: 0x7ffd_0000_1000, bp: 1, bytes }
}

/// The frames, their stack's id, the build id, and whether the stack ended too early.
fn unwind(binary: &[u8], stack: &RawStack, base: u64) -> (Vec<u64>, u32, bool) {
    let map = Mapping { addresses: base..base + 0x1000, offset: 0, path: "bin/nested".to_owned() };
    let binary = std::sync::Arc::new(Binary::parse(binary));
    let mut recording = Recording::default();
    let unwinder = Unwinder::new(&[map], |_| binary.clone(), &mut recording);
    let (frames, is_cut) = unwinder.frames(stack, &mut CacheX86_64::new());
    let addresses = frames.iter().map(|frame| frame.1).collect();
    (addresses, recording.add_stack(frames), is_cut)
}

#[test]
fn stored_stack_has_the_same_frames_wherever_its_program_was_loaded() {
    let one = unwind(NESTED, &stack(0x5555_5555_4000), 0x5555_5555_4000);
    assert_eq!((&one.0[..], one.2), (&PLACES[..], false));
    assert_eq!(unwind(NESTED, &stack(0x7f12_3456_7000), 0x7f12_3456_7000), one);
    assert!(!Binary::parse(NESTED).build().is_empty());
}

#[test]
fn short_stacks_vanished_programs_and_damaged_tables_end_in_fewer_frames() {
    let base = 0x5555_5555_4000;
    let whole = stack(base);
    for length in (0..whole.bytes.len()).step_by(8) {
        let short = RawStack { bytes: whole.bytes[..length].to_vec(), ..whole.clone() };
        let (frames, _, is_cut) = unwind(NESTED, &short, base);
        let expected = 1 + SLOTS.iter().filter(|slot| **slot + 8 <= length).count();
        assert_eq!((&frames[..], is_cut), (&PLACES[..expected], true), "{length} bytes of stack");
    }
    assert_eq!(unwind(b"", &whole, base).0[0], PLACES[0], "a program that is gone has its addresses from the map");
    // The tables lie at 0x31c to 0x3f8.
    for at in 0x31c..0x3f8 {
        let mut damaged = NESTED.to_vec();
        damaged[at] ^= 0xFF;
        assert_eq!(unwind(&damaged, &whole, base).0[0], PLACES[0], "byte {at:#x}");
        assert_eq!(unwind(&NESTED[..at], &whole, base).0[0], PLACES[0], "cut at {at:#x}");
    }
}
