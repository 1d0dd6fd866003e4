//! Reports of sweeps: what they say is what the cells have, and the page needs nothing besides itself.

mod common;

use std::path::PathBuf;

use common::{TINY, folder, json, nandlab, refusal, stderr, stdout};

/// A sweep that is done, in a folder of its own.
fn swept(name: &str, plan: &str) -> (PathBuf, String) {
    let folder = folder(name);
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
    for loaded in ["src=", "href=", "url(", "@import", "import(", "fetch(", "A <title>"] {
        assert!(!first.contains(loaded), "{loaded}");
    }
    // What is packed, and one script, which the policy of the page names.
    assert_eq!((first.matches("<script").count(), first.matches("'sha256-").count()), (2, 2));
    assert!(first.contains("<figure data-zoom>") && first.contains("id=\"packed\""));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(figures).unwrap() {
        names.push(entry.unwrap().file_name().into_string().unwrap());
    }
    let svgs = names.iter().filter(|name| name.contains(".svg")).count();
    let dark = names.iter().filter(|name| name.contains(".dark.svg")).count();
    let pdfs = names.iter().filter(|name| name.contains(".pdf")).count();
    let figures = first.matches("<svg").count();
    assert_eq!((svgs, dark, pdfs), (2 * figures, figures, figures));
    names.retain(|name| !name.contains(".dark.svg"));
    for name in &names {
        assert!(first.contains(name.as_str()), "the page names {name}");
    }
}

