//! Campaigns: searches that survive crashes, hangs and exits of the code under test.
//!
//! A campaign has two kinds of processes. The supervisor runs no code under test. Workers do
//! nothing else, and a worker may die at any moment, in the middle of a step. The steps it took
//! until then are in its [`StepLog`], which lives in memory shared with the supervisor and costs a
//! worker a few nanoseconds per step. Failures and coverage go into the project's
//! [`Store`](store::Store) before they are shown to the user.
//!
//! The parts fit together like this:
//!
//! - [`ForkServer`] starts a process that loads the system once and forks workers from it.
//! - [`supervise()`] gives one worker a task and follows it to its end.
//! - [`RemoteSystem`] drives a system in a worker as if it were local: crashes become failures.
//! - [`store`] keeps campaigns, failures, coverage and the corpus between runs.

#[cfg(unix)]
mod checked_connection;
mod deadline;
#[cfg(unix)]
mod descriptors;
#[cfg(unix)]
mod folders;
#[cfg(unix)]
mod fork_server;
#[cfg(unix)]
mod limits;
mod logged_system;
#[cfg(unix)]
mod process;
mod progress_counters;
mod remote_system;
#[cfg(unix)]
mod report_sender;
mod sent;
mod serve;
mod shared_words;
mod step_log;
mod stopwatch;
pub mod store;
#[cfg(unix)]
mod supervise;
mod wire;
mod worker_end;

#[cfg(unix)]
pub use checked_connection::CheckedConnection;
pub use deadline::{Deadline, Exceeded, SlowActivity, confirmation_limit};
#[cfg(unix)]
pub use folders::remove_folder;
#[cfg(unix)]
pub use fork_server::{
    CollectedProcesses, ForkServer, LeftoverProcesses, LoadDelay, ProcessMark, SpawnError,
    WorkerContext, WorkerSpawner, connect,
};
#[cfg(unix)]
pub use limits::{ResourceLimits, available_memory};
pub use logged_system::LoggedSystem;
#[cfg(unix)]
pub use process::{
    ForkedWorker, LOST_CONNECTION, ProcessLauncher, WorkerProcess, describe_end, wait_for_child,
};
pub use progress_counters::ProgressCounters;
pub use remote_system::{Connection, Launcher, RemoteSystem, Timeouts, Worker};
#[cfg(unix)]
pub use report_sender::ReportSender;
pub use sent::{SentError, SentFailure, SentName, SentTest};
pub use serve::serve;
pub use step_log::{Activity, LoggedTest, StepLog};
#[cfg(unix)]
pub use supervise::{Supervisor, WorkerLoss, WorkerOutcome, supervise};
pub use worker_end::{TEST_TIMEOUT_SIGNATURE, WorkerEnd};
