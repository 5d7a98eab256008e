//! What code under test has left running.

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

/// Lets the processes that lose their parent become children of this one, where the system has that.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    {
        let _old_kernels_cannot = rustix::process::set_child_subreaper(Some(getpid()));
    }
}

/// Ends all children, and theirs, which become ours in turn.
pub(super) fn end_all() {
    // A process that starts others faster than they can be ended is given up on.
    for _ in 0..100 {
        let children = children();
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

/// The children of this process, dead or alive.
fn children() -> Vec<Pid> {
    let this = getpid().as_raw_nonzero().to_string();
    let is_child = |number: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // The name, in brackets, may hold anything.
        let rest = stat.rsplit(") ").next().unwrap_or_default();
        rest.split(' ').nth(1) == Some(&this)
    };
    processes()
        .filter(is_child)
        .filter_map(Pid::from_raw)
        .collect()
}

/// The numbers of all processes, where the system tells.
pub(super) fn processes() -> impl Iterator<Item = i32> {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok())
}
