//! Campaigns for scripts.
//!
//! Field names are the keys of the JSON output: scripts rely on them, so they must not change.
//! Times are seconds since the beginning of 1970.

use serde::Serialize;
use testwright_campaign::store::{
    CampaignEnding, CampaignProgress, CampaignRecord, CampaignState, FailureId, Store,
    StoredFailure,
};
use testwright_core::Error;

use super::unix_seconds;

/// Output of `campaign list`.
#[derive(Serialize)]
struct CampaignListJson {
    campaigns: Vec<ListedCampaignJson>,
}

/// A campaign in a list.
#[derive(Serialize)]
struct ListedCampaignJson {
    #[serde(flatten)]
    campaign: CampaignJson,
    /// Number of failures.
    failures: u64,
}

/// Output of `campaign show` and `campaign export`: a campaign with its failures.
#[derive(Serialize)]
struct FullCampaignJson {
    #[serde(flatten)]
    campaign: CampaignJson,
    failures: Vec<FailureJson>,
    /// Progress over time.
    curve: Vec<ProgressPoint>,
    /// Branches that were reached; only in exports.
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Vec<ArcJson>>,
    /// Corpus of the harness; only in exports.
    #[serde(skip_serializing_if = "Option::is_none")]
    corpus: Option<Vec<CorpusTestJson>>,
}

/// Facts about a campaign.
#[derive(Serialize)]
struct CampaignJson {
    number: i64,
    /// Path of the harness relative to the project, or the names of the models.
    harness: String,
    /// Hash of the harness, to notice that it has changed.
    digest: String,
    seed: u64,
    /// Arguments of the command.
    words: Vec<String>,
    /// Version of Testwright.
    version: String,
    /// Version of Python.
    python: String,
    /// Number of workers.
    jobs: u32,
    /// `running`, `broken off`, or the way in which it ended.
    state: &'static str,
    /// Reason why it could not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    started: u64,
    ended: Option<u64>,
    /// Number of times it was resumed.
    resumed: u64,
    /// Number of tests that ended because no action was enabled.
    deadlocks: u64,
    /// Number of random streams handed to workers.
    streams: u64,
    /// Progress at the end, or at the last save.
    #[serde(flatten)]
    latest: ProgressPoint,
}

/// Progress of a campaign at some time.
#[derive(Serialize)]
struct ProgressPoint {
    /// Time of the save.
    noted: u64,
    /// Search time so far.
    seconds: f64,
    tests: u64,
    steps: u64,
    /// Number of branches or transitions reached.
    reached: u64,
}

/// A failure with its tests and its history.
#[derive(Serialize)]
struct FailureJson {
    /// Id in the store.
    number: i64,
    /// `open`, `fixed` or `returned`.
    status: &'static str,
    kind: String,
    message: String,
    /// Key by which the failure is recognized in other campaigns.
    signature: String,
    details: String,
    /// Number of tests that failed in this way.
    times: u64,
    /// Number of the failure that is the same bug, if this is only another way to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_bug_as: Option<i64>,
    /// Campaign that found it first.
    found_in: i64,
    found: u64,
    /// Time at which it came up last.
    seen: u64,
    /// The reduced test, in its saved form.
    test: Option<String>,
    /// The test as it was found.
    full_test: String,
    /// Steps of the worker process before the test; `null` if they were not stored.
    history: Option<String>,
    changes: Vec<StatusChangeJson>,
}

/// A change of the status of a failure.
#[derive(Serialize)]
struct StatusChangeJson {
    status: &'static str,
    campaign: i64,
    at: u64,
}

/// A branch that was reached, and the test that reached it first.
#[derive(Serialize)]
struct ArcJson {
    file: String,
    from: i32,
    to: i32,
    /// Name of the test.
    test: String,
}

/// A test of the corpus.
#[derive(Serialize)]
struct CorpusTestJson {
    /// The test in its saved form.
    test: String,
    new: u64,
}

