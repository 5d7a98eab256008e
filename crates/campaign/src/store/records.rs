//! The data types of the store.

use std::fmt;
use std::time::SystemTime;

/// The number of a campaign, from 1. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CampaignId(pub(super) i64);

/// The number of a failure, from 1. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureId(pub(super) i64);

impl CampaignId {
    /// Returns the id with this number. The store may not have such a campaign.
    pub fn from_number(number: u32) -> CampaignId {
        CampaignId(number.into())
    }

    /// Returns the number.
    pub fn number(self) -> i64 {
        self.0
    }
}

impl FailureId {
    /// Returns the number.
    pub fn number(self) -> i64 {
        self.0
    }
}

impl fmt::Display for CampaignId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Display for FailureId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The settings of a campaign, stored when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCampaign {
    /// The path of the harness relative to the project.
    pub harness: String,
    /// A digest of the harness's text, which tells whether it has changed.
    pub digest: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// The version of Testwright.
    pub version: String,
    /// The version of Python.
    pub python: String,
    /// The number of workers.
    pub jobs: u32,
    /// The start time.
    pub started: SystemTime,
}

/// The progress of a campaign: totals since its beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CampaignProgress {
    /// The time of this progress.
    pub at: SystemTime,
    /// The time spent searching, without pauses between runs.
    pub seconds: f64,
    /// The number of generated tests.
    pub tests: u64,
    /// The number of steps in them.
    pub steps: u64,
    /// The number of tests that ended because no action was enabled.
    pub deadlocks: u64,
    /// The number of reached arcs of the code under test.
    pub covered: u64,
    /// The number of random streams used up, so that a resumed campaign repeats none.
    pub streams: u64,
}

/// The way a campaign ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CampaignEnding {
    /// The budget is spent.
    Complete,
    /// The user interrupted it.
    Interrupted,
    /// It could not continue, for this reason.
    Failed(String),
}

impl CampaignEnding {
    /// The name used in reports and in the store.
    pub fn name(&self) -> &'static str {
        match self {
            CampaignEnding::Complete => "complete",
            CampaignEnding::Interrupted => "interrupted",
            CampaignEnding::Failed(_) => "failed",
        }
    }
}

/// The state of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CampaignState {
    /// A process is running it.
    Running,
    /// Its process was killed.
    BrokenOff,
    /// It ended in this way at this time.
    Ended(CampaignEnding, SystemTime),
}

impl CampaignState {
    /// The name used in reports.
    pub fn name(&self) -> &'static str {
        match self {
            CampaignState::Running => "running",
            CampaignState::BrokenOff => "broken off",
            CampaignState::Ended(ending, _) => ending.name(),
        }
    }
}

/// A campaign as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignRecord {
    /// Its number.
    pub id: CampaignId,
    /// The settings it began with.
    pub settings: NewCampaign,
    /// The number of times it was resumed.
    pub resumed: u64,
    /// Its latest progress.
    pub progress: CampaignProgress,
    /// Its current state.
    pub state: CampaignState,
    /// The number of failures that occurred in it, each bug once.
    pub failures: u64,
}

/// A reached arc of the code under test: a transition from one line to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReachedArc {
    /// The path of the file.
    pub file: String,
    /// The line before; negative at the entry of a function.
    pub from: i32,
    /// The line after; negative at the exit of a function.
    pub to: i32,
    /// The first test that reached it.
    pub test: String,
}

/// A test that reached new coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusTest {
    /// The test in its saved form.
    pub text: String,
    /// The number of arcs that it was the first to reach.
    pub new: u64,
}

/// A failure as it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFailure {
    /// The name of its kind, as used in reports.
    pub kind: String,
    /// The cause in one line.
    pub message: String,
    /// The identity of the failure: two failures of a harness with the same signature are one.
    pub signature: String,
    /// More information, in several lines.
    pub details: String,
    /// The test that found it, in its saved form.
    pub full: String,
    /// The steps of the process before that test, if they may matter.
    pub history: Option<String>,
    /// The time of discovery.
    pub at: SystemTime,
}

/// The status of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureStatus {
    /// It occurred, and its test has not passed since.
    Open,
    /// Its test passes now.
    Fixed,
    /// It was fixed and occurs again.
    Returned,
}

impl FailureStatus {
    const ALL: [FailureStatus; 3] = [
        FailureStatus::Open,
        FailureStatus::Fixed,
        FailureStatus::Returned,
    ];

    /// The name used in reports and in the store.
    pub fn name(self) -> &'static str {
        match self {
            FailureStatus::Open => "open",
            FailureStatus::Fixed => "fixed",
            FailureStatus::Returned => "returned",
        }
    }

    /// Returns the status with this name.
    pub fn from_name(name: &str) -> Option<FailureStatus> {
        FailureStatus::ALL
            .into_iter()
            .find(|status| status.name() == name)
    }
}

/// A change of a failure's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// The new status.
    pub status: FailureStatus,
    /// The campaign that observed it, which may have been pruned since.
    pub campaign: CampaignId,
    /// The time of the change.
    pub at: SystemTime,
}

/// A failure as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFailure {
    /// Its number.
    pub id: FailureId,
    /// The harness it was found with.
    pub harness: String,
    /// The campaign that found it, which may have been pruned since.
    pub found_in: CampaignId,
    /// The failure as found. Once there is a reduced test, message and details are those of that
    /// test.
    pub found: NewFailure,
    /// The reduced test in its saved form.
    pub reduced: Option<String>,
    /// Its current status.
    pub status: FailureStatus,
    /// The total number of occurrences.
    pub times: u64,
    /// The time of the last occurrence.
    pub last_seen: SystemTime,
    /// All status changes, oldest first.
    pub changes: Vec<StatusChange>,
    /// The failure that is the same bug, if this one is only another way to see it.
    pub same_bug_as: Option<FailureId>,
}

/// The selection of data to delete from a store. With both limits, a campaign is deleted if it is
/// beyond both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneOptions {
    /// Delete all but the latest campaigns, this many.
    pub keep: Option<usize>,
    /// Delete campaigns that began before this time.
    pub before: Option<SystemTime>,
    /// Delete fixed failures.
    pub fixed: bool,
    /// Delete unfixed failures that occurred in no remaining campaign.
    pub open: bool,
    /// Delete nothing; only report what would be deleted.
    pub dry_run: bool,
}

/// The data deleted from a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneResult {
    /// The deleted campaigns.
    pub campaigns: Vec<CampaignId>,
    /// The deleted failures.
    pub failures: Vec<FailureId>,
    /// The number of deleted tests of the corpus. A test is deleted if no campaign of its harness
    /// is left.
    pub tests: u64,
    /// The size of the file before, in bytes.
    pub size_before: u64,
    /// The size of the file afterwards, in bytes.
    pub size_after: u64,
    /// The error if the file could not be made smaller. The data is deleted anyway.
    pub compact_error: Option<testwright_core::Error>,
}
