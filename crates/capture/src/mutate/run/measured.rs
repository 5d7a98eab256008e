//! The tests without any mutant.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;

use super::server::Server;
use super::{File, Mutant, Setting};
use crate::validate::Error;

/// How a mutant gets into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Not at all.
    Measure,
    /// By exchanging the code of functions.
    Swap,
    /// By loading another text than the file's.
    Load,
}

/// A test that passes.
#[derive(Clone, Debug)]
pub struct Test {
    /// `tests/test_shop.py::TestShelf::test_put`
    pub name: String,
    /// How long it takes.
    pub seconds: f64,
    /// Which lines of which files it reaches.
    lines: BTreeSet<(usize, usize)>,
}

/// What is known of tests after they have run without any mutant.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Those that pass, the fastest first.
    pub tests: Vec<Test>,
    /// Tests that were skipped.
    pub skipped: usize,
    /// How long it takes until the first test can run.
    pub(super) collecting: f64,
    /// The modules that tests and program use of others.
    pub(super) outside: Vec<String>,
    /// What runs when the modules are imported.
    at_import: BTreeSet<(usize, usize)>,
    can_fork: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    Test {
        test: String,
        outcome: String,
        message: String,
        seconds: f64,
        lines: BTreeSet<(usize, usize)>,
    },
    Collected {
        seconds: f64,
        lines: BTreeSet<(usize, usize)>,
        outside: Vec<String>,
        forks: bool,
    },
    Broken {
        broken: String,
        message: String,
    },
    Done {
        #[serde(rename = "done")]
        _done: bool,
    },
}

/// Runs all tests as the program is. `told` hears of each.
///
/// # Errors
/// If a test does not pass, or if none can be run. Nothing if `is_stopped` became true.
pub fn measure(
    setting: &Setting,
    files: &[File],
    is_stopped: &AtomicBool,
    mut told: impl FnMut(usize),
) -> Result<Option<Measured>, Error> {
    let mut server = Server::start(setting, files, Way::Measure, &[])?;
    let mut measured = Measured::default();
    let mut failures = Vec::new();
    let mut is_collected = false;
    while let Some(line) = server.line(is_stopped) {
        let Ok(found) = serde_json::from_str::<Told>(&line) else {
            continue;
        };
        match found {
            Told::Test {
                test,
                outcome,
                message,
                seconds,
                lines,
            } => match outcome.as_str() {
                "passed" => {
                    measured.tests.push(Test {
                        name: test,
                        seconds,
                        lines,
                    });
                    told(measured.tests.len());
                }
                "skipped" => measured.skipped += 1,
                _ => failures.push(format!("{test}: {message}")),
            },
            Told::Collected {
                seconds,
                lines,
                outside,
                forks,
            } => {
                is_collected = true;
                measured.collecting = seconds;
                measured.at_import = lines;
                measured.outside = outside;
                measured.can_fork = forks;
            }
            Told::Broken { broken, message } => failures.push(format!("{broken}: {message}")),
            Told::Done { .. } => {
                let by_time = |one: &Test, other: &Test| one.seconds.total_cmp(&other.seconds);
                measured.tests.sort_by(by_time);
                return judged(measured, &failures, is_collected, &server).map(Some);
            }
        }
    }
    if is_stopped.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    Err(Error(server.last_words()))
}

fn judged(
    measured: Measured,
    failures: &[String],
    is_collected: bool,
    server: &Server,
) -> Result<Measured, Error> {
    if let Some(first) = failures.first() {
        let more = match failures.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        return Err(Error(format!(
            "not all tests pass without a mutant: {first}{more}"
        )));
    }
    if !is_collected {
        return Err(Error(server.last_words()));
    }
    if measured.tests.is_empty() {
        return Err(Error("none of the tests can be found or run".to_owned()));
    }
    Ok(measured)
}

impl Measured {
    /// The tests that come to a mutant, by number and the fastest first. What runs when a module is imported may be noticed by
    /// any test; by those that reach something in the file most likely.
    pub(super) fn reaching(&self, file: usize, mutant: &Mutant) -> Vec<usize> {
        let lines = mutant.reached_in;
        let all = (file, lines.first)..=(file, lines.last);
        let numbers = 0..self.tests.len();
        if self.at_import.range(all.clone()).next().is_none() {
            let reaches = |test: &Test| test.lines.range(all.clone()).next().is_some();
            return numbers
                .filter(|number| self.tests.get(*number).is_some_and(reaches))
                .collect();
        }
        let of_file = (file, 0)..=(file, usize::MAX);
        let reaches = |test: &Test| test.lines.range(of_file.clone()).next().is_some();
        let (near, far): (Vec<usize>, Vec<usize>) =
            numbers.partition(|number| self.tests.get(*number).is_some_and(reaches));
        near.into_iter().chain(far).collect()
    }

