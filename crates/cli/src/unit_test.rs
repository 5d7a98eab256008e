//! Unit tests that are run before they are kept.
//!
//! A test can be written in several forms: with the one check that fails, or with all checks after
//! each step. The first form that fails like the test it was made from is the one to keep. Each is
//! run once, in a fresh process, by the interpreter of the system under test.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use testwright_core::{Error, Failure, FailureKind};
use testwright_python::StandaloneStyle;

use crate::subprocess::{self, ProcessEnd};

/// The program that runs a file and reports how it failed.
const RUNNER: &str = include_str!("unit_test/runner.py");

/// The time that a file may take, beside that of a step that does not end.
const MAX_TIME: Duration = Duration::from_secs(30);

/// The least time that a written file gives a step beyond its limit.
const MIN_MORE_TIME: Duration = Duration::from_secs(3);

/// A unit test that has not been run yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnitTestDraft {
    /// The texts of the file, the best one first.
    pub(crate) forms: Vec<String>,
    /// The interpreter, and the folder in which to run it; `None` if there is no interpreter.
    pub(crate) process_context: Option<(PathBuf, PathBuf)>,
    /// The time limit that the file sets for its own steps.
    pub(crate) limit: Option<Duration>,
}

/// The first exception that a file raises, as the runner reports it.
#[derive(Debug, Deserialize)]
struct ReportedException {
    /// The name of its class.
    exception: String,
    /// Its message.
    text: String,
    /// The file itself raised it, and not the code that it calls.
    is_own: bool,
}

/// The way in which a file ended.
enum FileEnd {
    Passed,
    Raised(ReportedException),
    Crashed,
    TimedOut,
}

/// Returns the time limit that a file sets for steps which may not end.
pub(crate) fn limit_in_file(step_limit: Duration) -> Duration {
    (step_limit * 2).max(step_limit + MIN_MORE_TIME)
}

impl UnitTestDraft {
    /// Returns the first form that fails like the test, or passes if the test does. `file` is the
    /// path where it will be saved.
    ///
    /// # Errors
    /// Says how the file behaves if no form does.
    pub(crate) fn confirmed(
        self,
        style: StandaloneStyle,
        failure: Option<&Failure>,
        file: &Path,
    ) -> Result<String, Error> {
        let Some((program, folder)) = &self.process_context else {
            // There is nothing to try it with.
            return self.forms.into_iter().next().ok_or_else(no_form);
        };
        let mut reason = None;
        let max_time = MAX_TIME + self.limit.unwrap_or_default();
        for form in &self.forms {
            let end = run(form, style, file, (program, folder, max_time))?;
            match difference(&end, failure, max_time) {
                None => return Ok(form.clone()),
                Some(difference) => reason = reason.or(Some(difference)),
            }
        }
        Err(reason.map_or_else(no_form, |reason| {
            let help = "the saved test is complete; the file would need something that only the harness does";
            Error::new(format!("run by itself, it {reason}")).with_help(help)
        }))
    }
}

/// Returns the error for a draft without any text.
fn no_form() -> Error {
    Error::new("it could not be written")
}

/// Runs a file in a fresh process, under another name in its folder.
fn run(
    text: &str,
    style: StandaloneStyle,
    file: &Path,
    (program, folder, max_time): (&Path, &Path, Duration),
) -> Result<FileEnd, Error> {
    let failed = |error: std::io::Error| Error::new(format!("it cannot be tried: {error}"));
    let beside = file.parent().unwrap_or(Path::new("."));
    // The system under test may have deleted it.
    fs::create_dir_all(beside).map_err(failed)?;
    let trial = tempfile::Builder::new()
        .prefix("testwright_trial_")
        .suffix(".py")
        .tempfile_in(beside)
        .map_err(failed)?;
    fs::write(trial.path(), text).map_err(failed)?;
    let trial = fs::canonicalize(trial.path()).map(|path| (path, trial));
    let (trial, _deleted_at_the_end) = trial.map_err(failed)?;
    let own = tempfile::tempdir().map_err(failed)?;
    let (runner, report) = (own.path().join("runner.py"), own.path().join("report"));
    fs::write(&runner, RUNNER).map_err(failed)?;
    let style = match style {
        StandaloneStyle::Pytest => "pytest",
        StandaloneStyle::Unittest => "unittest",
        StandaloneStyle::Script => "script",
    };
    let arguments: [&OsStr; 4] = [
        runner.as_os_str(),
        trial.as_os_str(),
        style.as_ref(),
        report.as_os_str(),
    ];
    let end = subprocess::run_python(program, folder, &arguments, max_time)
        .ok_or_else(|| Error::new("it cannot be tried"))?;
    let reported = fs::read_to_string(&report).unwrap_or_default();
    let reported = serde_json::from_str::<ReportedException>(&reported);
    Ok(match (end, reported) {
        (ProcessEnd::TimedOut, _) => FileEnd::TimedOut,
        (_, Ok(reported)) => FileEnd::Raised(reported),
        (ProcessEnd::Status(0), Err(_)) => FileEnd::Passed,
        (ProcessEnd::Status(_) | ProcessEnd::Crashed, Err(_)) => FileEnd::Crashed,
    })
}

