//! Lock files that show which campaigns are running.
//!
//! A supervisor may be killed at any moment without writing to the store, so the store alone cannot
//! tell a running campaign from a killed one. A file lock can: the operating system releases it
//! with the process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::open::companion_file;

/// A lock on a campaign that this process is running.
pub(super) struct CampaignLock {
    /// The campaign's number.
    pub(super) campaign: i64,
    /// The lock file.
    path: PathBuf,
    /// The open file; closing it releases the lock.
    _file: File,
}

/// Returns the path of a campaign's lock file, beside the store.
fn lock_path(store: &Path, campaign: i64) -> PathBuf {
    companion_file(store, &format!("-campaign-{campaign}"))
}

impl CampaignLock {
    /// Locks a campaign. Returns `None` if another process is running it.
    pub(super) fn acquire(store: &Path, campaign: i64) -> io::Result<Option<CampaignLock>> {
        let path = lock_path(store, campaign);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            // Some file systems have no locks. There, the campaign does not show as running.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(CampaignLock {
                campaign,
                path,
                _file: file,
            })),
        }
    }

    /// Releases the lock of a finished campaign and removes its file.
    pub(super) fn release(self) {
        // A leftover file without a lock does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns true if a process is running this campaign.
pub(super) fn is_running(store: &Path, campaign: i64) -> bool {
    let path = lock_path(store, campaign);
    // Opening a pipe at this path would block.
    if !path.is_file() {
        return false;
    }
    let Ok(file) = File::open(path) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Removes the lock file of a pruned campaign.
pub(super) fn remove_lock_file(store: &Path, campaign: i64) {
    // Usually the file does not exist.
    let _ = fs::remove_file(lock_path(store, campaign));
}
