//! `nandlab pages`: one page for each buffer policy, its manual and what was measured with it.

use std::path::Path;

use clap::Args;
use nandlab_lab::pages;

use crate::fail::Failure;
use crate::progress::Progress;
use crate::{number, output};

/// Arguments of `pages`.
#[derive(Args, Debug)]
pub struct PagesArgs {
    /// Where the pages go; the folder is made if it does not exist.
    pub folder: String,
    /// Traces to measure besides the generated workloads; they are named by their file names.
    #[arg(value_name = "TRACE")]
    pub trace: Vec<String>,
    /// Measure nothing: write the pages with the figures that were measured last.
    #[arg(long, conflicts_with = "trace")]
    pub keep: bool,
    /// Measure these policies only, by name and comma; the others keep their figures.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "keep")]
    pub buffers: Vec<String>,
    /// Where the measured figures go; the next build has those of `crates/lab/measured.csv`.
    #[arg(long, value_name = "FILE", required_unless_present = "keep", conflicts_with = "keep")]
    pub figures: Option<String>,
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = number::threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,
}

/// Runs the command.
pub fn pages(args: &PagesArgs) -> Result<(), Failure> {
    let measured = if args.keep {
        pages::RECORDED.to_owned()
    } else {
        pages::measure(&args.buffers, &args.trace, args.threads, &Progress::new("measuring", false).watch())?
    };
    if let Some(file) = &args.figures {
        output::write_file(file, measured.as_bytes())?;
    }
    output::make_folder(&args.folder)?;
    for (name, text) in pages::pages(&measured) {
        output::write_file(&Path::new(&args.folder).join(name).to_string_lossy(), text.as_bytes())?;
    }
    Ok(())
}
