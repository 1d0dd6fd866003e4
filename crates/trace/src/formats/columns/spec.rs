//! What the columns are, as the user says it: `time=2:us,op=4,offset=5:512,size=6`.

use std::fmt;

use nandlab::types::{Bytes, HostOp};

use super::COLUMNS_MAX;
use super::values;
use crate::cursor::Parse;
use crate::error::{BadRow, Problem};
use crate::row::REQUEST_BYTES_MAX;
use crate::unit::TimeUnit;

/// Which column of a delimited text is what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnSpec {
    pub(super) time: Option<Times>,
    pub(super) op: Op,
    /// Words for operations besides the usual ones.
    pub(super) words: Vec<(String, HostOp)>,
    pub(super) address: Address,
    pub(super) size: Length,
    pub(super) device: Option<usize>,
    pub(super) latency: Option<(usize, TimeUnit)>,
    pub(super) process: Option<usize>,
    /// Header lines.
    pub(super) skip: u64,
    pub(super) separator: Option<u8>,
}

/// The column of times; without a unit they are dates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Times {
    pub(super) column: usize,
    pub(super) unit: Option<TimeUnit>,
    /// The unit was said, by the user or by the header.
    pub(super) told: bool,
}

/// Where operations are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Column(usize),
    All(HostOp),
}

/// Where addresses are, and the bytes of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Address {
    Bytes(usize, u64),
    /// Without a unit each object gets a range of pages.
    Object(usize, Option<u64>),
}

impl Address {
    pub(super) fn named(self) -> (&'static str, usize) {
        match self {
            Self::Bytes(column, _) => ("offset", column),
            Self::Object(column, _) => ("object", column),
        }
    }
}

/// Where sizes are, and the bytes of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    Column(usize, u64),
    Fixed(u64),
}

/// Separators that have words.
const SEPARATORS: [(&str, u8); 5] =
    [("comma", b','), ("semicolon", b';'), ("tab", b'\t'), ("pipe", b'|'), ("space", b' ')];
const KEYS: &str = "time=N:us, op=N, offset=N:512 or object=N, size=N, device=N, latency=N:us, pid=N, skip=N, sep=CHAR";

