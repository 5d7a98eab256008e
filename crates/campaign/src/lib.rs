//! Searches that survive what they find.
//!
//! The systems that most need testing crash the interpreter, hang, or exit. So a campaign has two kinds of processes: a
//! supervisor, which runs no code under test, and workers, which do nothing else. A worker may be gone at any moment, in
//! the middle of a step. What it did up to then is in its [`Log`], which lives in memory that both share and which
//! costs a worker a few nanoseconds for each step. What a campaign found and reached is in the project's
//! [`Store`](store::Store), and there before anybody is told.

#[cfg(unix)]
mod connected;
#[cfg(unix)]
mod descriptors;
mod ending;
#[cfg(unix)]
mod folders;
#[cfg(unix)]
mod limits;
mod log;
mod logged;
#[cfg(unix)]
mod fork_server;
#[cfg(unix)]
mod oversee;
#[cfg(unix)]
mod process;
mod remote;
mod sent;
mod serve;
mod shared;
mod stopwatch;
pub mod store;
mod tally;
#[cfg(unix)]
mod voice;
mod wire;

#[cfg(unix)]
pub use connected::Connected;
pub use ending::{Ending, WHOLE_TEST};
#[cfg(unix)]
pub use folders::remove_folder;
#[cfg(unix)]
pub use limits::{Limits, spare_memory};
pub use log::{Doing, Log, Recorded};
pub use logged::Logged;
#[cfg(unix)]
pub use fork_server::{Newborn, ForkServer, Place, Stillborn, connect, end_strays};
#[cfg(unix)]
pub use oversee::{Loss, Overseen, Overseer, oversee};
#[cfg(unix)]
pub use process::{LOST_CONNECTION, Process, Processes, Served, how_it_ended, wait_for};
pub use remote::{Connection, Launcher, Patience, Remote, Worker};
pub use sent::{SentError, SentFailure, SentName, SentTest};
pub use serve::serve;
pub use tally::Tally;
#[cfg(unix)]
pub use voice::Voice;
