//! `--jobs` and its like: how many processes, and what they may do.

use std::ffi::OsString;
use std::num::NonZero;
use std::time::Duration;

use clap::Args;
use testwright_campaign::{Limits, Patience, spare_memory};

use crate::workers::start::Isolation;
use crate::{duration, size};

/// The processes that run the tests.
#[derive(Args)]
#[command(next_help_heading = "Worker processes")]
pub(super) struct WorkerArguments {
    /// How many processes test; 0 is this one [default: one for each core; 1 with --seed, --show-output]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = jobs)]
    pub(super) jobs: Option<usize>,

    /// How long a test may take before it counts as a hang [default: no limit]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration::parse)]
    test_timeout: Option<Duration>,

    /// How much memory each process may use: 500M, 2G [default: its share of what is free]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<usize>,

    /// How large a file may become that a test writes
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size::parse)]
    file_size: usize,

    /// A variable for the processes, beside those of this one; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(super) env: Vec<(String, String)>,

    /// Run the tests in the current folder, not in copies of it that are removed afterwards
    #[arg(long)]
    in_place: bool,
}

fn jobs(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|jobs| *jobs <= WorkerArguments::MOST)
        .ok_or_else(|| format!("must be a whole number from 0 to {}", WorkerArguments::MOST))
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be a name, an equals sign and a value".to_owned()),
    }
}

impl WorkerArguments {
    /// Nobody has more cores, and a slip of the finger should not start a million processes.
    const MOST: usize = 1024;

    /// How many workers to start if nobody says.
    pub(super) fn one_for_each_core() -> usize {
        std::thread::available_parallelism().map_or(1, NonZero::get)
    }

    pub(super) fn patience(&self, step: Duration) -> Patience {
        let usual = Patience::default();
        Patience {
            step,
            reset: usual.reset.max(step),
            test: self.test_timeout,
        }
    }

    pub(super) fn isolation(&self, jobs: usize, shows_output: bool) -> Isolation {
        // Reduction takes a worker beside those that search.
        let share = |spare: u64| (spare / (jobs as u64 + 1)).max(512 << 20);
        Isolation {
            in_place: self.in_place,
            limits: Limits {
                memory: match self.memory {
                    Some(memory) => Some(memory as u64),
                    None => spare_memory().map(share),
                },
                file_size: Some(self.file_size as u64),
            },
            shows_output,
            environment: self
                .env
                .iter()
                .map(|(name, value)| (OsString::from(name), OsString::from(value)))
                .collect(),
        }
    }
}