impl ColumnSpec {
    /// Reads what the user says.
    ///
    /// # Errors
    /// A key is unknown or given twice, a number is missing or out of range, or a column that every trace needs is not named.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut time, mut op, mut address, mut size) = (None, None, None, None);
        let (mut device, mut latency, mut process, mut skip, mut separator) = (None, None, None, 0, None);
        let (mut words, mut given) = (Vec::new(), Vec::new());
        // A comma as the separator would end its own part.
        for part in text.replace("sep=,", "sep=comma").split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| format!("`{part}`: allowed is {KEYS}"))?;
            let (first, rest) = value.split_once(':').map_or((value, None), |(first, rest)| (first, Some(rest)));
            let means = match key {
                "lba" | "object" => "offset",
                "length" => "size",
                _ => key,
            };
            if given.contains(&means) {
                return Err(format!("`{part}`: {means} is given twice; name each column once"));
            }
            given.push(means);
            match key {
                "time" => time = Some(times(column(key, first)?, rest)?),
                "op" => op = Some(operation(first, rest, &mut words)?),
                "offset" | "lba" => address = Some(Address::Bytes(column(key, first)?, unit(rest, 1)?)),
                "object" => {
                    let bytes = rest.map(|rest| unit(Some(rest), 1)).transpose()?;
                    address = Some(Address::Object(column(key, first)?, bytes));
                }
                "size" | "length" if first == "fixed" => {
                    let bytes = unit(rest, 0)?;
                    let fits = (1..=REQUEST_BYTES_MAX).contains(&bytes);
                    size = Some(Length::Fixed(bytes));
                    if !fits {
                        return Err(format!("`{part}`: a size of all requests is 1 to {REQUEST_BYTES_MAX} bytes"));
                    }
                }
                "size" | "length" => size = Some(Length::Column(column(key, first)?, unit(rest, 1)?)),
                "device" => device = Some(column(key, first)?),
                "latency" => latency = Some((column(key, first)?, time_unit(rest.unwrap_or("us"))?)),
                "pid" => process = Some(column(key, first)?),
                "skip" => skip = first.parse().map_err(|_| format!("`{part}`: skip is a number of header lines"))?,
                "sep" => separator = Some(separating(value)?),
                _ => return Err(format!("`{key}` is not known: allowed is {KEYS}")),
            }
        }
        let missing = |what: &str, how: &str| format!("{what} is missing: add {how} (the whole: {KEYS})");
        Ok(Self {
            time,
            op: op.ok_or_else(|| missing("op", "op=N, or op=read if all requests are reads"))?,
            words,
            address: address.ok_or_else(|| missing("the address", "offset=N:UNIT or object=N"))?,
            size: size.ok_or_else(|| missing("size", "size=N:UNIT, or size=fixed:4096"))?,
            device,
            latency,
            process,
            skip,
            separator,
        })
    }

    /// The columns that a row needs.
    pub(super) fn columns(&self) -> usize {
        let op = if let Op::Column(column) = self.op { column } else { 1 };
        let size = if let Length::Column(column, _) = self.size { column } else { 1 };
        let time = self.time.as_ref().map_or(1, |times| times.column);
        let others = [self.device, self.latency.map(|(column, _)| column), self.process];
        let most = others.into_iter().flatten().chain([op, size, time, self.address.named().1]).max();
        most.unwrap_or(1)
    }

    /// What a word asks for. `other`: the number besides the one that is named (`op=4:w=1`), once it was seen.
    ///
    /// # Errors
    /// The word is not known, or is a third number where one is named.
    pub(super) fn operation(&self, word: &[u8], other: &mut Option<u64>) -> Parse<HostOp> {
        if let Some((_, op)) = self.words.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(word)) {
            return Ok(*op);
        }
        if let ([(known, op)], Some(number)) = (&self.words[..], values::whole(word))
            && let Some(named) = values::whole(known.as_bytes())
        {
            if number == named {
                return Ok(*op);
            }
            let other = *other.get_or_insert(number);
            if number != other {
                let allowed =
                    format!("{named} and {other}; say what each number is: op=N:r=NUMBER:w=NUMBER:d=NUMBER:f=NUMBER");
                return Err(BadRow::new("op", word, Problem::Unknown, allowed));
            }
            return Ok(if *op == HostOp::Read { HostOp::Write } else { HostOp::Read });
        }
        values::operation(word).ok_or_else(|| {
            let allowed = match word {
                b"0" | b"1" => "R, W, read, write, ...; for numbers say which is a write: op=N:w=1 or op=N:w=0",
                _ => "R, W, read, write, trim, flush, ...; other words: op=N:r=WORD:w=WORD:d=WORD:f=WORD",
            };
            BadRow::new("op", word, Problem::Unknown, allowed)
        })
    }
}

fn column(key: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=COLUMNS_MAX).contains(number));
    number.ok_or_else(|| format!("`{key}={text}`: a column is a number from 1 to {COLUMNS_MAX}"))
}

fn unit(text: Option<&str>, default: u64) -> Result<u64, String> {
    let Some(text) = text else { return Ok(default) };
    let bytes = text.parse().or_else(|_| Bytes::parse(text).map(|bytes| bytes.0));
    let bytes = bytes.ok().filter(|bytes| (1..=1 << 30).contains(bytes));
    bytes.ok_or_else(|| format!("`{text}`: a unit is 1 to 2^30 bytes, as in 512 or 4KiB"))
}

fn time_unit(text: &str) -> Result<TimeUnit, String> {
    TimeUnit::parse(text)
}

fn times(column: usize, unit: Option<&str>) -> Result<Times, String> {
    Ok(match unit {
        None => Times { column, unit: Some(TimeUnit::Seconds), told: false },
        Some("date") => Times { column, unit: None, told: true },
        Some(unit) => Times { column, unit: Some(time_unit(unit)?), told: true },
    })
}

fn operation(first: &str, rest: Option<&str>, words: &mut Vec<(String, HostOp)>) -> Result<Op, String> {
    match first {
        "read" => return Ok(Op::All(HostOp::Read)),
        "write" => return Ok(Op::All(HostOp::Write)),
        _ => {}
    }
    for mapping in rest.into_iter().flat_map(|rest| rest.split(':')) {
        let (op, word) = mapping.split_once('=').ok_or_else(|| format!("`{mapping}`: write w=WORD, r=WORD, ..."))?;
        let op = match op {
            "r" => HostOp::Read,
            "w" => HostOp::Write,
            "d" => HostOp::Trim,
            "f" => HostOp::Flush,
            _ => return Err(format!("`{mapping}`: allowed are r, w, d (discard) and f (flush) before the =")),
        };
        words.push((word.to_owned(), op));
    }
    column("op", first).map(Op::Column)
}

