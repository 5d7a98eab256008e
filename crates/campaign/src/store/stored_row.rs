//! Typed access to rows of the store. The file may come from an untrusted source, so every
//! unexpected value is an error that names table and column.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

use super::error::StoreError;

/// One row of a query, with the table to name in errors.
pub(super) struct StoredRow<'a> {
    /// The row as SQLite returns it.
    row: &'a Row<'a>,
    /// The table that the columns belong to.
    table: &'static str,
}

/// Runs a query and converts each row.
pub(super) fn query_rows<T>(
    database: &Connection,
    table: &'static str,
    query: &str,
    parameters: impl Params,
    mut convert: impl FnMut(&StoredRow<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = database.prepare(query)?;
    let mut rows = statement.query(parameters)?;
    let mut converted = Vec::new();
    while let Some(row) = rows.next()? {
        converted.push(convert(&StoredRow { row, table })?);
    }
    Ok(converted)
}

/// Runs a query with at most one row and converts it.
pub(super) fn query_one<T>(
    database: &Connection,
    table: &'static str,
    query: &str,
    parameters: impl Params,
    convert: impl FnMut(&StoredRow<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    Ok(query_rows(database, table, query, parameters, convert)?.pop())
}

impl StoredRow<'_> {
    /// Returns the error for a column with an unexpected value.
    pub(super) fn damaged_column(&self, column: &str, problem: &str) -> StoreError {
        StoreError::Damaged(format!("`{}.{column}` has {problem}", self.table))
    }

    /// Returns the error for a column with a value of another type.
    fn wrong_type(&self, column: &str, found: ValueRef<'_>, wanted: &str) -> StoreError {
        let found = match found {
            ValueRef::Null => "nothing",
            ValueRef::Integer(_) => "a whole number",
            ValueRef::Real(_) => "a number with a fraction",
            ValueRef::Text(_) => "a text",
            ValueRef::Blob(_) => "bytes",
        };
        self.damaged_column(column, &format!("{found} where {wanted} belongs"))
    }

    /// Returns a text column.
    pub(super) fn text(&self, column: &str) -> Result<String, StoreError> {
        match self.row.get_ref(column)? {
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => Err(self.damaged_column(column, "a text that is not UTF-8")),
            },
            other => Err(self.wrong_type(column, other, "a text")),
        }
    }

    /// Returns a text column, or `None` if it is null.
    pub(super) fn optional_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// Returns an integer column.
    pub(super) fn integer(&self, column: &str) -> Result<i64, StoreError> {
        match self.row.get_ref(column)? {
            ValueRef::Integer(number) => Ok(number),
            other => Err(self.wrong_type(column, other, "a whole number")),
        }
    }

    /// Returns an integer column that must not be negative.
    pub(super) fn count(&self, column: &str) -> Result<u64, StoreError> {
        u64::try_from(self.integer(column)?)
            .map_err(|_| self.damaged_column(column, "a negative number where a count belongs"))
    }

    /// Returns a number of seconds: finite and not negative.
    pub(super) fn seconds(&self, column: &str) -> Result<f64, StoreError> {
        let number = match self.row.get_ref(column)? {
            ValueRef::Real(number) => number,
            ValueRef::Integer(number) => number as f64,
            other => return Err(self.wrong_type(column, other, "a number")),
        };
        if number.is_finite() && number >= 0.0 {
            Ok(number)
        } else {
            Err(self.damaged_column(column, "no number of seconds"))
        }
    }

    /// Returns a time, stored as milliseconds since 1970.
    pub(super) fn time(&self, column: &str) -> Result<SystemTime, StoreError> {
        let milliseconds = Duration::from_millis(self.count(column)?);
        (UNIX_EPOCH.checked_add(milliseconds))
            .ok_or_else(|| self.damaged_column(column, "a time that is too far away"))
    }

    /// Returns a time, or `None` if the column is null.
    pub(super) fn optional_time(&self, column: &str) -> Result<Option<SystemTime>, StoreError> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            _ => self.time(column).map(Some),
        }
    }
}

/// Converts a time for storage. Times before 1970 become 0; times that are too late become the
/// latest possible one.
pub(super) fn stored_time(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Converts a count for storage. Counts that are too large become the largest possible one.
pub(super) fn stored_count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts seconds for storage, such that [`StoredRow::seconds`] accepts them.
pub(super) fn stored_seconds(seconds: f64) -> f64 {
    if seconds.is_finite() {
        seconds.max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(value: &str, convert: fn(&StoredRow<'_>) -> Result<(), StoreError>) -> String {
        let database = Connection::open_in_memory().unwrap();
        let query = format!("SELECT {value} AS tests");
        match query_one(&database, "campaign", &query, [], convert) {
            Err(StoreError::Damaged(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn wrong_values_of_a_column_are_named() {
        let count: fn(&StoredRow<'_>) -> Result<(), StoreError> =
            |row| row.count("tests").map(drop);
        let text: fn(&StoredRow<'_>) -> Result<(), StoreError> = |row| row.text("tests").map(drop);
        let seconds: fn(&StoredRow<'_>) -> Result<(), StoreError> =
            |row| row.seconds("tests").map(drop);
        for (value, convert, reason) in [
            ("'many'", count, "a text where a whole number belongs"),
            ("NULL", count, "nothing where a whole number belongs"),
            ("-1", count, "a negative number where a count belongs"),
            ("7", text, "a whole number where a text belongs"),
            ("x'00'", text, "bytes where a text belongs"),
            ("CAST(x'ff' AS TEXT)", text, "a text that is not UTF-8"),
            ("1e999", seconds, "no number of seconds"),
            ("-0.5", seconds, "no number of seconds"),
        ] {
            assert_eq!(
                refusal(value, convert),
                format!("`campaign.tests` has {reason}")
            );
        }
    }

    #[test]
    fn no_time_is_too_much() {
        let database = Connection::open_in_memory().unwrap();
        let query = format!("SELECT {} AS noted", i64::MAX);
        // Support for times that far away depends on the operating system; there must be no panic
        // in any case.
        let _ = query_one(&database, "campaign", &query, [], |row| row.time("noted"));
        let before = UNIX_EPOCH.checked_sub(Duration::from_secs(9));
        assert_eq!(before.map(stored_time), Some(0));
    }
}
