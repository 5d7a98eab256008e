//! The database of a project: its campaigns, the failures they found, and the coverage they
//! reached.
//!
//! A [`Store`] is one SQLite file. Only supervisors write to it, never a worker, and several may do
//! so at once. A method that writes returns when everything is on disk; if the process is killed
//! before, nothing is stored. So everything that has been shown to the user is in the store.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use testwright_campaign::store::{CampaignEnding, CampaignProgress, NewCampaign, Store};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join(".testwright/store.db");
//! # let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
//! let mut store = Store::open(&path)?;
//! let campaign = store.begin(&NewCampaign {
//!     harness: "stack.tstl".to_owned(),
//!     digest: "1f0c".to_owned(),
//!     seed: 7,
//!     command_line: vec!["run".to_owned(), "stack.tstl".to_owned()],
//!     version: "0.1.0".to_owned(),
//!     python: "3.12.1".to_owned(),
//!     jobs: 2,
//!     started: now,
//! })?;
//! let progress = CampaignProgress {
//!     at: now + Duration::from_secs(1),
//!     seconds: 1.0,
//!     tests: 40,
//!     steps: 4000,
//!     deadlocks: 0,
//!     covered: 12,
//!     streams: 2,
//! };
//! store.record_progress(campaign, &progress)?;
//! store.finish(campaign, &CampaignEnding::Complete, now + Duration::from_secs(2))?;
//! assert_eq!(store.campaigns()?[0].progress, progress);
//! # Ok::<(), testwright_core::Error>(())
//! ```
//!
//! # What to read next
//!
//! - `schema.rs`: the tables, and the upgrade of stores of earlier versions.
//! - `open.rs`: the checks that make a file from an untrusted source harmless.
//! - `campaign_lock.rs`: the difference between a running campaign and a killed one.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tempfile::TempDir;
use testwright_core::Error;

mod arcs;
mod campaign_lock;
mod campaigns;
mod corpus;
mod error;
mod failures;
mod open;
mod prune;
mod records;
mod schema;
mod stored_row;

pub use records::{
    CampaignEnding, CampaignId, CampaignProgress, CampaignRecord, CampaignState, CorpusTest,
    FailureId, FailureStatus, NewCampaign, NewFailure, PruneOptions, PruneResult, ReachedArc,
    StatusChange, StoredFailure,
};

use campaign_lock::CampaignLock;
use error::StoreError;

/// An open store.
pub struct Store {
    /// The SQLite connection.
    database: Connection,
    /// The path as given, for messages.
    path: PathBuf,
    /// The absolute path without symbolic links, independent of the current folder.
    resolved_path: PathBuf,
    /// Locks on the campaigns that this process is running.
    locks: Vec<CampaignLock>,
    /// The folder of the copy that `database` has open, if the store itself is read-only. It must
    /// be dropped last.
    copy: Option<TempDir>,
}

impl Store {
    /// Opens a store for writing. File and folder are created if they do not exist (an empty file
    /// is an empty store), and a store of an earlier version is upgraded.
    pub fn open(path: &Path) -> Result<Store, Error> {
        let database = open::open_to_write(path).map_err(|error| error.into_error(path))?;
        Ok(Store {
            database,
            path: path.to_owned(),
            resolved_path: open::resolve_path(path),
            locks: Vec::new(),
            copy: None,
        })
    }

    /// Opens an existing store for reading or pruning. Returns `None` if it does not exist or is
    /// empty. A read-only store is copied, and the copy is opened.
    pub fn open_existing(path: &Path) -> Result<Option<Store>, Error> {
        let opened = open::open_to_read(path).map_err(|error| error.into_error(path))?;
        Ok(opened.map(|(database, copy)| Store {
            database,
            path: path.to_owned(),
            resolved_path: open::resolve_path(path),
            locks: Vec::new(),
            copy,
        }))
    }

    /// Runs `work` in a write transaction: everything is stored on disk, or nothing.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Error> {
        let path = &self.path;
        if self.copy.is_some() {
            return Err(StoreError::ReadOnly.into_error(path));
        }
        // Takes the write lock first: a transaction that starts with reading can fail later because
        // another process has written meanwhile.
        let transaction = self
            .database
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let run = || {
            let transaction = transaction?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|error: StoreError| error.into_error(path))
    }

    /// Runs `work` on a consistent view of the store.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, Error> {
        let run = || {
            let transaction = self.database.unchecked_transaction()?;
            work(&transaction)
        };
        run().map_err(|error: StoreError| error.into_error(&self.path))
    }
}

/// Returns the error for an id that is not in the store, for example because it was pruned.
fn missing_row(kind: &str, number: i64) -> StoreError {
    let error = Error::new(format!("there is no {kind} {number} in the store"));
    error
        .with_help("`testwright campaign list` shows what there is")
        .into()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn test(text: &str) -> CorpusTest {
        CorpusTest {
            text: text.to_owned(),
            new: 1,
        }
    }

    fn campaign() -> NewCampaign {
        NewCampaign {
            harness: "a.tstl".to_owned(),
            digest: String::new(),
            seed: 7,
            command_line: Vec::new(),
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
        store.keep_tests("a.tstl", id, &[test("kept")]).unwrap();
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
            .keep_tests("a.tstl", id, &[test("small"), test(&big)])
            .unwrap_err();
        assert!(
            error.message.ends_with("there is no room for it"),
            "{error}"
        );
        assert_eq!(store.corpus("a.tstl", 9).unwrap(), [test("kept")]);
        // What is small enough still goes in, and with more room all does.
        store.keep_tests("a.tstl", id, &[test("small")]).unwrap();
        limit(&store, 1 << 20);
        store.keep_tests("a.tstl", id, &[test(&big)]).unwrap();
        assert_eq!(store.corpus("a.tstl", 9).unwrap().len(), 3);
    }

    #[test]
    fn a_copy_is_looked_at_and_never_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        let id = store.begin(&campaign()).unwrap();
        // Still beside the store, not in it.
        assert!(
            open::companion_file(&path, "-wal")
                .metadata()
                .unwrap()
                .len()
                > 0
        );
        let mut copy = open::open_copy(&path)
            .unwrap()
            .map(|(database, copy)| Store {
                database,
                path: path.clone(),
                resolved_path: path.clone(),
                locks: Vec::new(),
                copy: Some(copy),
            });
        let copy = copy.as_mut().unwrap();
        assert_eq!(copy.campaign(id).unwrap().state, CampaignState::Running);
        let error = copy.begin(&campaign()).unwrap_err();
        assert!(error.message.ends_with("it can only be read"), "{error}");
    }
}
