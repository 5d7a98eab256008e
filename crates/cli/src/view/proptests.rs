//! Property tests of the panel: every picture fits and contains no control characters.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::columns;

/// Removes the colors from a line.
pub(super) fn strip_colours(line: &str) -> String {
    let mut pieces = line.split("\x1b[");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (code, words) = piece.split_once('m').expect("only colours are used");
        assert!(
            code.chars()
                .all(|letter| letter.is_ascii_digit() || letter == ';'),
            "{line:?}"
        );
        text.push_str(words);
    }
    text
}

/// Generates texts with all kinds of characters that could upset a terminal.
fn words() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        4 => any::<char>(),
        2 => prop::char::range('\0', '\u{a0}'),
        1 => prop::char::range('\u{300}', '\u{36f}'),
        1 => prop::char::range('\u{2000}', '\u{206f}'),
        1 => prop::char::range('一', '丿'),
        1 => prop::char::range('\u{fe00}', '\u{fe0f}'),
        1 => prop::char::range('\u{1f300}', '\u{1f6ff}'),
    ];
    prop::collection::vec(letters, 0..60).prop_map(String::from_iter)
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (0..200_000u64).prop_map(Duration::from_millis),
        any::<u64>().prop_map(Duration::from_secs),
    ]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..2_000u64, any::<u64>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_campaign_does_the_panel_fits_and_is_harmless(
        (harness, seed) in (words(), any::<u64>()),
        (elapsed, limit, tests_wanted) in (time(), prop::option::of(time()), prop::option::of(number())),
        (tests, steps, rate) in (number(), number(), any::<f64>()),
        since_new in prop::option::of(time()),
        points in prop::collection::vec((time(), number()), 0..20),
        failures in prop::collection::vec((any::<usize>(), words(), words(), number(), 0..3), 0..8),
        workers in prop::collection::vec((any::<usize>(), 0..5, time(), words(), any::<f64>(), number()), 0..20),
        notice in prop::option::of(words()),
        (width, height, colour) in (0..260usize, 0..14usize, any::<bool>()),
    ) {
        let mut curve = Curve::new();
        for (at, covered) in points {
            curve.record(at, covered);
        }
        let failures: Vec<FailureLine<'_>> = failures.iter().map(|(number, kind, message, times, state)| FailureLine {
            number: *number,
            kind,
            message,
            times: *times,
            state: match state {
                0 => FailureProgress::Found,
                1 => FailureProgress::Reducing,
                _ => FailureProgress::Reduced(*number),
            },
        }).collect();
        let workers: Vec<WorkerLine<'_>> = workers.iter().map(|(number, doing, lasts, text, rate, crashes)| WorkerLine {
            number: *number,
            activity: match doing {
                0 => WorkerActivity::Loading,
                1 => WorkerActivity::Testing,
                2 => WorkerActivity::Reducing(*number),
                3 => WorkerActivity::Restarting,
                _ => WorkerActivity::SlowStep { elapsed: *lasts, text },
            },
            steps_per_second: *rate,
            crashes: *crashes,
        }).collect();
        let status = CampaignStatus {
            harness: &harness,
            seed,
            elapsed,
            time: limit,
            tests_wanted,
            tests,
            steps,
            steps_per_second: rate,
            covered: curve.range().map(|(_, top)| top),
        unit: "branch",
            since_new,
            failures: &failures,
            workers: &workers,
            curve: &curve,
            notice: notice.as_deref(),
        };
        let lines = lines(&status, width, height, colour);
        prop_assert!(lines.len() <= height);
        prop_assert!(height == 0 || !lines.is_empty());
        for painted in &lines {
            let text = strip_colours(painted);
            prop_assert!(columns::width(&text) <= width, "{text:?}");
            prop_assert!(unicode_width::UnicodeWidthStr::width(text.as_str()) <= width, "{text:?}");
            prop_assert_eq!(columns::escape_control(&text), text.as_str());
            prop_assert!(!text.chars().any(char::is_control), "{:?}", text);
            prop_assert_eq!(columns::painted_width(painted), columns::width(&text));
            prop_assert!(colour || *painted == text);
        }
        let plain = line(&status);
        prop_assert!(!plain.chars().any(char::is_control));
    }
}
