//! Runs a harness in a copy of this process, and again in remote processes if the copy crashes.
//!
//! A copy is as fast as this process would be and supports everything that commands need. If code
//! under test ends the copy, the work is done once more with a [`RemoteTarget`], whose processes
//! may die at any step, so that a crash is a failure like any other. A remote target offers only
//! the system's behavior: work that needs more, above all coverage, cannot be repeated in this
//! way.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use testwright_campaign::{
    Activity, LoggedSystem, ProcessLauncher, RemoteSystem, StepLog, Timeouts,
};
use testwright_core::{Catalog, Error, Failure, FailureKind, Step, describe_os_error};
use testwright_lang::Harness;
use testwright_python::{MeasuredCode, Options, PythonSystem};

use super::with_model_system;
use crate::commands::SystemArguments;
use crate::console::Console;
use crate::files::TextFile;
use crate::guard::{WatchdogOptions, limits_of_copies, report_crash, run_guarded};
use crate::models::{ModelSystem, StepNotes, report_end};
use crate::target::{RemoteTarget, Target};
use crate::workers::WorkerTask;
use crate::workers::actions::ActionRegistry;
use crate::workers::reduce::start;
use crate::workers::start::{Isolation, Starter};
use crate::{CommandError, ExitStatus, load};

/// The number of steps of the last tests that are known when a copy has crashed.
const STEPS_IN_LOG: usize = 1 << 16;

/// The least time after which an action that hung before is taken to hang again.
const MIN_HANG_TIME: Duration = Duration::from_millis(500);

/// Runs `work` on a harness in a copy of this process, and falls back to remote processes after a
/// crash.
pub(super) fn run(
    console: &mut Console<'_>,
    (file, harness): (TextFile, Harness),
    options: &Options,
    arguments: &SystemArguments,
    work: impl FnOnce(&mut Console<'_>, &mut dyn Target) -> Result<ExitStatus, CommandError>,
) -> Result<ExitStatus, CommandError> {
    // Without a reset, what one run of a test does would change the next run.
    if !options.reset_modules && options.measured == MeasuredCode::Nothing {
        return run_in_new_processes(console, &file, harness, arguments, work);
    }
    let (log, _memory) = StepLog::in_memory(STEPS_IN_LOG)
        .map_err(|error| Error::new(format!("cannot make a log: {}", describe_os_error(&error))))?;
    let catalog = harness.catalog.clone();
    let watchdog = WatchdogOptions {
        timeout: Some(arguments.step_timeout),
        log: Some((&log, &catalog)),
    };
    let lost = RefCell::new(None);
    let ended = |_: &mut Console<'_>, _: &str, failure: &Failure| {
        lost.replace(Some(failure.clone()));
        Ok(ExitStatus::Error)
    };
    let can_run_remotely = options.measured == MeasuredCode::Nothing;
    // The copy takes its own `work`; that of the original is still there after a crash.
    let mut work = Some(work);
    let status = run_guarded(console, watchdog, ended, |console, _| {
        let work = work.take();
        let run_in_copy = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| {
            log.set_activity(Activity::OwnWork);
            match work {
                Some(work) => work(console, &mut LoggedSystem::new(system, &log)),
                None => Err(CommandError::Interrupted),
            }
        };
        let run_system = |console: &mut Console<'_>| {
            log.set_activity(Activity::Loading);
            load::with_system(console, &file, harness, options, run_in_copy)
        };
        if can_run_remotely {
            // After a crash the work is done again, so its output must not appear twice.
            console.hold_output(run_system)
        } else {
            run_system(console)
        }
    })?;
    let Some(failure) = lost.into_inner() else {
        return Ok(status);
    };
    match work {
        Some(work) if can_run_remotely && log.steps() > 0 => {
            let hanging = log
                .last_action()
                .filter(|_| failure.kind == FailureKind::Hang);
            let hanging = hanging.map(|action| HangingStep {
                template: catalog.template_key(action),
                trail: steps_since_reset(&log, &catalog),
            });
            let words = [file.path.clone().into_os_string()];
            let source = (Some(&file), words.to_vec());
            run_remotely(
                console,
                source,
                Some(catalog),
                (arguments, hanging, false),
                work,
            )
        }
        _ => {
            report_logged_end(console, &log, &catalog, &failure)?;
            let end = match failure.kind {
                FailureKind::Hang => "the code under test hangs",
                _ => "the code under test ended the process",
            };
            let help = if log.steps() > 0 {
                "`testwright run` continues after crashes and hangs, and reduces them to a few steps"
            } else {
                "this happens before the first step; `--step-timeout` allows more time"
            };
            Err(
                Error::new(format!("{end}, so the command could not do its work"))
                    .with_help(help)
                    .into(),
            )
        }
    }
}

