//! The fitted device as a file.

use nandlab::config::Config;

use super::Fitted;
use super::told::Told;

/// A configuration in TOML that says where it comes from.
pub(super) fn text(fitted: &Fitted, mut config: Config) -> String {
    let Fitted { data, base, requests, evaluations, seed, .. } = fitted;
    let worst = |held_out: bool| {
        let errors = fitted.errors.iter().filter(|error| error.held_out == held_out).map(|error| error.error);
        errors.reduce(f64::max).map(|error| format!("{:.0} %", error * 100.0))
    };
    let mut source = format!(
        "fitted by nandlab {} to {data} ({requests} requests), from {base}, {evaluations} evaluations, seed {seed}",
        env!("CARGO_PKG_VERSION")
    );
    for (held_out, what) in [(false, "in sample"), (true, "out of sample")] {
        if let Some(worst) = worst(held_out) {
            source += &format!("; largest error of p50, p95 and p99 {what}: {worst}");
        }
    }
    let name = config.device.name;
    config.device.name = if name.ends_with("-fitted") { name } else { format!("{name}-fitted") };
    config.device.source = source;
    let mut text =
        String::from("# Written by `nandlab fit`. What the data did not tell is as good with other values:\n");
    if fitted.interrupted {
        text = String::from("# Written by `nandlab fit`, which was interrupted: the best until then.\n");
    }
    for parameter in fitted.parameters.iter().filter(|parameter| parameter.told != Told::Found) {
        let (low, high) = (&parameter.low, &parameter.high);
        let said = match parameter.told {
            Told::Roughly => format!("{low} to {high}"),
            Told::AtLeast => format!("at least {low}"),
            Told::AtMost => format!("at most {high}"),
            Told::SomeOf => format!("one of {}", parameter.choices.join(", ")),
            Told::Nothing | Told::Found => "not told".to_owned(),
        };
        text += &format!("# {}: {said}\n", parameter.key);
    }
    text + &config.to_toml()
}
