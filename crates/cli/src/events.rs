//! The events of a campaign for tools: one JSON object per line (`--json-lines`).
//!
//! The names and values are a stable interface. Every object has `event`, its name, and `seconds`
//! since the campaign began. The first event is `start` and the last is `end`, unless the command
//! is killed. A harness that cannot be loaded has no events. Readers should ignore events and
//! members that they do not know, since later versions may add some.

use std::time::Duration;

use serde::Serialize;

use crate::console::Console;

/// An event of a campaign. It serializes to the members of the object beside `event` and `seconds`,
/// which must not be among them.
pub(crate) trait JsonEvent: Serialize {
    /// The value of `event`.
    const NAME: &'static str;
}

/// Prints an event and flushes it.
pub(crate) fn emit<E: JsonEvent>(console: &mut Console<'_>, at: Duration, event: &E) {
    console.out_always(json(at, event));
}

/// Renders an event as one line of JSON.
fn json<E: JsonEvent>(at: Duration, event: &E) -> String {
    #[derive(Serialize)]
    /// The members that all events have, and those of one event.
    struct EventObject<'e, E> {
        event: &'static str,
        seconds: f64,
        #[serde(flatten)]
        members: &'e E,
    }
    let object = EventObject {
        event: E::NAME,
        seconds: (at.as_secs_f64() * 1000.0).round() / 1000.0,
        members: event,
    };
    serde_json::to_string(&object).expect("events are structures of numbers and strings")
}

/// The campaign begins.
#[derive(Serialize)]
pub(crate) struct StartEvent<'a> {
    /// The file as the user named it.
    pub(crate) harness: &'a str,
    /// The seed of the campaign's random numbers.
    pub(crate) seed: u64,
    /// The number of worker processes; 0 if this process runs the tests itself.
    pub(crate) jobs: usize,
    /// The number of actions that the harness has.
    pub(crate) actions: u64,
    /// The number of templates that the actions are made from.
    pub(crate) templates: usize,
    /// The version of Testwright.
    pub(crate) version: &'a str,
}

/// The numbers so far; printed now and then.
#[derive(Serialize)]
pub(crate) struct ProgressEvent {
    /// The number of tests.
    pub(crate) tests: u64,
    /// The number of steps in all tests.
    pub(crate) steps: u64,
    /// The number of branches that were reached; `null` if coverage is not measured.
    pub(crate) covered: Option<u64>,
    /// The number of distinct failures.
    pub(crate) failures: usize,
}

/// A failure that was not seen before in this campaign.
#[derive(Serialize)]
pub(crate) struct FailureEvent<'a> {
    /// The number of the failure, from 1 on. Later events refer to it.
    pub(crate) number: usize,
    /// The kind of failure, as in `--json`.
    pub(crate) kind: &'a str,
    /// The message for people.
    pub(crate) message: &'a str,
    /// The identity of the failure, the same in every campaign.
    pub(crate) signature: &'a str,
    /// The number of steps of the test as it was found.
    pub(crate) steps: usize,
    /// The file with the test.
    pub(crate) file: &'a str,
    /// The number of tests so far that failed in this way.
    pub(crate) times: u64,
    /// The progress of its reduction.
    pub(crate) state: FailureState,
}

/// The progress of the work on a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailureState {
    /// Its test will be reduced.
    Found,
}

/// The test of a failure was reduced.
#[derive(Serialize)]
pub(crate) struct ReducedEvent<'a> {
    /// The number of the failure.
    pub(crate) number: usize,
    /// The number of steps of the reduced test.
    pub(crate) steps: usize,
    /// The steps as they stand in the file.
    pub(crate) test: &'a [String],
    /// The file with the test.
    pub(crate) file: &'a str,
    /// True if the test failed in the same way when it was run again.
    pub(crate) reproduced: bool,
    /// The number of the failure that is the same bug, seen in another way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_bug_as: Option<usize>,
}

