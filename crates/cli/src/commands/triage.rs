//! `testwright triage`: group failing tests that show the same bug.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use testwright_core::analyse::furthest::{FurthestOptions, furthest_first};
use testwright_core::analyse::triage::{FailureGroup, TriageOptions, triage};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{Catalog, Failure, Test};
use testwright_python::OutputMode;

use super::SystemArguments;
use super::replay::UntilInterrupted;
use crate::console::{Console, TextStyle};
use crate::load::{self, SavedSuite};
use crate::target::Target;
use crate::test_source::HarnessArgument;
use crate::{CommandError, ExitStatus, quantity, report};

/// Group failing tests by bug
///
/// The tests are replayed. Tests that fail in the same action with the same message are one group. Numbers in
/// the message and the slots and numbers of the action do not matter. Each group is shown with its shortest
/// test. A folder stands for all `.test` files in it and below. Tests that no longer fit the harness are
/// reported and left out.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright triage kept
  testwright triage kept --strings          names in messages do not matter
  testwright triage kept --ranking furthest the most different ones first
  testwright triage kept --json | jq '.groups[].shortest'

Exit status: 0 no test fails, 1 a test fails, 2 could not do what was asked."
)]
pub(crate) struct TriageCommand {
    /// Saved tests, and folders with tests
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    #[command(flatten)]
    harness: HarnessArgument,

    /// Ignore quoted text in messages, too
    #[arg(long)]
    strings: bool,

    /// Put tests that use different lines of the harness in different groups
    #[arg(long)]
    classes: bool,

    /// Leave out failures whose message contains this text; repeatable
    #[arg(long, value_name = "TEXT")]
    ignore: Vec<String>,

    /// Order of the groups
    #[arg(long, value_name = "ORDER", value_enum, default_value = "count")]
    ranking: Ranking,

    /// Show the steps of the shortest tests, and name all tests of a group
    #[arg(long, short)]
    verbose: bool,

    /// Print the result as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    system: SystemArguments,
}

/// Values of `--ranking`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ranking {
    /// the largest group first
    Count,
    /// the group of the first test, then always the group most different from all before
    Furthest,
}

impl TriageCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let files = load::test_files(&self.tests)?;
        let source = self.harness.find_source(&self.tests)?;
        let options = self.system.options_for(&source, OutputMode::Drop)?;
        let ready = source.read(console)?;
        ready.with_target(console, &options, &self.system, |console, system| {
            let suite = SavedSuite::read(console, system, files)?;
            let sorted = self.sort(system, suite)?;
            let groups = self.groups(system.actions(), &sorted);
            if self.json {
                let report = TriageReport::new(system.actions(), &sorted, &groups);
                console.out(report.to_json());
            } else {
                for (number, group) in (1..).zip(&groups) {
                    self.print_group(console, system.actions(), &sorted, number, group);
                }
                print_summary(console, &sorted, groups.len());
            }
            Ok(if sorted.cases.is_empty() {
                ExitStatus::NothingFound
            } else {
                ExitStatus::FailureFound
            })
        })
    }

    /// Replays the tests, and sorts them by their result.
    fn sort(
        &self,
        system: &mut dyn Target,
        suite: SavedSuite,
    ) -> Result<SortedTests, CommandError> {
        let options = ReplayOptions {
            check: !self.system.no_check,
        };
        let mut sorted = SortedTests {
            broken: suite.broken,
            ..SortedTests::default()
        };
        for (name, test) in suite.tests {
            let trace = replay(system, &test, &options, &mut UntilInterrupted)?;
            if trace.interrupted {
                return Err(CommandError::Interrupted);
            }
            match trace.failure() {
                None => sorted.passing.push(name),
                Some(failure) if self.is_ignored(failure) => sorted.ignored.push(name),
                Some(failure) => {
                    let case = (trace.executed_test(), failure.clone());
                    sorted.names.push(name);
                    sorted.cases.push(case);
                }
            }
        }
        Ok(sorted)
    }

    /// Returns true if `--ignore` leaves out a failure.
    fn is_ignored(&self, failure: &Failure) -> bool {
        self.ignore
            .iter()
            .any(|text| failure.message.contains(text))
    }

    /// Groups the failing tests, and ranks the groups.
    fn groups(&self, catalog: &Catalog, sorted: &SortedTests) -> Vec<FailureGroup> {
        let options = TriageOptions {
            abstract_strings: self.strings,
            action_classes: self.classes,
            ignore: Vec::new(),
        };
        let mut groups = triage(catalog, &sorted.cases, &options);
        if self.ranking == Ranking::Furthest {
            let ranked = furthest_first(catalog, &sorted.cases, &FurthestOptions::default());
            let rank = |index: &usize| ranked.iter().position(|ranked| ranked == index);
            for group in &mut groups {
                group.members.sort_by_key(rank);
            }
            groups.sort_by_key(|group| group.members.first().and_then(rank));
        }
        groups
    }

    /// Prints a group.
    fn print_group(
        &self,
        console: &mut Console<'_>,
        catalog: &Catalog,
        sorted: &SortedTests,
        number: usize,
        group: &FailureGroup,
    ) {
        let title = console.paint(TextStyle::Failure, format_args!("Group {number}"));
        let tests = quantity::format_count(group.members.len() as u64, "test");
        let (test, failure) = &sorted.cases[group.shortest];
        console.out(format_args!(
            "{title}: {tests}: {}: {}",
            report::kind_text(failure.kind),
            group.signature.failure
        ));
        console.out(format_args!("    fails in {}", group.signature.step));
        for class in &group.signature.classes {
            console.out(format_args!("    takes {}", class.trim()));
        }
        console.out(format_args!(
            "    shortest: {} ({})",
            sorted.names[group.shortest],
            quantity::format_count(test.len() as u64, "step")
        ));
        if self.verbose {
            report::print_test(console, catalog, test, failure);
            let others = group
                .members
                .iter()
                .filter(|index| **index != group.shortest);
            for index in others {
                console.out(format_args!("    also: {}", sorted.names[*index]));
            }
        }
        console.out("");
    }
}

