//! A harness in a copy of this process, and what is done if the copy does not survive it.
//!
//! A copy is as fast as this process would be, and may do all that commands want. If code under test ends it, the work is
//! done once more with a system in processes that may die, step by step, so that a crash is a failure like any other. Who
//! wants to know more of the system than what it does, coverage above all, cannot have that.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use testwright_campaign::{Log, Logged, Patience, Processes, Remote};
use testwright_core::{Catalog, Error, Failure, Step};
use testwright_lang::Harness;
use testwright_python::{Measured, Options, PythonSystem};

use crate::commands::SystemArguments;
use crate::console::Console;
use crate::files::TextFile;
use crate::guard::{Vigil, guarded, tell_crash};
use crate::models::say_end;
use crate::subject::{Sheltered, Subject};
use crate::workers::Task;
use crate::workers::reduce::start;
use crate::workers::start::{Isolation, Starter};
use crate::{ExitStatus, Trouble, load};

/// So many steps of the last tests are known when a copy has ended.
const STEPS_IN_LOG: usize = 1 << 16;

pub(super) fn with_harness(
    console: &mut Console<'_>,
    (file, harness): (TextFile, Harness),
    options: &Options,
    arguments: &SystemArguments,
    work: impl FnOnce(&mut Console<'_>, &mut dyn Subject) -> Result<ExitStatus, Trouble>,
) -> Result<ExitStatus, Trouble> {
    let (log, _memory) = Log::in_memory(STEPS_IN_LOG)
        .map_err(|error| Error::new(format!("cannot make a log: {error}")))?;
    let catalog = harness.catalog.clone();
    let vigil = Vigil {
        patience: Some(arguments.step_timeout),
        log: Some((&log, &catalog)),
    };
    let lost = RefCell::new(None);
    let ended = |_: &mut Console<'_>, _: &str, failure: &Failure| {
        lost.replace(Some(failure.clone()));
        Ok(ExitStatus::CouldNot)
    };
    let can_be_sheltered = options.measured == Measured::Nothing;
    // The copy takes its own; ours is still there if it does not come back.
    let mut work = Some(work);
    let status = guarded(console, vigil, ended, |console, _| {
        let work = work.take();
        let in_copy = |console: &mut Console<'_>, system: &mut PythonSystem<'_>| match work {
            Some(work) => work(console, &mut Logged::new(system, &log)),
            None => Err(Trouble::Interrupted),
        };
        let live = |console: &mut Console<'_>| {
            load::with_system(console, &file, harness, options, in_copy)
        };
        if can_be_sheltered {
            // It is said once more if the copy does not come to its end.
            console.holding(live)
        } else {
            live(console)
        }
    })?;
    let Some(failure) = lost.into_inner() else {
        return Ok(status);
    };
    match work {
        Some(work) if can_be_sheltered && log.steps() > 0 => {
            with_shelter(console, &file, catalog, arguments, work)
        }
        _ => {
            tell_end(console, &log, &catalog, &failure)?;
            Err(Error::new("the code under test ended the process, so this could not be done")
                .with_help("`testwright run` goes on after crashes and hangs, and reduces them to a few steps")
                .into())
        }
    }
}

/// Does the work with a system in processes that may die.
fn with_shelter(
    console: &mut Console<'_>,
    file: &TextFile,
    catalog: Catalog,
    arguments: &SystemArguments,
    work: impl FnOnce(&mut Console<'_>, &mut dyn Subject) -> Result<ExitStatus, Trouble>,
) -> Result<ExitStatus, Trouble> {
    let stop = Arc::new(AtomicBool::new(false));
    // The first asks for an end, the second does not wait for it. Processes that are left behind then end by themselves.
    let shutdown = |signal| {
        let status = ExitStatus::CouldNot.code().into();
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
    testwright_python::listen_to(stop.clone());
    let words = [file.path.clone().into_os_string()];
    let words: Vec<OsString> = words
        .into_iter()
        .chain(arguments.as_words().into_iter().map(OsString::from))
        .collect();
    let isolation = Isolation {
        in_place: true,
        ..Isolation::default()
    };
    let starter = Starter::new(console, Some(file), &words, isolation)?;
    let patience = Patience {
        step: arguments.step_timeout,
        ..Patience::default()
    };
    let python = testwright_python::attach(testwright_python::executable);
    let folder = std::env::current_dir().unwrap_or_default();
    let stop: &AtomicBool = &stop;
    let mut sheltered = Sheltered {
        remote: Remote::new(
            catalog,
            Processes::new(|| start(&starter, stop), Task::Serve),
            patience,
        ),
        home: (python.unwrap_or_else(|| PathBuf::from("python3")), folder),
    };
    let status = work(console, &mut sheltered);
    for handler in handlers.into_iter().flatten() {
        signal_hook::low_level::unregister(handler);
    }
    match status {
        Err(Trouble::Error(_)) if stop.load(Ordering::Relaxed) => Err(Trouble::Interrupted),
        status => status,
    }
}

/// Tells how the copy ended, and after which steps.
fn tell_end(
    console: &mut Console<'_>,
    log: &Log,
    catalog: &Catalog,
    failure: &Failure,
) -> Result<(), Trouble> {
    let recorded = log.current();
    let mut since_reset = recorded.test.steps.rsplit(|step| *step == Step::Restart);
    let steps = since_reset.next().unwrap_or_default();
    if steps.is_empty() && log.steps() == 0 {
        tell_crash(console, "", failure)?;
        return Ok(());
    }
    let text = |step: &Step| match step {
        Step::Act(action) if catalog.contains(*action) => Some(catalog.text(*action)),
        Step::Act(_) | Step::Restart => None,
    };
    let texts: Vec<String> = steps.iter().filter_map(text).collect();
    say_end(console, &texts.join("\n"), failure);
    Ok(())
}
