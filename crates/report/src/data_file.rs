//! coverage.py's own data file, usually called `.coverage`, for `coverage report`, `coverage html`
//! and `coverage combine`.
//!
//! It contains the executed arcs as the interpreter reported them, each with the tests that reached
//! it as its contexts (`coverage html --show-contexts`). It does not contain the code that could
//! have run; coverage.py computes that from the source. The tables follow its documented schema,
//! version 7. coverage.py 5.5, 7.0, 7.6 and 7.17 read it.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use crate::atomic_write::write_atomically;
use crate::coverage::CoverageReport;
use crate::{Error, Timestamp};

/// Version of the schema, which coverage.py checks first.
const SCHEMA_VERSION: u32 = 7;

const TABLES: &str = "
CREATE TABLE coverage_schema (version integer);
CREATE TABLE meta (key text, value text, unique (key));
CREATE TABLE file (id integer primary key, path text, unique (path));
CREATE TABLE context (id integer primary key, context text, unique (context));
CREATE TABLE line_bits (
    file_id integer,
    context_id integer,
    numbits blob,
    foreign key (file_id) references file (id),
    foreign key (context_id) references context (id),
    unique (file_id, context_id)
);
CREATE TABLE arc (
    file_id integer,
    context_id integer,
    fromno integer,
    tono integer,
    foreign key (file_id) references file (id),
    foreign key (context_id) references context (id),
    unique (file_id, context_id, fromno, tono)
);
CREATE TABLE tracer (
    file_id integer primary key,
    tracer text,
    foreign key (file_id) references file (id)
);
";

/// Writes the data file completely or not at all. An existing file is replaced.
pub fn write(report: &CoverageReport, path: &Path, timestamp: Timestamp) -> Result<(), Error> {
    write_atomically(path, |temporary| fill(report, temporary, timestamp))
}

/// Creates the tables, and inserts the data.
fn fill(report: &CoverageReport, path: &Path, timestamp: Timestamp) -> rusqlite::Result<()> {
    // Without the flag that treats a path like `file:x?mode=memory` as an address.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut database = Connection::open_with_flags(path, flags)?;
    // No other process sees the file before it is complete, so a journal is not needed.
    database.pragma_update(None, "journal_mode", "OFF")?;
    database.pragma_update(None, "synchronous", "OFF")?;
    let transaction = database.transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.execute(
        "INSERT INTO coverage_schema (version) VALUES (?)",
        [SCHEMA_VERSION],
    )?;
    let version = concat!("testwright ", env!("CARGO_PKG_VERSION"));
    let when = timestamp.date_and_time();
    for (key, value) in [("has_arcs", "1"), ("version", version), ("when", &when)] {
        transaction.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?)",
            params![key, value],
        )?;
    }
    // Tests with the same name share a context, and files with the same path an entry.
    let mut contexts: BTreeMap<&str, i64> = BTreeMap::new();
    let mut context_of = |name| {
        let next = contexts.len() as i64 + 1;
        let id = *contexts.entry(name).or_insert(next);
        if id == next {
            transaction.execute(
                "INSERT INTO context (id, context) VALUES (?, ?)",
                params![id, name],
            )?;
        }
        rusqlite::Result::Ok(id)
    };
    let tests: Vec<i64> = (report.tests.iter())
        .map(|name| context_of(name.as_str()))
        .collect::<rusqlite::Result<_>>()?;
    {
        let mut insert_file =
            transaction.prepare("INSERT OR IGNORE INTO file (path) VALUES (?)")?;
        let mut find_file = transaction.prepare("SELECT id FROM file WHERE path = ?")?;
        let mut insert_arc = transaction.prepare(
            "INSERT OR IGNORE INTO arc (file_id, context_id, fromno, tono) VALUES (?, ?, ?, ?)",
        )?;
        for (_, file) in report.sorted_files() {
            let path = file.path.to_string_lossy();
            insert_file.execute([&path])?;
            let file_id: i64 = find_file.query_row([&path], |row| row.get(0))?;
            for (test, arcs) in &file.by_test {
                // An empty name is coverage.py's context for "no test in particular".
                let context = match tests.get(*test) {
                    Some(context) => *context,
                    None => context_of("")?,
                };
                for (from, to) in arcs {
                    insert_arc.execute(params![file_id, context, from, to])?;
                }
            }
        }
    }
    transaction.commit()?;
    database.close().map_err(|(_, error)| error)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::coverage::FileCoverage;
    use crate::toys;

    /// Returns the first column of a query, as text.
    fn read(path: &Path, query: &str) -> Vec<String> {
        let database = Connection::open(path).unwrap();
        let mut statement = database.prepare(query).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn arcs_with_their_tests_as_contexts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".coverage");
        fs::write(&path, "an older file that is no database").unwrap();
        write(&toys::report(), &path, Timestamp(0)).unwrap();
        assert_eq!(
            read(&path, "SELECT key || '=' || value FROM meta ORDER BY key"),
            [
                "has_arcs=1".to_owned(),
                format!("version=testwright {}", env!("CARGO_PKG_VERSION")),
                "when=1970-01-01 00:00:00".to_owned(),
            ]
        );
        let arcs = "SELECT path || ' ' || context || ' ' || fromno || ' ' || tono FROM arc \
            JOIN file ON file_id = file.id JOIN context ON context_id = context.id \
            WHERE path LIKE '%cart.py' AND context LIKE 'total(_None_)' ORDER BY fromno";
        assert_eq!(
            read(&path, arcs),
            ["-4 6", "6 9", "9 11", "11 12", "12 -4"]
                .map(|arc| format!("/project/shop/cart.py total([None]) {arc}"))
        );
        assert_eq!(read(&path, "SELECT path FROM file").len(), 5);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn equal_names_and_unknown_tests_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file:a b?'\".db");
        let mut report = toys::report();
        report.tests = vec!["twice".to_owned(), "twice".to_owned()];
        let twin = FileCoverage {
            by_test: vec![(7, BTreeSet::from([(6, 7)]))],
            ..toys::cart()
        };
        report.files.push(twin);
        write(&report, &path, Timestamp(0)).unwrap();
        let contexts = read(&path, "SELECT context FROM context ORDER BY context");
        assert_eq!(contexts, ["", "twice"]);
        assert_eq!(read(&path, "SELECT path FROM file").len(), 5);
    }

    #[test]
    fn an_error_has_the_path_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join(".coverage");
        let error = write(&toys::report(), &path, Timestamp(0)).unwrap_err();
        assert_eq!(error.path, path);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
