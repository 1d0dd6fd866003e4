//! Do generators reach the user, and do the presets have the figures of their papers?

mod common;

use common::{file, refusal, stdout};

#[test]
fn page_of_workloads_is_what_the_command_prints() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md")).unwrap();
    let list = stdout(&["list", "generators"]);
    assert!(page.contains(&list), "docs/workloads.md does not hold what `nandlab list generators` prints");
    // It fails if a figure is more than 2 % from what a paper prints.
    let check = stdout(&["trace", "make", "--check", "--markdown"]);
    assert!(page.ends_with(&check), "docs/workloads.md does not end with `nandlab trace make --check --markdown`");
}

#[test]
fn generated_trace_reads_back_unchanged() {
    let path = file("made.csv", "");
    stdout(&["trace", "make", "zipf:span=64MiB", "-n", "500", "--seed", "7", "-o", &path]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("make zipf:span=64MiB -n 500 --seed 7"), "the head says how it was made");
    assert_eq!(text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count(), 500);
    let report = |trace: &str| {
        let out = stdout(&["run", trace, "--seed", "7", "--limit", "500", "--json", "-", "--no-wall"]);
        let mut value: serde_json::Value = serde_json::from_str(&out).unwrap();
        value.as_object_mut().unwrap().remove("trace");
        value
    };
    assert_eq!(report(&path), report("make:zipf:span=64MiB"));
}

#[test]
fn mistake_in_a_generator_is_explained() {
    for (args, help) in [
        (&["trace", "make", "zipf:thta=1"][..], "did you mean `theta`?"),
        (&["trace", "make"], "NAME"),
        (&["trace", "make", "zipf", "--check"], "use one of t1"),
        (&["run", "make:unifrom"], "did you mean `uniform`?"),
        (&["run", "make:uniform:span=1TiB"], "--address compact"),
        (&["run", "make:zipf", "--format", "spc"], "a generator has no format"),
    ] {
        let said = refusal(args);
        assert!(said.contains(help), "{args:?}: {said}");
    }
}