/// Where the best of a combination is 0 no value is so many times as much: none of them is averaged over the others alone.
#[test]
fn combination_without_a_factor_counts_for_no_value() {
    let writes =
        |span: &str| format!("trace = ['make:uniform:span={span}:writes=1']\nlimit = 20000\naddress = 'modulo'\n");
    let plan = format!(
        "name = 'zero'\n[workloads.hot]\n{}[workloads.wide]\n{}[devices.tiny]\nbase = '{TINY}'\n\
         set = ['ram.dram=64KiB']\n[buffers]\nlru = 'lru'\nnone = 'none'\n",
        writes("64KiB"),
        writes("1MiB")
    );
    let (folder, results) = swept("report-zero", &plan);
    let figures = folder.join("figures");
    let page = stdout(&["report", &results, "-o", "-", "--figures", figures.to_str().unwrap()]);
    let csv = std::fs::read_to_string(figures.join("best-erases.csv")).unwrap();
    assert!(page.contains("without one combination, in which a value is 0"), "{csv}");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["buffer", "hot_times_best", "wide_times_best"]);
    assert!(rows[1..].iter().all(|row| row[1].is_empty() && !row[2].is_empty()), "{csv}");
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
    assert_eq!(csv.lines().next(), Some("buffer,ram,in,mean_ns,interval_ns"));
    assert_eq!(csv.lines().count(), 1 + 18);
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let mean = value(fields[0], fields[2], fields[1], "/response/all/mean_ns");
        assert!((fields[3].parse::<f64>().unwrap() - mean).abs() < 1e-6 * mean, "{line}");
    }
    // How many times the best: the geometric mean over the sizes, by its definition.
    let csv = std::fs::read_to_string(figures.join("best-waf.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("buffer,dftl_times_best,page_times_best"));
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
    // Numbers of a CSV file are in the unit that its head names: percent, and points below the best, not above.
    let read = |name: &str| std::fs::read_to_string(figures.join(name)).unwrap();
    let (each, best) = (read("each-hits.csv"), read("best-hits.csv"));
    assert_eq!(each.lines().next(), Some("in,fifo_percent,lru_percent,none_percent"));
    assert_eq!(best.lines().next(), Some("buffer,dftl_points,page_points"));
    let line = each.lines().find(|line| line.starts_with("\"dftl, 256KiB\",")).unwrap();
    let lru: f64 = line.rsplit(',').nth(1).unwrap().parse().unwrap();
    assert!((lru - 100.0 * value("lru", "dftl", "256KiB", "/hits/page/total")).abs() < 1e-9, "{line}");
    let points = best.lines().skip(1).flat_map(|line| line.split(',').skip(1));
    assert!(points.map(|field| field.parse::<f64>().unwrap()).all(|points| (0.0..100.0).contains(&points)), "{best}");
    // The distribution reaches a percentile of the report where that is, and not before.
    let csv = std::fs::read_to_string(figures.join("distribution.csv")).unwrap();
    for (path, wanted) in
        [("/response/all/p50_ns", 50.0), ("/response/all/p99_ns", 99.0), ("/response/all/max_ns", 100.0)]
    {
        let edge = value("lru", "dftl", "256KiB", path);
        let of_cell = csv.lines().filter(|line| line.starts_with("lru,\"dftl, 256KiB\","));
        let points = of_cell.map(|line| {
            let numbers: Vec<f64> = line.rsplit(',').take(2).map(|field| field.parse().unwrap()).collect();
            (numbers[1], numbers[0])
        });
        let points: Vec<(f64, f64)> = points.collect();
        let at = points.iter().rposition(|(within, _)| *within == edge).expect("it is an edge");
        assert!(points[at].1 >= wanted && points[at - 1].1 < wanted, "{path}: {points:?}");
    }
    // What is shown over the run goes to its end.
    let csv = std::fs::read_to_string(figures.join("run-hits.csv")).unwrap();
    let ends = csv.lines().filter(|line| line.split(',').rev().nth(1) == Some("4000")).count();
    assert_eq!(ends, 18, "{csv}");
    // Who has the most hits, and where.
    let page = stdout(&["report", &results, "-o", "-"]);
    let hits = |buffer: &str, ftl: &str, ram: &str| value(buffer, ftl, ram, "/hits/page/total");
    let wins = ["page", "dftl"].into_iter().flat_map(|ftl| ["64KiB", "256KiB", "1MiB"].map(|ram| (ftl, ram)));
    let wins = wins.filter(|(ftl, ram)| hits("lru", ftl, ram) > hits("fifo", ftl, ram)).count();
    assert!(page.contains(&format!("Highest page hit ratio, of 6 combinations: lru {wins} (")), "{wins}");
}

#[test]
fn figures_and_metrics_of_times_are_shares_of_the_distribution() {
    let more = "[metrics.soon]\npath = 'times.response.reads[at_most_ns<=100000].share'\nwords = 'reads within 100 us'\n\
                unit = 'ratio'\ngood = 'high'\n[figures.fig1]\ntitle = 'reads'\nprinted = 'half within 100 us'\n\
                times = 'response.reads'\nwhere = { ram = ['256KiB'] }\nvalues = { 'lru/100us' = 50 }\n\
                [figures.fig2]\ntitle = 'reads'\nprinted = 'half'\nmetric = 'soon'\nwhere = { ram = ['256KiB'] }\n";
    let (folder, results) = swept("report-times", &(plan("") + more));
    let figures = folder.join("figures");
    let page = stdout(&["report", &results, "-o", "-", "--figures", figures.to_str().unwrap()]);
    assert!(page.contains("Printed: half within 100 us.") && page.contains("<title>Fig 1: reads</title>"), "{page}");
    let read = |name: &str| std::fs::read_to_string(figures.join(name)).unwrap();
    let (distribution, shares) = (read("fig1.csv"), read("fig2.csv"));
    let head = shares.lines().next().unwrap().split(',').skip(2);
    let names: Vec<&str> = head.map(|name| name.strip_suffix("_percent").unwrap()).collect();
    for line in shares.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        for (buffer, share) in names.iter().zip(&fields[2..]) {
            let own = distribution.lines().filter(|line| line.starts_with(&format!("{buffer},{},", fields[0])));
            let points = own.map(|line| line.split(',').skip(2).map(|n| n.parse::<f64>().unwrap()).collect::<Vec<_>>());
            let within = points.filter(|point| point[0] <= 100_000.0).map(|point| point[1]).fold(0.0, f64::max);
            assert!((within - share.parse::<f64>().unwrap()).abs() < 1e-9, "{buffer} {line}");
        }
    }
    let misspelt = plan("") + "[figures.fig1]\ntitle = 'reads'\nprinted = ''\ntimes = 'respones.reads'\n";
    let metric = |path: &str| format!("{}[metrics.m]\npath = '{path}'\nwords = 'm'\nunit = 'ratio'\n", plan(""));
    let figure = |more: &str| format!("{}[figures.fig1]\ntitle = 'reads'\nprinted = ''\n{more}\n", plan(""));
    let claim = "[[claims]]\nplace = 'p'\nclaim = 'c'\nprinted = ''\nmetric = 'meen'\ntest.first = { value = 'lru' }\n";
    // What is misspelt is found when the plan is read: no cell is run, and there is no folder.
    for (text, said) in [
        (misspelt, ["figures.fig1: times: there is no `respones.reads`", "did you mean `response.reads`?"]),
        (
            metric("1 - times.operations.map_raed[at_most_ns<=9].share"),
            ["metrics.m.path: times: there is no `operations.map_raed`", "did you mean `operations.map_read`?"],
        ),
        (metric("hits.page.total /"), ["metrics.m.path: `hits.page.total /`", "is out of place"]),
        (figure("metric = 'hist'"), ["figures.fig1: metric: there is no `hist`", "did you mean `hits`?"]),
        (plan("") + claim, ["claims: p: metric: there is no `meen`", "did you mean `mean`?"]),
        (figure("times = 'response.reads'\nvalues = { lru = 50 }"), ["`lru` has no time", "VALUE/TIME"]),
    ] {
        let file = folder.join("wrong.toml");
        std::fs::write(&file, text).unwrap();
        let wrong = folder.join("wrong");
        let output = nandlab(&["sweep", file.to_str().unwrap(), "-o", wrong.to_str().unwrap()]);
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(said.iter().all(|words| error.contains(words)), "{error}");
        assert!(!wrong.join("cells").exists(), "{error}");
    }
}

