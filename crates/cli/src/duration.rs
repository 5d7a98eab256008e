//! Durations as people type and read them: `30s`, `2m`, `1h`, `30d`, `1.5s`, `500ms`, or a plain
//! number of seconds.

use std::time::Duration;

/// Parses a duration. The error is advice for the user.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let seconds_per_unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(advice()),
    };
    let amount: f64 = digits.trim_end().parse().map_err(|_| advice())?;
    let seconds = amount * seconds_per_unit;
    if seconds <= 0.0 {
        return Err("must be more than zero".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| advice())
}

/// Returns the advice for a text that is no duration.
fn advice() -> String {
    "write a duration such as 30s, 2m, 1.5h, 30d, 500ms, or a number of seconds".to_owned()
}

/// Renders a duration with the precision that a person cares about.
pub(crate) fn show(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..0.01 => format!("{:.1}ms", seconds * 1000.0),
        ..1.0 => format!("{seconds:.2}s"),
        ..10.0 if duration.subsec_millis() >= 50 => format!("{seconds:.1}s"),
        ..60.0 => format!("{seconds:.0}s"),
        ..3600.0 => format!(
            "{}m {:02}s",
            duration.as_secs() / 60,
            duration.as_secs() % 60
        ),
        _ => format!(
            "{}h {:02}m",
            duration.as_secs() / 3600,
            duration.as_secs() / 60 % 60
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (text, milliseconds) in [
            ("30s", 30_000),
            ("30", 30_000),
            ("1.5s", 1_500),
            (".5", 500),
            ("500ms", 500),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
            ("30d", 2_592_000_000),
            (" 3 s ", 3_000),
        ] {
            assert_eq!(
                parse(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_durations_are_refused_with_advice() {
        for text in ["", "s", "soon", "3x", "1h30", "nan", "inf", "1e400", "٣s"] {
            assert_eq!(parse(text), Err(advice()), "{text}");
        }
        for text in ["0", "0s", "-1s"] {
            assert_eq!(
                parse(text),
                Err("must be more than zero".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn shown_with_sensible_precision() {
        let shown = [0, 4, 120, 1_010, 1_500, 12_340, 61_000, 3_723_000]
            .map(|milliseconds| show(Duration::from_millis(milliseconds)));
        assert_eq!(
            shown,
            [
                "0.0ms", "4.0ms", "0.12s", "1s", "1.5s", "12s", "1m 01s", "1h 02m"
            ]
        );
    }
}
