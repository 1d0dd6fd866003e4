//! A logarithm that is the same on every machine, so that pictures are.

/// Binary logarithm of a positive number to 2^-24, by squaring; the least finite number for all others.
pub(crate) fn log2(value: f64) -> f64 {
    if value.is_nan() || value <= 0.0 {
        return f64::MIN;
    }
    let (mut whole, mut rest) = (0.0, value.min(f64::MAX));
    while rest >= 2.0 {
        rest /= 2.0;
        whole += 1.0;
    }
    while rest < 1.0 {
        rest *= 2.0;
        whole -= 1.0;
    }
    let (mut fraction, mut weight) = (0.0, 0.5);
    for _ in 0..24 {
        rest *= rest;
        if rest >= 2.0 {
            rest /= 2.0;
            fraction += weight;
        }
        weight /= 2.0;
    }
    whole + fraction
}

#[cfg(test)]
mod tests {
    use super::log2;

    #[test]
    fn log_is_the_logarithm() {
        for value in [1.0, 2.0, 3.0, 0.1, 1e-9, 1e18, 12_345.678] {
            assert!((log2(value) - f64::log2(value)).abs() < 1e-7, "{value}");
        }
        assert_eq!((log2(0.0), log2(-1.0), log2(f64::NAN)), (f64::MIN, f64::MIN, f64::MIN));
    }
}
