//! How a process came to its end, and the failure that this is.

use std::time::Duration;

use testwright_core::{Failure, FailureKind};

/// How a process came to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// For a person: `the process was killed by SIGSEGV`, `the process exited with status 3`.
    pub how: String,
    /// Where it was then, innermost call first, as far as it could tell; may be empty.
    pub stack: String,
    /// It did not end by itself.
    pub hangs: bool,
}

impl Ending {
    /// The failure of a test that ended a process. `place` is what it did last, for those that did not say more.
    pub fn failure(&self, place: &str, patience: Duration) -> Failure {
        if self.hangs {
            // Where the process is when patience ends is up to chance, so its stack does not count.
            return Failure {
                kind: FailureKind::Hang,
                message: format!("no end after {patience:?}"),
                signature: place.to_owned(),
                details: self.stack.clone(),
            };
        }
        let innermost = self.stack.lines().find_map(function);
        let place = innermost.unwrap_or(place);
        Failure {
            kind: FailureKind::Crash,
            message: self.how.clone(),
            signature: format!("{}: {place}", self.how),
            details: self.stack.clone(),
        }
    }
}

/// The function that a line of a stack names, as Python's `faulthandler` writes it: `File "x.py", line 3 in f`.
fn function(line: &str) -> Option<&str> {
    line.trim_start()
        .strip_prefix("File ")?
        .rsplit(" in ")
        .next()
}
