//! What the columns of a text without a header that tells may be, by what stands in them.

use std::collections::BTreeSet;

use nandlab::types::{HostOp, SECTOR_BYTES};

use super::guess::{fields, guess, is_comment, separator, size_is_in_sectors, times, values_of};
use super::spec::{Address, ColumnSpec, Length, Op, Times};
use super::{date, values};
use crate::registry::Head;

/// Most bytes of a request, and more than any number of sectors.
const SIZE_MAX: u64 = 1 << 30;

/// A proposal by what stands in the columns of a text without a header that tells; `None` if none of them has operations,
/// without which a text of numbers may be anything.
///
/// Of what is neither time nor operation the greatest numbers are the offsets. Sizes are most likely multiples of 512 where
/// offsets are (where those are not, never 0, and not always one number that is no multiple of 8), then what stands right or
/// left of the offset, then what has the fewest different values.
pub(crate) fn propose(head: &Head) -> Option<ColumnSpec> {
    if let Some(guess) = guess(head) {
        return Some(guess.spec);
    }
    let separator = separator(head);
    let all: Vec<_> = head.lines.iter().filter(|line| !is_comment(line)).map(|line| fields(line, separator)).collect();
    let is_row = |row: &Vec<&[u8]>| row.iter().filter(|field| values::is_number(field)).count() >= 2;
    let skip = all.iter().position(is_row)?;
    let rows = &all[skip..];
    let columns = 1..=rows[0].len();
    let numeric = |column: &usize| {
        let mut some = values_of(rows, *column).peekable();
        some.peek().is_some() && some.all(values::is_number)
    };
    let numbers = |column: usize| -> Vec<u64> { values_of(rows, column).filter_map(values::whole).collect() };
    let is_op = |column: &usize| {
        let mut some = values_of(rows, *column).peekable();
        some.peek().is_some() && some.all(|word| values::operation(word).is_some())
    };
    let is_bit = |column: &usize| {
        let has = |bit: &[u8]| values_of(rows, *column).any(|word| word == bit);
        has(b"0") && has(b"1") && values_of(rows, *column).all(|word| matches!(word, b"0" | b"1"))
    };
    let (op, words) = match columns.clone().find(is_op) {
        Some(column) => (Op::Column(column), Vec::new()),
        None => (Op::Column(columns.clone().rfind(is_bit)?), vec![("1".to_owned(), HostOp::Write)]),
    };
    let mut left: Vec<usize> = columns.filter(|column| numeric(column) && op != Op::Column(*column)).collect();
    let is_date = |column: &usize| values_of(rows, *column).next().is_some_and(|value| date::date(value).is_some());
    let date = (1..=rows[0].len()).find(is_date);
    let time = date.or_else(|| left.iter().copied().find(|column| rises(rows, *column)));
    left.retain(|column| Some(*column) != time);
    let most = |column: &usize| numbers(*column).into_iter().max().unwrap_or(0);
    let offset = left.iter().copied().max_by_key(most)?;
    left.retain(|column| *column != offset && (1..=SIZE_MAX).contains(&most(column)));
    let is_whole = |column: usize| numbers(column).iter().all(|n| n.is_multiple_of(SECTOR_BYTES));
    let in_bytes = is_whole(offset);
    let distinct = |column: usize| numbers(column).into_iter().collect::<BTreeSet<_>>().len();
    let likely = |column: &usize| {
        // A number that is always the same may be a device or a process, unless it is a multiple of 4 KiB.
        let is_size = |n: &u64| *n > 0 && (distinct(*column) > 1 || n.is_multiple_of(8));
        let is_known = if in_bytes { is_whole(*column) } else { numbers(*column).iter().all(is_size) };
        (!is_known, *column != offset + 1, *column + 1 != offset, distinct(*column))
    };
    let size = left.into_iter().min_by_key(likely);
    let length = size.map_or(Length::Fixed(4096), |column| Length::Column(column, 1));
    let sectors = size_is_in_sectors(length, rows);
    let is_unaligned = !sectors && !in_bytes && size.is_some_and(|column| !is_whole(column));
    let address_unit = if in_bytes && !sectors || is_unaligned { 1 } else { SECTOR_BYTES };
    let length = size.map_or(length, |column| Length::Column(column, if sectors { SECTOR_BYTES } else { 1 }));
    let time = time.map(|column| Times { told: true, ..times(rows, column, None) });
    Some(ColumnSpec {
        time,
        op,
        words,
        address: Address::Bytes(offset, address_unit),
        size: length,
        device: None,
        latency: None,
        process: None,
        skip: skip as u64,
        separator: (separator != b',').then_some(separator),
    })
}

