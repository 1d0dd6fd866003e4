//! Any bytes as what a recorder reads: events of the kernel with the requests that are made of them, ELF files with stacks
//! that are unwound by their tables, and the memory map of a process. The first byte chooses.
//!
//! Panics of the libraries that are caught and end a stack are no findings: the hook that ends the fuzzer passes over them.
#![no_main]

use std::sync::Arc;

use framehop::x86_64::CacheX86_64;
use libfuzzer_sys::fuzz_target;
use nandlab_record::{Binary, DeviceEvent, FRAMES_MAX, Joiner, Mapping, RawStack, Unwinder, mappings, mounts};
use nandlab_trace::{REQUEST_BYTES_MAX, Recording, is_guarded};

fn pass_over_guarded_panics() {
    let end = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_guarded() {
            end(panic);
        }
    }));
}

/// The bytes up to a length that their first two say, and the rest.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u16::from_le_bytes(*bytes.first_chunk()?);
    let rest = &bytes[2..];
    Some(rest.split_at(rest.len().min(length.into())))
}

/// Events one after the other, each after its length.
fn events(mut bytes: &[u8]) {
    let (mut joiner, mut recording) = (Joiner::default(), Recording::default());
    while let Some((event, rest)) = part(bytes) {
        bytes = rest;
        let Some(event) = DeviceEvent::parse(event) else { continue };
        let unwind = |_: &mut Recording, _, stack: &RawStack| stack.bytes.len() as u32;
        if let Some(request) = joiner.event(event, &mut recording, unwind) {
            assert!(u64::from(request.length) <= REQUEST_BYTES_MAX);
        }
    }
}

/// A stack after its length, and the file by whose tables it is unwound.
fn unwound(bytes: &[u8]) {
    let Some((stack, file)) = part(bytes) else { return };
    let number = |at: usize| stack.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b));
    let map = Mapping { addresses: 0x40_0000..0x80_0000, offset: number(24), path: "file".to_owned() };
    let stack = RawStack { ip: number(0), sp: number(8), bp: number(16), bytes: stack.to_vec() };
    let inside = RawStack { ip: 0x40_0000 + number(0) % 0x40_0000, ..stack.clone() };
    let (binary, mut recording) = (Arc::new(Binary::parse(file)), Recording::default());
    let unwinder = Unwinder::new(&[map], |_| binary.clone(), &mut recording);
    let mut cache = CacheX86_64::new();
    for stack in [stack, inside] {
        assert!(unwinder.frames(&stack, &mut cache).0.len() <= FRAMES_MAX);
    }
}

fuzz_target!(init: pass_over_guarded_panics(), |bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 3 {
        0 => events(rest),
        1 => unwound(rest),
        _ => {
            let text = String::from_utf8_lossy(rest);
            assert!(mappings(&text).iter().all(|mapping| !mapping.addresses.is_empty()));
            mounts(&text);
        }
    }
});
