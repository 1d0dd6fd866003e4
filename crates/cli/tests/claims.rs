//! Does docs/claims.md say what `nandlab claims` says?

mod common;

use common::{json, nandlab, stderr, stdout};

const PAGE: &str = include_str!("../../../docs/claims.md");
/// Columns of a row, and how many cells it has. A table of readings has other columns: what was measured is in all but the
/// first.
const CELLS: usize = 9;
const CLAIM: usize = 1;
const MEASURED: usize = 5;
const VERDICT: usize = 6;
const NOTE: usize = 7;

/// A note without its figures, which are those of the run; a ratio of nothing is none.
fn words(note: &str) -> String {
    note.replace("NaN", "")
        .replace("inf ", " ")
        .chars()
        .filter(|c| !c.is_ascii_digit() && !",.-".contains(*c))
        .collect()
}

/// No ratio of nothing, and none of something to nothing.
fn is_finite(note: &str) -> bool {
    !note.split(|c: char| !c.is_alphanumeric()).any(|word| ["NaN", "inf"].contains(&word))
}

/// The rows of all tables, split into cells; the first and last are empty.
fn rows(page: &str) -> Vec<Vec<&str>> {
    page.lines().filter(|line| line.starts_with("| ")).map(|line| line.split('|').map(str::trim).collect()).collect()
}

/// The section of an experiment.
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let heading = format!("## {title}\n");
    let from = page.find(&heading).unwrap_or_else(|| panic!("no section {title}"));
    let text = &page[from..];
    text[3..].find("\n## ").map_or(text, |end| &text[..end + 3])
}

#[test]
fn claims_page_is_what_a_run_says_except_for_the_figures() {
    let short = stdout(&["claims", "--limit", "300"]);
    let (page, short) = (rows(PAGE), rows(&short));
    assert_eq!(page.len(), short.len(), "rows of docs/claims.md: run `nandlab claims > docs/claims.md`");
    for (written, said) in page.iter().zip(&short) {
        assert_eq!(written.len(), said.len());
        if written.len() != CELLS {
            assert_eq!(written[CLAIM], said[CLAIM]);
            continue;
        }
        for (column, (written, said)) in written.iter().zip(said).enumerate() {
            let alike = column == NOTE && words(written) == words(said);
            assert!(is_finite(written), "{written}");
            assert!(written == said || alike || column == MEASURED || column == VERDICT, "{written}\n{said}");
        }
        let verdicts = ["**reproduced**", "**partly**", "**not**", "**not tested**", "verdict"];
        assert!(verdicts.contains(&written[VERDICT]), "{}", written[VERDICT]);
    }
}

#[test]
fn claims_page_figures_are_those_of_a_full_run() {
    // Those that take seconds; the others take minutes, and nothing in them is different in kind.
    for (name, title) in [("arithmetic", "Arithmetic"), ("urm", "URM"), ("rftl", "RFTL")] {
        let full = stdout(&["claims", name]);
        assert_eq!(section(&full, title).trim(), section(PAGE, title).trim(), "run `nandlab claims > docs/claims.md`");
    }
}

#[test]
fn misspelt_experiment_is_answered_with_the_right_one() {
    let output = nandlab(&["claims", "aalrv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `aalru`?"), "{}", stderr(&output));
}

#[test]
fn claims_do_not_depend_on_the_number_of_threads() {
    let run = |threads| stdout(&["claims", "wpa", "--limit", "500", "--threads", threads, "--json", "-"]);
    let one = run("1");
    assert_eq!(one, run("3"));
    let parts = json(&one);
    let rows = parts[0]["rows"].as_array().unwrap();
    assert!(parts[0]["part"] == "WPA" && rows.len() == 6 && rows[0]["verdict"].is_string(), "{one}");
    // Six claims under two ways to count the NVRAM, and two sizes of the baselines' memory.
    let matrix = parts[0]["matrix"]["rows"].as_array().unwrap();
    let cells: Vec<_> = matrix.iter().map(|row| row["cells"].as_array().unwrap()).collect();
    assert!(cells.len() == 6 && cells.iter().all(|cells| cells.len() == 4), "{one}");
    // NVRAM writes are those of policies that both have one; hits depend on what the others have.
    assert!(cells[4][0] == cells[4][1] && cells[0][0] != cells[0][1] && cells[0][0] != cells[0][2], "{one}");
}
