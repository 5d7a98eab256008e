//! The process that runs properties.
//!
//! The code under test may hang or crash. Being in a process of its own, it loses only the answer
//! to the current request.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testwright_core::{Error, describe_os_error};
use testwright_readable::sample::{CaseFeatures, Decision, SampleCase};
use testwright_readable::value::PythonValue;

use super::module_location::ModuleLocation;
use super::values::{parse_argument, parse_value};

/// Time limit of one case, in seconds.
const CASE_SECONDS: f64 = 2.0;

/// A running `python -m testwright.properties`, killed when dropped.
pub(super) struct PropertyRunner {
    child: Child,
    /// Standard input of the process: one JSON object per line.
    requests: ChildStdin,
    /// Parsed lines of its standard output.
    answers: Receiver<Json>,
    /// Name of the module in coverage probes.
    probed_name: String,
    /// Time limit of a request.
    time: Duration,
}

/// A case that was run, and its outcome.
#[derive(Debug, Clone)]
pub(super) struct TriedCase {
    /// The values, and what they exercise.
    pub(super) case: SampleCase,
    pub(super) outcome: CaseOutcome,
    /// The case as the process sent it, to be sent back for shrinking.
    json: Json,
}

/// Outcome of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CaseOutcome {
    /// The property holds.
    Passes,
    /// An assumption of the property is not met.
    Rejected,
    /// The property does not hold, or raised an exception.
    Fails {
        /// Class of the exception; `None` if the property returned false.
        error: Option<String>,
        line: Option<u64>,
    },
    /// The case took too long.
    TimedOut,
}

/// Result of running the steps of a scenario.
#[derive(Debug, Clone)]
pub(super) struct StepsResult {
    /// Index of the step that failed.
    pub(super) failed: Option<usize>,
    /// Class of the exception, unless it only says that a check does not hold.
    pub(super) error: Option<String>,
    /// Values of the variables at the end.
    pub(super) values: Vec<(String, PythonValue)>,
}

impl PropertyRunner {
    /// Starts a process and imports the module in it.
    pub(super) fn start(
        location: &ModuleLocation,
        time: Duration,
    ) -> Result<PropertyRunner, Error> {
        let python = testwright_python::attach(testwright_python::executable)
            .ok_or_else(|| Error::new("there is no Python program to run properties with"))?;
        let started = Command::new(&python)
            .args(["-m", "testwright.properties"])
            // Makes the order of sets of strings reproducible.
            .env("PYTHONHASHSEED", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A group of its own, because Ctrl-C would look like an exception of the code under test.
            .process_group(0)
            .spawn();
        let mut child = started.map_err(|error| {
            Error::new(format!(
                "cannot start `{}`: {}",
                python.display(),
                describe_os_error(&error)
            ))
        })?;
        let (Some(requests), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::new(
                "cannot talk to the process that runs properties",
            ));
        };
        let (sender, answers) = channel();
        // Reading blocks, and the process may never answer, so a thread reads.
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
        let mut runner = PropertyRunner {
            child,
            requests,
            answers,
            probed_name: location.probed_name(),
            time,
        };
        let request = json!({
            "do": "load", "path": location.file, "folder": location.folder, "name": location.name, "root": location.root,
        });
        let deadline = Instant::now() + runner.time;
        runner.send(&request)?;
        runner.receive(deadline)?.map_err(|problem| {
            let error = Error::new(format!(
                "`{}` cannot be imported: {}",
                location.file.display(),
                problem.message
            ));
            if problem.message.contains("hypothesis") {
                error.with_help("install Hypothesis for the Python that Testwright runs with")
            } else {
                error
            }
        })?;
        Ok(runner)
    }

    /// Runs random cases made by Hypothesis. When the time is up, returns those received so far.
    pub(super) fn sample(
        &mut self,
        name: &str,
        tries: u32,
        seed: u64,
    ) -> Result<Vec<TriedCase>, Error> {
        let request = json!({"do": "sample", "name": name, "tries": tries, "seed": seed, "seconds": CASE_SECONDS});
        self.send(&request)?;
        let deadline = Instant::now() + self.time;
        let mut records = Vec::new();
        loop {
            match self.receive(deadline)? {
                Ok(answer) if answer.get("done").is_some() => return Ok(records),
                Ok(answer) => {
                    records.extend(answer.get("case").and_then(|case| self.parse_case(case)))
                }
                Err(problem) if problem.is_final && !records.is_empty() => return Ok(records),
                Err(problem) => return Err(problem.into_error(name)),
            }
        }
    }

    /// Runs one case.
    pub(super) fn try_case(
        &mut self,
        name: &str,
        case: &SampleCase,
    ) -> Result<Option<TriedCase>, Error> {
        self.request_case(
            name,
            &json!({"do": "try", "name": name, "arguments": case.recipes(), "seconds": CASE_SECONDS}),
        )
    }

    /// Finds a smaller case that has the same features, or fails in the same way.
    pub(super) fn shrink(
        &mut self,
        name: &str,
        record: &TriedCase,
        features: &CaseFeatures,
        seed: u64,
    ) -> Result<Option<TriedCase>, Error> {
        let error = match &record.outcome {
            CaseOutcome::Fails { error, line } => json!([error, line]),
            _ => Json::Null,
        };
        let request = json!({
            "do": "shrink", "name": name, "record": record.json, "features": features, "error": error, "seed": seed,
            "seconds": CASE_SECONDS,
        });
        self.request_case(name, &request)
    }

