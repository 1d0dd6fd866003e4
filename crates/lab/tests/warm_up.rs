//! Warm-ups that cannot be cut are refused.

use nandlab_lab::{Device, Foresight, Run, WarmUp, Watch, Workload};

#[test]
fn rule_that_runs_twice_is_refused_with_hints_of_ones_own() {
    let report = |warm_up, foresight| {
        let device = Device { set: vec!["precondition=none".to_owned()], ..Device::of("lab") };
        let workload = Workload { limit: Some(500), warm_up, foresight, ..Workload::of("make:oltp") };
        Run { device, workload }.report(&Watch::default())
    };
    let look = || Some(Foresight::new(|_| Ok(())));
    let error = report(Some(WarmUp::Mser5), look()).unwrap_err().to_string();
    assert!(error.contains("warm_up: mser-5 runs the workload twice"), "{error}");
    // One of the two alone is fine.
    let cut = report(Some(WarmUp::Requests(100)), look()).unwrap().trace.warm_up.unwrap();
    assert_eq!((cut.requests, cut.rule.as_str()), (100, "given"));
    assert_eq!(report(Some(WarmUp::Mser5), None).unwrap().trace.warm_up.unwrap().rule, "mser-5");
}
