//! Confirmation that a test fails on its own.
//!
//! A reset cannot undo everything: a class attribute of an installed package, a global of the
//! harness, a file. Such a remnant of earlier tests can make a test fail that passes by itself, and
//! reduction only makes that worse. So a reduced test, or one that an exploration found, is run once
//! more in a process that has run no other test.

use std::ffi::OsStr;
use std::io::Write;
use std::time::Duration;

use crate::ExitStatus;
use crate::commands::{StepperArgument, SystemArguments};
use crate::source::SystemSource;
use crate::subprocess::{self, ProcessEnd};
use crate::target::Target;

/// Time limit. One short test should not take longer; without an answer the result is reported as
/// it is.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Returns whether a test fails in a process of its own; `None` if that could not be found out.
pub(crate) fn fails_alone(
    (arguments, stepper): (&SystemArguments, &StepperArgument),
    source: &SystemSource,
    system: &(impl Target + ?Sized),
    test: &str,
) -> Option<bool> {
    let mut file = tempfile::NamedTempFile::new().ok()?;
    file.write_all(test.as_bytes()).ok()?;
    let mut args = vec![OsStr::new("replay"), file.path().as_os_str()];
    let sources: Vec<&OsStr> = match (system.file(), source) {
        // The system may have changed the folder that its name refers to.
        (Some(file), _) => vec![file.as_os_str()],
        (None, SystemSource::Harness(path)) => vec![path.as_os_str()],
        (None, SystemSource::Models(names)) => names.iter().map(OsStr::new).collect(),
    };
    for name in sources {
        args.extend([OsStr::new("--harness"), name]);
    }
    let stepper = stepper.name();
    if let Some(stepper) = &stepper {
        args.extend(["--stepper", stepper].map(OsStr::new));
    }
    args.extend(arguments.to_args().into_iter().map(OsStr::new));
    match subprocess::run(system, &args, Some(TIME_LIMIT))? {
        ProcessEnd::Status(0) => Some(false),
        ProcessEnd::Status(status) if status == i32::from(ExitStatus::FailureFound.code()) => {
            Some(true)
        }
        _ => None,
    }
}
