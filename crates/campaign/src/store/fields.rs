//! Reading rows that anybody may have written: whatever is in them, the answer is a value or an error that names the
//! place.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};

use super::problem::Problem;

/// One row of a query, and the table that its columns are said to be of.
pub(super) struct Fields<'a> {
    row: &'a Row<'a>,
    table: &'static str,
}

/// The rows of a query, each made into something.
pub(super) fn rows<T>(
    database: &Connection,
    table: &'static str,
    query: &str,
    parameters: impl Params,
    mut make: impl FnMut(&Fields<'_>) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let mut statement = database.prepare(query)?;
    let mut rows = statement.query(parameters)?;
    let mut made = Vec::new();
    while let Some(row) = rows.next()? {
        made.push(make(&Fields { row, table })?);
    }
    Ok(made)
}

/// The only row of a query, if there is one.
pub(super) fn one<T>(
    database: &Connection,
    table: &'static str,
    query: &str,
    parameters: impl Params,
    make: impl FnMut(&Fields<'_>) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    Ok(rows(database, table, query, parameters, make)?.pop())
}

impl Fields<'_> {
    /// The error that a column has something else in it.
    pub(super) fn wrong(&self, column: &str, what: &str) -> Problem {
        Problem::Damaged(format!("`{}.{column}` has {what}", self.table))
    }

    fn expected(&self, column: &str, found: ValueRef<'_>, wanted: &str) -> Problem {
        let found = match found {
            ValueRef::Null => "nothing",
            ValueRef::Integer(_) => "a whole number",
            ValueRef::Real(_) => "a number with a fraction",
            ValueRef::Text(_) => "a text",
            ValueRef::Blob(_) => "bytes",
        };
        self.wrong(column, &format!("{found} where {wanted} belongs"))
    }

    pub(super) fn text(&self, column: &str) -> Result<String, Problem> {
        match self.row.get_ref(column)? {
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => Err(self.wrong(column, "a text that is not UTF-8")),
            },
            other => Err(self.expected(column, other, "a text")),
        }
    }

    pub(super) fn text_if_any(&self, column: &str) -> Result<Option<String>, Problem> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    pub(super) fn whole(&self, column: &str) -> Result<i64, Problem> {
        match self.row.get_ref(column)? {
            ValueRef::Integer(number) => Ok(number),
            other => Err(self.expected(column, other, "a whole number")),
        }
    }

    pub(super) fn count(&self, column: &str) -> Result<u64, Problem> {
        u64::try_from(self.whole(column)?)
            .map_err(|_| self.wrong(column, "a negative number where a count belongs"))
    }

    pub(super) fn seconds(&self, column: &str) -> Result<f64, Problem> {
        let number = match self.row.get_ref(column)? {
            ValueRef::Real(number) => number,
            ValueRef::Integer(number) => number as f64,
            other => return Err(self.expected(column, other, "a number")),
        };
        if number.is_finite() && number >= 0.0 {
            Ok(number)
        } else {
            Err(self.wrong(column, "no number of seconds"))
        }
    }

    pub(super) fn time(&self, column: &str) -> Result<SystemTime, Problem> {
        let milliseconds = Duration::from_millis(self.count(column)?);
        (UNIX_EPOCH.checked_add(milliseconds))
            .ok_or_else(|| self.wrong(column, "a time that is too far away"))
    }

    pub(super) fn time_if_any(&self, column: &str) -> Result<Option<SystemTime>, Problem> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            _ => self.time(column).map(Some),
        }
    }
}

/// A time as it is stored. What is before 1970 or after all that can be stored is as close to it as can be.
pub(super) fn stored_time(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A count as it is stored.
pub(super) fn stored_count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A number of seconds as it is stored and read again.
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

    fn refusal(value: &str, make: fn(&Fields<'_>) -> Result<(), Problem>) -> String {
        let database = Connection::open_in_memory().unwrap();
        let query = format!("SELECT {value} AS tests");
        match one(&database, "campaign", &query, [], make) {
            Err(Problem::Damaged(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_does_not_belong_into_a_column_is_named() {
        let count: fn(&Fields<'_>) -> Result<(), Problem> = |row| row.count("tests").map(drop);
        let text: fn(&Fields<'_>) -> Result<(), Problem> = |row| row.text("tests").map(drop);
        let seconds: fn(&Fields<'_>) -> Result<(), Problem> = |row| row.seconds("tests").map(drop);
        for (value, make, reason) in [
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
                refusal(value, make),
                format!("`campaign.tests` has {reason}")
            );
        }
    }

    #[test]
    fn no_time_is_too_much() {
        let database = Connection::open_in_memory().unwrap();
        let query = format!("SELECT {} AS noted", i64::MAX);
        // Whether that far can be counted depends on the operating system; it is an answer in any case.
        let _ = one(&database, "campaign", &query, [], |row| row.time("noted"));
        let before = UNIX_EPOCH.checked_sub(Duration::from_secs(9));
        assert_eq!(before.map(stored_time), Some(0));
    }
}
