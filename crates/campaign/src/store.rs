//! The memory of a project: its campaigns, what they found, and what they reached.
//!
//! A [`Store`] is one SQLite file. Only supervisors write to it, never a worker, and several may at once. A method
//! that writes returns when all of it is on the disk; if the process is killed before, nothing of it is. So what a
//! person has been told is in the store.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use testwright_campaign::store::{CampaignEnding, NewCampaign, Standing, Store};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join(".testwright/store.db");
//! # let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let mut store = Store::open(&path)?;
//! let campaign = store.begin(&NewCampaign {
//!     harness: "stack.tstl".to_owned(),
//!     digest: "1f0c".to_owned(),
//!     seed: 7,
//!     words: vec!["run".to_owned(), "stack.tstl".to_owned()],
//!     version: "0.1.0".to_owned(),
//!     python: "3.12.1".to_owned(),
//!     jobs: 2,
//!     started: now,
//! })?;
//! let standing = Standing {
//!     at: now + Duration::from_secs(1),
//!     seconds: 1.0,
//!     tests: 40,
//!     steps: 4000,
//!     deadlocks: 0,
//!     covered: 12,
//!     streams: 2,
//! };
//! store.note(campaign, &standing)?;
//! store.finish(campaign, &CampaignEnding::Complete, now + Duration::from_secs(2))?;
//! assert_eq!(store.campaigns()?[0].standing, standing);
//! # Ok::<(), testwright_core::Error>(())
//! ```
//!
//! # What to read next
//!
//! - `schema.rs`: what is in the file, and how a store of an earlier version becomes one of the newest.
//! - `open.rs`: why a file from a stranger does no harm.
//! - `claim.rs`: how a campaign that is running is told from one that was killed.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tempfile::TempDir;
use testwright_core::Error;

mod campaigns;
mod claim;
mod corpus;
mod failures;
mod fields;
mod open;
mod places;
mod problem;
mod prune;
mod records;
mod schema;

pub use records::{
    CampaignEnding, CampaignId, CampaignRecord, CampaignState, FailureId, FoundFailure, KeptTest,
    KnownFailure, NewCampaign, PlaceReached, PruneOptions, Pruned, Standing, Status, StatusChange,
};

use claim::Claim;
use problem::Problem;

/// One open store.
pub struct Store {
    database: Connection,
    /// Where it is, as it was named.
    path: PathBuf,
    /// Where it really is, wherever the current folder will be.
    real: PathBuf,
    /// The campaigns that this process is running.
    claims: Vec<Claim>,
    /// `database` is a copy in here, because the store itself can only be read. It must be dropped last.
    copy: Option<TempDir>,
}

impl Store {
    /// Opens a store to write to it. File and folder are made if they are not there (an empty file is a store in which
    /// there is nothing yet), and a store of an earlier version becomes one of the newest.
    pub fn open(path: &Path) -> Result<Store, Error> {
        let database = open::to_write(path).map_err(|problem| problem.of(path))?;
        Ok(Store {
            database,
            path: path.to_owned(),
            real: open::real(path),
            claims: Vec::new(),
            copy: None,
        })
    }

    /// Opens a store to look at it or to prune it; `None` if there is none, or nothing in it yet. One that can only be
    /// read is looked at in a copy.
    pub fn open_existing(path: &Path) -> Result<Option<Store>, Error> {
        let opened = open::to_look(path).map_err(|problem| problem.of(path))?;
        Ok(opened.map(|(database, copy)| Store {
            database,
            path: path.to_owned(),
            real: open::real(path),
            claims: Vec::new(),
            copy,
        }))
    }

    /// Does all of some work on the store, or nothing of it. It is on the disk afterwards.
    fn change<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Problem>,
    ) -> Result<T, Error> {
        let path = &self.path;
        if self.copy.is_some() {
            return Err(Problem::ReadOnly.of(path));
        }
        // Those who are about to write say so first: who finds out later may find that others were faster.
        let transaction = self
            .database
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let changed = || {
            let transaction = transaction?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        changed().map_err(|problem: Problem| problem.of(path))
    }

    /// Looks at the store as it is at one moment.
    fn look<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Problem>) -> Result<T, Error> {
        let seen = || {
            let moment = self.database.unchecked_transaction()?;
            work(&moment)
        };
        seen().map_err(|problem: Problem| problem.of(&self.path))
    }
}

/// The error that there is no such thing in the store, perhaps because somebody pruned it.
fn missing(what: &str, number: i64) -> Problem {
    let error = Error::new(format!("there is no {what} {number} in the store"));
    error
        .with_help("`testwright campaign list` shows what there is")
        .into()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn test(text: &str) -> KeptTest {
        KeptTest {
            text: text.to_owned(),
            new: 1,
        }
    }

    fn campaign() -> NewCampaign {
        NewCampaign {
            harness: "a.tstl".to_owned(),
            digest: String::new(),
            seed: 7,
            words: Vec::new(),
            version: String::new(),
            python: String::new(),
            jobs: 1,
            started: SystemTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_full_disk_takes_nothing_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        let id = store.begin(&campaign()).unwrap();
        store.keep("a.tstl", id, &[test("kept")]).unwrap();
        let pages = store.size().unwrap() / 4096 + 10;
        let limit = |store: &Store, pages: u64| {
            let statement = format!("PRAGMA max_page_count = {pages}");
            store
                .database
                .query_row(&statement, [], |_| Ok(()))
                .unwrap();
        };
        limit(&store, pages);
        let big = "x".repeat(1 << 20);
        let error = store
            .keep("a.tstl", id, &[test("small"), test(&big)])
            .unwrap_err();
        assert!(
            error.message.ends_with("there is no room for it"),
            "{error}"
        );
        assert_eq!(store.corpus("a.tstl", 9).unwrap(), [test("kept")]);
        // What is small enough still goes in, and with more room all does.
        store.keep("a.tstl", id, &[test("small")]).unwrap();
        limit(&store, 1 << 20);
        store.keep("a.tstl", id, &[test(&big)]).unwrap();
        assert_eq!(store.corpus("a.tstl", 9).unwrap().len(), 3);
    }

    #[test]
    fn a_copy_is_looked_at_and_never_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        let id = store.begin(&campaign()).unwrap();
        // Still beside the store, not in it.
        assert!(open::beside(&path, "-wal").metadata().unwrap().len() > 0);
        let mut copy = open::copy_of(&path).unwrap().map(|(database, copy)| Store {
            database,
            path: path.clone(),
            real: path.clone(),
            claims: Vec::new(),
            copy: Some(copy),
        });
        let copy = copy.as_mut().unwrap();
        assert_eq!(copy.campaign(id).unwrap().state, CampaignState::Running);
        let error = copy.begin(&campaign()).unwrap_err();
        assert!(error.message.ends_with("it can only be read"), "{error}");
    }
}
