//! Campaigns for scripts. The names in here are a promise. Times are seconds since the beginning of 1970.

use serde::Serialize;
use testwright_campaign::store::{
    CampaignEnding, CampaignRecord, CampaignState, KnownFailure, Standing, Store,
};
use testwright_core::Error;

use super::seconds;

#[derive(Serialize)]
struct List {
    campaigns: Vec<Listed>,
}

/// A campaign in a list of campaigns.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    campaign: Campaign,
    /// How many.
    failures: u64,
}

/// A campaign by itself.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    campaign: Campaign,
    failures: Vec<Failure>,
    curve: Vec<Point>,
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Vec<Place>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corpus: Option<Vec<Kept>>,
}

#[derive(Serialize)]
struct Campaign {
    number: i64,
    harness: String,
    digest: String,
    seed: u64,
    words: Vec<String>,
    version: String,
    python: String,
    jobs: u32,
    state: &'static str,
    /// Why it could not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    started: u64,
    ended: Option<u64>,
    resumed: u64,
    deadlocks: u64,
    streams: u64,
    #[serde(flatten)]
    standing: Point,
}

/// How far a campaign was.
#[derive(Serialize)]
struct Point {
    noted: u64,
    seconds: f64,
    tests: u64,
    steps: u64,
    reached: u64,
}

#[derive(Serialize)]
struct Failure {
    number: i64,
    status: &'static str,
    kind: String,
    message: String,
    signature: String,
    details: String,
    times: u64,
    found_in: i64,
    found: u64,
    seen: u64,
    /// The reduced test, in its saved form.
    test: Option<String>,
    full_test: String,
    history: Option<String>,
    changes: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    status: &'static str,
    campaign: i64,
    at: u64,
}

#[derive(Serialize)]
struct Place {
    file: String,
    from: i32,
    to: i32,
    test: String,
}

#[derive(Serialize)]
struct Kept {
    test: String,
    new: u64,
}

pub(super) fn of_list(records: &[CampaignRecord]) -> String {
    let listed = |record: &CampaignRecord| Listed {
        campaign: Campaign::of(record),
        failures: record.failures,
    };
    text(&List {
        campaigns: records.iter().map(listed).collect(),
    })
}

pub(super) fn of_campaign(store: &Store, record: &CampaignRecord) -> Result<String, Error> {
    Ok(text(&Whole::of(store, record)?))
}

/// With places and kept tests, which may be many.
pub(super) fn of_whole_campaign(store: &Store, record: &CampaignRecord) -> Result<String, Error> {
    let mut whole = Whole::of(store, record)?;
    let places = store.places(record.id)?.into_iter().map(|place| Place {
        file: place.file,
        from: place.from,
        to: place.to,
        test: place.test,
    });
    whole.places = Some(places.collect());
    let corpus = store.corpus(&record.begun.harness, usize::MAX)?;
    let corpus = corpus.into_iter().map(|kept| Kept {
        test: kept.text,
        new: kept.new,
    });
    whole.corpus = Some(corpus.collect());
    Ok(text(&whole))
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("numbers and strings are always JSON")
}

impl Whole {
    fn of(store: &Store, record: &CampaignRecord) -> Result<Whole, Error> {
        let failures = store.failures_of(record.id)?;
        let curve = store.curve(record.id)?;
        Ok(Whole {
            campaign: Campaign::of(record),
            failures: failures.into_iter().map(Failure::of).collect(),
            curve: curve.iter().map(Point::of).collect(),
            places: None,
            corpus: None,
        })
    }
}

impl Campaign {
    fn of(record: &CampaignRecord) -> Campaign {
        let begun = record.begun.clone();
        let (trouble, ended) = match &record.state {
            CampaignState::Ended(CampaignEnding::Failed(trouble), at) => {
                (Some(trouble.clone()), Some(seconds(*at)))
            }
            CampaignState::Ended(_, at) => (None, Some(seconds(*at))),
            CampaignState::Running | CampaignState::BrokenOff => (None, None),
        };
        Campaign {
            number: record.id.number(),
            harness: begun.harness,
            digest: begun.digest,
            seed: begun.seed,
            words: begun.words,
            version: begun.version,
            python: begun.python,
            jobs: begun.jobs,
            state: record.state.name(),
            trouble,
            started: seconds(begun.started),
            ended,
            resumed: record.resumed,
            deadlocks: record.standing.deadlocks,
            streams: record.standing.streams,
            standing: Point::of(&record.standing),
        }
    }
}

impl Point {
    fn of(standing: &Standing) -> Point {
        Point {
            noted: seconds(standing.at),
            seconds: standing.seconds,
            tests: standing.tests,
            steps: standing.steps,
            reached: standing.covered,
        }
    }
}

impl Failure {
    fn of(known: KnownFailure) -> Failure {
        let changes = known.changes.iter().map(|change| Change {
            status: change.status.name(),
            campaign: change.campaign.number(),
            at: seconds(change.at),
        });
        Failure {
            number: known.id.number(),
            status: known.status.name(),
            changes: changes.collect(),
            times: known.times,
            found_in: known.found_in.number(),
            found: seconds(known.found.at),
            seen: seconds(known.seen),
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
