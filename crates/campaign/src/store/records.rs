//! What goes into a store and comes out of it, as plain data.

use std::fmt;
use std::time::SystemTime;

/// The number of a campaign, from 1. It is never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CampaignId(pub(super) i64);

/// The number of a failure, from 1. It is never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureId(pub(super) i64);

impl CampaignId {
    /// The campaign of that number, if there is one.
    pub fn of(number: u32) -> CampaignId {
        CampaignId(number.into())
    }

    /// The number itself.
    pub fn number(self) -> i64 {
        self.0
    }
}

impl FailureId {
    /// The number itself.
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

/// What is known of a campaign when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCampaign {
    /// The path of the harness, as the project sees it.
    pub harness: String,
    /// What the text of the harness is recognised by.
    pub digest: String,
    /// All chance comes from it.
    pub seed: u64,
    /// The command line.
    pub words: Vec<String>,
    /// The version of Testwright.
    pub version: String,
    /// The version of Python.
    pub python: String,
    /// How many workers there are.
    pub jobs: u32,
    /// When it begins.
    pub started: SystemTime,
}

/// How far a campaign has come: totals from its beginning on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// When that was so.
    pub at: SystemTime,
    /// For how long it has been searching, pauses between parts of it not counted.
    pub seconds: f64,
    /// How many tests it has made.
    pub tests: u64,
    /// How many steps were taken in them.
    pub steps: u64,
    /// How many tests ended because no action could be taken.
    pub deadlocks: u64,
    /// How many places of the code under test were reached.
    pub covered: u64,
    /// How many streams of chance are used up, so that a campaign that goes on later repeats none.
    pub streams: u64,
}

/// How a campaign ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CampaignEnding {
    /// Its budget is spent.
    Complete,
    /// Somebody asked it to stop.
    Interrupted,
    /// It could not go on, for this reason.
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

/// What has become of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CampaignState {
    /// A process is at it.
    Running,
    /// Its process was killed.
    BrokenOff,
    /// It came to an end, at that time.
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
    /// What was known when it began.
    pub begun: NewCampaign,
    /// How often it was taken up again.
    pub resumed: u64,
    /// How far it has come.
    pub standing: Standing,
    /// What has become of it.
    pub state: CampaignState,
    /// How many failures came up in it.
    pub failures: u64,
}

/// A place of the code under test that was reached: a way from line to line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlaceReached {
    /// The path of the file.
    pub file: String,
    /// The line before, negative for the entry of a function.
    pub from: i32,
    /// The line after, negative for leaving a function.
    pub to: i32,
    /// The first test that reached it.
    pub test: String,
}

/// A test that reached something new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTest {
    /// The test in its saved form.
    pub text: String,
    /// How many places it was the first to reach.
    pub new: u64,
}

/// A failure when it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFailure {
    /// Its kind, by the name that reports have for it.
    pub kind: String,
    /// What went wrong, in a line.
    pub message: String,
    /// What it is recognised by. Two failures of a harness with the same signature are one.
    pub signature: String,
    /// More about it, in lines.
    pub details: String,
    /// The saved form of the test that found it.
    pub full: String,
    /// What the process had done before that test, if that may matter.
    pub history: Option<String>,
    /// When it was found.
    pub at: SystemTime,
}

/// What has become of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It was seen, and nobody has seen it gone.
    Open,
    /// Its test passes.
    Fixed,
    /// It was fixed, and is there again.
    Returned,
}

impl Status {
    const ALL: [Status; 3] = [Status::Open, Status::Fixed, Status::Returned];

    /// The name used in reports and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Fixed => "fixed",
            Status::Returned => "returned",
        }
    }

    /// The status of that name.
    pub fn of_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A failure changed its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// To this one.
    pub status: Status,
    /// In this campaign, which may have been pruned since.
    pub campaign: CampaignId,
    /// At this time.
    pub at: SystemTime,
}

/// A failure as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    /// Its number.
    pub id: FailureId,
    /// The harness that it was found with.
    pub harness: String,
    /// The campaign that found it, which may have been pruned since.
    pub found_in: CampaignId,
    /// What was found, `at` when; the message and the details are those of the reduced test once there is one.
    pub found: FoundFailure,
    /// The reduced test in its saved form.
    pub reduced: Option<String>,
    /// What has become of it.
    pub status: Status,
    /// How often it came up in all.
    pub times: u64,
    /// When it came up last.
    pub seen: SystemTime,
    /// How its status changed, the oldest first.
    pub changes: Vec<StatusChange>,
}

/// What to drop from a store. With both limits, a campaign is dropped if it is beyond both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneOptions {
    /// Campaigns but the last so many.
    pub keep: Option<usize>,
    /// Campaigns that began before that.
    pub before: Option<SystemTime>,
    /// Failures that are fixed.
    pub fixed: bool,
    /// Failures that are not fixed and that no campaign has seen that is left.
    pub open: bool,
    /// Only tell what would be dropped.
    pub dry_run: bool,
}

/// What was dropped from a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// These campaigns.
    pub campaigns: Vec<CampaignId>,
    /// These failures.
    pub failures: Vec<FailureId>,
    /// So many kept tests, of harnesses of which no campaign is left.
    pub tests: u64,
    /// The size of the file before, in bytes.
    pub size_before: u64,
    /// The size of the file after.
    pub size_after: u64,
    /// Why the file could not be made smaller, if so. What was to be dropped is dropped all the same.
    pub not_compacted: Option<testwright_core::Error>,
}
