//! Errors of the store, and their messages with help for the user.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;
use testwright_core::Error;

/// The maximum number of characters shown of a text from the file.
const MAX_SHOWN: usize = 200;

/// An error of the store that does not name the file yet.
#[derive(Debug)]
pub(super) enum StoreError {
    /// An error of SQLite.
    Database(rusqlite::Error),
    /// The file is not a store, for this reason.
    NotAStore(String),
    /// The file was written by a later version of Testwright.
    Newer { version: usize },
    /// The file is a store, but this part of it is damaged.
    Damaged(String),
    /// The file is read-only.
    ReadOnly,
    /// An error of the file system.
    Io(io::Error),
    /// A complete error that need not name the file.
    Other(Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Database(error)
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> StoreError {
        StoreError::Other(error)
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> StoreError {
        StoreError::Io(error)
    }
}

impl StoreError {
    /// Returns true if the store cannot be written to, or if a file that SQLite needs beside it
    /// cannot be created.
    pub(super) fn is_read_only(&self) -> bool {
        match self {
            StoreError::ReadOnly => true,
            StoreError::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
            ),
            _ => false,
        }
    }

    /// Converts to an error for the user that names the file.
    pub(super) fn into_error(self, path: &Path) -> Error {
        let name = path.display();
        match self {
            StoreError::NotAStore(reason) => not_a_store(path, &reason),
            StoreError::Newer { version } => Error::new(format!(
                "the store `{name}` was written by a newer Testwright: it has version {version} of the form, and this \
                 Testwright knows up to version {}",
                super::schema::LATEST_VERSION
            ))
            .with_help("update Testwright, or choose another file with `--store FILE`"),
            StoreError::Damaged(reason) => damaged(path, &reason),
            StoreError::ReadOnly => unwritable(path, "it can only be read"),
            StoreError::Io(error) => {
                let reason = lower_first(&error.to_string());
                Error::new(format!("cannot use the store `{name}`: {reason}"))
                    .with_help("see whether you may use its folder, or choose another file with `--store FILE`")
            }
            StoreError::Other(error) => error,
            StoreError::Database(error) => describe_database_error(path, &error),
        }
    }
}

/// Returns the error for a file that is something else.
fn not_a_store(path: &Path, reason: &str) -> Error {
    Error::new(format!(
        "`{}` is not a store of Testwright: {reason}",
        path.display()
    ))
    .with_help(
        "choose another file with `--store FILE`, or move this one away to begin a new store",
    )
}

/// Returns the error for a store with invalid contents.
fn damaged(path: &Path, reason: &str) -> Error {
    Error::new(format!(
        "the store `{}` is damaged: {reason}",
        path.display()
    ))
    .with_help("bring back a copy of it if you have one, or move it away to begin a new store")
}

/// Returns the error for a store that cannot be written to.
fn unwritable(path: &Path, reason: &str) -> Error {
    Error::new(format!("cannot write to the store `{}`: {reason}", path.display())).with_help(
        "see whether you may write to it and to its folder, or choose another file with `--store FILE`",
    )
}

/// Converts an error of SQLite to one with advice.
fn describe_database_error(path: &Path, error: &rusqlite::Error) -> Error {
    let name = path.display();
    let reason = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => sanitize(&lower_first(message)),
        other => sanitize(&lower_first(&other.to_string())),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => not_a_store(path, "it is not an SQLite file"),
        Some(ErrorCode::DatabaseCorrupt) => damaged(path, &reason),
        Some(ErrorCode::TooBig) => damaged(path, "it has a value that is too long for a store"),
        Some(ErrorCode::DiskFull) => Error::new(format!(
            "cannot write to the store `{name}`: there is no room for it"
        ))
        .with_help("make room on the disk; what has been stored before is safe"),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::new(format!(
            "the store `{name}` is in use by another process, and has been for a while"
        ))
        .with_help("wait until that is done, or choose another file with `--store FILE`"),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            unwritable(path, &reason)
        }
        Some(ErrorCode::SystemIoFailure) => Error::new(format!(
            "cannot use the store `{name}`: {reason}"
        ))
        .with_help("see whether there is room on the disk; what has been stored before is safe"),
        _ => Error::new(format!("cannot use the store `{name}`: {reason}")),
    }
}

/// Returns a name from the file in backquotes, made safe to print.
pub(super) fn quote_name(name: &str) -> String {
    format!("`{}`", sanitize(&name.replace('`', "'")))
}

/// Makes a text from the file safe to print: on one line, truncated, control characters escaped.
fn sanitize(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(MAX_SHOWN) {
        match letter {
            _ if letter.is_control() => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns a message with a lower-case first letter and without the operating system's error
/// number.
fn lower_first(message: &str) -> String {
    let message = message.split(" (os error").next().unwrap_or(message);
    let mut letters = message.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}
