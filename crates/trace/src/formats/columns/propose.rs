//! What the columns of a text without a header that tells may be, by what stands in them.

use std::collections::BTreeSet;

use nandlab::types::{HostOp, SECTOR_BYTES};

use super::guess::{
    Named, Role, assumed_unit, fields, guess, header_line, is_comment, mostly, separator, size_is_in_sectors, times,
    told_or, values_of,
};
use super::spec::{Address, ColumnSpec, Length, Op, Times};
use super::{date, values};
use crate::registry::Head;
use crate::unit::TimeUnit;

/// Most bytes of a request, and more than any number of sectors.
const SIZE_MAX: u64 = 1 << 30;

/// A proposal for a text whose header does not tell all that is needed, by what stands in its columns. What a header names is
/// taken as it says. `None` if no column has operations, without which a text of numbers may be anything, or if it cannot be
/// told which of several columns is the time.
///
/// Of what is neither time nor operation the greatest numbers are the offsets. Sizes are most likely multiples of 512 where
/// offsets are (where those are not, never 0, and not always one number that is no multiple of 8), then what stands right or
/// left of the offset, then what has the fewest different values. All this is judged by most of the rows.
pub(crate) fn propose(head: &Head) -> Option<ColumnSpec> {
    if let Some(guess) = guess(head) {
        return Some(guess.spec);
    }
    let separator = separator(head);
    let lines: Vec<_> = head.lines.iter().map(|line| (is_comment(line), fields(line, separator))).collect();
    let is_row = |row: &[&[u8]]| row.iter().filter(|field| values::is_number(field)).count() >= 2;
    let header = header_line(head, separator).filter(|(_, named)| named.len() > 1);
    let first_row = || {
        let first = lines.iter().position(|(comment, row)| !comment && is_row(row))?;
        let only_comments = lines[..first].iter().all(|(comment, _)| *comment);
        Some((if only_comments { 0 } else { first }, Vec::new()))
    };
    let (skip, named) = header.map(|(index, named)| (index + 1, named)).or_else(first_row)?;
    let rows: Vec<_> = lines.into_iter().skip(skip).filter(|(comment, _)| !comment).map(|(_, row)| row).collect();
    Contents { rows, named }.spec(skip as u64, separator)
}

/// What stands in the columns, and the names that a header gives them.
struct Contents<'a> {
    rows: Vec<Vec<&'a [u8]>>,
    named: Vec<Named>,
}