/// Tests by their result.
#[derive(Default)]
struct SortedTests {
    /// Files of `cases`.
    names: Vec<String>,
    /// Failing tests.
    cases: Vec<(Test, Failure)>,
    /// Files of tests that pass.
    passing: Vec<String>,
    /// Files of failing tests that `--ignore` leaves out.
    ignored: Vec<String>,
    /// Files of tests that the harness does not understand any more.
    broken: Vec<String>,
}

/// Prints the numbers of tests.
fn print_summary(console: &mut Console<'_>, sorted: &SortedTests, groups: usize) {
    let all =
        sorted.names.len() + sorted.passing.len() + sorted.ignored.len() + sorted.broken.len();
    let mut parts = Vec::new();
    if sorted.names.is_empty() {
        parts.push(console.paint(TextStyle::Success, "none to look at"));
    } else {
        let groups = quantity::format_count(groups as u64, "group");
        let failing_text = format!("{} failing in {groups}", sorted.names.len());
        parts.push(console.paint(TextStyle::Failure, failing_text));
    }
    for (names, word) in [
        (&sorted.passing, "passing"),
        (&sorted.ignored, "ignored"),
        (&sorted.broken, "broken"),
    ] {
        if !names.is_empty() {
            parts.push(format!("{} {word}", quantity::grouped(names.len() as u64)));
        }
    }
    console.out(format_args!(
        "{}: {}",
        quantity::format_count(all as u64, "test"),
        parts.join(", ")
    ));
}

/// The result for scripts. Field names are the keys of the JSON output and must not change.
#[derive(Serialize)]
struct TriageReport<'a> {
    groups: Vec<GroupReport<'a>>,
    failing: usize,
    passing: &'a [String],
    ignored: &'a [String],
    broken: &'a [String],
}

/// A group of failing tests.
#[derive(Serialize)]
struct GroupReport<'a> {
    kind: &'static str,
    /// Message of the failure, without the parts that vary.
    failure: &'a str,
    /// The failing step, without the parts that vary.
    step: &'a str,
    /// Classes of actions, if `--classes` is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<&'a str>,
    /// Number of tests in the group.
    count: usize,
    /// File of the shortest test.
    shortest: &'a str,
    /// Message of the shortest test.
    message: &'a str,
    /// Steps of the shortest test.
    test: Vec<String>,
    /// Files of all tests in the group.
    tests: Vec<&'a str>,
}

impl<'a> TriageReport<'a> {
    /// Builds the report.
    fn new(
        catalog: &Catalog,
        sorted: &'a SortedTests,
        groups: &'a [FailureGroup],
    ) -> TriageReport<'a> {
        let group = |group: &'a FailureGroup| {
            let (test, failure) = &sorted.cases[group.shortest];
            let name = |index: &usize| sorted.names[*index].as_str();
            let classes = group.signature.classes.iter();
            GroupReport {
                kind: failure.kind.name(),
                failure: &group.signature.failure,
                step: &group.signature.step,
                classes: classes.map(|class| class.trim()).collect(),
                count: group.members.len(),
                shortest: name(&group.shortest),
                message: &failure.message,
                test: report::step_labels(catalog, test),
                tests: group.members.iter().map(name).collect(),
            }
        };
        TriageReport {
            groups: groups.iter().map(group).collect(),
            failing: sorted.cases.len(),
            passing: &sorted.passing,
            ignored: &sorted.ignored,
            broken: &sorted.broken,
        }
    }

    /// Formats the report as one JSON object.
    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}
