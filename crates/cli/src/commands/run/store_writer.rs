//! Writes a campaign to the store of the project.
//!
//! If the store cannot be written, a warning is printed once and the campaign goes on: failing
//! tests are in files as well. Data that could not be written is kept and tried again with the next
//! save.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use testwright_campaign::store::{
    CampaignEnding, CampaignId, CampaignProgress, CampaignRecord, CorpusTest, FailureId,
    FailureStatus, NewCampaign, NewFailure, ReachedArc, Store, StoredFailure,
};
use testwright_core::generate::SearchProgress;
use testwright_core::{Error, Failure};

use super::RunCommand;
use crate::console::Console;
use crate::project::ProjectFolder;

/// Writer of one campaign to the store; does nothing without a store.
#[derive(Default)]
pub(super) struct StoreWriter {
    /// The store; `None` with `--no-store`, or if it could not be opened.
    open: Option<OpenStore>,
    /// True once an error was reported.
    has_warned: bool,
}

/// The open store, and data that is not written yet.
struct OpenStore {
    store: Store,
    /// Name of the harness in the store.
    harness: String,
    /// Id of this campaign.
    campaign: CampaignId,
    /// Coverage to write with the next save.
    arcs: Vec<ReachedArc>,
    /// Tests to write with the next save.
    tests: Vec<CorpusTest>,
    /// Failures by their number in this campaign.
    failures: BTreeMap<usize, PendingFailure>,
    /// Time of the last save.
    saved_at: Instant,
}

/// A failure of this campaign, written to the store or still to be written.
struct PendingFailure {
    /// Id in the store; `None` if it could not be written yet.
    id: Option<FailureId>,
    found: NewFailure,
    /// Text, message and details of the reduced test, until they are written.
    reduced: Option<(String, String, String)>,
    /// Number of tests that failed in this way, as the store has it.
    count: u64,
}

/// A campaign that ended early, with the coverage it had reached.
pub(super) struct StoppedCampaign {
    /// Settings and totals.
    pub(super) record: CampaignRecord,
    /// Branches that were reached.
    pub(super) arcs: Vec<ReachedArc>,
}

/// Facts that are stored when a campaign begins.
pub(super) struct CampaignStart<'a> {
    /// Text of the harness or of the models; only its digest is stored.
    pub(super) text: &'a str,
    pub(super) seed: u64,
    /// Arguments of the command, the subcommand included.
    pub(super) args: Vec<String>,
    pub(super) python: String,
    pub(super) jobs: usize,
}

/// Path of the store, and the name of the harness in it.
pub(super) struct Location {
    /// Absolute path of the store.
    pub(super) path: PathBuf,
    /// Name of the harness relative to the project, or the names of the models.
    pub(super) harness: String,
}

impl Location {
    /// Locates the store for a run: the chosen one, or that of the project.
    pub(super) fn new(chosen: Option<&Path>, run: &RunCommand) -> Result<Location, Error> {
        let project = ProjectFolder::find()?;
        let path = chosen.unwrap_or_else(|| project.store());
        Ok(Location {
            // The code under test may change the current folder.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            harness: run.stored_name(&project)?,
        })
    }
}

impl StoreWriter {
    /// Time between two saves.
    const SAVE_INTERVAL: Duration = Duration::from_secs(1);

    /// Opens the store, and begins a campaign or resumes the stopped one.
    ///
    /// If the store cannot be opened, prints a warning and returns a writer that does nothing.
    pub(super) fn open(
        console: &mut Console<'_>,
        location: &Location,
        start: CampaignStart<'_>,
        stopped: Option<&StoppedCampaign>,
    ) -> StoreWriter {
        let mut writer = StoreWriter::default();
        let opened = Store::open(&location.path).and_then(|mut store| {
            let campaign = match stopped {
                Some(stopped) => {
                    store.resume(stopped.record.id)?;
                    stopped.record.id
                }
                None => store.begin(&NewCampaign {
                    harness: location.harness.clone(),
                    digest: digest(start.text),
                    seed: start.seed,
                    command_line: start.args,
                    version: crate::VERSION.to_owned(),
                    python: start.python,
                    jobs: start.jobs as u32,
                    started: SystemTime::now(),
                })?,
            };
            Ok(OpenStore {
                store,
                harness: location.harness.clone(),
                campaign,
                arcs: Vec::new(),
                tests: Vec::new(),
                failures: BTreeMap::new(),
                saved_at: Instant::now(),
            })
        });
        match opened {
            Ok(open) => writer.open = Some(open),
            Err(error) => writer.warn_once(console, &error),
        }
        writer
    }

