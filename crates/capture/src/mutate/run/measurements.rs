//! Measurements of the tests without mutants.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;

use super::server::MutantServer;
use super::{Mutant, MutatedFile, MutationSetup};
use crate::validate::Error;

/// The way in which a mutant is injected into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InjectionMode {
    /// Not at all.
    Measure,
    /// By exchanging the code of functions.
    Swap,
    /// By loading a changed text instead of the file's.
    Load,
}

/// A test that passes.
#[derive(Clone, Debug)]
pub struct MeasuredTest {
    /// Its name: `tests/test_shop.py::TestShelf::test_put`.
    pub name: String,
    /// Its duration.
    pub seconds: f64,
    /// The lines that it reaches, by index of the file.
    lines: BTreeSet<(usize, usize)>,
}

/// The results of running the tests without mutants.
#[derive(Clone, Debug, Default)]
pub struct TestMeasurements {
    /// The tests that pass, the fastest first.
    pub tests: Vec<MeasuredTest>,
    /// The number of skipped tests.
    pub skipped: usize,
    /// The time in seconds until the first test can run.
    pub(super) collection_seconds: f64,
    /// The modules that tests and program use, except for their own.
    pub(super) external_modules: Vec<String>,
    /// The lines that run when the modules are imported, by index of the file.
    import_lines: BTreeSet<(usize, usize)>,
    /// True if processes can be forked on this system.
    can_fork: bool,
}

/// A line of the runner script's output.
#[derive(Deserialize)]
#[serde(untagged)]
enum MeasureMessage {
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

/// Runs all tests without mutants. `report` is called with the number of tests so far.
///
/// # Errors
/// If a test does not pass, or if none can be run. Returns `None` if `is_stopped` became true.
pub fn measure(
    setting: &MutationSetup,
    files: &[MutatedFile],
    is_stopped: &AtomicBool,
    mut report: impl FnMut(usize),
) -> Result<Option<TestMeasurements>, Error> {
    let mut server = MutantServer::start(setting, files, InjectionMode::Measure, &[])?;
    let mut measured = TestMeasurements::default();
    let mut failures = Vec::new();
    let mut is_collected = false;
    while let Some(line) = server.next_line(is_stopped) {
        let Ok(found) = serde_json::from_str::<MeasureMessage>(&line) else {
            continue;
        };
        match found {
            MeasureMessage::Test {
                test,
                outcome,
                message,
                seconds,
                lines,
            } => match outcome.as_str() {
                "passed" => {
                    measured.tests.push(MeasuredTest {
                        name: test,
                        seconds,
                        lines,
                    });
                    report(measured.tests.len());
                }
                "skipped" => measured.skipped += 1,
                _ => failures.push(format!("{test}: {message}")),
            },
            MeasureMessage::Collected {
                seconds,
                lines,
                outside,
                forks,
            } => {
                is_collected = true;
                measured.collection_seconds = seconds;
                measured.import_lines = lines;
                measured.external_modules = outside;
                measured.can_fork = forks;
            }
            MeasureMessage::Broken { broken, message } => {
                failures.push(format!("{broken}: {message}"))
            }
            MeasureMessage::Done { .. } => {
                let by_time = |one: &MeasuredTest, other: &MeasuredTest| {
                    one.seconds.total_cmp(&other.seconds)
                };
                measured.tests.sort_by(by_time);
                return check_measured(measured, &failures, is_collected, &server).map(Some);
            }
        }
    }
    if is_stopped.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    Err(Error(server.last_error()))
}

/// Checks that all tests were found and pass.
fn check_measured(
    measured: TestMeasurements,
    failures: &[String],
    is_collected: bool,
    server: &MutantServer,
) -> Result<TestMeasurements, Error> {
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
        return Err(Error(server.last_error()));
    }
    if measured.tests.is_empty() {
        return Err(Error("none of the tests can be found or run".to_owned()));
    }
    Ok(measured)
}

impl TestMeasurements {
    /// Returns the indices of the tests that reach a mutant, the fastest first. Code that runs when
    /// a module is imported may be noticed by any test; tests that reach the file come first.
    pub(super) fn tests_reaching(&self, file: usize, mutant: &Mutant) -> Vec<usize> {
        let lines = mutant.reached_in;
        let all = (file, lines.first)..=(file, lines.last);
        let numbers = 0..self.tests.len();
        if self.import_lines.range(all.clone()).next().is_none() {
            let reaches = |test: &MeasuredTest| test.lines.range(all.clone()).next().is_some();
            return numbers
                .filter(|number| self.tests.get(*number).is_some_and(reaches))
                .collect();
        }
        let of_file = (file, 0)..=(file, usize::MAX);
        let reaches = |test: &MeasuredTest| test.lines.range(of_file.clone()).next().is_some();
        let (near, far): (Vec<usize>, Vec<usize>) =
            numbers.partition(|number| self.tests.get(*number).is_some_and(reaches));
        near.into_iter().chain(far).collect()
    }

