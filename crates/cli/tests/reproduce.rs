//! Does docs/claims.md say what the results of `nandlab reproduce` say, and does the command do what it is asked?

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{folder, refusal, stdout};
use nandlab_lab::papers::PAPERS;
use nandlab_lab::{Claim, Experiment};

const CLAIMS: &str = include_str!("../../../docs/claims.md");

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}

/// The experiments of papers that have a page, and the page.
fn published() -> Vec<(Experiment, String)> {
    let page = |experiment: Experiment| {
        let page = fs::read_to_string(docs(&format!("results/{}.md", experiment.name))).ok()?;
        Some((experiment, page))
    };
    PAPERS.iter().filter_map(|paper| page(paper.experiment().unwrap())).collect()
}

/// The section with a title.
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let heading = format!("## {title}\n");
    let from = page.find(&heading).unwrap_or_else(|| panic!("no section {title}"));
    page[from + 3..].find("\n## ").map_or(&page[from..], |end| &page[from..from + 3 + end])
}

#[test]
fn claims_page_has_the_claims_of_every_paper_as_its_results_have_them() {
    let published = published();
    assert!(published.len() >= 5, "the papers have pages");
    for (experiment, page) in published {
        let section = section(CLAIMS, &experiment.title);
        for Claim { place, claim, printed, control, .. } in &experiment.claims {
            let place = if *control { format!("{place}, control") } else { place.clone() };
            let row = format!("| {place} | {claim} | {printed} | ");
            let rows =
                |text: &str| text.lines().filter(|line| line.starts_with(&row)).map(str::to_owned).collect::<Vec<_>>();
            assert!(!rows(section).is_empty(), "docs/claims.md: run `nandlab reproduce`: no row {row}");
            assert_eq!(rows(section), rows(&page), "docs/results/{}.md", experiment.name);
        }
        let rows = section.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(rows, experiment.claims.len() + 1, "{}: a claim is gone", experiment.title);
        assert!(section.contains(experiment.about.trim()), "{}: its text changed", experiment.title);
        assert!(!section.contains("NaN") && !section.contains(" inf "), "{section}");
    }
}

#[test]
fn published_numbers_are_those_of_runs() {
    let folder = folder("published");
    let (experiment, page) = published().into_iter().find(|(experiment, _)| experiment.name == "rftl").unwrap();
    let plan = PAPERS.iter().find(|paper| paper.name() == "rftl").unwrap().text();
    let some = "\n[[cells]]\nworkload = ['read-dominant']\ndevice = ['filled']\nftl = ['DFTL', 'RFTL(1)']\nmap = ['eagletree']\n\
                arrivals = ['depth-32']\ncache = ['32KiB', '512KiB']\n";
    let file = folder.join("plan.toml");
    fs::write(&file, plan.to_owned() + some).unwrap();
    let (results, markdown) = (text(folder.join("results")), text(folder.join("some.md")));
    stdout(&["sweep", &text(file), "-o", &results, "-q"]);
    stdout(&["report", &results, "-o", &text(folder.join("some.html")), "--markdown", &markdown]);
    let said = fs::read_to_string(markdown).unwrap();
    let title = "Table 6: ";
    let rows = |page: &str| -> Vec<String> {
        let from = page.find(&format!("## {title}")).expect("the table is there");
        let end = page[from + 3..].find("\n## ").map_or(page.len(), |end| from + 3 + end);
        page[from..end].lines().filter(|line| line.starts_with("| ")).map(str::to_owned).collect()
    };
    for cache in ["32KiB", "512KiB"] {
        let own = rows(&said).into_iter().find(|row| row.contains(cache)).expect("a row for the size");
        let numbers = own.split_once(cache).unwrap().1;
        let published =
            rows(&page).into_iter().find(|row| row.contains(cache) && row.contains("filled, depth-32, eagletree"));
        assert!(
            published.as_ref().is_some_and(|row| row.ends_with(numbers)),
            "{}: {own} {published:?}",
            experiment.name
        );
    }
}

#[test]
fn reproduction_of_a_figure_runs_what_it_needs_and_goes_on() {
    let folder = folder("reproduce");
    let out = text(folder.join("out"));
    let trace = concat!("mine=", env!("CARGO_MANIFEST_DIR"), "/../trace/tests/fixtures/msr.csv");
    let arguments = ["reproduce", "hitstat", "--figure", "section5.3.1", "-n", "3000", "-o", &out];
    let first = stdout(&arguments);
    // Three buffers on two workloads; a second reading of HitStat.
    assert!(first.contains("hitstat: 8 cells, 8 run now") && first.contains("Of 1 claim 1 holds"), "{first}");
    assert!(stdout(&arguments).contains("hitstat: 8 cells, 0 run now"));
    let with_trace = stdout(&[&arguments[..], &["--trace", trace]].concat());
    assert!(with_trace.contains("hitstat: 12 cells, 4 run now"), "{with_trace}");
    let page = fs::read_to_string(format!("{out}/hitstat/report.md")).unwrap();
    assert!(
        page.contains("| section 5.3.1 |") && page.contains("| stream-zipf, log-64 |") && !page.contains("table 5"),
        "{page}"
    );
    let left = Path::new(&out).join("hitstat/figures/claim-9.csv");
    fs::write(&left, "of a call that was asked for more").unwrap();
    let part = stdout(&[&arguments[..], &["--shard", "1/2"]].concat());
    assert!(!part.contains("Not all cells") && !left.exists(), "{part}");
    let part = stdout(&[
        "reproduce",
        "hitstat",
        "--figure",
        "section5.3.1",
        "-n",
        "200",
        "-o",
        &(out.clone() + "-part"),
        "--shard",
        "1/4",
    ]);
    assert!(part.contains("Not all cells have a result yet: what follows is of those that do."), "{part}");
    for file in ["figures/claim-1.csv", "report.html", "experiment.toml", "results.parquet"] {
        assert!(Path::new(&out).join("hitstat").join(file).is_file(), "{file}");
    }
    // The page of all claims is made of all papers, in full.
    assert!(page.contains("*A part, a quick look") && !Path::new(&out).join("claims.md").exists());
}

#[test]
fn mistakes_of_reproduce_say_what_is_there() {
    let folder = folder("reproduce-errors");
    let out = text(folder.join("out"));
    for (arguments, words) in [
        (vec!["aalrv"], vec!["there is no `aalrv`", "did you mean `aalru`?"]),
        (vec!["rftl", "--figure", "t", "-n", "10"], vec!["no paper of these has `t`", "fig10"]),
        (vec!["rftl", "--figure", "99"], vec!["no paper of these has `99`", "fig10"]),
        (vec!["rftl", "--trace", "x"], vec!["fin1=Financial1.spc"]),
        (vec!["hitstat", "--figure", "section5.3.1", "--trace", "x=/nowhere/t.csv"], vec!["/nowhere/t.csv"]),
    ] {
        let said = refusal(&[&["reproduce", "-o", &out], arguments.as_slice()].concat());
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
}
