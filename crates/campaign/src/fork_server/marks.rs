//! Marks by which all processes that come from one command are found.

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::descendants::all_pids;

/// The environment variable that holds the mark.
const MARK_VARIABLE: &str = "TESTWRIGHT_MARK";

/// A text in the environment of a process and of all that it starts, so that they can be found even
/// if they have left its process group and their parent is gone.
///
/// A process that has a mark itself gives marks that begin with its own. Killing the processes with
/// the outer mark kills those with inner marks, too.
#[derive(Debug)]
pub struct ProcessMark(String);

impl ProcessMark {
    /// Returns a mark that no other process on this machine has given, and sets it for a command.
    pub fn put_on(command: &mut Command) -> ProcessMark {
        let mark = ProcessMark::new();
        let [name, value] = mark.variable();
        command.env(name, value);
        mark
    }

    /// Returns the name and the value of the environment variable.
    pub fn variable(&self) -> [&str; 2] {
        [MARK_VARIABLE, &self.0]
    }

    /// Returns a mark that no other process on this machine has given.
    #[expect(clippy::new_without_default, reason = "each mark is another one")]
    pub fn new() -> ProcessMark {
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        let number = GIVEN.fetch_add(1, Ordering::Relaxed);
        let outer = env::var(MARK_VARIABLE).unwrap_or_default();
        ProcessMark(format!("{outer}/{}-{number}", std::process::id()))
    }

    /// Kills all processes with this mark, where the operating system shows environments in `/proc`.
    pub fn kill_all(&self) {
        let this = std::process::id();
        // Processes started in the meantime are found in the next round.
        for round in 0..10 {
            let mut found = false;
            for number in all_pids().filter(|number| u32::try_from(*number) != Ok(this)) {
                let environment =
                    std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
                if self.is_in(&environment)
                    && let Some(stray) = Pid::from_raw(number)
                {
                    found = true;
                    let _it_may_be_gone = kill_process(stray, Signal::KILL);
                }
                // While a process becomes another program, its environment looks empty.
                found |=
                    round < Self::UNCLEAR_ROUNDS && environment.is_empty() && is_program(number);
            }
            if !found {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The number of rounds in which a process without an environment is looked at again.
    const UNCLEAR_ROUNDS: u32 = 3;

    /// Returns true if an environment, as `/proc` shows it, holds this mark or one inside of it.
    fn is_in(&self, environment: &[u8]) -> bool {
        let mark = format!("{MARK_VARIABLE}={}", self.0);
        environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| variable.strip_prefix(mark.as_bytes()))
            .any(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

/// Returns true for a process that runs a program, unlike those of the operating system itself.
fn is_program(pid: i32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_marks_belong_to_the_outer_one() {
        let mark = ProcessMark("/10-1".to_owned());
        let is_found =
            |value: &str| mark.is_in(format!("A=B\0{MARK_VARIABLE}={value}\0").as_bytes());
        assert!(is_found("/10-1"));
        assert!(is_found("/10-1/12-0"));
        assert!(!is_found("/10-12"));
        assert!(!is_found("/10"));
        assert!(!mark.is_in(b"A=/10-1\0"));
    }

    #[test]
    fn processes_in_other_groups_are_killed() {
        let mut command = Command::new("sh");
        command.args(["-c", "setsid sleep 600 & echo $!"]);
        let mark = ProcessMark::put_on(&mut command);
        let Ok(output) = command.stdout(std::process::Stdio::piped()).spawn() else {
            return;
        };
        let mut first_line = String::new();
        let read = output
            .stdout
            .map(std::io::BufReader::new)
            .map(|mut text| std::io::BufRead::read_line(&mut text, &mut first_line));
        assert!(matches!(read, Some(Ok(_))));
        mark.kill_all();
        let is_running = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", first_line.trim()));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        // A killed process may take a moment to end.
        let attempts = (0..2_000).take_while(|_| is_running());
        attempts.for_each(|_| std::thread::sleep(Duration::from_millis(5)));
        assert!(!is_running());
    }
}