/// Runs `work` on a harness in remote processes, with a new one for each test.
pub(super) fn run_in_new_processes(
    console: &mut Console<'_>,
    file: &TextFile,
    harness: Harness,
    arguments: &SystemArguments,
    work: impl FnOnce(&mut Console<'_>, &mut dyn Target) -> Result<ExitStatus, CommandError>,
) -> Result<ExitStatus, CommandError> {
    let source = (Some(file), vec![file.path.clone().into_os_string()]);
    let catalog = Some(harness.catalog);
    run_remotely(console, source, catalog, (arguments, None, true), work)
}

/// Runs `work` on models in a copy of this process, and falls back to remote processes after a crash.
pub(super) fn run_models(
    console: &mut Console<'_>,
    names: &[String],
    options: &Options,
    arguments: &SystemArguments,
    work: impl FnOnce(&mut Console<'_>, &mut dyn Target) -> Result<ExitStatus, CommandError>,
) -> Result<ExitStatus, CommandError> {
    let lost = RefCell::new(None);
    let ended = |_: &mut Console<'_>, note: &str, failure: &Failure| {
        lost.replace(Some((note.to_owned(), failure.clone())));
        Ok(ExitStatus::Error)
    };
    let can_run_remotely = options.measured == MeasuredCode::Nothing;
    // The copy takes its own `work`; that of the original is still there after a crash.
    let mut work = Some(work);
    let timeout = Some(arguments.step_timeout);
    let status = run_guarded(console, timeout, ended, |console, note| {
        let work = work.take();
        let run_in_copy =
            |console: &mut Console<'_>, system: &mut ModelSystem<'_, '_, '_>| match work {
                Some(work) => work(console, system),
                None => Err(CommandError::Interrupted),
            };
        let run_system = |console: &mut Console<'_>| {
            with_model_system(console, names, options, StepNotes::Test(note), run_in_copy)
        };
        if can_run_remotely {
            // After a crash the work is done again, so its output must not appear twice.
            console.hold_output(run_system)
        } else {
            run_system(console)
        }
    })?;
    let Some((note, failure)) = lost.into_inner() else {
        return Ok(status);
    };
    let steps = note.lines().filter(|line| !line.is_empty());
    let trail: Vec<String> = steps.map(str::to_owned).collect();
    match (work, trail.last()) {
        (Some(work), Some(last)) if can_run_remotely => {
            let template = last.split('(').next().unwrap_or_default().to_owned();
            let is_hang = failure.kind == FailureKind::Hang;
            let hanging = is_hang.then_some(HangingStep { template, trail });
            let mut words: Vec<OsString> = names.iter().map(OsString::from).collect();
            if let Some((stepper, limit)) = &options.stepper {
                let limit = format!("{}s", limit.as_secs_f64());
                words.extend(["--stepper", stepper, "--step-timeout", &limit].map(OsString::from));
            }
            run_remotely(
                console,
                (None, words),
                None,
                (arguments, hanging, false),
                work,
            )
        }
        _ => {
            report_end(console, &note, &failure);
            Ok(ExitStatus::Error)
        }
    }
}

/// A step that was confirmed to hang.
struct HangingStep {
    /// The template of its action: such actions are known to hang.
    template: String,
    /// The steps since the last reset, this one included.
    trail: Vec<String>,
}

