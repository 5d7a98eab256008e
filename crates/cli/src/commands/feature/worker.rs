//! The process that runs properties. It may hang or crash, and takes nothing with it but its own answers.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testwright_core::Error;
use testwright_readable::sample::{Case, Decision, Features};
use testwright_readable::value::Value;

use super::module::ModulePlace;
use super::wire::{argument, value};

/// How long one case may take.
const PER_CASE: f64 = 2.0;

/// A process of `python -m testwright.properties`.
pub(super) struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Json>,
    probed_name: String,
    time: Duration,
}

/// A case and how it went.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) case: Case,
    pub(super) outcome: Outcome,
    /// As the worker told it, to be told again.
    raw: Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Passes,
    /// An assumption is not met.
    Rejected,
    Fails {
        /// The class of the exception; nothing if the property said no.
        error: Option<String>,
        line: Option<u64>,
    },
    /// It took too long.
    Late,
}

/// How the steps of a scenario went.
#[derive(Debug, Clone)]
pub(super) struct StepsRun {
    /// The step that failed, counted from 0.
    pub(super) failed: Option<usize>,
    /// The class of what it raised, unless that says that a check does not hold.
    pub(super) error: Option<String>,
    pub(super) values: Vec<(String, Value)>,
}

impl Worker {
    /// Starts a process and lets it import the module.
    pub(super) fn start(place: &ModulePlace, time: Duration) -> Result<Worker, Error> {
        let python = testwright_python::attach(testwright_python::executable)
            .ok_or_else(|| Error::new("there is no Python program to run properties with"))?;
        let started = Command::new(&python)
            .args(["-m", "testwright.properties"])
            // Sets of texts are in the same order each time.
            .env("PYTHONHASHSEED", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C is meant for this process; there it would be taken for an exception of the code under test.
            .process_group(0)
            .spawn();
        let mut child = started
            .map_err(|error| Error::new(format!("cannot start `{}`: {error}", python.display())))?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::new(
                "cannot talk to the process that runs properties",
            ));
        };
        let (sender, answers) = channel();
        // Reading blocks, and the other end may never say anything: so somebody else does it.
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(answer) = serde_json::from_str(&line) else {
                    continue;
                };
                if sender.send(answer).is_err() {
                    break;
                }
            }
        });
        let mut worker = Worker {
            child,
            requests,
            answers,
            probed_name: place.probed_name(),
            time,
        };
        let request = json!({
            "do": "load", "path": place.file, "folder": place.folder, "name": place.name, "root": place.root,
        });
        let deadline = Instant::now() + worker.time;
        worker.ask(&request)?;
        worker.answer(deadline)?.map_err(|problem| {
            let error = Error::new(format!(
                "`{}` cannot be imported: {}",
                place.file.display(),
                problem.message
            ));
            if problem.message.contains("hypothesis") {
                error.with_help("install Hypothesis for the Python that Testwright runs with")
            } else {
                error
            }
        })?;
        Ok(worker)
    }

    /// Cases that Hypothesis makes. What was told before the time is up counts.
    pub(super) fn sample(
        &mut self,
        name: &str,
        tries: u32,
        seed: u64,
    ) -> Result<Vec<Record>, Error> {
        let request = json!({"do": "sample", "name": name, "tries": tries, "seed": seed, "seconds": PER_CASE});
        self.ask(&request)?;
        let deadline = Instant::now() + self.time;
        let mut records = Vec::new();
        loop {
            match self.answer(deadline)? {
                Ok(answer) if answer.get("done").is_some() => return Ok(records),
                Ok(answer) => records.extend(answer.get("case").and_then(|case| self.record(case))),
                Err(problem) if problem.is_end && !records.is_empty() => return Ok(records),
                Err(problem) => return Err(problem.into_error(name)),
            }
        }
    }

    /// One case.
    pub(super) fn try_case(&mut self, name: &str, case: &Case) -> Result<Option<Record>, Error> {
        self.case(
            name,
            &json!({"do": "try", "name": name, "arguments": case.recipes(), "seconds": PER_CASE}),
        )
    }

    /// A smaller case that meets the same, or fails in the same way.
    pub(super) fn shrink(
        &mut self,
        name: &str,
        record: &Record,
        features: &Features,
        seed: u64,
    ) -> Result<Option<Record>, Error> {
        let error = match &record.outcome {
            Outcome::Fails { error, line } => json!([error, line]),
            _ => Json::Null,
        };
        let request = json!({
            "do": "shrink", "name": name, "record": record.raw, "features": features, "error": error, "seed": seed,
            "seconds": PER_CASE,
        });
        self.case(name, &request)
    }

    fn case(&mut self, name: &str, request: &Json) -> Result<Option<Record>, Error> {
        self.ask(request)?;
        match self.answer(Instant::now() + self.time)? {
            Ok(answer) => Ok(answer.get("case").and_then(|case| self.record(case))),
            Err(problem) => Err(problem.into_error(name)),
        }
    }

    /// Runs the bodies of steps.
    pub(super) fn steps(
        &mut self,
        prelude: &str,
        steps: &[String],
        store: &str,
    ) -> Result<StepsRun, Error> {
        let request = json!({"do": "steps", "prelude": prelude, "steps": steps, "store": store, "seconds": PER_CASE});
        self.ask(&request)?;
        let answer = self
            .answer(Instant::now() + self.time)?
            .map_err(|problem| problem.into_error("a scenario"))?;
        let run = answer.get("steps").cloned().unwrap_or_default();
        let is_check = run.get("is_check").and_then(Json::as_bool).unwrap_or(false);
        let values = run
            .get("values")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();
        Ok(StepsRun {
            failed: run
                .get("failed")
                .and_then(Json::as_u64)
                .and_then(|number| usize::try_from(number).ok()),
            error: run
                .get("error")
                .and_then(Json::as_str)
                .filter(|_| !is_check)
                .map(str::to_owned),
            values: values
                .filter_map(|pair| Some((pair.get(0)?.as_str()?.to_owned(), value(pair.get(1)?)?)))
                .collect(),
        })
    }

    /// All branches of the modules under test.
    pub(super) fn branches(&mut self) -> Result<Features, Error> {
        self.ask(&json!({"do": "branches"}))?;
        let answer = self
            .answer(Instant::now() + self.time)?
            .map_err(|problem| problem.into_error("the module"))?;
        let modules = answer
            .get("branches")
            .and_then(Json::as_object)
            .into_iter()
            .flatten();
        let branches = modules.flat_map(|(_, branches)| branches.as_array().into_iter().flatten());
        Ok(branches
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect())
    }

    fn ask(&mut self, request: &Json) -> Result<(), Error> {
        let asked = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        asked.map_err(|_| {
            Error::new("the process that runs properties has ended: the code under test ended it")
        })
    }

    fn answer(&mut self, deadline: Instant) -> Result<Result<Json, Complaint>, Error> {
        loop {
            // In glances, so that Ctrl-C is noticed.
            match self.answers.recv_timeout(Duration::from_millis(100)) {
                Ok(answer) => {
                    let message = answer.get("problem").and_then(Json::as_str);
                    return Ok(match message {
                        Some(message) => Err(Complaint {
                            message: message.to_owned(),
                            is_end: false,
                        }),
                        None => Ok(answer),
                    });
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout) => {
                    let message =
                        format!("it took longer than {}", crate::duration::show(self.time));
                    return Ok(Err(Complaint {
                        message,
                        is_end: true,
                    }));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "its process has come to an end".to_owned();
                    return Ok(Err(Complaint {
                        message,
                        is_end: true,
                    }));
                }
            }
        }
    }

    fn record(&self, raw: &Json) -> Option<Record> {
        let arguments = raw.get("arguments")?.as_array()?.iter().map(argument);
        let texts = |name: &str| {
            let list = raw.get(name).and_then(Json::as_array).into_iter().flatten();
            list.filter_map(Json::as_str).map(str::to_owned)
        };
        let decisions = raw
            .get("decisions")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();
        let outcome = match raw.get("outcome")?.as_str()? {
            "passes" => Outcome::Passes,
            "rejected" => Outcome::Rejected,
            "late" => Outcome::Late,
            _ => Outcome::Fails {
                error: raw.get("error").and_then(Json::as_str).map(str::to_owned),
                line: raw.get("line").and_then(Json::as_u64),
            },
        };
        Some(Record {
            case: Case {
                arguments: arguments.collect::<Option<_>>()?,
                met: texts("branches")
                    .chain(texts("conditions").map(|condition| format!("if {condition}")))
                    .collect(),
                decisions: decisions
                    .filter_map(|decision| self.decision(decision))
                    .collect(),
            },
            outcome,
            raw: raw.clone(),
        })
    }

    /// A decision in the module of the property.
    fn decision(&self, told: &Json) -> Option<Decision> {
        let mut place = told.get(0)?.as_str()?.rsplitn(3, ':');
        let column = place.next()?.parse().ok()?;
        let line = place.next()?.parse().ok()?;
        (place.next()? == self.probed_name).then_some(Decision {
            line,
            column,
            holds: told.get(1)?.as_bool()?,
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Dead or alive, nothing more is wanted of it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Complaint {
    message: String,
    /// Nothing more is to be expected of the process.
    is_end: bool,
}

impl Complaint {
    fn into_error(self, name: &str) -> Error {
        Error::new(format!("{name} cannot be run: {}", self.message))
    }
}
