//! Searching models for failures.
//!
//! Models have their states in one process, and what is possible is found out by trying. So one process searches, a copy
//! of this one: if the code of a model ends it, somebody is left to tell, and to keep the test that did it.

use testwright_core::{Catalog, Error, Failure, System};

use super::Run;
use super::finding::Desk;
use crate::console::Console;
use crate::explaining::Explaining;
use crate::files::{OutputFolder, Place};
use crate::guard::guarded;
use crate::models::{self, At, ModelSystem, RunExplaining};
use crate::source::{Source, with_model_system};
use crate::{ExitStatus, Trouble, quantity, report};

pub(super) fn run(
    run: &Run,
    console: &mut Console<'_>,
    names: &[String],
    source: &Source,
) -> Result<ExitStatus, Trouble> {
    refuse(run, source)?;
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
            let catalog = Catalog::default();
            let explaining = (run.explain).then(|| Explaining::Models(RunExplaining::new(names)));
            let desk = Desk::new(run, source.clone(), findings, plan, catalog, explaining);
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
    let given = [
        (run.workers.jobs.is_some_and(|jobs| jobs > 1), "--jobs"),
        (run.json_lines, "--json-lines"),
        (run.resume, "--resume"),
        (run.store.is_some(), "--store"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => {
            let help = "models are searched by one process, and campaigns of them are not kept: leave it out; \
                        `testwright explore MODEL --jobs N` explores with several";
            Err(Error::new(format!("`{option}` is for harnesses")).with_help(help))
        }
    }
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
