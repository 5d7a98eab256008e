//! What a campaign keeps in the store of the project.
//!
//! A store that cannot be written to (any more) is told of once, and the campaign goes on: failing tests are in files as
//! well. What could not be written is tried again later.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use testwright_campaign::store::{
    CampaignEnding, CampaignId, CampaignRecord, FailureId, FoundFailure, KeptTest, KnownFailure,
    NewCampaign, PlaceReached, Standing, Status, Store,
};
use testwright_core::generate::Progress;
use testwright_core::{Error, Failure};

use super::Run;
use crate::console::Console;
use crate::project::Project;

/// The store, as one campaign uses it.
#[derive(Default)]
pub(super) struct Memory {
    open: Option<Open>,
    is_told: bool,
}

struct Open {
    store: Store,
    harness: String,
    campaign: CampaignId,
    /// What is to be written with the next note.
    places: Vec<PlaceReached>,
    tests: Vec<KeptTest>,
    /// Failures by their number in this campaign.
    failures: BTreeMap<usize, Stored>,
    noted: Instant,
}

/// A failure of this campaign.
struct Stored {
    /// Nothing, if it could not be written yet.
    id: Option<FailureId>,
    found: FoundFailure,
    reduced: Option<(String, String, String)>,
    /// In how many tests it came up, as far as the store knows.
    times: u64,
}

/// A campaign that is taken up again.
pub(super) struct Earlier {
    pub(super) record: CampaignRecord,
    pub(super) places: Vec<PlaceReached>,
}

/// What is kept with a campaign from its beginning on.
pub(super) struct Beginning<'a> {
    /// What the harness, or the models, say.
    pub(super) text: &'a str,
    pub(super) seed: u64,
    pub(super) words: Vec<String>,
    pub(super) python: String,
    pub(super) jobs: usize,
}

/// Where the store is, and what the harness is called in it.
pub(super) struct Whereabouts {
    pub(super) path: PathBuf,
    pub(super) harness: String,
}

impl Whereabouts {
    /// What is `run`, in the store that was chosen.
    pub(super) fn new(chosen: Option<&Path>, run: &Run) -> Result<Whereabouts, Error> {
        let project = Project::here()?;
        let path = chosen.unwrap_or_else(|| project.store());
        Ok(Whereabouts {
            // The current folder may not stay where it is.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            harness: run.stored_name(&project)?,
        })
    }
}

impl Memory {
    /// Between two notes.
    const PAUSE: Duration = Duration::from_secs(1);

    /// Opens the store and begins a campaign, or takes one up again.
    pub(super) fn begin(
        console: &mut Console<'_>,
        whereabouts: &Whereabouts,
        beginning: Beginning<'_>,
        earlier: Option<&Earlier>,
    ) -> Memory {
        let mut memory = Memory::default();
        let opened = Store::open(&whereabouts.path).and_then(|mut store| {
            let campaign = match earlier {
                Some(earlier) => {
                    store.resume(earlier.record.id)?;
                    earlier.record.id
                }
                None => store.begin(&NewCampaign {
                    harness: whereabouts.harness.clone(),
                    digest: digest(beginning.text),
                    seed: beginning.seed,
                    words: beginning.words,
                    version: crate::VERSION.to_owned(),
                    python: beginning.python,
                    jobs: beginning.jobs as u32,
                    started: SystemTime::now(),
                })?,
            };
            Ok(Open {
                store,
                harness: whereabouts.harness.clone(),
                campaign,
                places: Vec::new(),
                tests: Vec::new(),
                failures: BTreeMap::new(),
                noted: Instant::now(),
            })
        });
        match opened {
            Ok(open) => memory.open = Some(open),
            Err(error) => memory.complain(console, &error),
        }
        memory
    }

    /// The last campaign of a harness that did not come to its end.
    pub(super) fn earlier(whereabouts: &Whereabouts) -> Result<Option<Earlier>, Error> {
        let Some(store) = Store::open_existing(&whereabouts.path)? else {
            return Ok(None);
        };
        let Some(record) = store.unfinished(&whereabouts.harness)? else {
            return Ok(None);
        };
        let places = store.places(record.id)?;
        Ok(Some(Earlier { record, places }))
    }

    /// The failures that were found with this harness, now or in earlier campaigns.
    pub(super) fn known(&mut self, console: &mut Console<'_>) -> Vec<KnownFailure> {
        self.with(console, |open| open.store.known(&open.harness))
            .unwrap_or_default()
    }

    /// Tests of earlier campaigns that are worth going on from.
    pub(super) fn corpus(&mut self, console: &mut Console<'_>) -> Vec<String> {
        /// They are all run before anything else is done.
        const MOST: usize = 500;
        let tests = self.with(console, |open| open.store.corpus(&open.harness, MOST));
        let tests = tests.unwrap_or_default();
        tests.into_iter().map(|test| test.text).collect()
    }

    /// A failure came up for the first time in this campaign. It is in the store before anybody hears of it.
    pub(super) fn found(
        &mut self,
        console: &mut Console<'_>,
        number: usize,
        failure: &Failure,
        full: &str,
    ) {
        let found = FoundFailure {
            kind: failure.kind.name().to_owned(),
            message: failure.message.clone(),
            signature: signature(failure),
            details: failure.details.clone(),
            full: full.to_owned(),
            history: None,
            at: SystemTime::now(),
        };
        let stored = Stored {
            id: None,
            found,
            reduced: None,
            times: 1,
        };
        if let Some(open) = &mut self.open {
            open.failures.insert(number, stored);
        }
        self.with(console, Open::write_failures);
    }

