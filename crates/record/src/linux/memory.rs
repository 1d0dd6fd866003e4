//! Memory of another process.

use std::io::IoSliceMut;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// Copies up to `length` bytes from an address on; what cannot be read is left out.
pub(super) fn copy(task: Pid, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    // Parts that end with a page: one beyond the mapped memory does not spoil those before it.
    let mut parts = Vec::new();
    let (mut at, end) = (address, address.saturating_add(length as u64));
    while at < end {
        let next = (at | 4095).saturating_add(1).min(end);
        parts.push(RemoteIoVec { base: at as usize, len: (next - at) as usize });
        at = next;
    }
    let read = process_vm_readv(task, &mut [IoSliceMut::new(&mut bytes)], &parts).unwrap_or(0);
    bytes.truncate(read);
    bytes
}

/// The number at an address.
pub(super) fn word(task: Pid, address: u64) -> Option<u64> {
    copy(task, address, 8).first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The text at an address, up to its zero.
pub(super) fn text(task: Pid, address: u64) -> Option<Vec<u8>> {
    let bytes = copy(task, address, libc::PATH_MAX as usize);
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(bytes[..end].to_vec())
}