impl Contents<'_> {
    fn spec(&self, skip: u64, separator: u8) -> Option<ColumnSpec> {
        let column = |role: Role| self.named(role).map(|named| named.column);
        let (op, words) = self.operation()?;
        let mut left: Vec<usize> =
            self.free().filter(|free| self.is_numeric(*free) && op != Op::Column(*free)).collect();
        if self.is_time_unclear(&left) {
            return None;
        }
        let time = self.known_time().or_else(|| left.iter().copied().find(|column| rises(&self.rows, *column)));
        left.retain(|free| Some(*free) != time);
        let named = self.named(Role::Offset).or_else(|| self.named(Role::Object));
        let offset = match named {
            Some(named) => named.column,
            None => left.iter().copied().max_by_key(|column| self.greatest(*column))?,
        };
        let is_object = named.is_some_and(|named| named.role == Role::Object);
        if !is_object && !self.is_numeric(offset) {
            return None;
        }
        left.retain(|free| *free != offset && (1..=SIZE_MAX).contains(&self.greatest(*free)));
        let size = match self.named(Role::Size) {
            Some(size) => Some((size.column, size.bytes)),
            None => left.into_iter().min_by_key(|free| self.unlike_size(*free, offset)).map(|free| (free, 0)),
        };
        let (unit, size) = self.units(offset, named, size);
        let time = time.map(|column| Times {
            told: true,
            ..times(&self.rows, column, self.named(Role::Time).and_then(|time| time.unit))
        });
        let time_unit = time.as_ref().and_then(|time| time.unit);
        let latency_unit = |named: Named| named.unit.or(time_unit).unwrap_or(TimeUnit::Microseconds);
        Some(ColumnSpec {
            time,
            op,
            words,
            address: if is_object { Address::Object(offset, None) } else { Address::Bytes(offset, unit) },
            size,
            device: column(Role::Device),
            latency: self.named(Role::Latency).map(|latency| (latency.column, latency_unit(latency))),
            process: column(Role::Process),
            skip,
            separator: (separator != b',').then_some(separator),
        })
    }

    fn named(&self, role: Role) -> Option<Named> {
        self.named.iter().find(|named| named.role == role).copied()
    }

    /// Columns that have no known name.
    fn free(&self) -> impl DoubleEndedIterator<Item = usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        (1..=columns).filter(|column| !self.named.iter().any(|named| named.column == *column))
    }

    fn is_numeric(&self, column: usize) -> bool {
        mostly(&self.rows, column, values::is_number)
    }

    fn numbers(&self, column: usize) -> Vec<u64> {
        values_of(&self.rows, column).filter_map(values::whole).collect()
    }

    fn greatest(&self, column: usize) -> u64 {
        self.numbers(column).into_iter().max().unwrap_or(0)
    }

    /// Most numbers are multiples of a sector.
    fn is_whole(&self, column: usize) -> bool {
        is_most(&self.numbers(column), |number| number.is_multiple_of(SECTOR_BYTES))
    }

    /// Where operations are, with the words that are not known by themselves: of 0 and 1 the latter is most often a write.
    fn operation(&self) -> Option<(Op, Vec<(String, HostOp)>)> {
        let is_op = |column: &usize| mostly(&self.rows, *column, |word| values::operation(word).is_some());
        let is_bit = |column: &usize| {
            let has = |bit: &[u8]| values_of(&self.rows, *column).any(|word| word == bit);
            has(b"0") && has(b"1") && mostly(&self.rows, *column, |word| matches!(word, b"0" | b"1"))
        };
        let ones_are = |column: usize, op: HostOp| (Op::Column(column), vec![("1".to_owned(), op)]);
        let named = |role: Role| self.named(role).map(|named| named.column);
        let by_name = [(Role::IsWrite, HostOp::Write), (Role::IsRead, HostOp::Read), (Role::Op, HostOp::Write)];
        if let Some(column) = named(Role::Op).filter(is_op) {
            return Some((Op::Column(column), Vec::new()));
        }
        if let Some((column, op)) = by_name.into_iter().find_map(|(role, op)| Some((named(role).filter(is_bit)?, op))) {
            return Some(ones_are(column, op));
        }
        match self.free().find(is_op) {
            Some(column) => Some((Op::Column(column), Vec::new())),
            None if named(Role::Op).is_some() => None,
            None => self.free().rfind(is_bit).map(|column| ones_are(column, HostOp::Write)),
        }
    }

    /// The column of times that a header names, or that has dates.
    fn known_time(&self) -> Option<usize> {
        let is_date =
            |column: &usize| values_of(&self.rows, *column).next().is_some_and(|value| date::date(value).is_some());
        self.named(Role::Time).map(|time| time.column).or_else(|| self.free().find(is_date))
    }

    /// Several columns rise, and addresses and sizes may be among the others: then each of them may be the time. `left`: columns
    /// of numbers that are no operations.
    fn is_time_unclear(&self, left: &[usize]) -> bool {
        let rising = left.iter().filter(|column| rises(&self.rows, **column)).count();
        let needed = [Role::Offset, Role::Size].into_iter().filter(|role| self.named(*role).is_none()).count();
        self.known_time().is_none() && rising > 1 && left.len() - rising >= needed
    }

    /// The less, the more likely the column has the sizes.
    fn unlike_size(&self, column: usize, offset: usize) -> (bool, bool, bool, usize) {
        let numbers = self.numbers(column);
        let distinct = numbers.iter().collect::<BTreeSet<_>>().len();
        // A number that is always the same may be a device or a process, unless it is a multiple of 4 KiB.
        let is_size = |n: &u64| *n > 0 && (distinct > 1 || n.is_multiple_of(8));
        let is_known = if self.is_whole(offset) { self.is_whole(column) } else { is_most(&numbers, is_size) };
        (!is_known, column != offset + 1, column + 1 != offset, distinct)
    }

    /// The bytes of one address, and the sizes with theirs. `named`: the address, if the header names it. A size comes with
    /// the bytes that the header tells, or 0.
    fn units(&self, offset: usize, named: Option<Named>, size: Option<(usize, u64)>) -> (u64, Length) {
        let in_bytes = self.is_whole(offset);
        let Some((column, told)) = size else {
            let unit = if in_bytes { 1 } else { SECTOR_BYTES };
            return (named.map_or(unit, |named| told_or(named.bytes, None)), Length::Fixed(4096));
        };
        let is_told = told > 0;
        if let Some(named) = named {
            let is_open = !is_told && named.role == Role::Offset;
            let assumed = if is_open { assumed_unit(column, named.bytes, &self.rows) } else { None };
            return (told_or(named.bytes, assumed), Length::Column(column, told_or(told, assumed)));
        }
        let sectors = !is_told && size_is_in_sectors(Length::Column(column, 1), &self.rows);
        let unit = if sectors { SECTOR_BYTES } else { told.max(1) };
        let is_unaligned = !unit.is_multiple_of(SECTOR_BYTES) && !in_bytes && !self.is_whole(column);
        let address = if in_bytes && !sectors || is_unaligned { 1 } else { SECTOR_BYTES };
        (address, Length::Column(column, unit))
    }
}