/// Formats a list of campaigns.
pub(super) fn list(records: &[CampaignRecord]) -> String {
    let listed = |record: &CampaignRecord| ListedCampaignJson {
        campaign: CampaignJson::from_record(record),
        failures: record.failures,
    };
    to_json(&CampaignListJson {
        campaigns: records.iter().map(listed).collect(),
    })
}

/// Formats a campaign without its coverage and its corpus.
pub(super) fn campaign(store: &Store, record: &CampaignRecord) -> Result<String, Error> {
    Ok(to_json(&FullCampaignJson::collect(store, record)?))
}

/// Formats a campaign with its coverage and its corpus, which may be large.
pub(super) fn full_campaign(store: &Store, record: &CampaignRecord) -> Result<String, Error> {
    let mut full = FullCampaignJson::collect(store, record)?;
    let places = store.arcs(record.id)?.into_iter().map(|arc| ArcJson {
        file: arc.file,
        from: arc.from,
        to: arc.to,
        test: arc.test,
    });
    full.places = Some(places.collect());
    let corpus = store.corpus(&record.settings.harness, usize::MAX)?;
    let corpus = corpus.into_iter().map(|test| CorpusTestJson {
        test: test.text,
        new: test.new,
    });
    full.corpus = Some(corpus.collect());
    Ok(to_json(&full))
}

/// Formats a value as JSON.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("numbers and strings are always JSON")
}

impl FullCampaignJson {
    /// Collects the failures and the curve of a campaign.
    fn collect(store: &Store, record: &CampaignRecord) -> Result<FullCampaignJson, Error> {
        let failures = store.failures_of_campaign(record.id)?;
        let curve = store.progress_curve(record.id)?;
        Ok(FullCampaignJson {
            campaign: CampaignJson::from_record(record),
            failures: failures.into_iter().map(FailureJson::from_stored).collect(),
            curve: curve.iter().map(ProgressPoint::from_progress).collect(),
            places: None,
            corpus: None,
        })
    }
}

impl CampaignJson {
    /// Converts the record of a campaign.
    fn from_record(record: &CampaignRecord) -> CampaignJson {
        let settings = record.settings.clone();
        let (trouble, ended) = match &record.state {
            CampaignState::Ended(CampaignEnding::Failed(trouble), at) => {
                (Some(trouble.clone()), Some(unix_seconds(*at)))
            }
            CampaignState::Ended(_, at) => (None, Some(unix_seconds(*at))),
            CampaignState::Running | CampaignState::BrokenOff => (None, None),
        };
        CampaignJson {
            number: record.id.number(),
            harness: settings.harness,
            digest: settings.digest,
            seed: settings.seed,
            words: settings.command_line,
            version: settings.version,
            python: settings.python,
            jobs: settings.jobs,
            state: record.state.name(),
            trouble,
            started: unix_seconds(settings.started),
            ended,
            resumed: record.resumed,
            deadlocks: record.progress.deadlocks,
            streams: record.progress.streams,
            latest: ProgressPoint::from_progress(&record.progress),
        }
    }
}

impl ProgressPoint {
    /// Converts a point of the curve.
    fn from_progress(progress: &CampaignProgress) -> ProgressPoint {
        ProgressPoint {
            noted: unix_seconds(progress.at),
            seconds: progress.seconds,
            tests: progress.tests,
            steps: progress.steps,
            reached: progress.covered,
        }
    }
}

impl FailureJson {
    /// Converts a failure.
    fn from_stored(known: StoredFailure) -> FailureJson {
        let changes = known.changes.iter().map(|change| StatusChangeJson {
            status: change.status.name(),
            campaign: change.campaign.number(),
            at: unix_seconds(change.at),
        });
        FailureJson {
            number: known.id.number(),
            status: known.status.name(),
            changes: changes.collect(),
            times: known.times,
            same_bug_as: known.same_bug_as.map(FailureId::number),
            found_in: known.found_in.number(),
            found: unix_seconds(known.found.at),
            seen: unix_seconds(known.last_seen),
            kind: known.found.kind,
            message: known.found.message,
            signature: known.found.signature,
            details: known.found.details,
            test: known.reduced,
            full_test: known.found.full,
            history: known.found.history,
        }
    }
}
