//! Whole numbers inside binary records.

/// Little-endian, 2 bytes from `at` on.
#[inline]
pub(crate) fn u16_le(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(record[at..at + 2].try_into().unwrap_or_default())
}
/// Little-endian, 4 bytes.
#[inline]
pub(crate) fn u32_le(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(record[at..at + 4].try_into().unwrap_or_default())
}
/// Little-endian, 8 bytes.
#[inline]
pub(crate) fn u64_le(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(record[at..at + 8].try_into().unwrap_or_default())
}
/// Big-endian, 4 bytes.
#[inline]
pub(crate) fn u32_be(record: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(record[at..at + 4].try_into().unwrap_or_default())
}
