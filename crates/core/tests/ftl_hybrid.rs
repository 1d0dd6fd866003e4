//! Do the page-mapped, block-mapped and hybrid FTLs do what papers, theory and NAND demand?

use nandlab::conform::{self, ConformError};

const GOLDEN: &[(&str, &str)] = &[
    ("ftl-page.json", include_str!("golden/ftl-page.json")),
    ("ftl-block.json", include_str!("golden/ftl-block.json")),
    ("ftl-bast.json", include_str!("golden/ftl-bast.json")),
    ("ftl-fast.json", include_str!("golden/ftl-fast.json")),
    ("ftl-dftl.json", include_str!("golden/ftl-dftl.json")),
    ("ftl-rftl.json", include_str!("golden/ftl-rftl.json")),
];

#[test]
fn does_every_ftl_do_what_the_worked_examples_say() {
    for (file, text) in GOLDEN {
        match conform::run(text) {
            Ok(report) => {
                let all: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
                println!("{file}: {} cases, {} steps, {} differences", report.cases, report.steps, all.len());
                assert!(all.is_empty(), "{file}:\n{}", all.join("\n"));
            }
            Err(ConformError::Unknown(error)) => println!("{file}: skipped, {error}"),
            Err(error) => panic!("{file}: {error}"),
        }
    }
}