    /// Finds the last unfinished campaign of a harness.
    pub(super) fn find_stopped(location: &Location) -> Result<Option<StoppedCampaign>, Error> {
        let Some(store) = Store::open_existing(&location.path)? else {
            return Ok(None);
        };
        let Some(record) = store.unfinished(&location.harness)? else {
            return Ok(None);
        };
        let arcs = store.arcs(record.id)?;
        Ok(Some(StoppedCampaign { record, arcs }))
    }

    /// Returns the failures of this harness in all campaigns.
    pub(super) fn known_failures(&mut self, console: &mut Console<'_>) -> Vec<StoredFailure> {
        self.with(console, |open| {
            open.store.failures_of_harness(&open.harness)
        })
        .unwrap_or_default()
    }

    /// Returns the corpus of the harness: saved tests that reached something new.
    pub(super) fn corpus(&mut self, console: &mut Console<'_>) -> Vec<String> {
        /// Limit, because the whole corpus is run before the search begins.
        const MAX_TESTS: usize = 500;
        let tests = self.with(console, |open| open.store.corpus(&open.harness, MAX_TESTS));
        let tests = tests.unwrap_or_default();
        tests.into_iter().map(|test| test.text).collect()
    }

    /// Stores a failure that is new in this campaign. Called before the failure is reported, so
    /// that it survives a crash.
    pub(super) fn add_failure(
        &mut self,
        console: &mut Console<'_>,
        number: usize,
        (failure, alike): (&Failure, usize),
        full: &str,
    ) {
        let found = NewFailure {
            kind: failure.kind.name().to_owned(),
            message: failure.message.clone(),
            signature: match alike {
                0 => signature(failure),
                _ => format!("{}{ALIKE}{}", signature(failure), alike + 1),
            },
            details: failure.details.clone(),
            full: full.to_owned(),
            history: None,
            at: SystemTime::now(),
        };
        let stored = PendingFailure {
            id: None,
            found,
            reduced: None,
            count: 1,
        };
        if let Some(open) = &mut self.open {
            open.failures.insert(number, stored);
        }
        self.with(console, OpenStore::write_failures);
    }

    /// Stores that a failure of an earlier campaign came up again.
    pub(super) fn mark_seen(
        &mut self,
        console: &mut Console<'_>,
        number: usize,
        known: &StoredFailure,
        status: FailureStatus,
    ) {
        self.with(console, |open| {
            let (campaign, now) = (open.campaign, SystemTime::now());
            open.failures.insert(
                number,
                PendingFailure {
                    id: Some(known.id),
                    found: known.found.clone(),
                    reduced: None,
                    count: 1,
                },
            );
            open.store.record_recurrence(known.id, campaign, 1, now)?;
            open.store.set_status(known.id, status, campaign, now)
        });
    }

    /// Stores which failures are the same bug as another one, by their numbers in this run.
    pub(super) fn set_bugs(
        &mut self,
        console: &mut Console<'_>,
        bugs: impl Iterator<Item = (usize, Option<usize>)>,
    ) {
        self.with(console, |open| {
            let ids = open.failures.iter();
            let ids: BTreeMap<usize, FailureId> = ids
                .filter_map(|(number, stored)| Some((*number, stored.id?)))
                .collect();
            for (number, bug) in bugs {
                if let Some(id) = ids.get(&number) {
                    let bug = bug.and_then(|bug| ids.get(&bug));
                    open.store
                        .set_bug(*id, bug.copied().filter(|bug| bug != id))?;
                }
            }
            Ok(())
        });
    }

    /// Stores that a failure of an earlier campaign is fixed.
    pub(super) fn mark_fixed(&mut self, console: &mut Console<'_>, known: &StoredFailure) {
        self.with(console, |open| {
            let campaign = open.campaign;
            open.store
                .set_status(known.id, FailureStatus::Fixed, campaign, SystemTime::now())
        });
    }

    /// Stores the reduced test of a failure.
    pub(super) fn set_reduced(
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
        self.with(console, OpenStore::write_failures);
    }

    /// Queues newly reached branches for the next save.
    pub(super) fn add_coverage(&mut self, test: &str, arcs: &[(PathBuf, (i32, i32))]) {
        if let Some(open) = &mut self.open {
            let arc = |(file, (from, to)): &(PathBuf, (i32, i32))| ReachedArc {
                file: file.to_string_lossy().into_owned(),
                from: *from,
                to: *to,
                test: test.to_owned(),
            };
            open.arcs.extend(arcs.iter().map(arc));
        }
    }

