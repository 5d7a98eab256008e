//! Snapshot tests of the panel.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::proptests::strip_colours;
use super::*;

/// Returns coverage that grows fast at first.
fn growth(seconds: u64) -> Curve {
    let mut curve = Curve::new();
    for at in 0..=seconds {
        let covered = 1_234.0 - 700.0 / (1.0 + at as f64 * 0.4);
        curve.record(Duration::from_secs(at), covered as u64);
    }
    curve
}

fn status<'a>(
    failures: &'a [FailureLine<'a>],
    workers: &'a [WorkerLine<'a>],
    curve: &'a Curve,
) -> CampaignStatus<'a> {
    CampaignStatus {
        harness: "stack.tstl",
        seed: 42,
        elapsed: Duration::from_millis(48_300),
        time: Some(Duration::from_secs(120)),
        tests_wanted: None,
        tests: 12_040,
        steps: 1_204_000,
        steps_per_second: 61_234.5,
        covered: curve.range().map(|(_, top)| top),
        unit: "branch",
        since_new: Some(Duration::from_millis(3_400)),
        failures,
        workers,
        curve,
        notice: None,
    }
}

fn failure<'a>(number: usize, kind: &'a str, message: &'a str) -> FailureLine<'a> {
    FailureLine {
        number,
        kind,
        message,
        times: 1,
        state: FailureProgress::Found,
    }
}

fn failures() -> Vec<FailureLine<'static>> {
    let state = |state, times, line| FailureLine {
        state,
        times,
        ..line
    };
    vec![
        state(
            FailureProgress::Reduced(2),
            1_312,
            failure(
                1,
                "uncaught exception",
                "IndexError: list index out of range",
            ),
        ),
        state(
            FailureProgress::Reduced(17),
            40,
            failure(
                2,
                "property",
                "property stack0.height() >= 0 and stack0.items == sorted(stack0.items) is false",
            ),
        ),
        state(
            FailureProgress::Reducing,
            3,
            failure(
                3,
                "reference mismatch",
                "got '日本語', the reference has '日本'",
            ),
        ),
        failure(4, "crash", "segmentation fault\x1b[2J in\nstack0.pop()"),
    ]
}

fn worker(number: usize, doing: WorkerActivity<'_>) -> WorkerLine<'_> {
    WorkerLine {
        number,
        activity: doing,
        steps_per_second: 15_308.6,
        crashes: 0,
    }
}

const SLOW: WorkerActivity<'_> = WorkerActivity::SlowStep {
    elapsed: Duration::from_millis(3_900),
    text: "stack0.extend(range(1000000))",
};

fn workers() -> Vec<WorkerLine<'static>> {
    vec![
        worker(1, WorkerActivity::Testing),
        worker(2, SLOW),
        worker(3, WorkerActivity::Reducing(3)),
        WorkerLine {
            crashes: 2,
            ..worker(4, WorkerActivity::Testing)
        },
    ]
}

