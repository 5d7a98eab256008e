//! What a search says at its end.

use std::time::Duration;

use testwright_core::System;

use super::observed::{Observed, Taken};
use super::session::Session;
use crate::Trouble;
use crate::compat::{Ended, words};

impl Session<'_> {
    /// Writes the reports and says the numbers that scripts read.
    pub(super) fn end(self, mut observed: Observed<'_, '_, '_>) -> Result<Ended, Trouble> {
        self.report_coverage(&mut observed)?;
        self.analyses.write(&mut observed)?;
        self.say_times(&mut observed);
        if self.tool.multiple {
            self.say_failures(&mut observed);
        }
        self.analyses.say_best(&mut observed)?;
        if self.tool.profile {
            say_profile(&mut observed);
        }
        if self.tool.localize && self.failures.count > 0 {
            self.analyses.say_suspects(&mut observed);
        }
        if observed.system.coverage().is_some() {
            let (branches, statements) = (observed.tally.branches(), observed.tally.statements());
            observed
                .console
                .say(format_args!("{branches} BRANCHES COVERED"));
            observed
                .console
                .say(format_args!("{statements} STATEMENTS COVERED"));
        }
        Ok(match self.failures.count {
            0 => Ended::Well,
            _ => Ended::Failure,
        })
    }

    fn report_coverage(&self, observed: &mut Observed<'_, '_, '_>) -> Result<(), Trouble> {
        let Some(collector) = observed.system.coverage() else {
            return Ok(());
        };
        let percentage = observed.tally.write_table(collector, &self.places.table)?;
        observed
            .console
            .say(format_args!("{percentage:?} PERCENT COVERED"));
        if self.tool.internal {
            observed.tally.say_all(observed.console, collector);
        }
        if let Some(folder) = &self.places.pages {
            observed.tally.write_pages(collector, folder)?;
        }
        Ok(())
    }

    fn say_times(&self, observed: &mut Observed<'_, '_, '_>) {
        let times = observed.times;
        let runtime = observed.started.elapsed();
        let (tests, operations) = (observed.tests, observed.operations);
        let console = &mut observed.console;
        console.say(format_args!("{} TOTAL RUNTIME", words::seconds(runtime)));
        console.say(format_args!("{tests} EXECUTED"));
        console.say(format_args!("{operations} TOTAL TEST OPERATIONS"));
        let mut say_time = |time: Duration, what: &str| {
            console.say(format_args!("{} {what}", words::seconds(time)));
        };
        say_time(times.operations, "TIME SPENT EXECUTING TEST OPERATIONS");
        say_time(
            times.choosing,
            "TIME SPENT EVALUATING GUARDS AND CHOOSING ACTIONS",
        );
        if !self.tool.no_check {
            say_time(times.checks, "TIME SPENT CHECKING PROPERTIES");
            say_time(
                times.operations + times.checks,
                "TOTAL TIME SPENT RUNNING SUT",
            );
        }
        say_time(times.restarts, "TIME SPENT RESTARTING");
        say_time(times.reducing, "TIME SPENT REDUCING TEST CASES");
    }

    fn say_failures(&self, observed: &mut Observed<'_, '_, '_>) {
        let failures = &self.failures;
        let catalog = observed.system.actions();
        let console = &mut observed.console;
        console.say(format_args!("{} FAILED", failures.count));
        console.say(format_args!("{} REPEATS OF FAILURES", failures.repeats));
        console.say(format_args!(
            "{} ACTUAL DISTINCT FAILURES",
            failures.distinct.len()
        ));
        console.say("");
        for (number, known) in failures.distinct.iter().enumerate() {
            console.say(format_args!("FAILURE {number}"));
            words::say_test(console, catalog, &known.test);
            words::say_error(console, &known.tuple, &known.failure);
        }
    }
}

/// Says how often each line of the harness was taken, and how long that took on the average.
fn say_profile(observed: &mut Observed<'_, '_, '_>) {
    let classes = observed.classes().clone();
    let average = |taken: &Taken| taken.time.as_secs_f64() / taken.count.max(1) as f64;
    let console = &mut observed.console;
    console.say("ACTION PROFILE:");
    let mut lines = Vec::new();
    for (class, taken) in classes.iter().zip(&observed.taken) {
        let text = classes.text(class).trim().to_owned();
        match taken.count {
            0 => console.say(format_args!("** ACTION CLASS  {text} NEVER EXECUTED! **")),
            _ => lines.push((text, taken.count, average(taken))),
        }
    }
    lines.sort_by(|one, other| one.2.total_cmp(&other.2));
    console.say(
        "<ACTION> <COUNT> <AVERAGE RUNTIME> <NORMALIZED BY MAX> <NORMALIZED BY MIN> [<TOTAL PERCENT RUNTIME>]",
    );
    let averages = || lines.iter().map(|(_, _, average)| *average);
    let most = averages().fold(f64::MIN_POSITIVE, f64::max);
    let least = averages()
        .fold(f64::INFINITY, f64::min)
        .max(f64::MIN_POSITIVE);
    let sum: f64 = averages().sum();
    for (text, count, average) in &lines {
        console.say(format_args!(
            "{text} {count} {average:?} {:.2} {:.2} {:.2}%",
            average / most,
            average / least,
            average * 100.0 / sum.max(f64::MIN_POSITIVE),
        ));
    }
}
