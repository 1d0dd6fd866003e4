//! Addresses: what becomes of those of a trace on a device.

use nandlab::flash::Geometry;
use nandlab::types::{Bytes, SECTOR_BYTES};
use nandlab_trace::AddressPolicy;

use crate::error::Error;
use crate::word::Word;

/// What to do with addresses beyond the device, before the device is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Address {
    /// An error.
    #[default]
    Reject,
    /// As they are, because there is no device: the default of commands without one, never named.
    Keep,
    /// Modulo the capacity.
    Modulo,
    /// Units are numbered densely in order of first appearance.
    Compact(AddressUnit),
}

/// What compaction keeps together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressUnit {
    /// A page of the device.
    Page,
    /// An erase block of the device.
    Block,
    /// This many bytes.
    Size(Bytes),
}

impl Word for Address {
    fn read(text: &str) -> Result<Self, String> {
        let allowed = || {
            "allowed is reject (an error), modulo (fold), compact (renumber erase blocks), compact:page or compact:SIZE \
             (renumber pages, or units such as 1MiB)"
                .to_owned()
        };
        match text.split_once(':') {
            None if text == "reject" => Ok(Self::Reject),
            None if text == "modulo" => Ok(Self::Modulo),
            None if text == "compact" => Ok(Self::Compact(AddressUnit::Block)),
            Some(("compact", "block")) => Ok(Self::Compact(AddressUnit::Block)),
            Some(("compact", "page")) => Ok(Self::Compact(AddressUnit::Page)),
            Some(("compact", size)) => match Bytes::parse(size) {
                Ok(Bytes(0)) => Err("a unit of compaction has at least one page".to_owned()),
                Ok(size) => Ok(Self::Compact(AddressUnit::Size(size))),
                Err(problem) => Err(format!("{problem}; {}", allowed())),
            },
            _ => Err(allowed()),
        }
    }
    fn word(&self) -> String {
        match self {
            Self::Reject => "reject".to_owned(),
            Self::Keep => "keep".to_owned(),
            Self::Modulo => "modulo".to_owned(),
            Self::Compact(AddressUnit::Block) => "compact".to_owned(),
            Self::Compact(AddressUnit::Page) => "compact:page".to_owned(),
            Self::Compact(AddressUnit::Size(Bytes(size))) => format!("compact:{size}B"),
        }
    }
}

impl Address {
    /// The policy on a device of this shape.
    pub(crate) fn on(self, geometry: &Geometry) -> Result<AddressPolicy, Error> {
        let (page, block) = (u64::from(geometry.page_bytes), u64::from(geometry.pages_per_block));
        let unit = match self {
            Self::Reject => return Ok(AddressPolicy::Reject),
            Self::Keep => return Ok(AddressPolicy::Keep),
            Self::Modulo => return Ok(AddressPolicy::Modulo),
            Self::Compact(AddressUnit::Page) => page,
            Self::Compact(AddressUnit::Block) => page * block,
            Self::Compact(AddressUnit::Size(Bytes(size))) => size,
        };
        if !unit.is_multiple_of(page) {
            let (unit, page, block) = (Bytes(unit), Bytes(page), Bytes(page * block));
            let problem = format!("--address compact:{unit}: a unit has whole pages, which are {page} on this device");
            return Err(Error::input(problem, format!("--address compact keeps erase blocks ({block}) together")));
        }
        Ok(AddressPolicy::Compact { unit_sectors: unit / SECTOR_BYTES })
    }
}

/// The policy in a form that can be typed.
pub(crate) fn name(policy: AddressPolicy) -> String {
    match policy {
        AddressPolicy::Reject => "reject".to_owned(),
        AddressPolicy::Keep => "keep".to_owned(),
        AddressPolicy::Modulo => "modulo".to_owned(),
        AddressPolicy::Compact { unit_sectors } => format!("compact:{}", Bytes(unit_sectors * SECTOR_BYTES)),
    }
}

/// What to know about a result in which pages became neighbours that were not. `sees_neighbours`: whether the buffer or
/// the FTL takes notice of neighbours at all.
pub(crate) fn warning(policy: AddressPolicy, geometry: &Geometry, sees_neighbours: bool) -> Option<String> {
    let AddressPolicy::Compact { unit_sectors } = policy else { return None };
    let block_sectors = u64::from(geometry.page_sectors()) * u64::from(geometry.pages_per_block);
    let (unit, block) = (Bytes(unit_sectors * SECTOR_BYTES), Bytes(block_sectors * SECTOR_BYTES));
    (sees_neighbours && !unit_sectors.is_multiple_of(block_sectors)).then(|| {
        format!(
            "compaction by {unit} puts pages side by side that the trace touches one after the other, wherever they lay: \
             policies and FTLs that know erase blocks ({block}) then find locality that the trace does not have; \
             --address compact keeps erase blocks whole, and a larger device keeps the addresses"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_of_compaction_is_named_or_a_size() {
        let geometry = Geometry::single_die(8, 64, 4096);
        let on = |text: &str| name(Address::read(text).unwrap().on(&geometry).unwrap());
        assert_eq!(["reject", "modulo"].map(on), ["reject", "modulo"]);
        assert_eq!(
            ["compact", "compact:block", "compact:page"].map(on),
            ["compact:256KiB", "compact:256KiB", "compact:4KiB"]
        );
        assert_eq!(["compact:1MiB", "compact:12KiB"].map(on), ["compact:1MiB", "compact:12KiB"]);
        assert!(matches!(Address::read("compact:6KiB").unwrap().on(&geometry), Err(Error::Input { .. })));
        for wrong in ["", "foo", "compact:", "compact:0", "compact:1MB", "modulo:page"] {
            assert!(Address::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn warning_comes_with_units_that_break_blocks_only() {
        let geometry = Geometry::single_die(8, 64, 4096);
        let warned =
            |pages: u64, sees| warning(AddressPolicy::Compact { unit_sectors: pages * 8 }, &geometry, sees).is_some();
        assert!(warned(1, true) && warned(32, true) && warned(96, true));
        assert!(!warned(64, true) && !warned(128, true) && !warned(1, false));
        assert!(warning(AddressPolicy::Modulo, &geometry, true).is_none());
    }
}
