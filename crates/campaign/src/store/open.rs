//! From a path to a store that can be relied on.
//!
//! The file may come from a stranger. It is recognised before anything is written to it, nothing in it is ever run, and
//! SQLite goes over all of it once: after that no page is used twice and every value has the type of its column, so
//! whatever is read later takes no longer than the file is long.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use tempfile::TempDir;
use testwright_core::Error;

use super::problem::Problem;
use super::schema::{NEWEST, advance, recognise};

/// How long to wait for another process that writes. Nobody writes for long.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest text that is written or read: a saved test of a million steps.
pub(super) const LONGEST: i32 = 64 << 20;

/// How much of what was written may wait in the file beside the store when nobody uses it.
const LONGEST_WAITING: i64 = 16 << 20;

/// The folder of a project that the store is usually in.
const FOLDER: &str = ".testwright";

/// Opens a store to write to it. It is made if it is not there, and brought to the newest form.
pub(super) fn to_write(path: &Path) -> Result<Connection, Problem> {
    make_folder(path)?;
    let path = &real(path);
    inspect(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut database = connect(path, flags)?;
    let seen = database.transaction()?;
    let version = recognise(&seen)?;
    drop(seen);
    if database.is_readonly("main")? {
        return Err(Problem::ReadOnly);
    }
    if version > 0 {
        check_all(&database)?;
    }
    write_ahead(&database)?;
    bring_up_to_date(&mut database, version)?;
    Ok(database)
}

/// Opens a store that is there, to look at it; `None` if nothing is in it yet. Where nothing can be written, a copy of
/// it is opened, which goes away with the folder.
pub(super) fn to_look(path: &Path) -> Result<Option<(Connection, Option<TempDir>)>, Problem> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    let path = &real(path);
    match existing(path) {
        Ok(database) => Ok(database.map(|database| (database, None))),
        Err(problem) if problem.is_read_only() => {
            let copy = copy_of(path)?;
            Ok(copy.map(|(database, folder)| (database, Some(folder))))
        }
        Err(problem) => Err(problem),
    }
}

/// A store that can be written to, with something in it.
fn existing(path: &Path) -> Result<Option<Connection>, Problem> {
    inspect(path)?;
    let mut database = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    if database.is_readonly("main")? {
        return Err(Problem::ReadOnly);
    }
    let seen = database.transaction()?;
    let version = recognise(&seen)?;
    drop(seen);
    if version == 0 {
        return Ok(None);
    }
    check_all(&database)?;
    bring_up_to_date(&mut database, version)?;
    Ok(Some(database))
}

/// Makes the folder of a new store, if need be. The usual one is none of the project's files.
fn make_folder(path: &Path) -> Result<(), Problem> {
    let Some(folder) = path.parent().filter(|_| !path.exists()) else {
        return Ok(());
    };
    if folder.exists() && !folder.is_dir() {
        let message = format!("`{}` is a file where a folder belongs", folder.display());
        let help = "move it away, or choose another file with `--store FILE`";
        return Err(Error::new(message).with_help(help).into());
    }
    fs::create_dir_all(folder)?;
    if folder.file_name().is_some_and(|name| name == FOLDER) {
        let ignored = File::create_new(folder.join(".gitignore"));
        match ignored.and_then(|mut file| file.write_all(b"*\n")) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses what SQLite should not even try: a folder, a pipe that would never end.
fn inspect(path: &Path) -> Result<(), Problem> {
    let reason = match fs::metadata(path) {
        Ok(found) if found.is_dir() => "it is a folder",
        Ok(found) if !found.is_file() => "it is no file",
        // SQLite takes that for an empty file.
        Ok(found) if found.len() == 1 => "it is no SQLite file",
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => return Ok(()),
    };
    Err(Problem::NoStore(reason.to_owned()))
}

/// Where a store really is: SQLite looks beside that for the files that belong to it, and two paths to one store must
/// lead to the same ones.
pub(super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

/// The file beside a store with that ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens a file with nothing allowed that the file could ask for.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Problem> {
    // Without the flag that would take a path like `file:x?mode=memory` for an address.
    let database = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
    ] {
        database.set_db_config(setting, value)?;
    }
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    database.pragma_update(None, "cell_size_check", true)?;
    // A file that becomes shorter while it is mapped would end the process.
    database.pragma_update(None, "mmap_size", 0)?;
    // What has been announced survives a power cut too.
    database.pragma_update(None, "synchronous", "FULL")?;
    database.busy_timeout(PATIENCE)?;
    Ok(database)
}

fn check_all(database: &Connection) -> Result<(), Problem> {
    let verdict: String = database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match verdict.as_str() {
        "ok" => Ok(()),
        problem => Err(Problem::Damaged(problem.trim().to_owned())),
    }
}

/// Lets readers and the writer not wait for each other, where the file system can do that. SQLite is as safe where not.
fn write_ahead(database: &Connection) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(20);
    database.pragma_update(None, "journal_size_limit", LONGEST_WAITING)?;
    let mut waited = Duration::ZERO;
    loop {
        let set = database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        match &set {
            // For this SQLite does not wait by itself when two begin a store at once.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && waited < PATIENCE =>
            {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            _ => return set,
        }
    }
}

/// Makes the newest version of a store, one version at a time, each completely or not at all. Another process may be
/// doing the same, so each time it is looked again.
fn bring_up_to_date(database: &mut Connection, seen: usize) -> Result<(), Problem> {
    let mut version = seen;
    while version < NEWEST {
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        version = recognise(&transaction)?;
        advance(&transaction, version)?;
        transaction.commit()?;
        version += 1;
    }
    Ok(())
}

/// Opens a copy of a store, with what waits beside it, in a folder of its own.
pub(super) fn copy_of(path: &Path) -> Result<Option<(Connection, TempDir)>, Problem> {
    inspect(path)?;
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("store.db");
    for ending in ["", "-wal"] {
        // Contents only: the copy can be written to even if the store cannot.
        let copied = File::open(beside(path, ending))
            .and_then(|mut file| io::copy(&mut file, &mut File::create(beside(&copy, ending))?));
        match copied {
            Err(error) if error.kind() == ErrorKind::NotFound && !ending.is_empty() => {}
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
    }
    Ok(existing(&copy)?.map(|database| (database, folder)))
}
