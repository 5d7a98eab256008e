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

    /// Returns the processes that became children of this one in the meantime, to be killed later.
    /// Orphans are still adopted then.
    pub fn collect(&self) -> CollectedProcesses {
        let mut found = children();
        found.retain(|child| !self.before.contains(child));
        CollectedProcesses(found)
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

/// Children of this process that are killed later.
#[derive(Debug)]
pub struct CollectedProcesses(Vec<Pid>);

impl CollectedProcesses {
    /// Kills those that are still children of this process, and all that they started.
    pub fn kill(&self) {
        let parents: Vec<(i32, i32)> = all_pids()
            .filter_map(|pid| Some((pid, parent_of(pid)?)))
            .collect();
        let this = getpid().as_raw_nonzero().get();
        let is_child = |pid: &i32| parents.contains(&(*pid, this));
        let mut doomed: Vec<i32> = self
            .0
            .iter()
            .map(|pid| pid.as_raw_nonzero().get())
            .collect();
        doomed.retain(is_child);
        let mut next = 0;
        while let Some(parent) = doomed.get(next).copied() {
            let started = parents.iter().filter(|(_, of)| *of == parent);
            doomed.extend(started.map(|(pid, _)| *pid));
            next += 1;
        }
        for pid in doomed.into_iter().filter_map(Pid::from_raw) {
            let _it_may_be_gone = kill_process(pid, Signal::KILL);
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
    let this = getpid().as_raw_nonzero().get();
    all_pids()
        .filter(|pid| parent_of(*pid) == Some(this))
        .filter_map(Pid::from_raw)
        .collect()
}

/// Returns the parent of a process.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name in parentheses may contain anything.
    let rest = stat.rsplit(") ").next()?;
    rest.split(' ').nth(1)?.parse().ok()
}

/// Returns the ids of all processes, if the operating system lists them in `/proc`.
pub(super) fn all_pids() -> impl Iterator<Item = i32> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok())
}
