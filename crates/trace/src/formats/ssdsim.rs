//! `SSDsim` ASCII: `time device sector size operation`, separated by blanks.
//!
//! - time: nanoseconds, a whole number. device: a number (of SPC traces: the ASU); each has its own address space.
//! - sector and size: sectors of 512 bytes. operation: 1 = read, 0 = write.
//!
//! The columns of `DiskSim` under other units; mqsim reads the same. Whole-number times with a mean step of 1,000 or more
//! are taken for nanoseconds, which is a guess (`--time-unit` names another); with smaller steps they may be milliseconds,
//! and the format must be named. What follows `//` is a comment.
//!
//! Source: `SSDsim` (Hu et al.); its example equals the Financial1 SPC trace row by row.

use crate::five::{STEP_NS_MIN, look, whole_line};
use crate::registry::{Format, Head, Parser, Sniff, WithUnit};
use crate::row::Extra;
use crate::unit::TimeUnit;

pub(crate) const FORMAT: Format = Format {
    name: "ssdsim",
    title: "SSDsim ASCII (nanoseconds, sectors)",
    extensions: &["ascii", "trace"],
    extra: Extra::NONE,
    write: Some(|| Box::new(super::mqsim::Writer::of("SSDsim"))),
    sniff,
    parser: |_| Parser::Text(Box::new(WithUnit::new(TimeUnit::Nanoseconds, whole_line))),
};

fn sniff(head: &Head) -> Sniff {
    let Some(five) = look(head) else { return Sniff::No };
    if five.point || five.flags {
        return Sniff::No;
    }
    if five.step < STEP_NS_MIN {
        return Sniff::Maybe("because its rows are `time device sector size operation` (time in ns)".to_owned());
    }
    Sniff::Yes(
        "because its rows are five whole numbers and the first is a time in nanoseconds (mqsim reads the same, unless \
         its workload file sets another Time_Unit)"
            .to_owned(),
    )
}
