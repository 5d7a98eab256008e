//! Numbers: those that the user gives, and those that are shown with their nouns (`65,536 actions`).

use std::num::NonZero;
use std::str::FromStr;

/// Parses a whole number that may be 0. The error is advice for the user.
pub(crate) fn parse_from_zero<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| "must be a whole number from 0".to_owned())
}

/// Parses a whole number that must not be 0. The error is advice for the user.
pub(crate) fn parse_nonzero(text: &str) -> Result<NonZero<usize>, String> {
    text.parse()
        .map_err(|_| "must be a whole number from 1".to_owned())
}

/// Renders a number with its noun, in the plural where needed.
pub(crate) fn format_count(number: u64, noun: &str) -> String {
    let noun = match number {
        1 => noun.to_owned(),
        _ => plural(noun),
    };
    format!("{} {noun}", grouped(number))
}

/// Returns the plural of a noun.
pub(crate) fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with("ch") || noun.ends_with("sh") => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// Renders a number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_and_thousands() {
        assert_eq!(format_count(0, "action"), "0 actions");
        assert_eq!(format_count(1, "property"), "1 property");
        assert_eq!(format_count(2, "property"), "2 properties");
        assert_eq!(format_count(2, "branch"), "2 branches");
        assert_eq!(format_count(2, "crash"), "2 crashes");
        assert_eq!(
            [999, 1_000, 1_234_567].map(grouped),
            ["999", "1,000", "1,234,567"]
        );
    }
}