    /// A failure of an earlier campaign is one of this, too.
    pub(super) fn met_again(
        &mut self,
        console: &mut Console<'_>,
        number: usize,
        known: &KnownFailure,
        status: Status,
    ) {
        self.with(console, |open| {
            let (campaign, now) = (open.campaign, SystemTime::now());
            open.failures.insert(
                number,
                Stored {
                    id: Some(known.id),
                    found: known.found.clone(),
                    reduced: None,
                    times: 1,
                },
            );
            open.store.again(known.id, campaign, 1, now)?;
            open.store.set_status(known.id, status, campaign, now)
        });
    }

    /// A failure of an earlier campaign does not come up any more.
    pub(super) fn fixed(&mut self, console: &mut Console<'_>, known: &KnownFailure) {
        self.with(console, |open| {
            let campaign = open.campaign;
            open.store
                .set_status(known.id, Status::Fixed, campaign, SystemTime::now())
        });
    }

    /// A failing test was reduced.
    pub(super) fn reduced(
        &mut self,
        console: &mut Console<'_>,
        number: usize,
        text: &str,
        failure: &Failure,
    ) {
        let reduced = (
            text.to_owned(),
            failure.message.clone(),
            failure.details.clone(),
        );
        if let Some(open) = &mut self.open
            && let Some(stored) = open.failures.get_mut(&number)
        {
            stored.reduced = Some(reduced);
        }
        self.with(console, Open::write_failures);
    }

    /// Something was reached for the first time.
    pub(super) fn reached(&mut self, test: &str, places: &[(PathBuf, (i32, i32))]) {
        if let Some(open) = &mut self.open {
            let place = |(file, (from, to)): &(PathBuf, (i32, i32))| PlaceReached {
                file: file.to_string_lossy().into_owned(),
                from: *from,
                to: *to,
                test: test.to_owned(),
            };
            open.places.extend(places.iter().map(place));
        }
    }

    /// A test is worth going on from.
    pub(super) fn keep(&mut self, text: String) {
        if let Some(open) = &mut self.open {
            open.tests.push(KeptTest { text, new: 1 });
        }
    }

    /// Whether it is time to write down how far the campaign has come.
    pub(super) fn is_due(&self) -> bool {
        let noted = self.open.as_ref().map(|open| open.noted);
        noted.is_some_and(|noted| noted.elapsed() >= Memory::PAUSE)
    }

    /// Writes down how far the campaign has come: totals from its beginning on.
    pub(super) fn note(
        &mut self,
        console: &mut Console<'_>,
        standing: Standing,
        times: impl Fn(usize) -> u64,
    ) {
        self.with(console, |open| {
            open.noted = Instant::now();
            open.write_failures()?;
            open.write_times(times)?;
            if !open.places.is_empty() {
                open.store.reached(open.campaign, &open.places)?;
                open.places.clear();
            }
            if !open.tests.is_empty() {
                open.store.keep(&open.harness, open.campaign, &open.tests)?;
                open.tests.clear();
            }
            open.store.note(open.campaign, &standing)
        });
    }

    /// The campaign is over.
    pub(super) fn finish(&mut self, console: &mut Console<'_>, ending: &CampaignEnding) {
        self.with(console, |open| {
            open.store.finish(open.campaign, ending, SystemTime::now())
        });
    }

    fn with<R>(
        &mut self,
        console: &mut Console<'_>,
        work: impl FnOnce(&mut Open) -> Result<R, Error>,
    ) -> Option<R> {
        match work(self.open.as_mut()?) {
            Ok(result) => Some(result),
            Err(error) => {
                self.complain(console, &error);
                None
            }
        }
    }

    fn complain(&mut self, console: &mut Console<'_>, error: &Error) {
        if !std::mem::replace(&mut self.is_told, true) {
            let message = format!("the campaign is not kept in the store: {}", error.message);
            console.warning(&message, error.help.as_deref());
        }
    }
}

impl Open {
    /// Writes what is not written yet.
    fn write_failures(&mut self) -> Result<(), Error> {
        for stored in self.failures.values_mut() {
            let id = match stored.id {
                Some(id) => id,
                None => {
                    let found = &stored.found;
                    *(stored
                        .id
                        .insert(self.store.found(self.campaign, &self.harness, found)?))
                }
            };
            if let Some((text, message, details)) = &stored.reduced {
                self.store.reduced(id, text, message, details)?;
                stored.reduced = None;
            }
        }
        Ok(())
    }

    fn write_times(&mut self, times: impl Fn(usize) -> u64) -> Result<(), Error> {
        for (number, stored) in &mut self.failures {
            let more = times(*number).saturating_sub(stored.times);
            if let (Some(id), true) = (stored.id, more > 0) {
                self.store
                    .again(id, self.campaign, more, SystemTime::now())?;
                stored.times += more;
            }
        }
        Ok(())
    }
}

/// What a failure is recognised by in another campaign.
pub(super) fn signature(failure: &Failure) -> String {
    format!("{}: {}", failure.kind.name(), failure.signature)
}

/// How far a campaign has come, for the store.
pub(super) fn standing(
    progress: &Progress,
    time: Duration,
    covered: u64,
    streams: u64,
) -> Standing {
    Standing {
        at: SystemTime::now(),
        seconds: time.as_secs_f64(),
        tests: progress.tests,
        steps: progress.steps,
        deadlocks: progress.deadlocks,
        covered,
        streams,
    }
}

/// Enough to notice that a text is another.
pub(super) fn digest(text: &str) -> String {
    let mut hasher = rustc_hash::FxHasher::default();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
