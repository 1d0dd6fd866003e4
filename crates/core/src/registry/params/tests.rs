//! Are parameters read, refused and told as they are declared?

use std::ops::Bound::{Excluded, Unbounded};

use super::*;

#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// The oldest first.
    Oldest,
    /// The page that was
    /// used last.
    #[serde(untagged)]
    Share(f64),
}

params! {
    struct Params {
        /// Size of the window: a long text, which does not fit into a line of the manual page, so that it is broken
        /// where the line ends.
        window: f64 = 0.5, in 0.0..=1.0, "fraction of the frames";
        /// How far it moves.
        #[serde(alias = "stride")]
        step: Option<u32> = None, in 1.., "pages", absent "a twentieth of the frames";
        /// A factor.
        beta: f64 = 5.0, in (Excluded(1.0), Unbounded);
        /// Room.
        room: Bytes = Bytes::kib(4), in Bytes(512)..=Bytes::mib(1);
        /// Who leaves.
        order: Option<Order> = None;
        /// Whether it moves.
        dynamic: bool = false;
        /// How often.
        period: u32 = 9, in 1.., "accesses", with dynamic = true;
        /// Where to.
        place: Option<u32> = None, absent "the end", unless order = "oldest";
    }
}

fn read(params: Value) -> Result<Params, ConfigError> {
    crate::registry::parameters("buffer", "example", params)
}

#[test]
fn parameter_out_of_its_range_is_refused_with_what_to_do() {
    for (params, key, problem, help) in [
        (json!({"window": 1.5}), "buffer.window", "1.5 is outside", "use 0 to 1; the default is 0.5"),
        (json!({"window": -0.1}), "buffer.window", "0 to 1 (fraction of the frames)", "use 0 to 1"),
        (json!({"step": 0}), "buffer.step", "0 is outside", "use 1 or more; or leave it out for a twentieth"),
        (json!({"stride": 0}), "buffer.step", "1 or more (pages)", "use 1 or more"),
        (json!({"beta": 1}), "buffer.beta", "1 is outside", "use more than 1; the default is 5"),
        (json!({"room": 511}), "buffer.room", "511B is outside", "use 512B to 1MiB; the default is `4KiB`"),
        (json!({"room": "2MiB"}), "buffer.room", "2MiB is outside", "use 512B to 1MiB"),
        (json!({"window": "wide"}), "buffer.window", "expected a number", "describe example"),
        (json!({"widow": 1}), "buffer.widow", "unknown field", "describe example"),
        (
            json!({"period": 10}),
            "buffer.period",
            "10 has no effect with `dynamic = false`",
            "it needs `dynamic = true`",
        ),
        (
            json!({"order": "oldest", "place": 1}),
            "buffer.place",
            "with `order = \"oldest\"`",
            "it needs another `order` than `oldest`",
        ),
    ] {
        let error = read(params.clone()).expect_err("it is refused");
        assert_eq!(error.key, key, "{params}");
        assert!(error.problem.contains(problem) && error.help.contains(help), "{params}: {error}");
    }
}

#[test]
fn parameter_at_the_ends_of_its_range_is_accepted() {
    for params in [
        json!({"window": 0, "step": 1, "beta": 1.0_f64.next_up(), "room": 512}),
        json!({"window": 1, "step": null, "room": "1MiB", "order": 0.5}),
        json!({"step": u32::MAX}),
        json!({"dynamic": true, "period": 10, "place": 3}),
        json!({"order": "oldest", "period": 9}),
    ] {
        let read = read(params.clone()).unwrap_or_else(|error| panic!("{params}: {error}"));
        assert_eq!(
            json!(crate::registry::parameters::<Params>("buffer", "example", json!(read)).unwrap()),
            json!(read)
        );
    }
    assert_eq!(json!(read(json!({})).unwrap()), json!(Params::default()));
}

#[test]
fn schema_has_bounds_defaults_and_texts() {
    let schema = schema::<Params>();
    let of = |name: &str, keyword: &str| schema["properties"][name][keyword].clone();
    assert_eq!((of("window", "minimum"), of("window", "maximum")), (json!(0.0), json!(1.0)));
    assert_eq!((of("step", "minimum"), of("step", "maximum")), (json!(1), Value::Null));
    assert_eq!((of("beta", "exclusiveMinimum"), of("window", "default")), (json!(1.0), json!(0.5)));
    let text = "How far it moves. Unit: pages. If absent: a twentieth of the frames.";
    assert_eq!(of("step", "description"), text);
    assert_eq!(of("period", "description"), "How often. Unit: accesses. Needs: `dynamic = true`.");
    assert_eq!((of("dynamic", "minimum"), schema["additionalProperties"].clone()), (Value::Null, json!(false)));
}

#[test]
fn manual_has_every_fact_of_a_parameter() {
    let wanted = "\
- `window` (fraction of the frames, 0 to 1, default 0.5): Size of the window: a long text, which does not fit into a
  line of the manual page, so that it is broken where the line ends.
- `step` (pages, 1 or more, default a twentieth of the frames): How far it moves.
- `beta` (more than 1, default 5.0): A factor.
- `room` (512B to 1MiB, default `4KiB`): Room.
- `order` (absent by default): Who leaves.
  - `oldest`: The oldest first.
  - a number: The page that was used last.
- `dynamic` (default false): Whether it moves.
- `period` (accesses, 1 or more, default 9, needs `dynamic = true`): How often.
- `place` (default the end, needs another `order` than `oldest`): Where to.
";
    assert_eq!(section(Params::list(), Params::defaults(), &schema::<Params>()), wanted);
    assert_eq!(section(&[], &json!({}), &json!({})), "None.\n");
}
