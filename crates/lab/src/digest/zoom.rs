//! Zoom and pan: a page carries the numbers of its figures and uPlot, packed, and a script that unpacks them when a reader asks.
//! The policy of the page lets these two scripts run, which it names by their hashes, and nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::figures::Shown;

/// What the page does when a reader asks.
const SCRIPT: &str = include_str!("zoom.js");
/// Leon Sorokin, uPlot 1.6.32, MIT; its licence goes with it.
const UPLOT: &str = include_str!("../../vendor/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../../vendor/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../../vendor/uplot/LICENSE");
/// How hard the packing tries, up to 10.
const EFFORT: u8 = 9;

/// The figures of a page that can be shown larger.
pub(super) struct Zoom {
    /// By the names of their sections.
    figures: Map<String, Value>,
}

impl Zoom {
    pub(super) fn of(shown: &[Shown]) -> Self {
        let mut figures = Map::new();
        for shown in shown {
            let panels = shown.zoom.as_ref().or(shown.figure.as_ref()).map(nandlab_plot::Figure::data);
            let panels = panels.filter(|panels| panels.as_array().is_some_and(|panels| !panels.is_empty()));
            figures.extend(panels.map(|panels| (super::file_name(&shown.name), panels)));
        }
        Self { figures }
    }

    /// The section has a figure with series.
    pub(super) fn has(&self, section: &str) -> bool {
        self.figures.contains_key(section)
    }

    /// What the policy of the page allows for it; empty for a page without figures.
    pub(super) fn policy(&self) -> String {
        if self.figures.is_empty() {
            return String::new();
        }
        let name = |script: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)));
        format!("; script-src {} {}", name(SCRIPT), name(UPLOT))
    }

    /// The end of the page; empty for one without figures.
    pub(super) fn scripts(&self) -> String {
        if self.figures.is_empty() {
            return String::new();
        }
        let packed = json!({ "program": UPLOT, "style": UPLOT_STYLE, "figures": self.figures });
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(packed.to_string().as_bytes(), EFFORT);
        format!(
            "<!-- uPlot 1.6.32, in the packed part, is not nandlab's:\n{}\n-->\n\
             <script type=\"application/octet-stream\" id=\"packed\">{}</script>\n<script>{SCRIPT}</script>\n",
            UPLOT_LICENCE.trim(),
            STANDARD.encode(packed)
        )
    }
}

#[cfg(test)]
mod tests {
    use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};

    use super::super::figures::Data;
    use super::*;

    fn shown(name: &str, figure: Option<Figure>, zoom: Option<Figure>) -> Shown {
        let data = Data { head: Vec::new(), rows: Vec::new() };
        Shown { name: name.to_owned(), title: String::new(), sentence: String::new(), figure, zoom, data, drawn: None }
    }

    fn figure(panels: usize) -> Figure {
        let axis = || Axis::linear("ram", AxisUnit::Bytes, [0.0, 9.0]);
        let panel = |n| Panel::new(&format!("panel {n}"), axis()).layer(Layer::line("lru", vec![[1.0, 2.5]]));
        Figure::new("a figure", "").grid((0..panels).map(panel).collect(), 1)
    }

    fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
        let rest = text.split_once(before).unwrap_or_else(|| panic!("there is no {before}")).1;
        rest.split_once(after).unwrap().0
    }

    #[test]
    fn page_carries_the_figures_and_names_the_scripts_that_it_lets_run() {
        let all = [
            shown("Best by p99", None, None),
            shown("Left out", Some(figure(0)), None),
            shown("Over RAM", Some(figure(1)), None),
            shown("The run", Some(figure(2)), Some(figure(9))),
        ];
        let zoom = Zoom::of(&all);
        let [table, empty, small, large] = all.each_ref().map(|shown| super::super::file_name(&shown.name));
        assert_eq!([&table, &empty, &small, &large].map(|name| zoom.has(name)), [false, false, true, true]);
        let scripts = zoom.scripts();
        let packed = STANDARD.decode(between(&scripts, "id=\"packed\">", "<")).unwrap();
        let packed: Value =
            serde_json::from_slice(&miniz_oxide::inflate::decompress_to_vec_zlib(&packed).unwrap()).unwrap();
        assert_eq!(packed["figures"][&small], all[2].figure.as_ref().unwrap().data());
        assert_eq!(packed["figures"][&large].as_array().map(Vec::len), Some(9), "all panels, not those of the picture");
        // A browser compares what stands between the tags with the policy.
        for script in [between(&scripts, "<script>", "</script>"), packed["program"].as_str().unwrap()] {
            assert!(zoom.policy().contains(&STANDARD.encode(Sha256::digest(script))));
        }
        assert!(scripts.contains("Permission is hereby granted"), "the licence of uPlot goes with it");
    }

    #[test]
    fn page_without_figures_has_no_script() {
        let zoom = Zoom::of(&[shown("Best by p99", None, None)]);
        assert_eq!((zoom.policy(), zoom.scripts()), (String::new(), String::new()));
    }
}