    /// Returns the names of the tests that reach a mutant, sorted, so that the order does not
    /// depend on their speed.
    #[must_use]
    pub fn test_names_reaching(&self, file: usize, mutant: &Mutant) -> Vec<&str> {
        let numbers = self.tests_reaching(file, mutant).into_iter();
        let tests = numbers.filter_map(|number| self.tests.get(number));
        let mut names: Vec<&str> = tests.map(|test| test.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Returns true if any test reaches a mutant.
    #[must_use]
    pub fn is_reached(&self, file: usize, mutant: &Mutant) -> bool {
        !self.tests_reaching(file, mutant).is_empty()
    }

    /// Returns the injection mode for a mutant. The code of functions can be exchanged, unless it
    /// has run when the modules were imported.
    pub(super) fn injection_mode(&self, file: usize, mutant: &Mutant) -> InjectionMode {
        let ran_at_import = [mutant.statement, mutant.reached_in].iter().any(|lines| {
            let all = (file, lines.first)..=(file, lines.last);
            self.import_lines.range(all).next().is_some()
        });
        if self.can_fork && mutant.in_function && !ran_at_import {
            InjectionMode::Swap
        } else {
            InjectionMode::Load
        }
    }

    /// Returns the files that contain these tests.
    pub(super) fn files_of_tests(
        &self,
        setting: &MutationSetup,
        tests: &[&MeasuredTest],
    ) -> Vec<PathBuf> {
        let names: BTreeSet<&str> = tests
            .iter()
            .filter_map(|test| test.name.split("::").next())
            .collect();
        let of_tests = setting.tests.iter().filter(|path| {
            let name = path.strip_prefix(&setting.root).unwrap_or(path);
            names.contains(name.to_string_lossy().as_ref())
        });
        let found: Vec<PathBuf> = of_tests.cloned().collect();
        // A name without a known file is searched in all files.
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
    use crate::write::TestFramework;

    const TEXT: &str = "\
LIMIT = 1
def f(a, b=2):
    return a
def g():
    return h
TABLE = g()
";

    fn test(name: &str, seconds: f64, lines: &[usize]) -> MeasuredTest {
        MeasuredTest {
            name: name.to_owned(),
            seconds,
            lines: lines.iter().map(|line| (0, *line)).collect(),
        }
    }

    fn measured() -> TestMeasurements {
        TestMeasurements {
            tests: vec![test("b.py::fast", 0.1, &[]), test("a.py::slow", 0.2, &[3])],
            import_lines: [1, 2, 4, 5, 6].map(|line| (0, line)).into(),
            can_fork: true,
            ..TestMeasurements::default()
        }
    }

    fn mutant(line: usize) -> Mutant {
        let found = mutants(TEXT).unwrap_or_default();
        let of_line = found.into_iter().find(|mutant| mutant.line == line);
        of_line.expect("a mutant in this line")
    }

    #[test]
    fn a_mutant_is_tested_by_the_tests_that_reach_it() {
        let measured = measured();
        assert_eq!(measured.tests_reaching(0, &mutant(3)), [1]);
        assert_eq!(measured.injection_mode(0, &mutant(3)), InjectionMode::Swap);
        assert!(
            measured.tests_reaching(1, &mutant(3)).is_empty(),
            "another file"
        );
    }

    #[test]
    fn a_default_is_tested_where_the_function_runs_but_needs_an_import() {
        let measured = measured();
        assert_eq!(measured.tests_reaching(0, &mutant(2)), [1]);
        assert_eq!(measured.injection_mode(0, &mutant(2)), InjectionMode::Load);
    }

    #[test]
    fn code_run_at_import_is_tested_by_all_tests_near_ones_first() {
        let measured = measured();
        assert_eq!(measured.tests_reaching(0, &mutant(1)), [1, 0]);
        assert_eq!(measured.injection_mode(0, &mutant(1)), InjectionMode::Load);
        // A function that has done its work while the module was imported.
        assert_eq!(measured.tests_reaching(0, &mutant(5)), [1, 0]);
        assert_eq!(measured.injection_mode(0, &mutant(5)), InjectionMode::Load);
    }

    #[test]
    fn only_the_files_of_the_tests_are_collected() {
        let root = Path::new("/project");
        let setting = MutationSetup {
            python: "python".into(),
            style: TestFramework::Pytest,
            root: root.into(),
            path: Vec::new(),
            tests: vec![root.join("a.py"), root.join("b.py")],
            selected_tests: None,
            start: None,
        };
        let measured = measured();
        let slow: Vec<&MeasuredTest> = measured.tests.iter().skip(1).collect();
        assert_eq!(
            measured.files_of_tests(&setting, &slow),
            [root.join("a.py")]
        );
        let strange = test("elsewhere.py::test", 0.1, &[]);
        assert_eq!(
            measured.files_of_tests(&setting, &[&strange]),
            setting.tests
        );
    }
}