    /// The names of the tests that come to a mutant, in their own order, which does not depend on how fast they are.
    #[must_use]
    pub fn names_reaching(&self, file: usize, mutant: &Mutant) -> Vec<&str> {
        let numbers = self.reaching(file, mutant).into_iter();
        let tests = numbers.filter_map(|number| self.tests.get(number));
        let mut names: Vec<&str> = tests.map(|test| test.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Whether any test comes to a mutant.
    #[must_use]
    pub fn is_reached(&self, file: usize, mutant: &Mutant) -> bool {
        !self.reaching(file, mutant).is_empty()
    }

    /// Code of functions can be exchanged, unless it has done its work already when modules are there.
    pub(super) fn way(&self, file: usize, mutant: &Mutant) -> Way {
        let ran_at_import = [mutant.statement, mutant.reached_in].iter().any(|lines| {
            let all = (file, lines.first)..=(file, lines.last);
            self.at_import.range(all).next().is_some()
        });
        if self.can_fork && mutant.in_function && !ran_at_import {
            Way::Swap
        } else {
            Way::Load
        }
    }

    /// The files that these tests are in.
    pub(super) fn files_of(&self, setting: &Setting, tests: &[&Test]) -> Vec<PathBuf> {
        let names: BTreeSet<&str> = tests
            .iter()
            .filter_map(|test| test.name.split("::").next())
            .collect();
        let of_tests = setting.tests.iter().filter(|path| {
            let name = path.strip_prefix(&setting.root).unwrap_or(path);
            names.contains(name.to_string_lossy().as_ref())
        });
        let found: Vec<PathBuf> = of_tests.cloned().collect();
        // A name that says nothing about its file is looked for in all.
        if found.len() < names.len() {
            setting.tests.clone()
        } else {
            found
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::mutate::mutants;
    use crate::write::Style;

    const TEXT: &str = "\
LIMIT = 1
def f(a, b=2):
    return a
def g():
    return h
TABLE = g()
";

    fn test(name: &str, seconds: f64, lines: &[usize]) -> Test {
        Test {
            name: name.to_owned(),
            seconds,
            lines: lines.iter().map(|line| (0, *line)).collect(),
        }
    }

    fn measured() -> Measured {
        Measured {
            tests: vec![test("b.py::fast", 0.1, &[]), test("a.py::slow", 0.2, &[3])],
            at_import: [1, 2, 4, 5, 6].map(|line| (0, line)).into(),
            can_fork: true,
            ..Measured::default()
        }
    }

    fn mutant(line: usize) -> Mutant {
        let found = mutants(TEXT).unwrap_or_default();
        let of_line = found.into_iter().find(|mutant| mutant.line == line);
        of_line.expect("a mutant in this line")
    }

    #[test]
    fn a_mutant_meets_the_tests_that_come_to_it() {
        let measured = measured();
        assert_eq!(measured.reaching(0, &mutant(3)), [1]);
        assert_eq!(measured.way(0, &mutant(3)), Way::Swap);
        assert!(measured.reaching(1, &mutant(3)).is_empty(), "another file");
    }

    #[test]
    fn a_default_is_met_where_the_function_runs_but_takes_an_import() {
        let measured = measured();
        assert_eq!(measured.reaching(0, &mutant(2)), [1]);
        assert_eq!(measured.way(0, &mutant(2)), Way::Load);
    }

    #[test]
    fn what_runs_on_import_may_be_noticed_by_any_test_and_by_near_ones_first() {
        let measured = measured();
        assert_eq!(measured.reaching(0, &mutant(1)), [1, 0]);
        assert_eq!(measured.way(0, &mutant(1)), Way::Load);
        // A function that has done its work while the module was imported.
        assert_eq!(measured.reaching(0, &mutant(5)), [1, 0]);
        assert_eq!(measured.way(0, &mutant(5)), Way::Load);
    }

    #[test]
    fn only_the_files_of_the_tests_are_collected() {
        let root = Path::new("/project");
        let setting = Setting {
            python: "python".into(),
            style: Style::Pytest,
            root: root.into(),
            path: Vec::new(),
            tests: vec![root.join("a.py"), root.join("b.py")],
            wanted: None,
            start: None,
        };
        let measured = measured();
        let slow: Vec<&Test> = measured.tests.iter().skip(1).collect();
        assert_eq!(measured.files_of(&setting, &slow), [root.join("a.py")]);
        let strange = test("elsewhere.py::test", 0.1, &[]);
        assert_eq!(measured.files_of(&setting, &[&strange]), setting.tests);
    }
}
