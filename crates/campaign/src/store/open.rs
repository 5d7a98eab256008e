//! Opening a store safely.
//!
//! The file may come from an untrusted source. Its schema is verified before anything is written to
//! it, no code in it is ever run, and SQLite checks all of it once. After that no page is used
//! twice and every value has the type of its column, so no later query takes longer than the file
//! is long.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use tempfile::TempDir;
use testwright_core::Error;

use super::error::StoreError;
use super::schema::{LATEST_VERSION, detect_version, migrate_once};

/// The time to wait for another process that writes. Writes are short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum length of a value: a saved test of a million steps.
pub(super) const MAX_TEXT: i32 = 64 << 20;

/// The maximum size of the write-ahead log while the store is not in use.
const MAX_WAITING: i64 = 16 << 20;

/// The usual folder of a project's store.
const FOLDER: &str = ".testwright";

/// Opens a store for writing. Creates it if it does not exist, and upgrades it to the latest
/// version.
pub(super) fn open_to_write(path: &Path) -> Result<Connection, StoreError> {
    make_folder(path)?;
    let path = &resolve_path(path);
    check_file_type(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut database = connect(path, flags)?;
    let seen = database.transaction()?;
    let version = detect_version(&seen)?;
    drop(seen);
    if database.is_readonly("main")? {
        return Err(StoreError::ReadOnly);
    }
    if version > 0 {
        check_integrity(&database)?;
    }
    enable_write_ahead_log(&database)?;
    upgrade(&mut database, version)?;
    Ok(database)
}

/// Opens an existing store for reading. Returns `None` if it is missing or empty. If the store
/// cannot be written to, a copy is opened, which is deleted with its folder.
pub(super) fn open_to_read(
    path: &Path,
) -> Result<Option<(Connection, Option<TempDir>)>, StoreError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    let path = &resolve_path(path);
    match open_existing(path) {
        Ok(database) => Ok(database.map(|database| (database, None))),
        Err(error) if error.is_read_only() => {
            let copy = open_copy(path)?;
            Ok(copy.map(|(database, folder)| (database, Some(folder))))
        }
        Err(error) => Err(error),
    }
}

/// Opens a store that can be written to. Returns `None` if it is empty.
fn open_existing(path: &Path) -> Result<Option<Connection>, StoreError> {
    check_file_type(path)?;
    let mut database = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    if database.is_readonly("main")? {
        return Err(StoreError::ReadOnly);
    }
    let seen = database.transaction()?;
    let version = detect_version(&seen)?;
    drop(seen);
    if version == 0 {
        return Ok(None);
    }
    check_integrity(&database)?;
    upgrade(&mut database, version)?;
    Ok(Some(database))
}

/// Creates the folder of a new store if it does not exist. The usual folder gets a `.gitignore`, so
/// that the store is not committed.
fn make_folder(path: &Path) -> Result<(), StoreError> {
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

/// Rejects paths that SQLite should not even try: folders, or pipes that would block.
fn check_file_type(path: &Path) -> Result<(), StoreError> {
    let reason = match fs::metadata(path) {
        Ok(found) if found.is_dir() => "it is a folder",
        Ok(found) if !found.is_file() => "it is no file",
        // SQLite takes a file of one byte for an empty one.
        Ok(found) if found.len() == 1 => "it is not an SQLite file",
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => return Ok(()),
    };
    Err(StoreError::NotAStore(reason.to_owned()))
}

/// Returns the absolute path of a store without symbolic links. SQLite and the campaign locks keep
/// files beside the store, and two paths to one store must lead to the same files.
pub(super) fn resolve_path(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

/// Returns the path of a store with a suffix: a file that belongs to it.
pub(super) fn companion_file(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Opens a database with all features off that its contents could abuse.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    // Without SQLITE_OPEN_URI, a path like `file:x?mode=memory` is just a path.
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
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_TEXT)?;
    database.pragma_update(None, "cell_size_check", true)?;
    // A mapped file that another process makes shorter would end this process.
    database.pragma_update(None, "mmap_size", 0)?;
    // Results that have been shown survive a power cut, too.
    database.pragma_update(None, "synchronous", "FULL")?;
    database.busy_timeout(BUSY_TIMEOUT)?;
    Ok(database)
}

/// Lets SQLite check the structure and the types of the whole file.
fn check_integrity(database: &Connection) -> Result<(), StoreError> {
    let verdict: String = database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match verdict.as_str() {
        "ok" => Ok(()),
        error => Err(StoreError::Damaged(error.trim().to_owned())),
    }
}

/// Turns on the write-ahead log, so that readers and writer do not wait for each other. File
/// systems without it keep the default journal, which is just as safe.
fn enable_write_ahead_log(database: &Connection) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(20);
    database.pragma_update(None, "journal_size_limit", MAX_WAITING)?;
    let mut waited = Duration::ZERO;
    loop {
        let set = database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        match &set {
            // For this statement SQLite does not wait by itself when two processes create a store
            // at once.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && waited < BUSY_TIMEOUT =>
            {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            _ => return set,
        }
    }
}

/// Upgrades a store to the latest version, one version at a time, each in one transaction. Another
/// process may do the same, so the version is read again each time.
fn upgrade(database: &mut Connection, seen: usize) -> Result<(), StoreError> {
    let mut version = seen;
    while version < LATEST_VERSION {
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        version = detect_version(&transaction)?;
        migrate_once(&transaction, version)?;
        transaction.commit()?;
        version += 1;
    }
    Ok(())
}

/// Opens a copy of a store and its write-ahead log in a temporary folder.
pub(super) fn open_copy(path: &Path) -> Result<Option<(Connection, TempDir)>, StoreError> {
    check_file_type(path)?;
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("store.db");
    for ending in ["", "-wal"] {
        // Copies only contents: the copy can be written to even if the store cannot.
        let copied = File::open(companion_file(path, ending)).and_then(|mut file| {
            io::copy(&mut file, &mut File::create(companion_file(&copy, ending))?)
        });
        match copied {
            Err(error) if error.kind() == ErrorKind::NotFound && !ending.is_empty() => {}
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
    }
    Ok(open_existing(&copy)?.map(|database| (database, folder)))
}
