//! `testwright triage`: how many bugs are these failures?

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;
use testwright_core::analyse::furthest::{FurthestOptions, furthest_first};
use testwright_core::analyse::triage::{Group, TriageOptions, triage};
use testwright_core::replay::{ReplayOptions, replay};
use testwright_core::{Catalog, Failure, Test};
use testwright_python::Output;

use super::SystemArguments;
use super::replay::UntilInterrupted;
use crate::belonging::HarnessArgument;
use crate::console::{Console, Look};
use crate::load::{self, Suite};
use crate::subject::Subject;
use crate::{ExitStatus, Trouble, quantity, report};

/// Put failing tests together that show the same bug
///
/// The tests are replayed. Those whose failures look the same once numbers are left out, and that fail in
/// the same action, whatever its slots and numbers, are one group. Each group is shown with its shortest
/// test. A folder stands for all `.test` files in it and below; tests that the harness does not understand
/// any more are told and left out.
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
pub(crate) struct Triage {
    /// Tests, and folders with tests
    #[arg(required = true, value_name = "TEST|FOLDER")]
    tests: Vec<PathBuf>,

    #[command(flatten)]
    harness: HarnessArgument,

    /// What stands in quotes in a message does not matter either
    #[arg(long)]
    strings: bool,

    /// Tests that take different kinds of actions are different
    #[arg(long)]
    classes: bool,

    /// Leave out failures whose message contains this; repeatable
    #[arg(long, value_name = "TEXT")]
    ignore: Vec<String>,

    /// Which group comes first
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ranking {
    /// the one with the most tests
    Count,
    /// the first one, then each time the one that is most different from all before
    Furthest,
}

impl Triage {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let files = load::test_files(&self.tests)?;
        let source = self.harness.of(&self.tests)?;
        let options = self.system.options_for(&source, Output::Drop)?;
        let ready = source.read(console)?;
        ready.with_subject(console, &options, &self.system, |console, system| {
            let suite = Suite::read(console, system, files)?;
            let sorted = self.sort(system, suite)?;
            let groups = self.groups(system.actions(), &sorted);
            if self.json {
                let report = Report::new(system.actions(), &sorted, &groups);
                console.say(report.to_json());
            } else {
                for (number, group) in (1..).zip(&groups) {
                    self.say_group(console, system.actions(), &sorted, number, group);
                }
                say_summary(console, &sorted, groups.len());
            }
            Ok(if sorted.cases.is_empty() {
                ExitStatus::NothingFound
            } else {
                ExitStatus::FailureFound
            })
        })
    }

    /// Tells those that fail from the others.
    fn sort(&self, system: &mut dyn Subject, suite: Suite) -> Result<Sorted, Trouble> {
        let options = ReplayOptions {
            check: !self.system.no_check,
        };
        let mut sorted = Sorted {
            broken: suite.broken,
            ..Sorted::default()
        };
        for (name, test) in suite.tests {
            let trace = replay(system, &test, &options, &mut UntilInterrupted)?;
            if trace.interrupted {
                return Err(Trouble::Interrupted);
            }
            match trace.failure() {
                None => sorted.passing.push(name),
                Some(failure) if self.is_ignored(failure) => sorted.ignored.push(name),
                Some(failure) => {
                    let case = (trace.executed(), failure.clone());
                    sorted.names.push(name);
                    sorted.cases.push(case);
                }
            }
        }
        Ok(sorted)
    }

    fn is_ignored(&self, failure: &Failure) -> bool {
        self.ignore
            .iter()
            .any(|text| failure.message.contains(text))
    }

    fn groups(&self, catalog: &Catalog, sorted: &Sorted) -> Vec<Group> {
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

    fn say_group(
        &self,
        console: &mut Console<'_>,
        catalog: &Catalog,
        sorted: &Sorted,
        number: usize,
        group: &Group,
    ) {
        let title = console.paint(Look::Bad, format_args!("Group {number}"));
        let tests = quantity::of(group.members.len() as u64, "test");
        let (test, failure) = &sorted.cases[group.shortest];
        console.say(format_args!(
            "{title}: {tests}: {}: {}",
            report::in_words(failure.kind),
            group.signature.failure
        ));
        console.say(format_args!("    fails in {}", group.signature.step));
        for class in &group.signature.classes {
            console.say(format_args!("    takes {}", class.trim()));
        }
        console.say(format_args!(
            "    shortest: {} ({})",
            sorted.names[group.shortest],
            quantity::of(test.len() as u64, "step")
        ));
        if self.verbose {
            report::say_test(console, catalog, test, failure);
            let others = group
                .members
                .iter()
                .filter(|index| **index != group.shortest);
            for index in others {
                console.say(format_args!("    also: {}", sorted.names[*index]));
            }
        }
        console.say("");
    }
}

/// Tests by what came of them.
#[derive(Default)]
struct Sorted {
    /// The files of `cases`.
    names: Vec<String>,
    /// Those that fail.
    cases: Vec<(Test, Failure)>,
    passing: Vec<String>,
    ignored: Vec<String>,
    broken: Vec<String>,
}

fn say_summary(console: &mut Console<'_>, sorted: &Sorted, groups: usize) {
    let all =
        sorted.names.len() + sorted.passing.len() + sorted.ignored.len() + sorted.broken.len();
    let mut words = Vec::new();
    if sorted.names.is_empty() {
        words.push(console.paint(Look::Good, "none to look at"));
    } else {
        let groups = quantity::of(groups as u64, "group");
        let words_for_failing = format!("{} failing in {groups}", sorted.names.len());
        words.push(console.paint(Look::Bad, words_for_failing));
    }
    for (names, word) in [
        (&sorted.passing, "passing"),
        (&sorted.ignored, "ignored"),
        (&sorted.broken, "broken"),
    ] {
        if !names.is_empty() {
            words.push(format!("{} {word}", quantity::grouped(names.len() as u64)));
        }
    }
    console.say(format_args!(
        "{}: {}",
        quantity::of(all as u64, "test"),
        words.join(", ")
    ));
}

/// The result for scripts. The names in here are a promise.
#[derive(Serialize)]
struct Report<'a> {
    groups: Vec<GroupReport<'a>>,
    failing: usize,
    passing: &'a [String],
    ignored: &'a [String],
    broken: &'a [String],
}

#[derive(Serialize)]
struct GroupReport<'a> {
    kind: &'static str,
    /// The message and the failing step without what varies.
    failure: &'a str,
    step: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<&'a str>,
    count: usize,
    shortest: &'a str,
    /// How the shortest test fails, and its steps.
    message: &'a str,
    test: Vec<String>,
    tests: Vec<&'a str>,
}

impl<'a> Report<'a> {
    fn new(catalog: &Catalog, sorted: &'a Sorted, groups: &'a [Group]) -> Report<'a> {
        let group = |group: &'a Group| {
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
        Report {
            groups: groups.iter().map(group).collect(),
            failing: sorted.cases.len(),
            passing: &sorted.passing,
            ignored: &sorted.ignored,
            broken: &sorted.broken,
        }
    }

    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and strings are always JSON")
    }
}
