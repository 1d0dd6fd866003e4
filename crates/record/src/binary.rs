//! What is needed of a program or library to unwind stacks through it.

use std::ops::Range;
use std::sync::Arc;

use framehop::{ExplicitModuleSectionInfo, Module as UnwindModule};
use object::{Object, ObjectSection, ObjectSegment};

use crate::maps::Mapping;

/// Bytes of a section, shared by all processes that run the program.
pub(crate) type Bytes = Arc<[u8]>;

/// Largest section that is kept, in bytes.
const SECTION_BYTES_MAX: u64 = 512 << 20;

/// A program or library: its unwind tables, and where the linker put its parts.
#[derive(Clone, Debug, Default)]
pub struct Binary {
    /// Build id in hexadecimal digits; empty if there is none.
    build: String,
    text: Option<Range<u64>>,
    eh_frame: Option<(Range<u64>, Bytes)>,
    eh_frame_hdr: Option<(Range<u64>, Bytes)>,
    /// Parts of the file that are loaded: range in the file, and address of its beginning.
    segments: Vec<(Range<u64>, u64)>,
}

impl Binary {
    /// Out of the bytes of an ELF file; what cannot be read of it is left out, down to everything.
    pub fn parse(bytes: &[u8]) -> Self {
        let Ok(file) = object::File::parse(bytes) else { return Self::default() };
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let range = section.address()..section.address().checked_add(section.size())?;
            let data = if section.size() <= SECTION_BYTES_MAX { section.data().ok()? } else { return None };
            Some((range, Bytes::from(data)))
        };
        let segments = file.segments().filter_map(|segment| {
            let (begin, bytes) = segment.file_range();
            Some((begin..begin.checked_add(bytes)?, segment.address()))
        });
        let text = file.section_by_name(".text");
        let text = text.and_then(|text| Some(text.address()..text.address().checked_add(text.size())?));
        let build = file.build_id().ok().flatten().unwrap_or_default();
        Self {
            build: build
                .iter()
                .flat_map(|byte| [byte >> 4, byte & 15])
                .filter_map(|d| char::from_digit(d.into(), 16))
                .collect(),
            text,
            eh_frame: section(".eh_frame"),
            eh_frame_hdr: section(".eh_frame_hdr"),
            segments: segments.collect(),
        }
    }

    /// Build id in hexadecimal digits; empty if there is none.
    pub fn build(&self) -> &str {
        &self.build
    }

    /// What is added to the linker's addresses where this mapping lies.
    pub(crate) fn bias(&self, mapping: &Mapping) -> u64 {
        // The first byte of the mapping lies in a segment that begins on its page or before.
        let segment =
            self.segments.iter().find(|(file, _)| file.start < mapping.offset + 4096 && mapping.offset < file.end);
        let linked = segment
            .map_or(mapping.offset, |(file, address)| address.wrapping_sub(file.start).wrapping_add(mapping.offset));
        mapping.addresses.start.wrapping_sub(linked)
    }

    /// The module as the unwinder wants it.
    pub(crate) fn module(&self, mapping: &Mapping) -> UnwindModule<Bytes> {
        let (eh_frame, eh_frame_hdr) = (self.eh_frame.clone(), self.eh_frame_hdr.clone());
        let info = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: self.text.clone(),
            eh_frame_svma: eh_frame.as_ref().map(|section| section.0.clone()),
            eh_frame: eh_frame.map(|section| section.1),
            eh_frame_hdr_svma: eh_frame_hdr.as_ref().map(|section| section.0.clone()),
            eh_frame_hdr: eh_frame_hdr.map(|section| section.1),
            ..ExplicitModuleSectionInfo::default()
        };
        UnwindModule::new(mapping.path.clone(), mapping.addresses.clone(), self.bias(mapping), info)
    }
}
