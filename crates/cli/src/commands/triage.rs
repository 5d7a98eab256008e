//! `testwright triage`: group failing tests that show the same bug.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use testwright_core::analyse::culprit::{BugIdentity, Culprit, group_bugs, identify};
use testwright_core::analyse::furthest::{FurthestOptions, furthest_first};
use testwright_core::analyse::triage::{
    FailureGroup, FailureSignature, TriageOptions, abstract_message, signature,
};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{Catalog, Failure, Test};
use testwright_python::OutputMode;

use super::replay::UntilInterrupted;
use crate::console::{Console, TextStyle};
use crate::load::{self, SavedSuite};
use crate::target::Target;
use crate::test_source::TestSetup;
use crate::{CommandError, ExitStatus, quantity, report};

/// Group failing tests by bug
///
/// The tests are replayed. If an earlier step is to blame for a failure, since the system first differs from
/// its reference after it, tests with the same such step are one group. Else tests that fail at the same
/// place are. Each group is shown with its shortest test. A folder stands for all `.test` files in it and
/// below. Tests that no longer fit the harness are reported and left out.
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
    setup: TestSetup,
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
    pub(crate) fn run(mut self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let files = load::test_files(&self.tests)?;
        let source = self.setup.restore(&self.tests)?;
        let options = self.setup.options(&source, OutputMode::Drop)?;
        let ready = source.read(console)?;
        ready.with_target(console, &options, &self.setup.system, |console, system| {
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
            // A broken test may hide a failure, so without failures the question is open.
            let is_tested = !(sorted.passing.is_empty() && sorted.ignored.is_empty());
            let is_answered = is_tested && sorted.broken.is_empty() && sorted.left_out == 0;
            Ok(if !sorted.cases.is_empty() {
                ExitStatus::FailureFound
            } else if is_answered {
                ExitStatus::NothingFound
            } else {
                ExitStatus::Error
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
            check: self.setup.check(),
        };
        let mut sorted = SortedTests {
            broken: suite.broken,
            ..SortedTests::default()
        };
        for (name, test) in suite.tests {
            let trace = replay(system, &test, &options, &mut UntilInterrupted)?;
            if trace.interrupted || sorted.left_out > 0 {
                sorted.left_out += 1;
                continue;
            }
            match trace.failure() {
                None if trace.has_taken_step() => sorted.passing.push(name),
                None => sorted.broken.push(name),
                Some(failure) if self.is_ignored(failure) => sorted.ignored.push(name),
                Some(failure) => {
                    let case = (trace.executed_test(), failure.clone());
                    let mut proceed = || !testwright_python::is_interrupted();
                    let identity = identify(system, &case.0, &case.1, &options, &mut proceed)?;
                    sorted.identities.push(identity);
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
        let mut groups = self.bugs(catalog, sorted, &options);
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

    /// Groups the failing tests by bug, the largest group first.
    fn bugs(
        &self,
        catalog: &Catalog,
        sorted: &SortedTests,
        options: &TriageOptions,
    ) -> Vec<FailureGroup> {
        let abstracted = |identity: &BugIdentity| BugIdentity {
            signature: if self.strings {
                abstract_message(&identity.signature, true)
            } else {
                identity.signature.clone()
            },
            ..identity.clone()
        };
        let identities: Vec<BugIdentity> = sorted.identities.iter().map(abstracted).collect();
        let mut groups = Vec::new();
        for bug in group_bugs(&identities) {
            let mut by_classes: BTreeMap<BTreeSet<String>, Vec<usize>> = BTreeMap::new();
            for member in bug {
                let (test, failure) = &sorted.cases[member];
                let FailureSignature { classes, .. } = signature(catalog, test, failure, options);
                by_classes.entry(classes).or_default().push(member);
            }
            groups.extend(by_classes.into_values());
        }
        let group = |members| FailureGroup::of_members(catalog, &sorted.cases, members, options);
        let mut groups: Vec<FailureGroup> = groups.into_iter().map(group).collect();
        groups.sort_by(|one, other| {
            let key = |group: &FailureGroup| Reverse(group.members.len());
            (key(one), &one.signature).cmp(&(key(other), &other.signature))
        });
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
        let message = format!(
            "{}: {}",
            report::kind_text(failure.kind),
            group.signature.failure
        );
        match sorted.earlier_culprit(group) {
            None => {
                console.out(format_args!("{title}: {tests}: {message}"));
                console.out(format_args!("    fails in {}", group.signature.step));
            }
            Some(culprit) => {
                let wrong: Vec<&str> = culprit.evidence.iter().map(String::as_str).collect();
                let text = &culprit.text;
                console.out(format_args!("{title}: {tests}: goes wrong in {text}"));
                console.out(format_args!("    which is seen by {}", wrong.join(", ")));
                console.out(format_args!("    for example: {message}"));
            }
        }
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
    /// Identities of their bugs.
    identities: Vec<BugIdentity>,
    /// Files of tests that pass.
    passing: Vec<String>,
    /// Files of failing tests that `--ignore` leaves out.
    ignored: Vec<String>,
    /// Files of tests that the harness does not understand any more.
    broken: Vec<String>,
    /// The number of tests that were not replayed, since the user stopped the command.
    left_out: usize,
}

impl SortedTests {
    /// Returns the step to blame for a group, if it is not the failing one.
    fn earlier_culprit(&self, group: &FailureGroup) -> Option<&Culprit> {
        let culprit = self.identities.get(group.shortest)?.culprit.as_ref();
        culprit.filter(|culprit| culprit.is_earlier)
    }
}

/// Prints the numbers of tests.
fn print_summary(console: &mut Console<'_>, sorted: &SortedTests, groups: usize) {
    let all =
        sorted.names.len() + sorted.passing.len() + sorted.ignored.len() + sorted.broken.len();
    let mut parts = Vec::new();
    if sorted.names.is_empty() {
        let text = match sorted.left_out {
            0 => console.paint(TextStyle::Success, "none to look at"),
            _ => "none to look at so far".to_owned(),
        };
        parts.push(text);
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
    if sorted.left_out > 0 {
        let left_out = quantity::grouped(sorted.left_out as u64);
        parts.push(format!("interrupted, so {left_out} not looked at"));
    }
    console.out(format_args!(
        "{}: {}",
        quantity::format_count((all + sorted.left_out) as u64, "test"),
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
    /// True if the user stopped the command before it was done.
    interrupted: bool,
}

/// A group of failing tests.
#[derive(Serialize)]
struct GroupReport<'a> {
    kind: &'static str,
    /// Message of the failure, without the parts that vary.
    failure: &'a str,
    /// The failing step, without the parts that vary.
    step: &'a str,
    /// The step to blame, if it is an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    culprit: Option<&'a str>,
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
                culprit: sorted
                    .earlier_culprit(group)
                    .map(|culprit| culprit.text.as_str()),
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
            interrupted: sorted.left_out > 0,
        }
    }

    /// Formats the report as one JSON object.
    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}
