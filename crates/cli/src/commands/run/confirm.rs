//! Does a test fail on its own?
//!
//! A reset cannot undo everything: a class attribute of an installed package, a global of the harness, a file. Such
//! a remnant of earlier tests can make a test fail that passes by itself, and reduction only makes that worse. So a
//! reduced test is run once more in a process that has seen no other test.

use std::ffi::OsStr;
use std::io::Write;
use std::time::Duration;

use super::Run;
use crate::ExitStatus;
use crate::alone::{self, Ended};
use crate::source::Source;
use crate::subject::Subject;

/// Whoever waits longer than that for one short test wants a result, not certainty.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a test fails in a process of its own; `None` if that could not be found out.
pub(super) fn fails_alone(
    run: &Run,
    source: &Source,
    system: &impl Subject,
    test: &str,
) -> Option<bool> {
    let mut file = tempfile::NamedTempFile::new().ok()?;
    file.write_all(test.as_bytes()).ok()?;
    let mut words = vec![OsStr::new("replay"), file.path().as_os_str()];
    let named: Vec<&OsStr> = match (system.file(), source) {
        // The system may have changed the folder that its name refers to.
        (Some(file), _) => vec![file.as_os_str()],
        (None, Source::Harness(path)) => vec![path.as_os_str()],
        (None, Source::Models(names)) => names.iter().map(OsStr::new).collect(),
    };
    for name in named {
        words.extend([OsStr::new("--harness"), name]);
    }
    words.extend(run.system.as_words().into_iter().map(OsStr::new));
    match alone::run(system, &words, Some(PATIENCE))? {
        Ended::Status(0) => Some(false),
        Ended::Status(status) if status == i32::from(ExitStatus::FailureFound.code()) => Some(true),
        _ => None,
    }
}
