//! The end of a worker process, and the failure that it amounts to.

use std::time::Duration;

use testwright_core::{Failure, FailureKind};

/// The signature of failures where the whole test, not one step, exceeded its time limit.
pub const TEST_TIMEOUT_SIGNATURE: &str = "the whole test";

/// The end of a worker process: its cause, its stack, and facts that decide the failure's
/// signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerEnd {
    /// The cause for the user: `the process was killed by SIGSEGV`, `the process exited with status
    /// 3`.
    pub description: String,
    /// The raw output of `faulthandler`, innermost call first; empty if the process wrote none.
    pub stack: String,
    /// The process exceeded a time limit and was killed.
    pub is_hang: bool,
    /// The limit of the whole test was exceeded, not the limit of the last step.
    pub is_test_timeout: bool,
    /// The process may have run on after the cause, so its last action says nothing about it.
    pub is_delayed: bool,
}

impl WorkerEnd {
    /// Returns the end of a process that has seen that its [log](crate::StepLog) was overwritten.
    pub fn of_overwritten_log() -> WorkerEnd {
        WorkerEnd {
            description: "the code under test overwrote memory of Testwright".to_owned(),
            is_delayed: true,
            ..WorkerEnd::default()
        }
    }

    /// Returns the failure of a test that ended its process.
    ///
    /// `origin` names the last action. It is the signature if the stack names no function. `limit`
    /// is the time limit that was exceeded, for the message.
    pub fn failure(&self, origin: &str, limit: Duration) -> Failure {
        let details = clean_stack(&self.stack);
        if self.is_hang && self.is_test_timeout {
            return Failure {
                kind: FailureKind::Hang,
                message: format!("the test takes longer than {limit:?}"),
                signature: TEST_TIMEOUT_SIGNATURE.to_owned(),
                details,
            };
        }
        if self.is_hang {
            // Where the process is at the time limit depends on timing, so the stack is no
            // signature.
            return Failure {
                kind: FailureKind::Hang,
                message: format!("no end after {limit:?}"),
                signature: origin.to_owned(),
                details,
            };
        }
        let innermost = details.lines().find_map(function_name);
        let origin = innermost.unwrap_or(origin);
        Failure {
            kind: FailureKind::Crash,
            message: self.description.clone(),
            signature: if self.is_delayed {
                self.description.clone()
            } else {
                format!("{}: {origin}", self.description)
            },
            details,
        }
    }
}

/// Extracts the calls of the code under test from the output of Python's `faulthandler`, innermost
/// first. Everything else describes the process and differs between runs.
pub(crate) fn clean_stack(stack: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut is_tool_code = false;
    for line in stack.lines() {
        if line.contains("hread 0x") {
            is_tool_code = false;
            if !lines.is_empty() {
                lines.push("in another thread:");
            }
        } else if line.starts_with("  ") {
            // The outer calls are those of this tool.
            is_tool_code |= line.contains("testwright/__main__.py");
            let is_call = line.trim_start().starts_with("File ") || line.trim() == "...";
            lines.extend((!is_tool_code && is_call).then_some(line));
        } else if line.starts_with("internal error") {
            lines.push(line);
        }
    }
    if lines.last() == Some(&"in another thread:") {
        lines.pop();
    }
    collapse_repeats(&lines).join("\n")
}

/// Collapses runs of equal lines: endless recursion fills a stack with one line.
fn collapse_repeats(lines: &[&str]) -> Vec<String> {
    const MAX_REPEATS: usize = 3;
    let mut collapsed = Vec::new();
    for repeated in lines.chunk_by(|one, next| one == next) {
        let shown = if repeated.len() > MAX_REPEATS {
            1
        } else {
            repeated.len()
        };
        collapsed.extend(repeated[..shown].iter().map(|line| (*line).to_owned()));
        if shown < repeated.len() {
            collapsed.push(format!("  ({} times the same)", repeated.len()));
        }
    }
    collapsed
}

/// Returns the function named in a `faulthandler` line such as `File "x.py", line 3 in f`.
fn function_name(line: &str) -> Option<&str> {
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
        let ending = WorkerEnd {
            description: "the process was killed by SIGSEGV".to_owned(),
            stack: stack.to_owned(),
            ..WorkerEnd::default()
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
        let ending = WorkerEnd {
            stack: deep,
            ..ending
        };
        let failure = ending.failure("template 3", Duration::ZERO);
        assert_eq!(
            failure.details,
            "  File \"x.py\", line 3 in f\n  (100 times the same)\n  ..."
        );
        assert_eq!(failure.signature, "the process was killed by SIGSEGV: f");
        let silent = WorkerEnd::default().failure("template 3", Duration::ZERO);
        assert_eq!(silent.signature, ": template 3");
    }
}