fn separating(text: &str) -> Result<u8, String> {
    if let Some((_, byte)) = SEPARATORS.iter().find(|(word, _)| *word == text) {
        return Ok(*byte);
    }
    match text.as_bytes() {
        [byte] if byte.is_ascii_punctuation() && !matches!(byte, b'"' | b'.' | b'-') => Ok(*byte),
        _ => Err(format!("`sep={text}`: allowed is one of ; | : or comma, semicolon, tab, pipe, space")),
    }
}

impl fmt::Display for ColumnSpec {
    /// As it is said on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.time {
            Some(Times { column, unit: None, .. }) => write!(f, "time={column}:date,")?,
            Some(Times { column, unit: Some(unit), .. }) => write!(f, "time={column}:{},", unit.name())?,
            None => {}
        }
        match self.op {
            Op::All(HostOp::Read) => write!(f, "op=read")?,
            Op::All(_) => write!(f, "op=write")?,
            Op::Column(column) => write!(f, "op={column}")?,
        }
        for (word, op) in &self.words {
            let letter = match op {
                HostOp::Read => 'r',
                HostOp::Write => 'w',
                HostOp::Trim => 'd',
                HostOp::Flush => 'f',
            };
            write!(f, ":{letter}={word}")?;
        }
        let with_unit = |f: &mut fmt::Formatter<'_>, name: &str, column: usize, unit: u64| match unit {
            1 => write!(f, ",{name}={column}"),
            _ => write!(f, ",{name}={column}:{unit}"),
        };
        match self.address {
            Address::Bytes(column, unit) => with_unit(f, "offset", column, unit)?,
            Address::Object(column, unit) => with_unit(f, "object", column, unit.unwrap_or(1))?,
        }
        match self.size {
            Length::Column(column, unit) => with_unit(f, "size", column, unit)?,
            Length::Fixed(bytes) => write!(f, ",size=fixed:{bytes}")?,
        }
        if let Some(column) = self.device {
            write!(f, ",device={column}")?;
        }
        if let Some((column, unit)) = self.latency {
            write!(f, ",latency={column}:{}", unit.name())?;
        }
        if let Some(column) = self.process {
            write!(f, ",pid={column}")?;
        }
        if self.skip > 0 {
            write!(f, ",skip={}", self.skip)?;
        }
        match self.separator.and_then(|byte| SEPARATORS.iter().find(|(_, known)| *known == byte)) {
            Some((word, _)) => write!(f, ",sep={word}"),
            None => self.separator.map_or(Ok(()), |byte| write!(f, ",sep={}", char::from(byte))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_says_what_it_was_told() {
        for text in [
            "time=2:us,op=4,offset=5:512,size=6",
            "time=1:date,op=2:w=1,offset=3,size=4:512,device=5,latency=6:ms,pid=7,skip=2,sep=semicolon",
            "op=read,object=2,size=fixed:4096",
            "time=1:s,op=2:r=get:w=put,object=3:512,size=4,sep=^",
        ] {
            assert_eq!(ColumnSpec::parse(text).map(|spec| spec.to_string()), Ok(text.to_owned()));
        }
        assert!(ColumnSpec::parse("op=1,offset=2,size=3,sep=,").is_ok_and(|spec| spec.separator == Some(b',')));
    }

    #[test]
    fn spec_names_what_is_missing_or_wrong() {
        for (text, part) in [
            ("", "op is missing"),
            ("op=1", "the address is missing"),
            ("op=1,offset=2", "size is missing"),
            ("op=0,offset=2,size=3", "1 to 64"),
            ("op=1,offset=2:0,size=3", "1 to 2^30"),
            ("op=1,offset=2,size=fixed:0", "1 to"),
            ("op=1:x=3,offset=2,size=3", "allowed are r, w"),
            ("time=1:min,op=1,offset=2,size=3", "allowed is ns"),
            ("op=1,offset=2,size=3,sep=ab", "allowed is one of"),
            ("colour=1", "is not known"),
            ("time=1:us,op=2,offset=3,size=4,time=1:ms", "`time=1:ms`: time is given twice"),
            ("op=1,offset=2,object=3,size=4", "offset is given twice"),
            ("op=1,offset=2,size=4,length=fixed:512", "size is given twice"),
            ("time", "allowed is time=N"),
        ] {
            let error = ColumnSpec::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
