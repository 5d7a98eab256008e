//! Searching models for failures.
//!
//! With workers, the search is a campaign like any other. Without workers, the models run in a fork
//! of this process: if the code of a model ends it, this process can still report the crash and
//! save the test.

use std::ffi::OsString;

use testwright_core::{Catalog, Error, Failure, System};

use super::RunCommand;
use super::campaign::{self, CampaignInputs};
use super::failures::FailureWriter;
use super::json::RunReport;
use super::store_writer::StoppedCampaign;
use crate::console::Console;
use crate::explanation::TestExplainer;
use crate::files::{OutputFolder, UserPath};
use crate::guard::run_guarded;
use crate::models::{self, ModelSystem, RunExplainer, StepNotes};
use crate::source::{SystemSource, with_model_system};
use crate::workers::actions::ActionRegistry;
use crate::workers::start::Starter;
use crate::{CommandError, ExitStatus, quantity, report, test_source};

/// Searches models. `args` are the arguments after `testwright run`.
pub(super) fn run(
    run: &RunCommand,
    console: &mut Console<'_>,
    names: &[String],
    source: &SystemSource,
    args: &[OsString],
    stopped: Option<StoppedCampaign>,
) -> Result<ExitStatus, CommandError> {
    validate_options(run, source)?;
    match run.jobs() {
        0 => search_in_fork(run, console, names, source),
        jobs => with_workers(run, console, names, source, args, stopped, jobs),
    }
}

/// Searches in worker processes.
fn with_workers(
    run: &RunCommand,
    console: &mut Console<'_>,
    names: &[String],
    source: &SystemSource,
    args: &[OsString],
    stopped: Option<StoppedCampaign>,
    jobs: usize,
) -> Result<ExitStatus, CommandError> {
    let folder = OutputFolder::for_failures(&run.folder())?;
    let test_folder = run.keep_tests.as_deref().map(OutputFolder::for_tests);
    let test_folder = test_folder.transpose()?;
    let reports = run.coverage.prepare()?;
    let mut plan = run.plan();
    if let Some(stopped) = &stopped {
        plan.seed = stopped.record.settings.seed;
    }
    let explaining = (run.explain).then(|| TestExplainer::Models(RunExplainer::new(names)));
    let actions = ActionRegistry::growable();
    let writer = FailureWriter::new(run, source.clone(), folder, plan, actions, explaining);
    let isolation = run.workers.isolation(jobs, run.show_output);
    let starter = Starter::new(console, None, args, isolation, run.system.step_timeout)?;
    let inputs = CampaignInputs {
        source,
        harness: None,
        text: &source_text(source),
        starter: &starter,
        args,
        jobs,
    };
    let result = campaign::run(console, writer, test_folder, &reports, &inputs, stopped);
    if run.json && matches!(result, Err(CommandError::Interrupted)) {
        let empty_report = RunReport::new(plan.seed, &Catalog::default());
        console.out(empty_report.into_interrupted().to_json());
    }
    result
}

/// Returns the text of all files of the models, to notice later that they have changed.
fn source_text(source: &SystemSource) -> String {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    source.files().iter().map(read).collect()
}

/// Searches in one forked process, without workers.
fn search_in_fork(
    run: &RunCommand,
    console: &mut Console<'_>,
    names: &[String],
    source: &SystemSource,
) -> Result<ExitStatus, CommandError> {
    let folder = UserPath::new(&run.folder())?;
    let plan = run.plan();
    let crashed = |console: &mut Console<'_>, test: &str, failure: &Failure| {
        report_crash(run, console, &folder, source, (test, failure))
    };
    run_guarded(
        console,
        Some(run.system.step_timeout),
        crashed,
        |console, note| {
            let findings = OutputFolder::for_failures(&run.folder())?;
            let test_folder = run.keep_tests.as_deref().map(OutputFolder::for_tests);
            let test_folder = test_folder.transpose()?;
            let reports = run.coverage.prepare()?;
            let explaining = (run.explain).then(|| TestExplainer::Models(RunExplainer::new(names)));
            let writer = FailureWriter::new(
                run,
                source.clone(),
                findings,
                plan,
                ActionRegistry::growable(),
                explaining,
            );
            let work = |console: &mut Console<'_>, system: &mut ModelSystem<'_, '_, '_>| {
                system.reset()?;
                let templates = system.actions().templates().len();
                let action_summary = quantity::format_count(templates as u64, "action name");
                run.search_in_process(
                    console,
                    system,
                    &action_summary,
                    writer,
                    test_folder,
                    &reports,
                )
            };
            with_model_system(console, names, &run.options(), StepNotes::Test(note), work)
        },
    )
}

/// Fails if an option is given that only harnesses have.
fn validate_options(run: &RunCommand, source: &SystemSource) -> Result<(), Error> {
    run.system.options_for(source, run.output())?;
    run.coverage.measured_for(source)?;
    Ok(())
}

/// Reports that a model ended its process, and saves the test that led there.
fn report_crash(
    run: &RunCommand,
    console: &mut Console<'_>,
    folder: &UserPath,
    source: &SystemSource,
    (test, failure): (&str, &Failure),
) -> Result<ExitStatus, CommandError> {
    let steps = models::report_end(console, test, failure);
    if !steps.is_empty() {
        let test: String = steps.iter().map(|step| format!("{step}\n")).collect();
        let mut text = String::from("# testwright test 1\n");
        for (name, value) in
            test_source::notes(source, &run.stepper, &run.system, &run.workers.process)
        {
            text.push_str(&format!("# {name}: {value}\n"));
        }
        text.push_str(&format!(
            "# failure: {}: {}\n{test}",
            failure.kind, failure.message
        ));
        let file = folder.join("crash.test");
        file.write(&text)?;
        console.out(format_args!("Written: {}", file.shown().display()));
        console.out(format_args!(
            "To see it again: testwright replay {} {}{}",
            report::shell_word(file.shown()),
            source.as_option(),
            run.stepper.as_option(),
        ));
    }
    Ok(ExitStatus::FailureFound)
}