fn check(status: &CampaignStatus<'_>, width: usize, height: usize, expected: Expect) {
    let lines = lines(status, width, height, false);
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn when_the_time_is_over_it_tells_what_is_left_to_do() {
    let (failures, curve) = (failures(), growth(40));
    let mut status = status(&failures, &[], &curve);
    assert!(line(&status).ends_with(", 1m 12s left"));
    status.elapsed = Duration::from_secs(121);
    let open = failures
        .iter()
        .filter(|failure| !matches!(failure.state, FailureProgress::Reduced(_)));
    let expected = format!(
        ", {} to be reduced",
        quantity::format_count(open.count() as u64, "failure")
    );
    assert!(line(&status).ends_with(&expected));
    let reduced = &failures[..2];
    status.failures = reduced;
    assert!(line(&status).ends_with(", 1s left"));
}

#[test]
fn at_200_columns() {
    let (failures, workers, curve) = (failures(), workers(), growth(48));
    check(
        &status(&failures, &workers, &curve),
        199,
        50,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────────────────────────────────────────────────────────────────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            failures   4 different, in 1,356 tests
             #4   1×  found        crash               segmentation fault\u{1b}[2J in\nstack0.pop()
             #3   3×  reducing     reference mismatch  got '日本語', the reference has '日本'
             #2  40×  17 steps     property            property stack0.height() >= 0 and stack0.items == sorted(stack0.items) is false
            coverage   1,199 branches, new 3s ago                                                                workers    4: 2 testing, 1 reducing, 1 in a slow step, 2 crashes
                1,199          ▁▁▂▂▃▃▃▄▄▄▄▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇██████████████████████████     1  testing        15,308/s                        2  slow step for 3s: stack0.extend(range(10000…
                          ▃▃▆▆███████████████████████████████████████████████████████████████████████████████     3  reducing #3    15,308/s                        4  testing        15,308/s  2 crashes
                  534  ▁▇▇███████████████████████████████████████████████████████████████████████████████████
        "#]],
    );
    check(
        &status(&failures[..1], &workers[..1], &curve),
        199,
        50,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────────────────────────────────────────────────────────────────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            failures   1, in 1,312 tests
             #1  1,312×  2 steps      uncaught exception  IndexError: list index out of range
            coverage   1,199 branches, new 3s ago                                                                workers    1 testing
                1,199              ▁▁▂▂▂▃▃▃▃▄▄▄▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇█████████████████████     1  testing        15,308/s
                            ▂▂▅▆▆████████████████████████████████████████████████████████████████████████████
                        ▂▂▇▇█████████████████████████████████████████████████████████████████████████████████
                  534  ▁█████████████████████████████████████████████████████████████████████████████████████
        "#]],
    );
    check(
        &status(&[], &[], &curve),
        199,
        50,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────────────────────────────────────────────────────────────────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            failures   none so far
            coverage   1,199 branches, new 3s ago
                1,199              ▁▁▂▂▂▃▃▃▃▄▄▄▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇█████████████████████
                            ▂▂▅▆▆████████████████████████████████████████████████████████████████████████████
                        ▂▂▇▇█████████████████████████████████████████████████████████████████████████████████
                  534  ▁█████████████████████████████████████████████████████████████████████████████████████
        "#]],
    );
}

#[test]
fn at_80_columns() {
    let (failures, workers, curve) = (failures(), workers(), growth(48));
    check(
        &status(&failures, &workers, &curve),
        79,
        23,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            coverage   1,199 branches  ▂▄▅▆▆▆▇▇▇▇▇▇▇▇▇████████████████████  new 3s ago
            failures   4 different, in 1,356 tests
             #4   1×  found        segmentation fault\u{1b}[2J in\nstack0.pop()
             #3   3×  reducing     got '日本語', the reference has '日本'
             #2  40×  17 steps     property stack0.height() >= 0 and stack0.items == sorte…
            workers    4: 2 testing, 1 reducing, 1 in a slow step, 2 crashes
             1  testing        15,308/s              2  slow step for 3s: stack0.extend(r…
             3  reducing #3    15,308/s              4  testing        15,308/s  2 crashes
        "#]],
    );
    check(
        &status(&failures[..1], &workers[..1], &curve),
        79,
        23,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            coverage   1,199 branches  ▂▄▅▆▆▆▇▇▇▇▇▇▇▇▇████████████████████  new 3s ago
            failures   1, in 1,312 tests
             #1  1,312×  2 steps      IndexError: list index out of range
            workers    1 testing
             1  testing        15,308/s
        "#]],
    );
    check(
        &status(&[], &[], &curve),
        79,
        23,
        expect![[r#"
        stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
        testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
        coverage   1,199 branches  ▂▄▅▆▆▆▇▇▇▇▇▇▇▇▇████████████████████  new 3s ago
        failures   none so far
    "#]],
    );
}

#[test]
fn at_40_columns() {
    let (failures, workers, curve) = (failures(), workers(), growth(48));
    check(
        &status(&failures, &workers, &curve),
        39,
        23,
        expect![[r#"
            stack.tstl  seed 42         1m 12s left
            testing    12,040 tests, 61,234 steps/s
            coverage   1,199 branches  new 3s ago
            failures   4 different, in 1,356 tests
             #4   1×  found        segmentation fa…
             #3   3×  reducing     got '日本語', t…
             #2  40×  17 steps     property stack0…
            workers    4: 2 testing, 1 reducing
             2  slow step for 3s: stack0.extend(ra…
             3  reducing #3    15,308/s
        "#]],
    );
    check(
        &status(&[], &workers[..1], &curve),
        39,
        23,
        expect![[r#"
            stack.tstl  seed 42         1m 12s left
            testing    12,040 tests, 61,234 steps/s
            coverage   1,199 branches  new 3s ago
            failures   none so far
            workers    1 testing
             1  testing        15,308/s
        "#]],
    );
}

#[test]
fn at_a_dozen_columns() {
    let (failures, workers, curve) = (failures(), workers(), growth(48));
    check(
        &status(&failures, &workers, &curve),
        12,
        23,
        expect![[r#"
         1m 12s left
        testing    …
        coverage   …
        failures   4
         #4   1×  f…
         #3   3×  r…
         #2  40×  1…
        workers    …
         2  slow st…
         3  reducin…
    "#]],
    );
}

#[test]
fn with_few_rows_the_most_important_is_left() {
    let (failures, workers, curve) = (failures(), workers(), growth(48));
    let status = CampaignStatus {
        notice: Some("stopping when the tests under way have ended; Ctrl-C again stops at once"),
        ..status(&failures, &workers, &curve)
    };
    check(&status, 79, 0, expect![[""]]);
    check(
        &status,
        79,
        1,
        expect![[r#"
        12,040 tests, 1,204,000 steps, 61,234 steps/s, 4 failures, 2 crashes, 1,199 br…
    "#]],
    );
    check(
        &status,
        79,
        2,
        expect![[r#"
        stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
        stopping when the tests under way have ended; Ctrl-C again stops at once
    "#]],
    );
    check(
        &status,
        79,
        4,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            failures   4 different, in 1,356 tests
            stopping when the tests under way have ended; Ctrl-C again stops at once
        "#]],
    );
    check(
        &status,
        79,
        6,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            coverage   1,199 branches  ▂▄▅▆▆▆▇▇▇▇▇▇▇▇▇████████████████████  new 3s ago
            failures   4 different, in 1,356 tests
             #4  1×  found        segmentation fault\u{1b}[2J in\nstack0.pop()
            stopping when the tests under way have ended; Ctrl-C again stops at once
        "#]],
    );
    check(
        &status,
        199,
        4,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────────────────────────────────────────────────────────────────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            failures   4 different, in 1,356 tests
            stopping when the tests under way have ended; Ctrl-C again stops at once
        "#]],
    );
    check(
        &status,
        199,
        6,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────────────────────────────────────────────────────────────────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            failures   4 different, in 1,356 tests
             #4  1×  found        crash  segmentation fault\u{1b}[2J in\nstack0.pop()
            coverage   1,199 branches, new 3s ago                                                                workers    4: 2 testing, 1 reducing, 1 in a slow step, 2 crashes
            stopping when the tests under way have ended; Ctrl-C again stops at once
        "#]],
    );
}

#[test]
fn of_many_workers_those_that_do_the_unusual_are_shown() {
    let mut workers: Vec<WorkerLine<'_>> = (1..=128)
        .map(|number| worker(number, WorkerActivity::Testing))
        .collect();
    workers[40].activity = SLOW;
    workers[41].activity = WorkerActivity::Restarting;
    workers[41].crashes = 31;
    workers[90].activity = WorkerActivity::Loading;
    workers[127].activity = WorkerActivity::Reducing(12);
    let curve = growth(48);
    check(
        &status(&[], &workers, &curve),
        79,
        23,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            coverage   1,199 branches  ▂▄▅▆▆▆▇▇▇▇▇▇▇▇▇████████████████████  new 3s ago
            failures   none so far
            workers    128: 124 testing, 1 reducing, 1 loading, 1 restarting
               1  testing        15,308/s              2  testing        15,308/s
               3  testing        15,308/s              4  testing        15,308/s
               5  testing        15,308/s              6  testing        15,308/s
              41  slow step for 3s: stack0.extend…    42  restarting
              91  loading                            128  reducing #12   15,308/s
        "#]],
    );
    check(
        &status(&failures(), &workers, &curve),
        199,
        50,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────────────────────────────────────────────────────────────────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            failures   4 different, in 1,356 tests
             #4   1×  found        crash               segmentation fault\u{1b}[2J in\nstack0.pop()
             #3   3×  reducing     reference mismatch  got '日本語', the reference has '日本'
             #2  40×  17 steps     property            property stack0.height() >= 0 and stack0.items == sorted(stack0.items) is false
            coverage   1,199 branches, new 3s ago                                                                workers    128: 124 testing, 1 reducing, 1 loading, 1 restarting, 1 in a slow step, 31 crashes
                1,199          ▁▁▂▂▃▃▃▄▄▄▄▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇██████████████████████████       1  testing        15,308/s                        2  testing        15,308/s
                          ▃▃▆▆███████████████████████████████████████████████████████████████████████████████      41  slow step for 3s: stack0.extend(range(100…    42  restarting               31 crashes
                  534  ▁▇▇███████████████████████████████████████████████████████████████████████████████████      91  loading                                      128  reducing #12   15,308/s
        "#]],
    );
}

#[test]
fn of_many_failures_the_latest_are_shown() {
    let failures: Vec<FailureLine<'_>> = (1..=1_000)
        .map(|number| failure(number, "property", "property p is false"))
        .collect();
    let (workers, curve) = (workers(), growth(48));
    check(
        &status(&failures, &workers, &curve),
        79,
        23,
        expect![[r#"
            stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━╸──────────────────────────   1m 12s left
            testing    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
            coverage   1,199 branches  ▂▄▅▆▆▆▇▇▇▇▇▇▇▇▇████████████████████  new 3s ago
            failures   1,000 different, in 1,000 tests
             #1000  1×  found        property p is false
              #999  1×  found        property p is false
              #998  1×  found        property p is false
            workers    4: 2 testing, 1 reducing, 1 in a slow step, 2 crashes
             1  testing        15,308/s              2  slow step for 3s: stack0.extend(r…
             3  reducing #3    15,308/s              4  testing        15,308/s  2 crashes
        "#]],
    );
}

#[test]
fn at_the_beginning() {
    let workers = [
        worker(1, WorkerActivity::Loading),
        worker(2, WorkerActivity::Loading),
    ];
    let curve = Curve::new();
    let status = CampaignStatus {
        elapsed: Duration::from_millis(40),
        time: None,
        tests: 0,
        steps: 0,
        steps_per_second: 0.0,
        covered: Some(0),
        since_new: None,
        ..status(&[], &workers, &curve)
    };
    check(
        &status,
        79,
        23,
        expect![[r#"
            stack.tstl  seed 42                                                   0s so far
            testing    0 tests, 0 steps in 0s, 0 steps/s
            coverage   0 branches
            failures   none so far
            workers    2 loading
             1  loading                              2  loading
        "#]],
    );
    check(
        &status,
        199,
        50,
        expect![[r#"
            stack.tstl  seed 42                                                                                                                                                                           0s so far
            testing    0 tests, 0 steps in 0s, 0 steps/s
            failures   none so far
            coverage   0 branches                                                                                workers    2 loading
                                                                                                                  1  loading
                                                                                                                  2  loading


        "#]],
    );
}

#[test]
fn a_number_of_tests_is_an_end_as_well() {
    let curve = Curve::new();
    let status = CampaignStatus {
        time: None,
        tests_wanted: Some(20_000),
        covered: None,
        ..status(&[], &[], &curve)
    };
    check(
        &status,
        79,
        23,
        expect![[r#"
        stack.tstl  seed 42  ━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────    48s so far
        testing    12,040 of 20,000 tests, 1,204,000 steps in 48s, 61,234 steps/s
        failures   none so far
    "#]],
    );
}

#[test]
fn colours_only_repeat_what_the_words_say() {
    let (failures, workers, curve) = (failures(), workers(), growth(48));
    let status = status(&failures, &workers, &curve);
    let painted = lines(&status, 79, 23, true);
    expect![[r#"
        ^[1mstack.tstl^[0m^[2m  seed 42^[0m  ^[36m━━━━━━━━━━━━━━━━━╸^[0m^[2m──────────────────────────^[0m   1m 12s left
        ^[2mtesting^[0m    12,040 tests, 1,204,000 steps in 48s, 61,234 steps/s
        ^[2mcoverage^[0m   1,199 branches  ^[36m▂▄▅▆▆▆▇▇▇▇▇▇▇▇▇████████████████████^[0m^[2m  new 3s ago^[0m
        ^[2mfailures^[0m   ^[1;31m4^[0m different, in 1,356 tests
        ^[1;31m #4^[0m   1×  found        segmentation fault\u{1b}[2J in\nstack0.pop()
        ^[1;31m #3^[0m   3×  reducing     got '日本語', the reference has '日本'
        ^[1;31m #2^[0m  40×  17 steps     property stack0.height() >= 0 and stack0.items == sorte…
        ^[2mworkers^[0m    4: 2 testing, 1 reducing, 1 in a slow step, 2 crashes
        ^[2m 1  ^[0mtesting      ^[2m  15,308/s^[0m             ^[2m 2  ^[0m^[33mslow step for 3s: ^[0mstack0.extend(r…
        ^[2m 3  ^[0mreducing #3  ^[2m  15,308/s^[0m             ^[2m 4  ^[0mtesting      ^[2m  15,308/s^[0m^[33m  2 crashes^[0m"#]].assert_eq(&painted.join("\n").replace('\x1b', "^"));
    for width in [39, 79, 199] {
        let painted = lines(&status, width, 23, true);
        let plain = lines(&status, width, 23, false);
        assert_eq!(
            painted
                .iter()
                .map(|line| strip_colours(line))
                .collect::<Vec<_>>(),
            plain
        );
    }
}

#[test]
fn the_plain_line() {
    let (failures, workers, curve) = (failures(), workers(), growth(48));
    let check = |status: &CampaignStatus<'_>, expected: Expect| expected.assert_eq(&line(status));
    check(
        &status(&failures, &workers, &curve),
        expect![
            "12,040 tests, 1,204,000 steps, 61,234 steps/s, 4 failures, 2 crashes, 1,199 branches, 1m 12s left"
        ],
    );
    check(
        &status(&[], &[], &Curve::new()),
        expect!["12,040 tests, 1,204,000 steps, 61,234 steps/s, 0 failures, 1m 12s left"],
    );
    check(
        &CampaignStatus {
            time: None,
            tests_wanted: Some(1),
            ..status(&failures[..1], &workers[..1], &curve)
        },
        expect![
            "12,040 of 1 test, 1,204,000 steps, 61,234 steps/s, 1 failure, 1,199 branches, 48s so far"
        ],
    );
    // Neither a time that is up nor one that is almost up is said to be nothing.
    for elapsed in [119_990, 120_000, 500_000] {
        let status = CampaignStatus {
            elapsed: Duration::from_millis(elapsed),
            ..status(&[], &[], &curve)
        };
        assert!(line(&status).ends_with(", 1s left"));
    }
}
