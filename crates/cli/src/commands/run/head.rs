//! What a campaign that is resumed begins with.

use std::path::PathBuf;
use std::time::Duration;

use testwright_core::generate::Progress;

use super::memory::Earlier;
use crate::coverage::Merged;

/// What a campaign had come to when it was stopped.
#[derive(Default)]
pub(super) struct Head {
    pub(super) progress: Progress,
    pub(super) time: Duration,
    pub(super) streams: u64,
    pub(super) merged: Merged,
}

impl Head {
    pub(super) fn new(earlier: Earlier) -> Head {
        let standing = earlier.record.standing;
        let mut merged = Merged::default();
        for place in earlier.places {
            let reached = vec![(PathBuf::from(place.file), (place.from, place.to))];
            merged.add(place.test, Vec::new(), reached);
        }
        Head {
            progress: Progress {
                tests: standing.tests,
                steps: standing.steps,
                deadlocks: standing.deadlocks,
                failures: 0,
            },
            time: Duration::try_from_secs_f64(standing.seconds).unwrap_or_default(),
            streams: standing.streams,
            merged,
        }
    }
}
