//! `--jobs` and related options: number of worker processes, and their limits.

use std::num::NonZero;
use std::time::Duration;

use clap::Args;
use testwright_campaign::{ResourceLimits, Timeouts, available_memory};

use crate::commands::ProcessArguments;
use crate::duration;
use crate::workers::start::Isolation;

/// The size limit of a file if none is given.
const DEFAULT_FILE_SIZE: u64 = 1 << 30;

/// Options for worker processes.
#[derive(Args)]
#[command(next_help_heading = "Worker processes")]
pub(super) struct WorkerArguments {
    /// Number of workers; 0: use this process [default: one for each core; 1 with --seed or --show-output]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_jobs)]
    pub(super) jobs: Option<usize>,

    /// Time limit of a test; a test that takes longer counts as a hang [default: no limit]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    test_timeout: Option<Duration>,

    #[command(flatten)]
    pub(super) process: ProcessArguments,

    /// Run the tests in the current folder, not in temporary copies of it
    #[arg(long)]
    in_place: bool,
}

/// Parses the value of `--jobs`.
fn parse_jobs(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|jobs| *jobs <= WorkerArguments::MAX_JOBS)
        .ok_or_else(|| {
            format!(
                "must be a whole number from 0 to {}",
                WorkerArguments::MAX_JOBS
            )
        })
}

impl WorkerArguments {
    /// Limit of `--jobs`, so that a typing error does not start a million processes.
    const MAX_JOBS: usize = 1024;

    /// Returns the default number of workers: one for each core.
    pub(super) fn default_jobs() -> usize {
        std::thread::available_parallelism().map_or(1, NonZero::get)
    }

    /// Returns the time limits of a worker.
    pub(super) fn timeouts(&self, step: Duration) -> Timeouts {
        Timeouts {
            step,
            test: self.test_timeout,
            confirm: true,
        }
    }

    /// Returns the limits and the environment of the worker processes.
    pub(super) fn isolation(&self, jobs: usize, shows_output: bool) -> Isolation {
        // One more process is needed for reduction.
        let share = |free: u64| (free / (jobs as u64 + 1)).max(512 << 20);
        let limits = self.process.limits();
        Isolation {
            in_place: self.in_place,
            limits: ResourceLimits {
                memory: limits.memory.or_else(|| available_memory().map(share)),
                file_size: limits.file_size.or(Some(DEFAULT_FILE_SIZE)),
            },
            shows_output,
            environment: self.process.environment(),
        }
    }
}