/// Seven of eight numbers are so.
fn is_most(numbers: &[u64], is_so: impl Fn(&u64) -> bool) -> bool {
    numbers.iter().filter(|number| is_so(number)).count() * 8 >= numbers.len() * 7
}

/// Numbers that do not all stay the same and hardly ever fall: at most every fourth is less than the one before, and
/// together they fall by an eighth of what they rise.
fn rises(rows: &[Vec<&[u8]>], column: usize) -> bool {
    let number = |value: &[u8]| std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
    let numbers: Vec<f64> = values_of(rows, column).filter_map(number).collect();
    let steps = || numbers.windows(2).map(|pair| pair[1] - pair[0]);
    let falls = steps().filter(|step| *step < 0.0).count();
    let (up, down) = steps().fold((0.0, 0.0), |(up, down), step| (up + step.max(0.0), down - step.min(0.0)));
    up > 0.0 && falls * 4 < numbers.len() && down * 8.0 <= up
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
            // Times that step back now and then, and one row that is no number.
            (
                proposed(|i, lba, n| format!("{},{},{lba},{n}", 5_000_000_000 + i * 1000 - i % 7 / 6 * 1005, op(i))),
                "time=1:us,op=2,offset=3:512,size=4:512",
            ),
            (
                proposed(|i, lba, n| {
                    let lba = if i == 20 { "-1".to_owned() } else { lba.to_string() };
                    format!("{i}.5,{},{lba},{n}", op(i))
                }),
                "time=1:s,op=2,offset=3:512,size=4:512",
            ),
        ] {
            assert_eq!(rows, spec);
        }
    }

    #[test]
    fn proposal_takes_what_a_header_names_and_guesses_the_rest() {
        let with = |header: &str, row: fn(u64) -> String| {
            let rows: String = (1..=40).map(|i| row(i) + "\n").collect();
            propose(&Head::new(format!("{header}\n{rows}").as_bytes()))
                .map_or_else(|| "none".to_owned(), |spec| spec.to_string())
        };
        assert_eq!(
            with("time_us,rw,lba,size_kb,disk", |i| format!(
                "{},{},{},{},3",
                i * 100,
                i % 2,
                i * 7919 % 1009 * 8,
                i % 3 + 4
            )),
            "time=1:us,op=2:w=1,offset=3:512,size=4:1024,device=5,skip=1"
        );
        // A column that is not named, and one whose numbers are greater than the addresses.
        assert_eq!(
            with("cookie,time_us,rw,lba,how_much,disk", |i| {
                format!("{},{},{},{},{},3", (1 << 40) - i * i, i * 100, i % 2, i * 7919 % 1009 * 8, i % 3 * 8 + 8)
            }),
            "time=2:us,op=3:w=1,offset=4:512,size=5:512,device=6,skip=1"
        );
        // Sizes of objects are bytes however small, and times that take a while have the unit of the others.
        assert_eq!(
            with("time_ms,obj_id,size,rw,latency", |i| format!(
                "{},{},{},{},{}",
                i * 3,
                i * 7919 % 97,
                i % 5 + 50,
                i % 2,
                i
            )),
            "time=1:ms,op=4:w=1,object=2,size=3,latency=5:ms,skip=1"
        );
        // Which of two columns that rise is the time?
        assert_eq!(proposed(|i, lba, n| format!("{i},{}.5,R,{lba},{n}", i * 100)), "none");
    }
}
