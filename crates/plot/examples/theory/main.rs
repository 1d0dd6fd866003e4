//! Draws docs/theory/*.svg and renews the table of docs/theory.md from docs/theory/results.csv.
//!
//! `cargo run -p nandlab-plot --example theory [-- png FOLDER]`; `scripts/theory.sh` measures the points first. With
//! `png FOLDER` it writes the pictures as PNG files there instead, to look at them.
#![allow(missing_docs, clippy::doc_markdown)]

mod figures;
mod formulas;

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let points = figures::points(&fs::read_to_string(docs.join("theory/results.csv"))?)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["png", folder] => Some(Path::new(folder).to_owned()),
        _ => return Err("usage: theory [png FOLDER]".into()),
    };
    for (name, figure) in figures::figures(&points) {
        match &folder {
            Some(folder) => fs::write(folder.join(name).with_extension("png"), figure.scene().png()?)?,
            None => fs::write(docs.join("theory").join(name).with_extension("svg"), figure.scene().svg())?,
        }
    }
    if folder.is_none() {
        let page = docs.join("theory.md");
        fs::write(&page, figures::with_table(&fs::read_to_string(&page)?, &points)?)?;
    }
    Ok(())
}
