//! How a process came to its end, and the failure that this is.

use std::time::Duration;

use testwright_core::{Failure, FailureKind};

/// The signature of a test that takes too long as a whole.
pub const WHOLE_TEST: &str = "the whole test";

/// How a process came to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// For a person: `the process was killed by SIGSEGV`, `the process exited with status 3`.
    pub how: String,
    /// Where it was then, innermost call first, as far as it could tell; may be empty.
    pub stack: String,
    /// It did not end by itself.
    pub hangs: bool,
    /// Not the last step took too long, but the whole test.
    pub of_test: bool,
    /// It may have gone on for a while after what was the cause, so what it did last says nothing.
    pub is_late: bool,
}

impl Ending {
    /// The failure of a test that ended a process. `place` is what it did last, for those that did not say more.
    pub fn failure(&self, place: &str, patience: Duration) -> Failure {
        let details = tidy(&self.stack);
        if self.hangs && self.of_test {
            return Failure {
                kind: FailureKind::Hang,
                message: format!("the test takes longer than {patience:?}"),
                signature: WHOLE_TEST.to_owned(),
                details,
            };
        }
        if self.hangs {
            // Where the process is when patience ends is up to chance, so its stack does not count.
            return Failure {
                kind: FailureKind::Hang,
                message: format!("no end after {patience:?}"),
                signature: place.to_owned(),
                details,
            };
        }
        let innermost = details.lines().find_map(function);
        let place = innermost.unwrap_or(place);
        Failure {
            kind: FailureKind::Crash,
            message: self.how.clone(),
            signature: if self.is_late {
                self.how.clone()
            } else {
                format!("{}: {place}", self.how)
            },
            details,
        }
    }
}

/// The calls of the code under test in what Python's `faulthandler` writes, innermost first. What it writes beside that
/// is about the process, and differs from one to the next.
pub(crate) fn tidy(stack: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut is_ours = false;
    for line in stack.lines() {
        if line.contains("hread 0x") {
            is_ours = false;
            if !lines.is_empty() {
                lines.push("in another thread:");
            }
        } else if line.starts_with("  ") {
            // From here on it is we who call.
            is_ours |= line.contains("testwright/__main__.py");
            let is_call = line.trim_start().starts_with("File ") || line.trim() == "...";
            lines.extend((!is_ours && is_call).then_some(line));
        } else if line.starts_with("internal error") {
            lines.push(line);
        }
    }
    if lines.last() == Some(&"in another thread:") {
        lines.pop();
    }
    without_repetitions(&lines).join("\n")
}

/// A function that calls itself without end fills a stack with one line.
fn without_repetitions(lines: &[&str]) -> Vec<String> {
    const A_FEW: usize = 3;
    let mut told = Vec::new();
    for same in lines.chunk_by(|one, next| one == next) {
        let shown = if same.len() > A_FEW { 1 } else { same.len() };
        told.extend(same[..shown].iter().map(|line| (*line).to_owned()));
        if shown < same.len() {
            told.push(format!("  ({} times the same)", same.len()));
        }
    }
    told
}

/// The function that a line of a stack names, as Python's `faulthandler` writes it: `File "x.py", line 3 in f`.
fn function(line: &str) -> Option<&str> {
    line.trim_start()
        .strip_prefix("File ")?
        .rsplit(" in ")
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_what_the_code_under_test_called() {
        let stack = "Fatal Python error: Segmentation fault\n\n\
            Current thread 0x00007f (most recent call first):\n  \
            File \"x.py\", line 3 in pop\n  \
            File \"h.tstl\", line 9 in line_9\n  \
            File \"a/testwright/__main__.py\", line 42 in main\n  \
            File \"<frozen runpy>\", line 88 in _run_code\n\n\
            Thread 0x00008f (most recent call first):\n  \
            File \"y.py\", line 1 in wait\n\n\
            Extension modules: numpy (total: 1)\n";
        let ending = Ending {
            how: "the process was killed by SIGSEGV".to_owned(),
            stack: stack.to_owned(),
            ..Ending::default()
        };
        let failure = ending.failure("template 3", Duration::ZERO);
        assert_eq!(
            failure.details,
            "  File \"x.py\", line 3 in pop\n  File \"h.tstl\", line 9 in line_9\n\
             in another thread:\n  File \"y.py\", line 1 in wait"
        );
        assert_eq!(failure.signature, "the process was killed by SIGSEGV: pop");
        let deep = "Current thread 0x00007f (most recent call first):\n  Garbage-collecting\n"
            .to_owned()
            + &"  File \"x.py\", line 3 in f\n".repeat(100)
            + "  ...\n";
        let ending = Ending {
            stack: deep,
            ..ending
        };
        let failure = ending.failure("template 3", Duration::ZERO);
        assert_eq!(
            failure.details,
            "  File \"x.py\", line 3 in f\n  (100 times the same)\n  ..."
        );
        assert_eq!(failure.signature, "the process was killed by SIGSEGV: f");
        let silent = Ending::default().failure("template 3", Duration::ZERO);
        assert_eq!(silent.signature, ": template 3");
    }
}
