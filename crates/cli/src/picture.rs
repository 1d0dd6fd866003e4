//! Pictures: where they go.

use std::str::FromStr;

use nandlab_plot::Figure;

use crate::fail::{Exit, Failure};
use crate::output;
use crate::style::Style;

/// Columns of a picture on the terminal.
const TERMINAL: usize = 100;

/// Where a picture goes, and so its form.
#[derive(Clone, Debug)]
pub enum Target {
    /// Text on standard output.
    Terminal,
    /// An SVG file.
    Svg(String),
    /// A PDF file.
    Pdf(String),
    /// A PNG file.
    Png(String),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ends = |ending: &str| text.len() > ending.len() && text.to_ascii_lowercase().ends_with(ending);
        match text {
            "-" => Ok(Self::Terminal),
            _ if ends(".svg") => Ok(Self::Svg(text.to_owned())),
            _ if ends(".pdf") => Ok(Self::Pdf(text.to_owned())),
            _ if ends(".png") => Ok(Self::Png(text.to_owned())),
            _ => Err("a picture is a file that ends in .svg, .pdf or .png, or `-` for the terminal".to_owned()),
        }
    }
}

impl Target {
    /// It is written to standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self, Self::Terminal)
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Svg(path) | Self::Pdf(path) | Self::Png(path) => Some(path),
            Self::Terminal => None,
        }
    }

    /// Opens a result as JSON and a picture, which are asked for or not, before there is anything to write or to draw.
    pub fn open_both(json: Option<&str>, plot: Option<&Self>) -> Result<(output::Target, output::Target), Failure> {
        Ok((output::Target::open(json)?, output::Target::open(plot.and_then(Self::file))?))
    }

    /// Draws it into the file that was opened for it.
    pub fn draw(&self, file: output::Target, figure: &Figure, style: Style) -> Result<(), Failure> {
        match self {
            Self::Terminal => output::print(&figure.terminal(TERMINAL, style.is_on())),
            Self::Svg(_) => file.write_bytes(figure.scene().svg().as_bytes()),
            Self::Pdf(_) => file.write_bytes(&figure.scene().pdf()),
            Self::Png(path) => {
                let png = figure.scene().png();
                file.write_bytes(&png.map_err(|error| Failure::Message(Exit::Failed, format!("{path}: {error}")))?)
            }
        }
    }
}