/// A failure of an earlier campaign was checked.
#[derive(Serialize)]
pub(crate) struct KnownFailureEvent {
    /// The number of the failure, in that campaign and since.
    pub(crate) number: usize,
    /// The result of the check.
    pub(crate) state: KnownFailureState,
}

/// The state of a failure of an earlier campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum KnownFailureState {
    /// Its test fails as before.
    #[serde(rename = "still fails")]
    StillFails,
    /// Its test passes.
    #[serde(rename = "fixed")]
    Fixed,
    /// Its test passed in the meantime, but fails again.
    #[serde(rename = "returned")]
    Returned,
}

/// A worker started, crashed or hung.
#[derive(Serialize)]
pub(crate) struct WorkerChangeEvent<'a> {
    /// The number of the worker, from 1 on.
    pub(crate) number: usize,
    /// The event itself.
    pub(crate) what: WorkerFate,
    /// The explanation for people; `null` if there is nothing to add.
    pub(crate) reason: Option<&'a str>,
}

/// The change of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WorkerFate {
    /// The worker is ready, for the first time or again.
    Started,
    /// The process ended by itself, or the code under test ended it.
    Crashed,
    /// A step did not end in time, so the process was killed.
    Hung,
}

/// Something new was reached.
#[derive(Serialize)]
pub(crate) struct CoverageEvent {
    /// The number of branches that were reached so far.
    pub(crate) covered: u64,
    /// The number of branches that are new since the last of these events.
    pub(crate) new: u64,
}

/// The campaign is over.
#[derive(Serialize)]
pub(crate) struct EndEvent<'a, R> {
    /// The object that `--json` prints.
    pub(crate) report: &'a R,
}

impl JsonEvent for StartEvent<'_> {
    const NAME: &'static str = "start";
}

impl JsonEvent for ProgressEvent {
    const NAME: &'static str = "progress";
}

impl JsonEvent for FailureEvent<'_> {
    const NAME: &'static str = "failure";
}

impl JsonEvent for ReducedEvent<'_> {
    const NAME: &'static str = "reduced";
}

impl JsonEvent for KnownFailureEvent {
    const NAME: &'static str = "known";
}

impl JsonEvent for WorkerChangeEvent<'_> {
    const NAME: &'static str = "worker";
}

impl JsonEvent for CoverageEvent {
    const NAME: &'static str = "coverage";
}

