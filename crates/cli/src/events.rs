//! What happens in a campaign, for tools: one JSON object in a line of its own for each event (`--json-lines`).
//!
//! Names and values in here are a promise. Every object has `event`, which says what it tells of, and `seconds` since
//! the campaign began. The first one is `start`, the last one `end`, unless the command is killed; a
//! harness that cannot be loaded has none. Who reads them should ignore events and members that it does not know: there
//! may be more of them one day.

use std::time::Duration;

use serde::Serialize;

use crate::console::Console;

/// Something that happens in a campaign. What it serializes to are the members of the object beside `event` and
/// `seconds`, which must not be among them.
pub(crate) trait Event: Serialize {
    /// What `event` says.
    const NAME: &'static str;
}

/// Tells of an event, at once.
pub(crate) fn tell<E: Event>(console: &mut Console<'_>, at: Duration, event: &E) {
    console.hand_out(json(at, event));
}

fn json<E: Event>(at: Duration, event: &E) -> String {
    #[derive(Serialize)]
    struct Object<'e, E> {
        event: &'static str,
        seconds: f64,
        #[serde(flatten)]
        members: &'e E,
    }
    let object = Object {
        event: E::NAME,
        seconds: (at.as_secs_f64() * 1000.0).round() / 1000.0,
        members: event,
    };
    serde_json::to_string(&object).expect("events are structures of numbers and strings")
}

/// The campaign begins.
#[derive(Serialize)]
pub(crate) struct Start<'a> {
    /// The file, as it was named.
    pub(crate) harness: &'a str,
    pub(crate) seed: u64,
    /// How many workers run tests; none if the process does it by itself.
    pub(crate) jobs: usize,
    /// How many actions the harness has.
    pub(crate) actions: u64,
    /// How many templates they are made from.
    pub(crate) templates: usize,
    /// Of Testwright.
    pub(crate) version: &'a str,
}

/// How far it has come; now and then.
#[derive(Serialize)]
pub(crate) struct Progress {
    pub(crate) tests: u64,
    pub(crate) steps: u64,
    /// How many branches were reached so far; `null` if that is not measured.
    pub(crate) covered: Option<u64>,
    /// How many different failures were found so far.
    pub(crate) failures: usize,
}

/// A failure that was not seen before in this campaign.
#[derive(Serialize)]
pub(crate) struct Failure<'a> {
    /// From 1 on. Later events speak of the failure by it.
    pub(crate) number: usize,
    /// As in `--json`.
    pub(crate) kind: &'a str,
    /// For a person.
    pub(crate) message: &'a str,
    /// What makes it the same failure in another campaign.
    pub(crate) signature: &'a str,
    /// Of the test as it was found.
    pub(crate) steps: usize,
    /// Where the test is.
    pub(crate) file: &'a str,
    /// In how many tests it came up so far.
    pub(crate) times: u64,
    pub(crate) state: FailureState,
}

/// How far the work on a failure has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailureState {
    /// Its test will be reduced.
    Found,
}

/// The test of a failure was reduced.
#[derive(Serialize)]
pub(crate) struct Reduced<'a> {
    /// Of the failure.
    pub(crate) number: usize,
    /// Of the reduced test.
    pub(crate) steps: usize,
    /// Its steps, as they stand in the file.
    pub(crate) test: &'a [String],
    /// Where the test is.
    pub(crate) file: &'a str,
    /// Whether it failed the same way when it was run again.
    pub(crate) reproduced: bool,
}

/// What became of a failure of an earlier campaign.
#[derive(Serialize)]
pub(crate) struct Known {
    /// Of the failure, in that campaign and since.
    pub(crate) number: usize,
    pub(crate) state: KnownState,
}

/// What became of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum KnownState {
    #[serde(rename = "still fails")]
    StillFails,
    /// Its test passes.
    #[serde(rename = "fixed")]
    Fixed,
    /// Its test passed in the meantime, but fails again.
    #[serde(rename = "returned")]
    Returned,
}

/// Something happened to a worker.
#[derive(Serialize)]
pub(crate) struct Worker<'a> {
    /// From 1 on.
    pub(crate) number: usize,
    pub(crate) what: WorkerFate,
    /// For a person; `null` if there is nothing to add.
    pub(crate) reason: Option<&'a str>,
}

/// What happened to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WorkerFate {
    /// It is there, for the first time or again.
    Started,
    /// Its process came to an end by itself, or by what it tested.
    Crashed,
    /// A step did not come to an end, so its process was ended.
    Hung,
}

/// Something new was reached.
#[derive(Serialize)]
pub(crate) struct Coverage {
    /// How many branches were reached so far.
    pub(crate) covered: u64,
    /// How many of them were not when this was last told.
    pub(crate) new: u64,
}

/// The campaign is over.
#[derive(Serialize)]
pub(crate) struct End<'a, R> {
    /// The same object that `--json` prints.
    pub(crate) report: &'a R,
}

impl Event for Start<'_> {
    const NAME: &'static str = "start";
}

impl Event for Progress {
    const NAME: &'static str = "progress";
}

impl Event for Failure<'_> {
    const NAME: &'static str = "failure";
}

impl Event for Reduced<'_> {
    const NAME: &'static str = "reduced";
}

impl Event for Known {
    const NAME: &'static str = "known";
}

impl Event for Worker<'_> {
    const NAME: &'static str = "worker";
}

impl Event for Coverage {
    const NAME: &'static str = "coverage";
}

impl<R: Serialize> Event for End<'_, R> {
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

    fn check(event: &impl Event, expected: Expect) {
        expected.assert_eq(&json(Duration::from_micros(12_345_678), event));
    }

    #[test]
    fn the_shape_of_each() {
        check(
            &Start {
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
            &Progress {
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
            &Failure {
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
            &Reduced {
                number: 2,
                steps: 2,
                test: &["stack0 = Stack()".to_owned(), "stack0.top()".to_owned()],
                file: "testwright-out/stack/failure-2.test",
                reproduced: true,
            },
            expect![[
                r#"{"event":"reduced","seconds":12.346,"number":2,"steps":2,"test":["stack0 = Stack()","stack0.top()"],"file":"testwright-out/stack/failure-2.test","reproduced":true}"#
            ]],
        );
        for state in [
            KnownState::StillFails,
            KnownState::Fixed,
            KnownState::Returned,
        ] {
            let expected = match state {
                KnownState::StillFails => expect![[
                    r#"{"event":"known","seconds":12.346,"number":1,"state":"still fails"}"#
                ]],
                KnownState::Fixed => {
                    expect![[r#"{"event":"known","seconds":12.346,"number":1,"state":"fixed"}"#]]
                }
                KnownState::Returned => {
                    expect![[r#"{"event":"known","seconds":12.346,"number":1,"state":"returned"}"#]]
                }
            };
            check(&Known { number: 1, state }, expected);
        }
        check(
            &Coverage {
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
                &Worker {
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
            &End { report: &report },
            expect![[
                r#"{"event":"end","seconds":12.346,"report":{"failures":[],"seconds":12.0,"seed":1}}"#
            ]],
        );
    }

    /// Counts how often somebody wants everything to be delivered.
    struct Pipe(Rc<RefCell<Vec<Vec<u8>>>>);

    impl Write for Pipe {
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
        let (mut out, mut err) = (Pipe(Rc::clone(&written)), io::sink());
        let mut console = Console::new(&mut out, &mut err, Terminal::plain());
        console.keep_quiet(true);
        for number in 1..3 {
            let event = Coverage {
                covered: number,
                new: 1,
            };
            tell(&mut console, Duration::from_secs(number), &event);
            console.say("for people");
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
