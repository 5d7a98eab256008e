//! Searching models for failures.
//!
//! With workers that is a campaign like any other. Without, models have their states in one process, a copy of this one:
//! if the code of a model ends it, somebody is left to tell, and to keep the test that did it.

use std::ffi::OsString;

use testwright_core::{Catalog, Error, Failure, System};

use super::Run;
use super::campaign::{self, Means};
use super::finding::Desk;
use super::json::Report;
use super::memory::Earlier;
use crate::console::Console;
use crate::explaining::Explaining;
use crate::files::{OutputFolder, Place};
use crate::guard::guarded;
use crate::models::{self, At, ModelSystem, RunExplaining};
use crate::source::{Source, with_model_system};
use crate::workers::actions::Actions;
use crate::workers::start::Starter;
use crate::{ExitStatus, Trouble, quantity, report};

/// `words` are what was typed after `testwright run`.
pub(super) fn run(
    run: &Run,
    console: &mut Console<'_>,
    names: &[String],
    source: &Source,
    words: &[OsString],
    earlier: Option<Earlier>,
) -> Result<ExitStatus, Trouble> {
    refuse(run, source)?;
    match run.jobs() {
        0 => in_a_copy(run, console, names, source),
        jobs => with_workers(run, console, names, source, words, earlier, jobs),
    }
}

/// Searches with workers.
fn with_workers(
    run: &Run,
    console: &mut Console<'_>,
    names: &[String],
    source: &Source,
    words: &[OsString],
    earlier: Option<Earlier>,
    jobs: usize,
) -> Result<ExitStatus, Trouble> {
    let folder = OutputFolder::of_findings(&run.folder())?;
    let kept = run.keep_tests.as_deref().map(OutputFolder::of_tests);
    let kept = kept.transpose()?;
    let reports = run.coverage.prepare()?;
    let mut plan = run.plan();
    if let Some(earlier) = &earlier {
        plan.seed = earlier.record.begun.seed;
    }
    let explaining = (run.explain).then(|| Explaining::Models(RunExplaining::new(names)));
    let actions = Actions::to_come();
    let desk = Desk::new(run, source.clone(), folder, plan, actions, explaining);
    let isolation = run.workers.isolation(jobs, run.show_output);
    let starter = Starter::new(console, None, words, isolation)?;
    let means = Means {
        source,
        harness: None,
        text: &text(source),
        starter: &starter,
        words,
        jobs,
    };
    let ran = campaign::run(console, desk, kept, &reports, &means, earlier);
    if run.json && matches!(ran, Err(Trouble::Interrupted)) {
        let nothing_yet = Report::new(plan.seed, &Catalog::default());
        console.say(nothing_yet.interrupted().to_json());
    }
    ran
}

/// What the files of models say, to notice that they have changed.
fn text(source: &Source) -> String {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    source.files().iter().map(read).collect()
}

/// Searches in one process.
fn in_a_copy(
    run: &Run,
    console: &mut Console<'_>,
    names: &[String],
    source: &Source,
) -> Result<ExitStatus, Trouble> {
    let folder = Place::new(&run.folder())?;
    let plan = run.plan();
    let crashed = |console: &mut Console<'_>, test: &str, failure: &Failure| {
        tell_crash(console, &folder, source, test, failure)
    };
    guarded(
        console,
        Some(run.system.step_timeout),
        crashed,
        |console, note| {
            let findings = OutputFolder::of_findings(&run.folder())?;
            let kept = run.keep_tests.as_deref().map(OutputFolder::of_tests);
            let kept = kept.transpose()?;
            let reports = run.coverage.prepare()?;
            let explaining = (run.explain).then(|| Explaining::Models(RunExplaining::new(names)));
            let desk = Desk::new(
                run,
                source.clone(),
                findings,
                plan,
                Actions::to_come(),
                explaining,
            );
            let work = |console: &mut Console<'_>, system: &mut ModelSystem<'_, '_, '_>| {
                system.reset()?;
                let kinds = system.actions().templates().len();
                let what = quantity::of(kinds as u64, "action name");
                run.search_here(console, system, &what, desk, kept, &reports)
            };
            with_model_system(console, names, &run.options(), At::Test(note), work)
        },
    )
}

/// What has a meaning for harnesses only.
fn refuse(run: &Run, source: &Source) -> Result<(), Error> {
    run.system.options_for(source, run.output())?;
    run.coverage.measured_for(source)?;
    Ok(())
}

/// Tells that the code of a model has ended its process, and keeps the test that led there.
fn tell_crash(
    console: &mut Console<'_>,
    folder: &Place,
    source: &Source,
    test: &str,
    failure: &Failure,
) -> Result<ExitStatus, Trouble> {
    let steps = models::say_end(console, test, failure);
    if !steps.is_empty() {
        let test: String = steps.iter().map(|step| format!("{step}\n")).collect();
        let mut text = String::from("# testwright test 1\n");
        for (name, value) in source.notes() {
            text.push_str(&format!("# {name}: {value}\n"));
        }
        text.push_str(&format!(
            "# failure: {}: {}\n{test}",
            failure.kind, failure.message
        ));
        let place = folder.inside("crash.test");
        place.write(&text)?;
        console.say(format_args!("Written: {}", place.shown().display()));
        console.say(format_args!(
            "To see it again: testwright replay {} {}",
            report::shell_word(place.shown()),
            source.as_option(),
        ));
    }
    Ok(ExitStatus::FailureFound)
}