impl<R: Serialize> JsonEvent for EndEvent<'_, R> {
    const NAME: &'static str = "end";
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{self, Write};
    use std::rc::Rc;

    use super::*;
    use crate::console::Terminal;
    use expect_test::{Expect, expect};

    fn check(event: &impl JsonEvent, expected: Expect) {
        expected.assert_eq(&json(Duration::from_micros(12_345_678), event));
    }

    #[test]
    fn the_shape_of_each() {
        check(
            &StartEvent {
                harness: "stack.tstl",
                seed: u64::MAX,
                jobs: 4,
                actions: 65_536,
                templates: 12,
                version: "0.1.0",
            },
            expect![[
                r#"{"event":"start","seconds":12.346,"harness":"stack.tstl","seed":18446744073709551615,"jobs":4,"actions":65536,"templates":12,"version":"0.1.0"}"#
            ]],
        );
        check(
            &ProgressEvent {
                tests: 1_204,
                steps: 120_400,
                covered: Some(512),
                failures: 2,
            },
            expect![[
                r#"{"event":"progress","seconds":12.346,"tests":1204,"steps":120400,"covered":512,"failures":2}"#
            ]],
        );
        check(
            &FailureEvent {
                number: 2,
                kind: "uncaught-exception",
                message: "KeyError: \"日\\x1b\"",
                signature: "KeyError at stack.py:12",
                steps: 87,
                file: "testwright-out/stack/failure-2.test",
                times: 1,
                state: FailureState::Found,
            },
            expect![[
                r#"{"event":"failure","seconds":12.346,"number":2,"kind":"uncaught-exception","message":"KeyError: \"日\\x1b\"","signature":"KeyError at stack.py:12","steps":87,"file":"testwright-out/stack/failure-2.test","times":1,"state":"found"}"#
            ]],
        );
        check(
            &ReducedEvent {
                number: 2,
                steps: 2,
                test: &["stack0 = Stack()".to_owned(), "stack0.top()".to_owned()],
                file: "testwright-out/stack/failure-2.test",
                reproduced: true,
                same_bug_as: None,
            },
            expect![[
                r#"{"event":"reduced","seconds":12.346,"number":2,"steps":2,"test":["stack0 = Stack()","stack0.top()"],"file":"testwright-out/stack/failure-2.test","reproduced":true}"#
            ]],
        );
        for state in [
            KnownFailureState::StillFails,
            KnownFailureState::Fixed,
            KnownFailureState::Returned,
        ] {
            let expected = match state {
                KnownFailureState::StillFails => expect![[
                    r#"{"event":"known","seconds":12.346,"number":1,"state":"still fails"}"#
                ]],
                KnownFailureState::Fixed => {
                    expect![[r#"{"event":"known","seconds":12.346,"number":1,"state":"fixed"}"#]]
                }
                KnownFailureState::Returned => {
                    expect![[r#"{"event":"known","seconds":12.346,"number":1,"state":"returned"}"#]]
                }
            };
            check(&KnownFailureEvent { number: 1, state }, expected);
        }
        check(
            &CoverageEvent {
                covered: 512,
                new: 3,
            },
            expect![[r#"{"event":"coverage","seconds":12.346,"covered":512,"new":3}"#]],
        );
    }

    #[test]
    fn the_shape_of_what_happens_to_workers() {
        for what in [WorkerFate::Started, WorkerFate::Crashed, WorkerFate::Hung] {
            let (reason, expected) = match what {
                WorkerFate::Started => (
                    None,
                    expect![[
                        r#"{"event":"worker","seconds":12.346,"number":3,"what":"started","reason":null}"#
                    ]],
                ),
                WorkerFate::Crashed => (
                    Some("segmentation fault"),
                    expect![[
                        r#"{"event":"worker","seconds":12.346,"number":3,"what":"crashed","reason":"segmentation fault"}"#
                    ]],
                ),
                WorkerFate::Hung => (
                    Some("no answer for 10s"),
                    expect![[
                        r#"{"event":"worker","seconds":12.346,"number":3,"what":"hung","reason":"no answer for 10s"}"#
                    ]],
                ),
            };
            let number = 3;
            check(
                &WorkerChangeEvent {
                    number,
                    what,
                    reason,
                },
                expected,
            );
        }
    }

    #[test]
    fn the_end_has_the_whole_report() {
        let report = serde_json::json!({ "seed": 1, "seconds": 12.0, "failures": [] });
        check(
            &EndEvent { report: &report },
            expect![[
                r#"{"event":"end","seconds":12.346,"report":{"failures":[],"seconds":12.0,"seed":1}}"#
            ]],
        );
    }

    /// A stream that keeps every write separately.
    struct WriteLog(Rc<RefCell<Vec<Vec<u8>>>>);

    impl Write for WriteLog {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_arrives_at_once_and_as_a_line_even_if_nothing_else_is_said() {
        let written = Rc::new(RefCell::new(Vec::new()));
        let (mut out, mut err) = (WriteLog(Rc::clone(&written)), io::sink());
        let mut console = Console::new(&mut out, &mut err, Terminal::plain());
        console.set_quiet(true);
        for number in 1..3 {
            let event = CoverageEvent {
                covered: number,
                new: 1,
            };
            emit(&mut console, Duration::from_secs(number), &event);
            console.out("for people");
            assert_eq!(written.borrow().len() as u64, number);
        }
        let lines = written.borrow().concat();
        expect![[r#"
            {"event":"coverage","seconds":1.0,"covered":1,"new":1}
            {"event":"coverage","seconds":2.0,"covered":2,"new":1}
        "#]]
        .assert_eq(&String::from_utf8_lossy(&lines));
    }
}
