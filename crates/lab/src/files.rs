//! Files of results.

use std::io::{self, Write};
use std::path::Path;

use nandlab_trace::WholeFile;

use crate::error::Error;

/// Why a file or a folder is not there.
pub(crate) fn cannot_write(target: &Path) -> impl Fn(io::Error) -> Error {
    move |source| Error::Write { target: target.display().to_string(), source }
}

/// Makes a folder and those above it, if they are not there.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(cannot_write(folder))
}

/// Writes a file as a whole or not at all.
pub(crate) fn write_file(target: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    let write = || {
        let mut file = WholeFile::create(target)?;
        file.write_all(content.as_ref())?;
        file.commit()
    };
    write().map_err(cannot_write(target))
}