    /// Queues a test of the corpus for the next save.
    pub(super) fn add_test(&mut self, text: String) {
        if let Some(open) = &mut self.open {
            open.tests.push(CorpusTest { text, new: 1 });
        }
    }

    /// Returns true if it is time to save.
    pub(super) fn is_due(&self) -> bool {
        let saved_at = self.open.as_ref().map(|open| open.saved_at);
        saved_at.is_some_and(|saved_at| saved_at.elapsed() >= StoreWriter::SAVE_INTERVAL)
    }

    /// Saves the totals, and everything that is queued. `count` returns how often a failure has
    /// come up. Returns false if the store could not be written.
    pub(super) fn save(
        &mut self,
        console: &mut Console<'_>,
        progress: CampaignProgress,
        count: impl Fn(usize) -> u64,
    ) -> bool {
        let saved = self.with(console, |open| {
            open.saved_at = Instant::now();
            open.write_failures()?;
            open.write_counts(count)?;
            if !open.arcs.is_empty() {
                open.store.record_arcs(open.campaign, &open.arcs)?;
                open.arcs.clear();
            }
            if !open.tests.is_empty() {
                open.store
                    .keep_tests(&open.harness, open.campaign, &open.tests)?;
                open.tests.clear();
            }
            open.store.record_progress(open.campaign, &progress)
        });
        saved.is_some() || self.open.is_none()
    }

    /// Stores that the campaign is over.
    pub(super) fn finish(&mut self, console: &mut Console<'_>, ending: &CampaignEnding) {
        self.with(console, |open| {
            open.store.finish(open.campaign, ending, SystemTime::now())
        });
    }

    /// Calls a function with the open store. An error is reported once.
    fn with<R>(
        &mut self,
        console: &mut Console<'_>,
        work: impl FnOnce(&mut OpenStore) -> Result<R, Error>,
    ) -> Option<R> {
        match work(self.open.as_mut()?) {
            Ok(result) => Some(result),
            Err(error) => {
                self.warn_once(console, &error);
                None
            }
        }
    }

    /// Prints a warning, the first time only.
    fn warn_once(&mut self, console: &mut Console<'_>, error: &Error) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let message = format!("the campaign is not kept in the store: {}", error.message);
            console.warning(&message, error.help.as_deref());
        }
    }
}

impl OpenStore {
    /// Writes failures and reduced tests that are not written yet.
    fn write_failures(&mut self) -> Result<(), Error> {
        for stored in self.failures.values_mut() {
            let id = match stored.id {
                Some(id) => id,
                None => {
                    let found = &stored.found;
                    *(stored.id.insert(self.store.record_failure(
                        self.campaign,
                        &self.harness,
                        found,
                    )?))
                }
            };
            if let Some((text, message, details)) = &stored.reduced {
                self.store.record_reduction(id, text, message, details)?;
                stored.reduced = None;
            }
        }
        Ok(())
    }

    /// Writes how often failures have come up since the last save.
    fn write_counts(&mut self, count: impl Fn(usize) -> u64) -> Result<(), Error> {
        for (number, stored) in &mut self.failures {
            let more = count(*number).saturating_sub(stored.count);
            if let (Some(id), true) = (stored.id, more > 0) {
                self.store
                    .record_recurrence(id, self.campaign, more, SystemTime::now())?;
                stored.count += more;
            }
        }
        Ok(())
    }
}

/// Returns the key by which a failure is recognized in other campaigns.
fn signature(failure: &Failure) -> String {
    format!("{}: {}", failure.kind.name(), failure.signature)
}

/// Stands between the key of a failure and its number, if other bugs look alike.
const ALIKE: &str = ", number ";

/// Returns true if a failure is the stored one, or looks like it.
pub(super) fn is_known_failure(known: &StoredFailure, failure: &Failure) -> bool {
    let key = signature(failure);
    let rest = known.found.signature.strip_prefix(&key);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(ALIKE))
}

/// Converts the totals of a campaign for the store.
pub(super) fn progress_record(
    progress: &SearchProgress,
    time: Duration,
    covered: u64,
    streams: u64,
) -> CampaignProgress {
    CampaignProgress {
        at: SystemTime::now(),
        seconds: time.as_secs_f64(),
        tests: progress.tests,
        steps: progress.steps,
        deadlocks: progress.deadlocks,
        covered,
        streams,
    }
}

/// Returns a short hash, to notice that a text has changed.
pub(super) fn digest(text: &str) -> String {
    let mut hasher = rustc_hash::FxHasher::default();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
