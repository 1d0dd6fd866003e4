//! Checksums over what a file holds, because its pages have none: a changed bit would be read as other numbers.
//!
//! The metadata has the CRC-32 (of gzip and zlib, as between passes over a pipe) of every column and of every other key. A
//! column is summed as its values follow each other from the first row to the last: numbers of 64 and of 32 bits in little
//! endian, texts as their letter. So a copy in other pages, groups or encodings has the same sums, and any tool can work them
//! out from the values that it reads.

use std::collections::{BTreeMap, BTreeSet};

use crc32fast::Hasher;
use parquet::file::metadata::FileMetaData;

use super::{REQUESTS_KEY, SUMMED, SUMS_KEY};
use crate::buffer::Failure;

/// Values that are turned into bytes at a time.
const PIECE: usize = 512;

/// The sum of a column.
#[derive(Clone, Default)]
pub(super) struct Sum(Hasher);

impl Sum {
    /// Adds the values that come next.
    pub(super) fn add<T: Copy, const BYTES: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; BYTES]) {
        let mut piece = [[0; BYTES]; PIECE];
        for part in values.chunks(PIECE) {
            piece.iter_mut().zip(part).for_each(|(place, value)| *place = bytes(*value));
            self.0.update(piece[..part.len()].as_flattened());
        }
    }
    /// What it is.
    pub(super) fn value(&self) -> u32 {
        self.0.clone().finalize()
    }
}

/// The sums that a file has: by column, and by key of its metadata.
pub(super) struct Sums {
    sums: BTreeMap<String, u32>,
    /// Rows that were written.
    rows: u64,
}

impl Sums {
    /// The value of the key, for these columns and other keys.
    pub(super) fn text<'a>(
        columns: impl Iterator<Item = (&'a str, u32)>,
        others: &[(&'a str, String)],
    ) -> serde_json::Result<String> {
        let others = others.iter().map(|(key, value)| (*key, crc32fast::hash(value.as_bytes())));
        serde_json::to_string(&columns.chain(others).collect::<BTreeMap<_, _>>())
    }

    /// Those of a file, if it was written with them.
    ///
    /// # Errors
    /// The columns or the other keys are not those that were written.
    pub(super) fn of(file: &FileMetaData) -> Result<Option<Self>, Failure> {
        if !file.created_by().is_some_and(|program| program.ends_with(SUMMED)) {
            return Ok(None);
        }
        let altered = |key: &str| Failure::Altered(format!("`{key}`"));
        let pairs = file.key_value_metadata().map_or(&[][..], Vec::as_slice);
        let value = |key: &str| pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
        let sums = value(SUMS_KEY).and_then(|text| serde_json::from_str(text).ok());
        let mut sums: BTreeMap<String, u32> = sums.ok_or_else(|| altered(SUMS_KEY))?;
        for pair in pairs.iter().filter(|pair| pair.key != SUMS_KEY) {
            let found = crc32fast::hash(pair.value.as_deref().unwrap_or_default().as_bytes());
            if sums.remove(&pair.key) != Some(found) {
                return Err(altered(&pair.key));
            }
        }
        let columns = file.schema_descr().columns().iter().map(|column| column.name());
        if !columns.collect::<BTreeSet<_>>().into_iter().eq(sums.keys()) {
            return Err(Failure::Altered("the list of columns".to_owned()));
        }
        let rows = value(REQUESTS_KEY).and_then(|rows| rows.parse().ok()).ok_or_else(|| altered(REQUESTS_KEY))?;
        Ok(Some(Self { sums, rows }))
    }

    /// # Errors
    /// The rows, when all have been read, are not those that were written.
    pub(super) fn check<'a>(
        &self,
        rows: u64,
        mut columns: impl Iterator<Item = (&'a str, u32)>,
    ) -> Result<(), Failure> {
        if rows != self.rows {
            return Err(Failure::Altered("the number of rows".to_owned()));
        }
        match columns.find(|(name, sum)| self.sums.get(*name) != Some(sum)) {
            Some((name, _)) => Err(Failure::Altered(format!("column `{name}`"))),
            None => Ok(()),
        }
    }
}
