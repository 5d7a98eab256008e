//! Processes that code under test has left running.

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

/// Makes orphaned descendants children of this process, where the operating system supports it.
pub(super) fn become_subreaper() {
    #[cfg(target_os = "linux")]
    {
        let _old_kernels_cannot = rustix::process::set_child_subreaper(Some(getpid()));
    }
}

/// The processes that a child of this process leaves behind, to be ended after it.
#[derive(Debug)]
pub struct LeftoverProcesses {
    /// The children that this process had before.
    before: Vec<Pid>,
    /// True if this process adopted orphans before.
    #[cfg(target_os = "linux")]
    was_subreaper: bool,
}

impl LeftoverProcesses {
    /// Adopts orphans from now on.
    pub fn watch() -> LeftoverProcesses {
        let leftovers = LeftoverProcesses {
            before: children(),
            #[cfg(target_os = "linux")]
            was_subreaper: rustix::process::child_subreaper().is_ok_and(|reaper| reaper.is_some()),
        };
        become_subreaper();
        leftovers
    }

    /// Ends all processes that became children of this one in the meantime.
    pub fn end(self) {
        kill_children_except(&self.before);
        #[cfg(target_os = "linux")]
        if !self.was_subreaper {
            let _old_kernels_cannot = rustix::process::set_child_subreaper(None);
        }
    }
}

/// Kills all children, and their children, which become children of this process in turn.
pub(super) fn kill_children() {
    kill_children_except(&[]);
}

/// Kills all children but some, and their children.
fn kill_children_except(spared: &[Pid]) {
    // Gives up on processes that start others faster than they can be killed.
    for _ in 0..100 {
        let mut children = children();
        children.retain(|child| !spared.contains(child));
        if children.is_empty() {
            return;
        }
        for child in &children {
            let _it_may_be_gone = kill_process(*child, Signal::KILL);
        }
        for child in &children {
            let _it_may_be_gone = waitpid(Some(*child), WaitOptions::empty());
        }
    }
}

/// Returns the children of this process, including zombies.
fn children() -> Vec<Pid> {
    let this = getpid().as_raw_nonzero().to_string();
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The program name in parentheses may contain anything.
        let rest = stat.rsplit(") ").next().unwrap_or_default();
        rest.split(' ').nth(1) == Some(&this)
    };
    all_pids()
        .filter(is_child)
        .filter_map(Pid::from_raw)
        .collect()
}

/// Returns the ids of all processes, if the operating system lists them in `/proc`.
pub(super) fn all_pids() -> impl Iterator<Item = i32> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok())
}
