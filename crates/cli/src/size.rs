//! Sizes of memory as people type and read them: `500MB`, `2GB`, `64k`, or a plain number of bytes.

/// The units with their number of bytes.
const UNITS: [(&str, u64); 4] = [("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("B", 1)];

/// Parses a size. A kilobyte has 1,024 bytes. The error is advice for the user.
pub(crate) fn parse(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let bytes_per_unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(advice()),
    };
    let amount: f64 = digits.trim_end().parse().map_err(|_| advice())?;
    let bytes = amount * bytes_per_unit as f64;
    if !(1.0..=u64::MAX as f64 / 2.0).contains(&bytes) {
        return Err(advice());
    }
    Ok(bytes as usize)
}

/// Parses a memory limit of at least `MIN` bytes. A smaller number is probably one without its
/// unit.
pub(crate) fn parse_limit<const MIN: usize>(text: &str) -> Result<usize, String> {
    match parse(text)? {
        bytes if bytes < MIN => Err(format!(
            "{} is too little, the minimum is {}; write a size such as 64MB or 2GB",
            show(bytes),
            show(MIN)
        )),
        bytes => Ok(bytes),
    }
}

/// Returns the advice for a text that is not a size.
fn advice() -> String {
    "write a size such as 64MB, 2GB or 500k".to_owned()
}

/// Renders a size with the precision that a person cares about.
pub(crate) fn show(bytes: usize) -> String {
    let bytes = bytes as u64;
    let fitting = UNITS[..3].iter().rev().find(|(_, unit)| bytes >= *unit);
    let (name, unit) = fitting.unwrap_or(&UNITS[3]);
    let amount = bytes as f64 / *unit as f64;
    let amount = if bytes.is_multiple_of(*unit) || amount >= 10.0 {
        format!("{amount:.0}")
    } else {
        format!("{amount:.1}")
    };
    format!("{amount} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (text, bytes) in [
            ("1", 1),
            ("64 MB", 64 << 20),
            ("1.5k", 1536),
            ("2gib", 2 << 30),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "-1", "0", "nan", "1e300", "3 apples", "٣"] {
            assert_eq!(parse(text), Err(advice()), "{text}");
        }
        assert_eq!(parse_limit::<1024>("1k"), Ok(1024));
        assert!(
            parse_limit::<1024>("5").is_err_and(|advice| advice.contains("the minimum is 1 KB"))
        );
        let shown = [1, 1536, 64 << 20, 5 << 30, 12_345_678].map(show);
        assert_eq!(shown, ["1 B", "1.5 KB", "64 MB", "5 GB", "12 MB"]);
    }
}
