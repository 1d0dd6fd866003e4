//! Figures in words, for findings.

/// `1,234,567`.
pub(super) fn amount(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `once`, `1,234 times`.
pub(super) fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{} times", amount(n)) }
}

/// `1.5 GiB`.
pub(super) fn bytes(n: u64) -> String {
    let (mut value, mut unit) = (n as f64, 0);
    while value >= 1024.0 && unit < 6 {
        value /= 1024.0;
        unit += 1;
    }
    let unit = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit];
    if unit == "B" { format!("{n} B") } else { format!("{value:.2} {unit}") }
}

/// `12.30 %`.
pub(super) fn percent(part: u64, whole: u64) -> String {
    format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// `300 ms`, `12.5 s`, `3.2 h`: three digits.
pub(super) fn span(seconds: f64) -> String {
    let units = [(86_400.0, "days"), (3_600.0, "h"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
    let (length, unit) = units.into_iter().find(|(length, _)| seconds >= *length).unwrap_or((1e-9, "ns"));
    let value = seconds / length;
    let decimals = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!([amount(0), amount(999), amount(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([times(1), times(2), times(1_000)], ["once", "2 times", "1,000 times"]);
        assert_eq!([bytes(512), bytes(1536), bytes(3 << 30)], ["512 B", "1.50 KiB", "3.00 GiB"]);
        assert_eq!([span(0.3), span(12.5), span(5_400.0), span(2e-6)], ["300 ms", "12.5 s", "1.50 h", "2.00 us"]);
        assert_eq!(percent(1, 3), "33.33 %");
    }
}
