//! Which campaigns are running.
//!
//! A supervisor may be killed at any moment and then writes nothing any more, so the store alone cannot tell a campaign
//! that is running from one that broke off. A lock on a file can: the operating system takes it away with the process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::open::beside;

/// A campaign that this process is running.
pub(super) struct Claim {
    pub(super) campaign: i64,
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

fn path(store: &Path, campaign: i64) -> PathBuf {
    beside(store, &format!("-campaign-{campaign}"))
}

impl Claim {
    /// Claims a campaign; `None` if another process is running it.
    pub(super) fn take(store: &Path, campaign: i64) -> io::Result<Option<Claim>> {
        let path = path(store, campaign);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            // Some file systems know no locks. There, nobody is told that the campaign is running.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(Claim {
                campaign,
                path,
                _file: file,
            })),
        }
    }

    /// Gives up the campaign, which has come to its end.
    pub(super) fn release(self) {
        // A file that is left there claims nothing.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a process is running this campaign.
pub(super) fn is_running(store: &Path, campaign: i64) -> bool {
    let path = path(store, campaign);
    // A pipe in its place would keep whoever opens it waiting.
    if !path.is_file() {
        return false;
    }
    let Ok(file) = File::open(path) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Tidies up after a campaign that is no more.
pub(super) fn forget(store: &Path, campaign: i64) {
    // Mostly there is no such file.
    let _ = fs::remove_file(path(store, campaign));
}
