//! The formats: one file each, one line here. What the user reads about a format is the doc comment of its file.

use crate::registry::Format;

macro_rules! formats {
    ($($name:ident),* $(,)?) => {
        $(pub(crate) mod $name;)*
        /// All formats, in the order in which they are listed.
        pub(crate) static FORMATS: &[&Format] = &[$(&$name::FORMAT),*];
        /// Their sources, whose doc comments are the manuals.
        pub(crate) static SOURCES: &[&str] = &[$(include_str!(concat!("formats/", stringify!($name), ".rs"))),*];
    };
}

formats! {
    nandlab,
    parquet,
    spc,
    msr,
    blkreplay,
    disksim,
    ssdsim,
    mqsim,
    flashsim,
    diskmon,
    heimdall,
    vscsi,
    fiu,
    biotracer,
    pixel,
    systor,
    alibaba,
    tencent,
    lirs,
    arc,
    hpsrt,
    blkparse,
    blktrace,
    wpa,
    fio,
    fio_lat,
    xperf,
    columns,
    oracle_general,
}

/// Whether requests of this format say themselves what they carry: our own forms.
pub(crate) fn is_own(name: &str) -> bool {
    matches!(name, "nandlab" | "parquet" | "columns")
}
