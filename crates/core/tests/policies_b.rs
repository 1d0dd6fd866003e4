//! Do `aalru` and `hitstat` do what their papers say?

#[path = "policies_b/aalru.rs"]
mod aalru;
#[path = "policies_b/hitstat.rs"]
mod hitstat;
#[path = "policies_b/rig.rs"]
mod rig;

#[test]
fn do_they_do_what_the_worked_examples_say() {
    for (file, cases, steps) in [
        (include_str!("golden/policies/aalru.json"), 3, 17 + 19 + 19),
        (include_str!("golden/policies/long/aalru.json"), 1, 241),
        (include_str!("golden/policies/hitstat.json"), 3, 39),
        (include_str!("golden/policies/long/hitstat.json"), 1, 247),
    ] {
        let report = nandlab::conform::policy::replay(&serde_json::from_str(file).unwrap()).unwrap();
        assert_eq!(report.differences, []);
        assert_eq!((report.cases, report.steps), (cases, steps), "{}", report.policy);
    }
}
