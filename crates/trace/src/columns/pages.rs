//! The pages of a column: checked, and those of one-letter texts as pages of numbers.
//!
//! A text column in Parquet is a dictionary of a few words and a stream of indices. Reading it as texts costs more than
//! all other columns together; so the dictionary is translated into numbers, and the crate reads a column of numbers.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as Parquet};

/// The number of a text: its letter; longer texts are negative and hold their length (at most 127) and two letters.
fn code(text: &[u8]) -> i32 {
    if let [letter] = text {
        return i32::from(*letter);
    }
    let letter = |at: usize| text.get(at).copied().unwrap_or(0);
    i32::from_be_bytes([0xFF, text.len().min(127) as u8, letter(0), letter(1)])
}

/// The beginning of the text of a number.
pub(super) fn text(code: i64) -> Vec<u8> {
    if code >= 0 {
        return vec![code as u8];
    }
    let [_, length, first, second] = (code as i32).to_be_bytes();
    let mut text = [first, second][..usize::from(length).min(2)].to_vec();
    if length > 2 {
        text.extend_from_slice(b"...");
    }
    text
}

/// The pages of a column.
pub(super) struct Pages {
    inner: Box<dyn PageReader>,
    /// Texts are translated into 32-bit numbers.
    texts: bool,
    /// The column may have empty values: pages of the first version begin with definition levels.
    nullable: bool,
    /// There was a dictionary.
    dictionary: bool,
}

impl Pages {
    pub(super) fn new(inner: Box<dyn PageReader>, texts: bool, nullable: bool) -> Self {
        Self { inner, texts, nullable, dictionary: false }
    }

    /// # Errors
    /// The page refers to a dictionary, and there was none.
    fn check(&mut self, page: Page) -> Parquet<Page> {
        match &page {
            Page::DictionaryPage { .. } => self.dictionary = true,
            Page::DataPage { encoding, .. } | Page::DataPageV2 { encoding, .. } => {
                if is_index(*encoding) && !self.dictionary {
                    return Err(ParquetError::General("a page lacks its dictionary".to_owned()));
                }
            }
        }
        if self.texts { self.translate(page) } else { Ok(page) }
    }

    fn translate(&self, page: Page) -> Parquet<Page> {
        Ok(match page {
            Page::DictionaryPage { buf, num_values, encoding, is_sorted } => {
                Page::DictionaryPage { buf: plain(&buf, 0, num_values)?.into(), num_values, encoding, is_sorted }
            }
            Page::DataPage { encoding, .. } | Page::DataPageV2 { encoding, .. } if is_index(encoding) => page,
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let levels = match buf.first_chunk::<4>() {
                    Some(length) if self.nullable => (u32::from_le_bytes(*length) as usize).saturating_add(4),
                    _ => 0,
                };
                let buf = data(&buf, levels, num_values, encoding)?.into();
                Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics: None }
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                let levels = (def_levels_byte_len as usize).saturating_add(rep_levels_byte_len as usize);
                Page::DataPageV2 {
                    buf: data(&buf, levels, num_values, encoding)?.into(),
                    num_values,
                    encoding,
                    num_nulls,
                    num_rows,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    is_compressed,
                    statistics: None,
                }
            }
        })
    }
}

fn is_index(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

fn data(page: &[u8], levels: usize, values: u32, encoding: Encoding) -> Parquet<Vec<u8>> {
    if encoding != Encoding::PLAIN {
        let problem = format!("texts are encoded as {encoding}; write them in a dictionary or PLAIN");
        return Err(ParquetError::NYI(problem));
    }
    plain(page, levels, values)
}

/// The bytes before `levels` as they are, then up to `values` texts, each a length of four bytes and its bytes.
fn plain(page: &[u8], levels: usize, values: u32) -> Parquet<Vec<u8>> {
    let cut = || ParquetError::General("a page of texts is cut off".to_owned());
    let (levels, mut rest) = page.split_at_checked(levels).ok_or_else(cut)?;
    let mut numbers = levels.to_vec();
    for _ in 0..values {
        // Where values are empty there are fewer texts than values.
        let Some((length, after)) = rest.split_first_chunk::<4>() else { break };
        let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
        numbers.extend_from_slice(&code(text).to_le_bytes());
        rest = after;
    }
    Ok(numbers)
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Parquet<Option<Page>> {
        let page = self.inner.get_next_page()?;
        page.map(|page| self.check(page)).transpose()
    }
    fn peek_next_page(&mut self) -> Parquet<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }
    fn skip_next_page(&mut self) -> Parquet<()> {
        self.inner.skip_next_page()
    }
}

impl Iterator for Pages {
    type Item = Parquet<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_a_number_that_shows_it() {
        for (word, shown) in [("R", "R"), ("", ""), ("ab", "ab"), ("Read", "Re..."), ("\u{e9}", "\u{e9}")] {
            assert_eq!(text(i64::from(code(word.as_bytes()))), shown.as_bytes(), "{word}");
        }
        assert!(code(b"Read") < 0 && code(b"") < 0 && code(b"R") == 82);
        assert_eq!(text(i64::from(code(&[b'x'; 300]))), b"xx...");
    }

    #[test]
    fn texts_are_translated_and_cut_pages_refused() {
        let page = [9, 9, 1, 0, 0, 0, b'R', 1, 0, 0, 0, b'W'];
        assert_eq!(plain(&page, 2, 2).unwrap(), [9, 9, b'R', 0, 0, 0, b'W', 0, 0, 0]);
        assert!(plain(&page, 13, 2).is_err());
        assert!(plain(&page[..11], 2, 2).is_err());
        assert!(data(&page, 2, 2, Encoding::DELTA_BYTE_ARRAY).is_err());
    }
}