/// Returns the steps of the current test since its last reset.
fn steps_since_reset(log: &StepLog, catalog: &Catalog) -> Vec<String> {
    let test = log.current_test().test;
    let mut since_reset = test.steps.rsplit(|step| *step == Step::Restart);
    let steps = since_reset.next().unwrap_or_default().iter();
    steps
        .filter_map(|step| match step {
            Step::Act(action) if catalog.contains(*action) => Some(catalog.text(*action)),
            Step::Act(_) | Step::Restart => None,
        })
        .collect()
}

/// Does the work with a system in processes that may die. `hanging` is the step that is known to
/// hang. If `is_fresh`, each test runs in a process of its own.
fn run_remotely(
    console: &mut Console<'_>,
    (file, words): (Option<&TextFile>, Vec<OsString>),
    catalog: Option<Catalog>,
    (arguments, hanging, is_fresh): (&SystemArguments, Option<HangingStep>, bool),
    work: impl FnOnce(&mut Console<'_>, &mut dyn Target) -> Result<ExitStatus, CommandError>,
) -> Result<ExitStatus, CommandError> {
    let stop = Arc::new(AtomicBool::new(false));
    // The first signal requests an end, the second does not wait for it. Worker processes then end
    // by themselves.
    let shutdown = |signal| {
        let status = ExitStatus::Error.code().into();
        signal_hook::flag::register_conditional_shutdown(signal, status, stop.clone())
    };
    let handlers = [SIGINT, SIGTERM]
        .into_iter()
        .flat_map(|signal| {
            [
                shutdown(signal),
                signal_hook::flag::register(signal, stop.clone()),
            ]
        })
        .collect::<Vec<_>>();
    testwright_python::set_external_request(stop.clone());
    let words: Vec<OsString> = words
        .into_iter()
        .chain(arguments.to_args().into_iter().map(OsString::from))
        .collect();
    let isolation = Isolation {
        in_place: true,
        limits: limits_of_copies(),
        ..Isolation::default()
    };
    let starter = Starter::new(console, file, &words, isolation, arguments.step_timeout)?;
    let timeouts = Timeouts {
        step: arguments.step_timeout,
        confirm: true,
        ..Timeouts::default()
    };
    let python = testwright_python::attach(testwright_python::executable);
    let folder = std::env::current_dir().unwrap_or_default();
    let stop: &AtomicBool = &stop;
    let mentioned = catalog.is_none().then(ActionRegistry::growable);
    let mut remote = RemoteSystem::new(
        catalog.unwrap_or_default(),
        ProcessLauncher::new(|| start(&starter, stop), WorkerTask::Serve),
        timeouts,
    );
    if is_fresh {
        remote = remote.with_process_per_test();
    }
    if let Some(hanging) = hanging {
        let floor = MIN_HANG_TIME.min(arguments.step_timeout);
        remote = remote
            .with_learned_limit(floor, Some(hanging.template))
            .with_confirmed_hang(hanging.trail);
    }
    let mut target = RemoteTarget {
        remote,
        process_context: (python.unwrap_or_else(|| PathBuf::from("python3")), folder),
        mentioned,
    };
    let status = work(console, &mut target);
    for handler in handlers.into_iter().flatten() {
        signal_hook::low_level::unregister(handler);
    }
    match status {
        Err(CommandError::Error(_)) if stop.load(Ordering::Relaxed) => {
            Err(CommandError::Interrupted)
        }
        status => status,
    }
}

/// Prints the way in which the copy ended, and the steps before that.
fn report_logged_end(
    console: &mut Console<'_>,
    log: &StepLog,
    catalog: &Catalog,
    failure: &Failure,
) -> Result<(), CommandError> {
    let recorded = log.current_test();
    let mut since_reset = recorded.test.steps.rsplit(|step| *step == Step::Restart);
    let steps = since_reset.next().unwrap_or_default();
    if steps.is_empty() && log.steps() == 0 {
        report_crash(console, "", failure)?;
        return Ok(());
    }
    let text = |step: &Step| match step {
        Step::Act(action) if catalog.contains(*action) => Some(catalog.text(*action)),
        Step::Act(_) | Step::Restart => None,
    };
    let texts: Vec<String> = steps.iter().filter_map(text).collect();
    report_end(console, &texts.join("\n"), failure);
    Ok(())
}
