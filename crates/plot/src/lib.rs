//! Charts for reports: [`Figure`]s of [`Panel`]s with axes in units, as SVG, PDF, PNG or as text for a terminal.
//!
//! A figure is laid out once into a [`Scene`], a short list of rectangles, lines, dots and texts; SVG, PDF and PNG are
//! renderings of the same scene. All text is set in a monospaced face, whose widths are known without asking any system:
//! nothing overlaps anywhere, and the same figure is the same bytes on every machine.
//!
//! ```
//! use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};
//! let points = vec![[4096.0, 10.0], [65536.0, 40.0], [1048576.0, 90.0]];
//! let panel = Panel::new("hit ratio", Axis::log("size", AxisUnit::Bytes, [4096.0, 1048576.0]))
//!     .y(Axis::linear("hits", AxisUnit::Percent, [0.0, 100.0]))
//!     .layer(Layer::line("LRU", points));
//! let figure = Figure::new("example", "three points").row(vec![panel]);
//! assert!(figure.scene().svg().starts_with("<svg"));
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::format_push_string, clippy::format_collect, reason = "pictures are small")]

mod area;
mod axis;
mod colour;
mod curves;
mod data;
mod figure;
mod fit;
mod log;
mod page;
mod panel;
mod pdf;
mod png;
mod scene;
mod svg;
mod terminal;

pub use axis::{Axis, AxisUnit, Tick};
pub use colour::{Colour, PALETTE, ramp};
pub use figure::Figure;
pub use panel::{HeatMap, Join, Layer, Panel, Series};
pub use png::PngError;
pub use scene::{Anchor, Mark, Scene};
