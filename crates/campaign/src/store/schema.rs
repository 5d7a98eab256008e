//! The schema of a store, version by version.
//!
//! A released version is never edited. Stores of that version are recognized by comparing their
//! tables with those that its statements create, and are upgraded by the statements after it.

use rusqlite::{Connection, Transaction};

use super::error::{StoreError, quote_name};

/// The application id that marks an SQLite file as a store of Testwright: `TWst`.
const APPLICATION: i32 = 0x5457_7374;

/// The statements that upgrade each version to the next; the first turns an empty file into version
/// 1.
const MIGRATIONS: [&str; 3] = [VERSION_1, VERSION_2, VERSION_3];

/// The version that this Testwright writes.
pub(super) const LATEST_VERSION: usize = MIGRATIONS.len();

/// The tables of version 1.
///
/// Times are milliseconds since 1970. The seed is a text because SQLite's integers end at 2^63. Ids
/// of campaigns and failures are never reused after pruning. A failure outlives the campaign that
/// found it, so `found_in` is not a reference. The table `standing` holds progress curves, and
/// `place` holds reached arcs.
const VERSION_1: &str = "
CREATE TABLE campaign (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    harness TEXT NOT NULL,
    digest TEXT NOT NULL,
    seed TEXT NOT NULL,
    words TEXT NOT NULL,
    version TEXT NOT NULL,
    python TEXT NOT NULL,
    jobs INTEGER NOT NULL,
    started INTEGER NOT NULL,
    resumed INTEGER NOT NULL DEFAULT 0,
    ending TEXT,
    trouble TEXT,
    ended INTEGER,
    noted INTEGER NOT NULL,
    seconds REAL NOT NULL DEFAULT 0,
    tests INTEGER NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0,
    deadlocks INTEGER NOT NULL DEFAULT 0,
    covered INTEGER NOT NULL DEFAULT 0,
    streams INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE standing (
    campaign INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    noted INTEGER NOT NULL,
    seconds REAL NOT NULL,
    tests INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    deadlocks INTEGER NOT NULL,
    covered INTEGER NOT NULL,
    streams INTEGER NOT NULL,
    PRIMARY KEY (campaign, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE shared_text (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE place (
    campaign INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
    file INTEGER NOT NULL REFERENCES shared_text (id),
    from_line INTEGER NOT NULL,
    to_line INTEGER NOT NULL,
    test INTEGER NOT NULL REFERENCES shared_text (id),
    PRIMARY KEY (campaign, file, from_line, to_line)
) STRICT, WITHOUT ROWID;
CREATE TABLE kept_test (
    id INTEGER PRIMARY KEY,
    harness TEXT NOT NULL,
    kept_in INTEGER NOT NULL,
    text TEXT NOT NULL,
    new INTEGER NOT NULL,
    UNIQUE (harness, text)
) STRICT;
CREATE TABLE failure (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    harness TEXT NOT NULL,
    found_in INTEGER NOT NULL,
    found INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    times INTEGER NOT NULL,
    status TEXT NOT NULL,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    signature TEXT NOT NULL,
    details TEXT NOT NULL,
    full_test TEXT NOT NULL,
    reduced_test TEXT,
    history TEXT
) STRICT;
CREATE TABLE sighting (
    campaign INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
    failure INTEGER NOT NULL REFERENCES failure (id) ON DELETE CASCADE,
    times INTEGER NOT NULL,
    PRIMARY KEY (campaign, failure)
) STRICT, WITHOUT ROWID;
";

/// The history of each failure's status. For failures of version 1 only the latest status is known.
const VERSION_2: &str = "
CREATE TABLE status_change (
    id INTEGER PRIMARY KEY,
    failure INTEGER NOT NULL REFERENCES failure (id) ON DELETE CASCADE,
    campaign INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    status TEXT NOT NULL
) STRICT;
INSERT INTO status_change (failure, campaign, changed, status)
    SELECT id, found_in, found, 'open' FROM failure;
INSERT INTO status_change (failure, campaign, changed, status)
    SELECT id, found_in, seen, status FROM failure WHERE status <> 'open';
";

/// The failures that are the same bug as another one, seen in another way.
const VERSION_3: &str = "
CREATE TABLE same_bug (
    failure INTEGER PRIMARY KEY REFERENCES failure (id) ON DELETE CASCADE,
    bug INTEGER NOT NULL REFERENCES failure (id) ON DELETE CASCADE
) STRICT;
";

/// Upgrades a store by one version, without the commit.
pub(super) fn migrate_once(transaction: &Transaction<'_>, version: usize) -> rusqlite::Result<()> {
    let Some(step) = MIGRATIONS.get(version) else {
        return Ok(());
    };
    transaction.execute_batch(step)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", version as i64 + 1)
}

/// Returns the version of a store: 0 for an empty file. Returns an error if the file is not a store
/// or contains anything that Testwright does not create.
///
/// Must be called in a transaction, so that it sees a consistent state.
pub(super) fn detect_version(database: &Connection) -> Result<usize, StoreError> {
    let number = |name| database.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let parts = query_parts(database)?;
    if (application, version) == (0, 0) && parts.is_empty() {
        return Ok(0);
    }
    if application != APPLICATION {
        return Err(StoreError::NotAStore("it has other data in it".to_owned()));
    }
    let version = usize::try_from(version).unwrap_or(0);
    if version > LATEST_VERSION {
        return Err(StoreError::Newer { version });
    }
    let expected = expected_parts(version)?;
    let is_among = |part: &&SchemaPart, all: &[SchemaPart]| all.contains(part);
    if let Some(unexpected) = parts.iter().find(|part| !is_among(part, &expected)) {
        let difference = if expected.iter().any(|part| part.name == unexpected.name) {
            "differs from what Testwright makes"
        } else {
            "is not one that Testwright makes"
        };
        let kind = match unexpected.kind.as_str() {
            "table" | "index" | "trigger" | "view" => unexpected.kind.as_str(),
            _ => "part",
        };
        let name = quote_name(&unexpected.name);
        return Err(StoreError::NotAStore(format!(
            "its {kind} {name} {difference}"
        )));
    }
    match expected.iter().find(|part| !is_among(part, &parts)) {
        Some(missing) => Err(StoreError::NotAStore(format!(
            "it has no {} `{}`",
            missing.kind, missing.name
        ))),
        None => Ok(version),
    }
}

/// A table, an index or any other object in a database's schema.
#[derive(PartialEq, Eq)]
struct SchemaPart {
    /// Its type: `table`, `index`, `trigger` or `view`.
    kind: String,
    name: String,
    /// The table it belongs to.
    table: String,
    /// The SQL statement that created it, if any.
    statement: Option<String>,
}

/// Returns the objects in a database's schema. The limit is larger than any store needs, and enough
/// to detect objects that do not belong.
fn query_parts(database: &Connection) -> rusqlite::Result<Vec<SchemaPart>> {
    let mut all =
        database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100")?;
    let part = |row: &rusqlite::Row<'_>| {
        Ok(SchemaPart {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            statement: row.get(3)?,
        })
    };
    all.query_map([], part)?.collect()
}

/// Returns the schema of a store of this version, by creating one in memory.
fn expected_parts(version: usize) -> rusqlite::Result<Vec<SchemaPart>> {
    let mut model = Connection::open_in_memory()?;
    for earlier in 0..version {
        let transaction = model.transaction()?;
        migrate_once(&transaction, earlier)?;
        transaction.commit()?;
    }
    query_parts(&model)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a store of an earlier version after running some statements on it.
    fn store_of_version(version: usize, statements: &str) -> Connection {
        let mut database = Connection::open_in_memory().unwrap();
        for earlier in 0..version {
            let transaction = database.transaction().unwrap();
            migrate_once(&transaction, earlier).unwrap();
            transaction.commit().unwrap();
        }
        database.execute_batch(statements).unwrap();
        database
    }

    fn refusal(statements: &str) -> String {
        match detect_version(&store_of_version(LATEST_VERSION, statements)) {
            Err(StoreError::NotAStore(reason)) => reason,
            Err(StoreError::Newer { version }) => format!("newer: {version}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_version_is_recognised() {
        for version in 0..=LATEST_VERSION {
            let store = store_of_version(version, "");
            assert_eq!(detect_version(&store).unwrap(), version);
        }
    }

    #[test]
    fn foreign_tables_triggers_and_views_are_named() {
        assert_eq!(
            refusal("CREATE TABLE other (id)"),
            "its table `other` is not one that Testwright makes"
        );
        assert_eq!(
            refusal("CREATE TRIGGER t AFTER INSERT ON failure BEGIN DELETE FROM failure; END"),
            "its trigger `t` is not one that Testwright makes"
        );
        assert_eq!(
            refusal("CREATE VIEW \"a\u{1b}[2J`b\" AS SELECT 1"),
            "its view `a\\u{1b}[2J'b` is not one that Testwright makes"
        );
        assert_eq!(
            refusal("ALTER TABLE failure ADD COLUMN more TEXT"),
            "its table `failure` differs from what Testwright makes"
        );
        assert_eq!(
            refusal("DROP TABLE status_change"),
            "it has no table `status_change`"
        );
        assert_eq!(refusal("PRAGMA user_version = 4"), "newer: 4");
        assert_eq!(
            refusal("PRAGMA user_version = -1"),
            "its table `campaign` is not one that Testwright makes"
        );
        assert_eq!(
            refusal("PRAGMA application_id = 7"),
            "it has other data in it"
        );
    }

    #[test]
    fn failures_of_version_1_get_the_history_that_is_known() {
        let mut store = store_of_version(
            1,
            "INSERT INTO failure (harness, found_in, found, seen, times, status, kind, message, signature,
                details, full_test) VALUES
                ('a.tstl', 3, 1000, 2000, 1, 'open', 'crash', '', 's', '', ''),
                ('a.tstl', 4, 3000, 4000, 1, 'fixed', 'crash', '', 't', '', '')",
        );
        let transaction = store.transaction().unwrap();
        migrate_once(&transaction, 1).unwrap();
        transaction.commit().unwrap();
        assert_eq!(detect_version(&store).unwrap(), 2);
        let mut changes = store
            .prepare("SELECT failure || ' ' || campaign || ' ' || changed || ' ' || status FROM status_change")
            .unwrap();
        let changes: Vec<String> = changes
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(
            changes,
            ["1 3 1000 open", "2 4 3000 open", "2 4 4000 fixed"]
        );
    }
}
