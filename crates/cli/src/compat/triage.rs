//! `tstl_triage`: how many bugs many failing tests show.

use std::path::{Path, PathBuf};

use testwright_core::analyse::triage::{Group, TriageOptions, triage};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{Catalog, Error, Failure, System, Test};
use testwright_python::{Measured, Output, PythonSystem};

use super::test_file::{self, TestFile};
use super::{Calling, Ended, Tool, words};
use crate::Trouble;
use crate::compiled::Compiled;
use crate::console::Console;

/// Put failing tests together that show the same bug
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

    /// What stands in quotes does not matter
    #[arg(long)]
    abstract_strings: bool,

    /// Leave out tests with one of these texts, separated by `;;`, in a step
    #[arg(long, value_name = "TEXTS")]
    ignore_containing: Option<String>,

    /// Tests with other action classes are different
    #[arg(long)]
    action_classes: bool,
}

/// What became of the tests.
#[derive(Default)]
struct Sorted {
    cases: Vec<(Test, Failure)>,
    /// For each case its file and its exception.
    names: Vec<(String, String)>,
    invalid: usize,
    passing: usize,
}

impl Tool for Triage {
    fn run(self, console: &mut Console<'_>, calling: &Calling) -> Result<Ended, Trouble> {
        let compiled = Compiled::read(Path::new("sut.py"))?;
        let files = test_file::matching(&self.testglob);
        let files: Vec<(PathBuf, Result<TestFile, Error>)> = files
            .into_iter()
            .map(|path| (path.clone(), TestFile::read(&path, false)))
            .collect();
        console.say(format_args!("Triaging using config={}", calling.config()));
        let options = compiled.options(Output::Drop, Measured::Nothing);
        compiled.with_system(console, &options, |console, system| {
            let sorted = self.sort(console, system, &files)?;
            let options = TriageOptions {
                abstract_strings: self.abstract_strings,
                action_classes: self.action_classes,
                ignore: Vec::new(),
            };
            let groups = triage(system.actions(), &sorted.cases, &options);
            for group in &groups {
                self.say_group(console, system.actions(), &sorted, group);
            }
            sorted.say_numbers(console);
            Ok(Ended::Well)
        })
    }
}

impl Triage {
    fn sort(
        &self,
        console: &mut Console<'_>,
        system: &mut PythonSystem<'_>,
        files: &[(PathBuf, Result<TestFile, Error>)],
    ) -> Result<Sorted, Trouble> {
        let options = ReplayOptions {
            check: !self.no_check,
        };
        let mut sorted = Sorted::default();
        for (path, file) in files {
            let name = path.display().to_string();
            let test = match file {
                Ok(file) => file.test(console, system),
                // A pattern may match anything.
                Err(error) => Err(error.clone().into()),
            };
            let test = match test {
                Ok(test) => test,
                Err(_) if testwright_python::interrupted() => return Err(Trouble::Interrupted),
                Err(trouble) => {
                    trouble.tell(console);
                    console.say(format_args!("INVALID TEST CASE: {name}"));
                    sorted.invalid += 1;
                    continue;
                }
            };
            if self.is_ignored(system, &test) {
                continue;
            }
            let trace = replay(system, &test, &options, &mut ())?;
            if trace.interrupted || testwright_python::interrupted() {
                return Err(Trouble::Interrupted);
            }
            let Some(failure) = trace.failure() else {
                sorted.passing += 1;
                continue;
            };
            if trace.events.len() < test.len() {
                console.say(format_args!("TEST {} FAILS BEFORE END OF TEST", name));
            }
            let tuple = system.exception_tuple(&failure.message);
            sorted.names.push((name, tuple));
            sorted.cases.push((trace.executed(), failure.clone()));
        }
        Ok(sorted)
    }

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

    fn say_group(
        &self,
        console: &mut Console<'_>,
        catalog: &Catalog,
        sorted: &Sorted,
        group: &Group,
    ) {
        let (test, failure) = &sorted.cases[group.shortest];
        let (name, tuple) = &sorted.names[group.shortest];
        console.say("=".repeat(80));
        console.say(format_args!("TEST: {name} LENGTH: {}", test.len()));
        let last = test
            .steps
            .last()
            .map(|step| words::step_text(catalog, step));
        console.say(format_args!("OPERATION: {}", last.unwrap_or_default()));
        if self.action_classes {
            let classes: Vec<&str> = group
                .signature
                .classes
                .iter()
                .map(|class| class.trim())
                .collect();
            console.say(format_args!("ACTION CLASSES: {classes:?}"));
        }
        console.say(format_args!("EXCEPTION: {tuple}"));
        console.say("FAILURE:");
        words::say_details(console, failure);
        let count = group.members.len();
        let share = count as f64 / sorted.cases.len() as f64;
        let share = (share * 100.0).round() / 100.0 * 100.0;
        console.say(format_args!("COUNT: {count} ({share:?}%)"));
        if self.show_tests {
            words::say_test(console, catalog, test);
        }
    }
}

impl Sorted {
    fn say_numbers(&self, console: &mut Console<'_>) {
        console.say("");
        console.say("*".repeat(80));
        console.say(format_args!("{} TOTAL FAILING TESTS", self.cases.len()));
        if self.invalid > 0 {
            console.say(format_args!("{} TOTAL INVALID TESTS", self.invalid));
        }
        if self.passing > 0 {
            console.say(format_args!("{} TOTAL PASSING TESTS", self.passing));
        }
    }
}
