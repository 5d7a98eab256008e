//! What can go wrong with a store, in words that lead on.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;
use testwright_core::Error;

/// How many characters of what somebody else wrote are shown.
const SHOWN: usize = 200;

/// What went wrong, before it is known with which file.
#[derive(Debug)]
pub(super) enum Problem {
    /// SQLite says so.
    Database(rusqlite::Error),
    /// The file is something else, for this reason.
    NoStore(String),
    /// The file was written by a later version of Testwright.
    Newer { version: usize },
    /// The file is a store, but this in it is wrong.
    Damaged(String),
    /// Nothing can be written to the file.
    ReadOnly,
    /// There is something wrong around the file.
    World(io::Error),
    /// It can be said without naming the file.
    Other(Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Problem {
        Problem::Database(error)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        Problem::Other(error)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::World(error)
    }
}

impl Problem {
    /// Whether SQLite says that nothing can be written, or that a file it needs beside the store cannot be made.
    pub(super) fn is_read_only(&self) -> bool {
        match self {
            Problem::ReadOnly => true,
            Problem::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
            ),
            _ => false,
        }
    }

    /// The same for a person, who knows the file by its path.
    pub(super) fn of(self, path: &Path) -> Error {
        let name = path.display();
        match self {
            Problem::NoStore(reason) => no_store(path, &reason),
            Problem::Newer { version } => Error::new(format!(
                "the store `{name}` was written by a newer Testwright: it has version {version} of the form, and this \
                 Testwright knows up to version {}",
                super::schema::NEWEST
            ))
            .with_help("update Testwright, or choose another file with `--store FILE`"),
            Problem::Damaged(reason) => damaged(path, &reason),
            Problem::ReadOnly => unwritable(path, "it can only be read"),
            Problem::World(error) => {
                let reason = lower(&error.to_string());
                Error::new(format!("cannot use the store `{name}`: {reason}"))
                    .with_help("see whether you may use its folder, or choose another file with `--store FILE`")
            }
            Problem::Other(error) => error,
            Problem::Database(error) => of_database(path, &error),
        }
    }
}

fn no_store(path: &Path, reason: &str) -> Error {
    Error::new(format!(
        "`{}` is not a store of Testwright: {reason}",
        path.display()
    ))
    .with_help(
        "choose another file with `--store FILE`, or move this one away to begin a new store",
    )
}

fn damaged(path: &Path, reason: &str) -> Error {
    Error::new(format!(
        "the store `{}` is damaged: {reason}",
        path.display()
    ))
    .with_help("bring back a copy of it if you have one, or move it away to begin a new store")
}

fn unwritable(path: &Path, reason: &str) -> Error {
    Error::new(format!("cannot write to the store `{}`: {reason}", path.display())).with_help(
        "see whether you may write to it and to its folder, or choose another file with `--store FILE`",
    )
}

fn of_database(path: &Path, error: &rusqlite::Error) -> Error {
    let name = path.display();
    let reason = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => shown(&lower(message)),
        other => shown(&lower(&other.to_string())),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => no_store(path, "it is no SQLite file"),
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

/// A name in backquotes that a stranger may have chosen.
pub(super) fn named(name: &str) -> String {
    format!("`{}`", shown(&name.replace('`', "'")))
}

/// What a stranger may have written: in one line, not too long, and nothing in it that a terminal obeys.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(SHOWN) {
        match letter {
            _ if letter.is_control() => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// A message that begins small, without the operating system's number.
fn lower(message: &str) -> String {
    let message = message.split(" (os error").next().unwrap_or(message);
    let mut letters = message.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}