/// Returns how the end of a file differs from that of its test; `None` if it does not.
fn difference(end: &FileEnd, failure: Option<&Failure>, max_time: Duration) -> Option<String> {
    let is_fatal = failure
        .is_some_and(|failure| matches!(failure.kind, FailureKind::Crash | FailureKind::Hang));
    match (end, failure) {
        (FileEnd::Passed, None) => None,
        (FileEnd::Passed, Some(_)) => Some("passes".to_owned()),
        (FileEnd::TimedOut, _) => Some(format!("does not end within {}s", max_time.as_secs())),
        (FileEnd::Crashed, _) => (!is_fatal).then(|| "ends the process".to_owned()),
        (FileEnd::Raised(raised), failure) => {
            let is_alike = failure.is_some_and(|failure| is_alike(raised, failure));
            (!is_alike).then(|| match raised.text.lines().next() {
                Some(text) => format!("raises {}: {text}", raised.exception),
                None => format!("raises {}", raised.exception),
            })
        }
    }
}

/// Returns true if the text of an assertion names the signal that the message of a crash names, if it
/// names one.
fn has_status_of(text: &str, message: &str) -> bool {
    let mut words = message.split(|letter: char| !letter.is_ascii_alphanumeric());
    let Some(signal) = words.find(|word| word.starts_with("SIG")) else {
        return true;
    };
    let number =
        (1..32).find(|number| signal_hook::low_level::signal_name(*number) == Some(signal));
    number.is_none_or(|number| {
        let status = format!("with status -{number}");
        text.lines().any(|line| line.ends_with(&status))
    })
}

/// Returns true if an exception of a file shows the failure of its test.
fn is_alike(raised: &ReportedException, failure: &Failure) -> bool {
    // The class under test may be a local one: then the names differ in what is before the dot.
    let class = raised.exception.rsplit('.').next().unwrap_or_default();
    let is_named = |text: &str| {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.any(|word| word == class)
    };
    match failure.kind {
        // A script turns an exit into an exception, so that it does not look like success.
        FailureKind::UncaughtException => {
            is_named(&failure.message) || raised.is_own && failure.message.starts_with("SystemExit")
        }
        FailureKind::Crash => {
            class == "AssertionError"
                && raised.is_own
                && has_status_of(&raised.text, &failure.message)
        }
        // `models.replay` interrupts a stepper that hangs.
        FailureKind::Hang => {
            class == "TimeoutExpired"
                || class == "AssertionError" && raised.text.contains("no end after")
        }
        FailureKind::Property
        | FailureKind::PoolType
        | FailureKind::PostCondition
        | FailureKind::ReferenceMismatch => {
            class == "AssertionError" && raised.is_own || is_named(&failure.message)
        }
        // `models.replay` raises what the stepper and the models say.
        FailureKind::ModelMismatch => class == "AssertionError",
        // One side raises, or the test says that it should.
        FailureKind::ExceptionMismatch => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_known_by_its_signal() {
        let died = "the steps ended early, with status -6\nassert -6 == 42";
        let traceback = "the steps ended early, with status 1\nassert 1 == 42";
        let message = "the process was killed by SIGABRT (the process aborted itself)";
        assert!(has_status_of(died, message));
        assert!(!has_status_of(traceback, message));
        assert!(!has_status_of(died, "the process was killed by SIGSEGV"));
        assert!(has_status_of(traceback, "the process exited with status 1"));
    }

    #[test]
    fn a_file_that_ends_otherwise_does_not_show_a_crash_or_hang() {
        let failure = |kind| Failure {
            kind,
            message: "the process was killed by SIGABRT".to_owned(),
            signature: String::new(),
            details: String::new(),
        };
        let raised = |exception: &str, text: &str| {
            FileEnd::Raised(ReportedException {
                exception: exception.to_owned(),
                text: text.to_owned(),
                is_own: true,
            })
        };
        let limit = Duration::from_secs(1);
        let shows = |end, kind| difference(&end, Some(&failure(kind)), limit).is_none();
        let died = || raised("AssertionError", "the steps ended early, with status -6");
        let late = || raised("TimeoutExpired", "timed out after 10 seconds");
        assert!(shows(died(), FailureKind::Crash));
        assert!(!shows(late(), FailureKind::Crash));
        assert!(shows(late(), FailureKind::Hang));
        assert!(!shows(died(), FailureKind::Hang));
    }
}
