//! Searches that survive what they find.
//!
//! The systems that most need testing crash the interpreter, hang, or exit. So a campaign has two kinds of processes: a
//! supervisor, which runs no code under test, and workers, which do nothing else. A worker may be gone at any moment, in
//! the middle of a step. What it did up to then is in its [`Log`], which lives in memory that both share and which
//! costs a worker a few nanoseconds for each step. What a campaign found and reached is in the project's
//! [`Store`](store::Store), and there before anybody is told.

mod log;
mod logged;
#[cfg(unix)]
mod process;
mod remote;
mod serve;
pub mod store;
mod wire;

pub use log::{Doing, Log, Recorded};
pub use logged::Logged;
#[cfg(unix)]
pub use process::{Process, Processes, connection_to_supervisor};
pub use remote::{Connection, Ending, Launcher, Patience, Remote, Worker};
pub use serve::serve;
