//! Reports of sweeps: what they say is what the cells have, and the page needs nothing besides itself.

mod common;

use std::path::PathBuf;

use common::{TINY, json, nandlab, stderr, stdout, temporary};

/// A sweep that is done, in a folder of its own.
fn swept(name: &str, plan: &str) -> (PathBuf, String) {
    let folder = temporary(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("plan.toml");
    std::fs::write(&file, plan).unwrap();
    let results = folder.join("results").to_str().unwrap().to_owned();
    stdout(&["sweep", file.to_str().unwrap(), "-o", &results, "-q"]);
    (folder, results)
}

fn plan(seeds: &str) -> String {
    format!(
        "name = 'two'\ntitle = 'A <title> & \"more\"'\n{seeds}\n\
         [workloads.zipf]\ntrace = ['make:zipf:theta=0.9']\nlimit = 4000\naddress = 'modulo'\n\
         [devices.tiny]\nbase = '{TINY}'\n[buffers]\nlru = 'lru'\nfifo = 'fifo'\nnone = 'none'\n\
         [ftls]\npage = 'page'\ndftl = 'dftl'\n\
         [axes.ram]\n64KiB = ['ram.dram=64KiB']\n256KiB = ['ram.dram=256KiB']\n1MiB = ['ram.dram=1MiB']\n"
    )
}

#[test]
fn page_is_one_safe_file_and_always_the_same() {
    let (folder, results) = swept("report-page", &plan(""));
    let page = folder.join("page.html");
    let figures = folder.join("figures");
    let args = ["report", &results, "-o", page.to_str().unwrap(), "--figures", figures.to_str().unwrap()];
    stdout(&args);
    let first = std::fs::read_to_string(&page).unwrap();
    stdout(&args);
    assert_eq!(first, std::fs::read_to_string(&page).unwrap());
    assert_eq!(first, stdout(&["report", &results, "-o", "-"]));
    assert!(first.len() < 400 << 10, "{} bytes", first.len());
    assert!(first.contains("default-src 'none'") && first.contains("A &lt;title&gt; &amp; &quot;more&quot;"));
    for loaded in ["<script", "src=", "href=", "url(", "@import", "A <title>"] {
        assert!(!first.contains(loaded), "{loaded}");
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(figures).unwrap() {
        names.push(entry.unwrap().file_name().into_string().unwrap());
    }
    let svgs = names.iter().filter(|name| name.contains(".svg")).count();
    let dark = names.iter().filter(|name| name.contains(".dark.svg")).count();
    assert_eq!((svgs, dark), (2 * first.matches("<svg").count(), first.matches("<svg").count()));
    names.retain(|name| !name.contains(".dark.svg"));
    for name in &names {
        assert!(first.contains(name.as_str()), "the page names {name}");
    }
}

#[test]
fn tables_have_the_values_of_the_cells() {
    let (folder, results) = swept("report-values", &plan(""));
    let figures = folder.join("figures");
    stdout(&["report", &results, "-o", "-", "--figures", figures.to_str().unwrap()]);
    let cells = json(&stdout(&["sweep", "status", &results, "--json"]));
    let cells = cells["cells"].as_array().unwrap();
    let value = |buffer: &str, ftl: &str, ram: &str, path: &str| {
        let name = format!("{buffer}/{ftl}/{ram}");
        let cell = cells.iter().find(|cell| cell["cell"] == name.as_str()).expect("there is the cell");
        cell["report"].pointer(path).unwrap().as_f64().unwrap()
    };
    // Every line of the figure of the mean response time.
    let csv = std::fs::read_to_string(figures.join("over-ram-mean.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 18);
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let mean = value(fields[0], fields[2], fields[1], "/response/all/mean_ns");
        assert!((fields[3].parse::<f64>().unwrap() - mean).abs() < 1e-6 * mean, "{line}");
    }
    // How many times the best: the geometric mean over the sizes, by its definition.
    let csv = std::fs::read_to_string(figures.join("best-waf.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("buffer,dftl,page"));
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        for (ftl, told) in ["dftl", "page"].into_iter().zip(&fields[1..]) {
            let mut product = 1.0;
            for ram in ["64KiB", "256KiB", "1MiB"] {
                let waf = |buffer| value(buffer, ftl, ram, "/write_amplification/host");
                let best = ["lru", "fifo", "none"].into_iter().map(waf).fold(f64::INFINITY, f64::min);
                product *= waf(fields[0]) / best;
            }
            assert!((told.parse::<f64>().unwrap() - product.cbrt()).abs() < 1e-9, "{ftl}: {line}");
        }
    }
    // Who has the most hits, and where.
    let page = stdout(&["report", &results, "-o", "-"]);
    let hits = |buffer: &str, ftl: &str, ram: &str| value(buffer, ftl, ram, "/hits/page/total");
    let wins = ["page", "dftl"].into_iter().flat_map(|ftl| ["64KiB", "256KiB", "1MiB"].map(|ram| (ftl, ram)));
    let wins = wins.filter(|(ftl, ram)| hits("lru", ftl, ram) > hits("fifo", ftl, ram)).count();
    assert!(page.contains(&format!("lru has the highest page hit ratio in {wins} of 6 combinations")), "{wins}");
}

#[test]
fn differences_within_chance_are_no_wins() {
    // The same policy under two names: no seed tells them apart.
    let text = plan("seeds = [1, 2, 3, 4]").replace("fifo = 'fifo'", "again = 'lru'").replace("none = 'none'\n", "");
    let (_, results) = swept("report-seeds", &text);
    let page = stdout(&["report", &results, "-o", "-"]);
    assert!(page.contains("mean of 4 seeds"), "{page}");
    assert!(page.contains("No value has the lowest mean response time by more than chance in any of 6 combinations."));
}

#[test]
fn missing_cells_are_told_and_compared_with_nothing() {
    let (folder, results) = swept("report-missing", &plan(""));
    let cells = json(&stdout(&["sweep", "status", &results, "--json"]));
    let cell = cells["cells"].as_array().unwrap().iter().find(|cell| cell["cell"] == "none/page/1MiB").unwrap();
    let figures = folder.join("figures");
    let table = || {
        stdout(&["report", &results, "-o", "-", "--figures", figures.to_str().unwrap()]);
        std::fs::read_to_string(figures.join("best-waf.csv")).unwrap()
    };
    let before = table();
    std::fs::remove_file(format!("{results}/cells/{}.parquet", cell["id"].as_str().unwrap())).unwrap();
    let after = table();
    let page = stdout(&["report", &results, "-o", "-"]);
    assert!(page.contains("The table leaves 1 combinations out that lack a value."), "{page}");
    assert!(!page.contains("results.parquet"), "it is that of other cells");
    // DFTL's column is as it was; that of page is the mean of two sizes for all buffers.
    for (before, after) in before.lines().zip(after.lines()) {
        let (before, after): (Vec<_>, Vec<_>) = (before.split(',').collect(), after.split(',').collect());
        assert_eq!(before[..2], after[..2]);
    }
}

#[test]
fn best_is_judged_by_the_seeds_that_all_have() {
    let (_, results) = swept("report-uneven", &plan("seeds = [1, 2, 3]"));
    let cells = json(&stdout(&["sweep", "status", &results, "--json"]));
    let page = || stdout(&["report", &results, "-o", "-"]);
    let combinations = |page: &str| {
        let line = page.lines().find(|line| line.contains("page hit ratio in ")).unwrap().to_owned();
        line.split(" of ").nth(1).unwrap().split(' ').next().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(combinations(&page()), 6);
    // One value has one seed left: no interval, so nothing is said of this combination.
    for seed in ["2", "3"] {
        let name = format!("lru/page/1MiB/{seed}");
        let cell = cells["cells"].as_array().unwrap().iter().find(|cell| cell["cell"] == name.as_str()).unwrap();
        std::fs::remove_file(format!("{results}/cells/{}.parquet", cell["id"].as_str().unwrap())).unwrap();
    }
    let uneven = page();
    assert!(uneven.contains("Some values have fewer seeds"));
    assert_eq!(combinations(&uneven), 5);
}

#[test]
fn report_needs_a_sweep_with_a_result() {
    let output = nandlab(&["report", "/no/such/folder"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no sweep"), "{}", stderr(&output));
}
