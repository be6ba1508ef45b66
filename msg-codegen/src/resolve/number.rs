//! Floating-point numbers as schemas write them, and what functions make of them.

use std::f64::consts::PI;

/// A floating-point number as schemas write it.
pub(super) fn real(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => Some(sign * hexadecimal_real(hexadecimal)?),
        None if digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
            Some(sign * digits.parse::<f64>().ok()?)
        }
        None => constant(text),
    }
}

/// `1.8p3` of `0x1.8p3`.
fn hexadecimal_real(text: &str) -> Option<f64> {
    // FlatBuffers wants the exponent, so that `0x10` is always an integer.
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // More digits than fit are more than the number can tell apart.
    let digits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(4 * fraction.len()).ok()?)?;
    Some(digits as f64 * 2f64.powi(exponent))
}

/// `nan`, `inf` and `infinity`, with a sign, in any case.
pub(super) fn constant(name: &str) -> Option<f64> {
    let (sign, name) = match name.strip_prefix('-') {
        Some(name) => (-1.0, name),
        None => (1.0, name.strip_prefix('+').unwrap_or(name)),
    };
    match name.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "inf" | "infinity" => Some(sign * f64::INFINITY),
        _ => None,
    }
}

/// The functions that a default may use.
pub(super) const FUNCTIONS: [&str; 8] = ["deg", "rad", "sin", "cos", "tan", "asin", "acos", "atan"];

/// The value of a function; `None` if there is no such function.
pub(super) fn function(name: &str, number: f64) -> Option<f64> {
    let value = match name {
        "deg" => number / PI * 180.0,
        "rad" => number * PI / 180.0,
        "sin" => number.sin(),
        "cos" => number.cos(),
        "tan" => number.tan(),
        "asin" => number.asin(),
        "acos" => number.acos(),
        "atan" => number.atan(),
        _ => return None,
    };
    // FlatBuffers' own compiler keeps so many digits of each result; defaults are part of the contract with its readers.
    Some(format!("{value:.12}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals() {
        let check = |text: &str, expected: Option<f64>| {
            assert_eq!(real(text).map(f64::to_bits), expected.map(f64::to_bits), "{text}");
        };
        check("1", Some(1.0));
        check("-.5", Some(-0.5));
        check("+1e3", Some(1000.0));
        check("-0", Some(-0.0));
        check("0x1.8p3", Some(12.0));
        check("-0xff", None);
        check("1e400", Some(f64::INFINITY));
        check("-Inf", Some(f64::NEG_INFINITY));
        check("NaN", Some(f64::NAN));
        check("pi", None);
        check("0x1p99999999999", None);
    }

    #[test]
    fn functions() {
        let check = |name: &str, number: f64, expected: Option<f64>| {
            assert_eq!(function(name, number), expected, "{name}({number})");
        };
        check("rad", 100.0, Some(1.745_329_251_994));
        check("deg", 1.25, Some(71.619_724_391_353));
        check("sin", 1.0, Some(0.841_470_984_808));
        check("acos", 0.25, Some(1.318_116_071_653));
        check("deg", f64::INFINITY, Some(f64::INFINITY));
        check("-rad", 1.0, None);
        assert!(function("asin", 2.0).is_some_and(f64::is_nan));
    }
}
