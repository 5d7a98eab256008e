//! The summary at the end of a search.

use std::time::Duration;

use testwright_core::System;

use super::observed_system::{ClassUsage, ObservedSystem};
use super::session::Session;
use crate::CommandError;
use crate::compat::{ToolOutcome, tstl_text};

impl Session<'_> {
    /// Writes the reports and prints the numbers that scripts read.
    pub(super) fn end(
        self,
        mut observed: ObservedSystem<'_, '_, '_>,
    ) -> Result<ToolOutcome, CommandError> {
        self.report_coverage(&mut observed)?;
        self.analyses.write(&mut observed)?;
        self.print_times(&mut observed);
        if self.tool.multiple {
            self.print_failures(&mut observed);
        }
        self.analyses.print_best(&mut observed)?;
        if self.tool.profile {
            print_profile(&mut observed);
        }
        if self.tool.localize && self.failures.count > 0 {
            self.analyses.print_suspects(&mut observed);
        }
        if observed.system.coverage().is_some() {
            let (branches, statements) = (
                observed.covered_code.branches(),
                observed.covered_code.statements(),
            );
            observed
                .console
                .out(format_args!("{branches} BRANCHES COVERED"));
            observed
                .console
                .out(format_args!("{statements} STATEMENTS COVERED"));
        }
        Ok(match self.failures.count {
            0 => ToolOutcome::Passed,
            _ => ToolOutcome::Failure,
        })
    }

    /// Writes the reports of coverage.
    fn report_coverage(
        &self,
        observed: &mut ObservedSystem<'_, '_, '_>,
    ) -> Result<(), CommandError> {
        let Some(collector) = observed.system.coverage() else {
            return Ok(());
        };
        let percentage = observed
            .covered_code
            .write_table(collector, &self.files.table)?;
        observed
            .console
            .out(format_args!("{percentage:?} PERCENT COVERED"));
        if self.tool.internal {
            observed.covered_code.print_all(observed.console, collector);
        }
        if let Some(folder) = &self.files.pages {
            observed.covered_code.write_pages(collector, folder)?;
        }
        Ok(())
    }

    /// Prints the numbers of tests and steps, and the time spent.
    fn print_times(&self, observed: &mut ObservedSystem<'_, '_, '_>) {
        let times = observed.times;
        let runtime = observed.started.elapsed();
        let (tests, operations) = (observed.tests, observed.operations);
        let console = &mut observed.console;
        console.out(format_args!(
            "{} TOTAL RUNTIME",
            tstl_text::seconds(runtime)
        ));
        console.out(format_args!("{tests} EXECUTED"));
        console.out(format_args!("{operations} TOTAL TEST OPERATIONS"));
        let mut print_time = |time: Duration, label: &str| {
            console.out(format_args!("{} {label}", tstl_text::seconds(time)));
        };
        print_time(times.operations, "TIME SPENT EXECUTING TEST OPERATIONS");
        print_time(
            times.choosing,
            "TIME SPENT EVALUATING GUARDS AND CHOOSING ACTIONS",
        );
        if !self.tool.no_check {
            print_time(times.checks, "TIME SPENT CHECKING PROPERTIES");
            print_time(
                times.operations + times.checks,
                "TOTAL TIME SPENT RUNNING SUT",
            );
        }
        print_time(times.restarts, "TIME SPENT RESTARTING");
        print_time(times.reducing, "TIME SPENT REDUCING TEST CASES");
    }

    /// Prints all distinct failures.
    fn print_failures(&self, observed: &mut ObservedSystem<'_, '_, '_>) {
        let failures = &self.failures;
        let catalog = observed.system.actions();
        let console = &mut observed.console;
        console.out(format_args!("{} FAILED", failures.count));
        console.out(format_args!("{} REPEATS OF FAILURES", failures.repeats));
        console.out(format_args!(
            "{} ACTUAL DISTINCT FAILURES",
            failures.distinct.len()
        ));
        console.out("");
        for (number, known) in failures.distinct.iter().enumerate() {
            console.out(format_args!("FAILURE {number}"));
            tstl_text::print_test(console, catalog, &known.test);
            tstl_text::print_error(console, &known.tuple, &known.failure);
        }
    }
}

/// Prints the number of steps of each line of the harness, and their average time.
fn print_profile(observed: &mut ObservedSystem<'_, '_, '_>) {
    let classes = observed.classes().clone();
    let average = |taken: &ClassUsage| taken.time.as_secs_f64() / taken.count.max(1) as f64;
    let console = &mut observed.console;
    console.out("ACTION PROFILE:");
    let mut lines = Vec::new();
    for (class, taken) in classes.iter().zip(&observed.class_usage) {
        let text = classes.text(class).trim().to_owned();
        match taken.count {
            0 => console.out(format_args!("** ACTION CLASS  {text} NEVER EXECUTED! **")),
            _ => lines.push((text, taken.count, average(taken))),
        }
    }
    lines.sort_by(|one, other| one.2.total_cmp(&other.2));
    console.out(
        "<ACTION> <COUNT> <AVERAGE RUNTIME> <NORMALIZED BY MAX> <NORMALIZED BY MIN> [<TOTAL PERCENT RUNTIME>]",
    );
    let averages = || lines.iter().map(|(_, _, average)| *average);
    let max = averages().fold(f64::MIN_POSITIVE, f64::max);
    let min = averages()
        .fold(f64::INFINITY, f64::min)
        .max(f64::MIN_POSITIVE);
    let sum: f64 = averages().sum();
    for (text, count, average) in &lines {
        console.out(format_args!(
            "{text} {count} {average:?} {:.2} {:.2} {:.2}%",
            average / max,
            average / min,
            average * 100.0 / sum.max(f64::MIN_POSITIVE),
        ));
    }
}