    /// Sends a request that is answered with a case.
    fn request_case(&mut self, name: &str, request: &Json) -> Result<Option<TriedCase>, Error> {
        self.send(request)?;
        match self.receive(Instant::now() + self.time)? {
            Ok(answer) => Ok(answer.get("case").and_then(|case| self.parse_case(case))),
            Err(problem) => Err(problem.into_error(name)),
        }
    }

    /// Runs the code of the steps of a scenario.
    pub(super) fn run_steps(
        &mut self,
        prelude: &str,
        steps: &[String],
        store: &str,
    ) -> Result<StepsResult, Error> {
        let request = json!({"do": "steps", "prelude": prelude, "steps": steps, "store": store, "seconds": CASE_SECONDS});
        self.send(&request)?;
        let answer = self
            .receive(Instant::now() + self.time)?
            .map_err(|problem| problem.into_error("a scenario"))?;
        let run = answer.get("steps").cloned().unwrap_or_default();
        let is_check = run.get("is_check").and_then(Json::as_bool).unwrap_or(false);
        let values = run
            .get("values")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();
        Ok(StepsResult {
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
                .filter_map(|pair| {
                    Some((
                        pair.get(0)?.as_str()?.to_owned(),
                        parse_value(pair.get(1)?)?,
                    ))
                })
                .collect(),
        })
    }

    /// Returns all branches of the modules under test.
    pub(super) fn branches(&mut self) -> Result<CaseFeatures, Error> {
        self.send(&json!({"do": "branches"}))?;
        let answer = self
            .receive(Instant::now() + self.time)?
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

    /// Sends a request.
    fn send(&mut self, request: &Json) -> Result<(), Error> {
        let written = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        written.map_err(|_| {
            Error::new("the process that runs properties has ended: the code under test ended it")
        })
    }

    /// Receives an answer. The inner result is a problem that the process reported, a timeout or
    /// its end.
    fn receive(&mut self, deadline: Instant) -> Result<Result<Json, RunnerProblem>, Error> {
        loop {
            // Short timeouts, so that Ctrl-C is noticed.
            match self.answers.recv_timeout(Duration::from_millis(100)) {
                Ok(answer) => {
                    let message = answer.get("problem").and_then(Json::as_str);
                    return Ok(match message {
                        Some(message) => Err(RunnerProblem {
                            message: message.to_owned(),
                            is_final: false,
                        }),
                        None => Ok(answer),
                    });
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout) => {
                    let message =
                        format!("it took longer than {}", crate::duration::show(self.time));
                    return Ok(Err(RunnerProblem {
                        message,
                        is_final: true,
                    }));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "its process has come to an end".to_owned();
                    return Ok(Err(RunnerProblem {
                        message,
                        is_final: true,
                    }));
                }
            }
        }
    }

    /// Parses a case.
    fn parse_case(&self, json: &Json) -> Option<TriedCase> {
        let arguments = json
            .get("arguments")?
            .as_array()?
            .iter()
            .map(parse_argument);
        let texts = |name: &str| {
            let list = json
                .get(name)
                .and_then(Json::as_array)
                .into_iter()
                .flatten();
            list.filter_map(Json::as_str).map(str::to_owned)
        };
        let decisions = json
            .get("decisions")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();
        let outcome = match json.get("outcome")?.as_str()? {
            "passes" => CaseOutcome::Passes,
            "rejected" => CaseOutcome::Rejected,
            "late" => CaseOutcome::TimedOut,
            _ => CaseOutcome::Fails {
                error: json.get("error").and_then(Json::as_str).map(str::to_owned),
                line: json.get("line").and_then(Json::as_u64),
            },
        };
        Some(TriedCase {
            case: SampleCase {
                arguments: arguments.collect::<Option<_>>()?,
                features: texts("branches")
                    .chain(texts("conditions").map(|condition| format!("if {condition}")))
                    .collect(),
                decisions: decisions
                    .filter_map(|decision| self.parse_decision(decision))
                    .collect(),
            },
            outcome,
            json: json.clone(),
        })
    }

    /// Parses a decision. Returns `None` if it belongs to another module.
    fn parse_decision(&self, json: &Json) -> Option<Decision> {
        let mut location = json.get(0)?.as_str()?.rsplitn(3, ':');
        let column = location.next()?.parse().ok()?;
        let line = location.next()?.parse().ok()?;
        (location.next()? == self.probed_name).then_some(Decision {
            line,
            column,
            holds: json.get(1)?.as_bool()?,
        })
    }
}

impl Drop for PropertyRunner {
    fn drop(&mut self) {
        // Errors are ignored: the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A problem with a request.
struct RunnerProblem {
    message: String,
    /// True if no more answers can come.
    is_final: bool,
}

impl RunnerProblem {
    /// Converts the problem to an error about a property.
    fn into_error(self, name: &str) -> Error {
        Error::new(format!("{name} cannot be run: {}", self.message))
    }
}
