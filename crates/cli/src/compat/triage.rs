//! `tstl_triage`: groups failing tests by bug.

use std::path::{Path, PathBuf};

use testwright_core::analyse::triage::{FailureGroup, TriageOptions, triage};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{Catalog, Error, Failure, System, Test};
use testwright_python::{MeasuredCode, OutputMode, PythonSystem};

use super::test_file::{self, TestFile};
use super::{Invocation, Tool, ToolOutcome, tstl_text};
use crate::CommandError;
use crate::compiled::CompiledModule;
use crate::console::Console;

/// Group failing tests that show the same bug
#[derive(clap::Parser)]
#[command(name = "tstl_triage", rename_all = "camelCase")]
pub(super) struct Triage {
    /// The tests, as a pattern with `*` and `?`
    #[arg(value_name = "GLOB")]
    testglob: String,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Show the tests
    #[arg(long)]
    show_tests: bool,

    /// Ignore quoted text when failures are compared
    #[arg(long)]
    abstract_strings: bool,

    /// Leave out tests with one of these texts, separated by `;;`, in a step
    #[arg(long, value_name = "TEXTS")]
    ignore_containing: Option<String>,

    /// Tests with other action classes are different
    #[arg(long)]
    action_classes: bool,
}

/// The replayed tests.
#[derive(Default)]
struct TriagedTests {
    /// The failing tests.
    cases: Vec<(Test, Failure)>,
    /// The file and the exception of each failing test.
    names: Vec<(String, String)>,
    /// The number of tests that the harness does not understand.
    invalid: usize,
    /// The number of passing tests.
    passing: usize,
}

impl Tool for Triage {
    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        let compiled = CompiledModule::read(Path::new("sut.py"))?;
        let files = test_file::glob(&self.testglob);
        let files: Vec<(PathBuf, Result<TestFile, Error>)> = files
            .into_iter()
            .map(|path| (path.clone(), TestFile::read(&path, false)))
            .collect();
        console.out(format_args!(
            "Triaging using config={}",
            invocation.config()
        ));
        let options = compiled.options(OutputMode::Drop, MeasuredCode::Nothing);
        compiled.with_system(console, &options, |console, system| {
            let triaged = self.replay_all(console, system, &files)?;
            let options = TriageOptions {
                abstract_strings: self.abstract_strings,
                action_classes: self.action_classes,
                ignore: Vec::new(),
            };
            let groups = triage(system.actions(), &triaged.cases, &options);
            for group in &groups {
                self.print_group(console, system.actions(), &triaged, group);
            }
            triaged.print_counts(console);
            Ok(ToolOutcome::Passed)
        })
    }
}

impl Triage {
    /// Replays all tests.
    fn replay_all(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        files: &[(PathBuf, Result<TestFile, Error>)],
    ) -> Result<TriagedTests, CommandError> {
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let mut triaged = TriagedTests::default();
        for (path, file) in files {
            let name = path.display().to_string();
            let test = match file {
                Ok(file) => file.test(console, system),
                // A pattern may match anything.
                Err(error) => Err(error.clone().into()),
            };
            let test = match test {
                Ok(test) => test,
                Err(_) if testwright_python::is_interrupted() => {
                    return Err(CommandError::Interrupted);
                }
                Err(error) => {
                    error.report(console);
                    console.out(format_args!("INVALID TEST CASE: {name}"));
                    triaged.invalid += 1;
                    continue;
                }
            };
            if self.is_ignored(system, &test) {
                continue;
            }
            let trace = replay(system, &test, &options, &mut ())?;
            if trace.interrupted || testwright_python::is_interrupted() {
                return Err(CommandError::Interrupted);
            }
            let Some(failure) = trace.failure() else {
                triaged.passing += 1;
                continue;
            };
            if trace.events.len() < test.len() {
                console.out(format_args!("TEST {} FAILS BEFORE END OF TEST", name));
            }
            let tuple = system.exception_tuple(&failure.message);
            triaged.names.push((name, tuple));
            triaged.cases.push((trace.executed_test(), failure.clone()));
        }
        Ok(triaged)
    }

    /// Returns true if a step of the test contains a text to ignore.
    fn is_ignored(&self, system: &PythonSystem<'_>, test: &Test) -> bool {
        let Some(texts) = &self.ignore_containing else {
            return false;
        };
        let lines = test_file::lines(system, test);
        texts
            .split(";;")
            .filter(|text| !text.is_empty())
            .any(|text| lines.iter().any(|line| line.contains(text)))
    }

    /// Prints the shortest test of a group, and the size of the group.
    fn print_group(
        &self,
        console: &mut Console<'_>,
        catalog: &Catalog,
        triaged: &TriagedTests,
        group: &FailureGroup,
    ) {
        let (test, failure) = &triaged.cases[group.shortest];
        let (name, tuple) = &triaged.names[group.shortest];
        console.out("=".repeat(80));
        console.out(format_args!("TEST: {name} LENGTH: {}", test.len()));
        let last = test
            .steps
            .last()
            .map(|step| tstl_text::step_text(catalog, step));
        console.out(format_args!("OPERATION: {}", last.unwrap_or_default()));
        if self.action_classes {
            let classes: Vec<&str> = group
                .signature
                .classes
                .iter()
                .map(|class| class.trim())
                .collect();
            console.out(format_args!("ACTION CLASSES: {classes:?}"));
        }
        console.out(format_args!("EXCEPTION: {tuple}"));
        console.out("FAILURE:");
        tstl_text::print_details(console, failure);
        let count = group.members.len();
        let share = count as f64 / triaged.cases.len() as f64;
        let share = (share * 100.0).round() / 100.0 * 100.0;
        console.out(format_args!("COUNT: {count} ({share:?}%)"));
        if self.show_tests {
            tstl_text::print_test(console, catalog, test);
        }
    }
}

impl TriagedTests {
    /// Prints the numbers of tests.
    fn print_counts(&self, console: &mut Console<'_>) {
        console.out("");
        console.out("*".repeat(80));
        console.out(format_args!("{} TOTAL FAILING TESTS", self.cases.len()));
        if self.invalid > 0 {
            console.out(format_args!("{} TOTAL INVALID TESTS", self.invalid));
        }
        if self.passing > 0 {
            console.out(format_args!("{} TOTAL PASSING TESTS", self.passing));
        }
    }
}
