//! The point from which a resumed campaign continues.

use std::path::PathBuf;
use std::time::Duration;

use testwright_core::generate::SearchProgress;

use super::store_writer::StoppedCampaign;
use crate::coverage::MergedCoverage;

/// Totals that a resumed campaign continues from; zero for a new campaign.
#[derive(Default)]
pub(super) struct ResumePoint {
    pub(super) progress: SearchProgress,
    /// Search time so far.
    pub(super) time: Duration,
    /// Number of random streams used so far.
    pub(super) streams: u64,
    /// Coverage so far.
    pub(super) merged: MergedCoverage,
}

impl ResumePoint {
    /// Restores the totals from the record in the store.
    pub(super) fn new(stopped: StoppedCampaign) -> ResumePoint {
        let progress = stopped.record.progress;
        let mut merged = MergedCoverage::default();
        for arc in stopped.arcs {
            let reached = vec![(PathBuf::from(arc.file), (arc.from, arc.to))];
            merged.add(arc.test, Vec::new(), reached);
        }
        ResumePoint {
            progress: SearchProgress {
                tests: progress.tests,
                steps: progress.steps,
                deadlocks: progress.deadlocks,
                failures: 0,
            },
            time: Duration::try_from_secs_f64(progress.seconds).unwrap_or_default(),
            streams: progress.streams,
            merged,
        }
    }
}