#[test]
fn report_tells_what_was_not_measured() {
    let text = plan("").replace("limit = 4000\n", "limit = 4000\nwarm_up = 'mser-5'\n");
    let (_, results) = swept("report-warm-up", &text);
    let page = stdout(&["report", &results, "-o", "-"]);
    let cells = json(&stdout(&["sweep", "status", &results, "--json"]));
    let cut = |cell: &serde_json::Value| cell["report"]["trace"]["warm_up"]["requests"].as_u64().unwrap();
    let cuts: Vec<u64> = cells["cells"].as_array().unwrap().iter().map(cut).collect();
    let (least, most) = (cuts.iter().min().unwrap(), cuts.iter().max().unwrap());
    assert!(page.contains("requests of 18 cells are not measured, cut by MSER-5."), "{least} {most}");
    assert!(least == most || page.contains(&format!("with `warm_up = {most}` for the workload they would")), "{page}");
}

#[test]
fn differences_within_chance_are_no_wins() {
    // The same policy under two names: no seed tells them apart.
    let text = plan("seeds = [1, 2, 3, 4]").replace("fifo = 'fifo'", "again = 'lru'").replace("none = 'none'\n", "");
    let (_, results) = swept("report-seeds", &text);
    let page = stdout(&["report", &results, "-o", "-"]);
    assert!(page.contains("mean of 4 seeds"), "{page}");
    assert!(page.contains(
        "Lowest mean response time, of 6 combinations: undecided 6 (the best two do not differ by more than chance)."
    ));
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
    // The sentence counts the combinations of the table.
    for words in ["Lowest mean response time, of 5 combinations: ", "; 1 other lacks a value and does not count.</p>"] {
        assert!(page.contains(words), "{page}");
    }
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
        let line = page.lines().find(|line| line.contains("Highest page hit ratio, of ")).unwrap().to_owned();
        line.split(", of ").nth(1).unwrap().split(' ').next().unwrap().parse::<u32>().unwrap()
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
fn markdown_keeps_the_words_of_others_in_their_places() {
    let text = plan("").replace("none = 'none'", "'a|b' = 'none'");
    let text = text.replace("A <title> & \"more\"", "A <title> <img src=x>");
    let (_, results) = swept("report-markdown", &text);
    let html = format!("{results}.html");
    let page = stdout(&["report", &results, "-o", &html, "--markdown", "-"]);
    assert!(page.starts_with("# A &lt;title> &lt;img src=x>\n"), "{page}");
    // Every row of a table has the columns of its head.
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut tables = 0;
    for table in page.split("\n\n").filter(|part| part.starts_with('|')) {
        let counts: Vec<usize> = table.lines().map(columns).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{table}");
        tables += usize::from(table.contains("a\\|b"));
    }
    assert!(tables >= 8, "{page}");
    // Erases are whole numbers, and write amplifications are not.
    let section = |title: &str| page.split("\n## ").find(|section| section.starts_with(title)).unwrap();
    assert!(!section("Number of erases: every").contains(".000"), "{page}");
    assert!(section("Write amplification (programs per page of the host): every").contains('.'), "{page}");
}

/// Only runs tell whether there are map reads.
#[test]
fn metric_that_no_run_has_is_left_out_and_named() {
    let metric = |name: &str, path: &str| {
        format!("[metrics.{name}]\npath = '{path}'\nwords = 'w'\nunit = 'ratio'\ngood = 'high'\n")
    };
    let own =
        metric("within", "times.operations.map_read[at_most_ns<=300000].share") + &metric("zero", "flash.accesses / 0");
    let figure = "[figures.f]\ntitle = 't'\nprinted = 'p'\ntimes = 'operations.map_read'\n";
    let plan =
        format!("name = 'left-out'\n[workloads.w]\nlimit = 500\n[buffers]\na = 'lru'\nb = 'fifo'\n{own}{figure}");
    let (folder, results) = swept("report-left-out", &plan);
    let html = folder.join("page.html").to_str().unwrap().to_owned();
    let page = stdout(&["report", &results, "-o", &html, "--markdown", "-"]);
    for words in [
        "No run has a value of within (`times.operations.map_read[at_most_ns<=300000].share`), which is left out.",
        "No run has a value of zero (`flash.accesses / 0`), which is left out.",
        "No run has times of operations.map_read, so that figure f is left out.",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn report_needs_a_sweep_with_a_result() {
    let said = refusal(&["report", "/no/such/folder"]);
    assert!(said.contains("there is no sweep"), "{said}");
}