/// Numbers that never fall and do not all stay the same.
fn rises(rows: &[Vec<&[u8]>], column: usize) -> bool {
    let number = |value: &[u8]| std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
    let numbers: Vec<f64> = values_of(rows, column).filter_map(number).collect();
    numbers.first() < numbers.last() && numbers.windows(2).all(|pair| pair[0] <= pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is proposed for rows of 40 requests with a multiplicative generator behind their places and lengths.
    fn proposed(row: impl Fn(u64, u64, u64) -> String) -> String {
        let line = |i: u64| {
            let draw = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
            row(i, draw % (1 << 25), [8, 16, 24, 128, 1016][(draw % 5) as usize])
        };
        let text: String = (1..=40).map(|i| line(i) + "\n").collect();
        propose(&Head::new(text.as_bytes())).map_or_else(|| "none".to_owned(), |spec| spec.to_string())
    }

    #[test]
    fn size_is_told_from_response_times_and_process_ids() {
        let op = |i: u64| ["Read", "Write"][usize::from(i.is_multiple_of(3))];
        let late = |i: u64| 18_313 + i * i * 7919 % 900_001;
        let time = |i: u64| 128_166_372_003_061_629 + i * 10_000;
        let msr =
            proposed(|i, lba, n| format!("{}\tusr\t0\t{}\t{}\t{}\t{}", time(i), op(i), lba * 512, n * 512, late(i)));
        assert_eq!(msr, "time=1:filetime,op=4,offset=5,size=6,sep=tab");
        let pid = |i: u64| 30_000 + i * 37 % 1000;
        for (rows, spec) in [
            (
                proposed(|i, lba, n| format!("{i}.5,{},{},{lba},{n}", pid(i), op(i))),
                "time=1:s,op=3,offset=4:512,size=5:512",
            ),
            (proposed(|i, lba, n| format!("{},{},{lba},{n}", pid(i), op(i))), "op=2,offset=3:512,size=4:512"),
            // A device between them, a constant behind, one process; always 4 KiB, and response times.
            (proposed(|i, lba, n| format!("{i}.5,{},{lba},3,{n}", op(i))), "time=1:s,op=2,offset=3:512,size=5:512"),
            (proposed(|i, lba, n| format!("{i}.5,{},{lba},x,{n},7", op(i))), "time=1:s,op=2,offset=3:512,size=5:512"),
            (
                proposed(|i, lba, n| format!("{i}.5,1234,{},{lba},x,{n}", op(i))),
                "time=1:s,op=3,offset=4:512,size=6:512",
            ),
            (proposed(|i, lba, _| format!("{},{lba},8,{}", op(i), late(i))), "op=1,offset=2:512,size=3:512"),
            // The size stands before the offset; bytes; no time.
            (proposed(|i, lba, n| format!("{},{},{},{}", op(i), n * 512, lba * 512, late(i))), "op=1,offset=3,size=2"),
            // Neither is a multiple of anything.
            (proposed(|i, lba, n| format!("{},{},{}", op(i), lba * 512 + i, n * 512 + 7)), "op=1,offset=2,size=3"),
            // Sectors and bytes.
            (proposed(|i, lba, n| format!("{},{lba},{}", op(i), n * 512)), "op=1,offset=2:512,size=3"),
        ] {
            assert_eq!(rows, spec);
        }
    }
}
