//! Failures in the store: their discovery, recurrences and status.

use std::borrow::Cow;
use std::time::SystemTime;

use rusqlite::{Connection, named_params, params};
use testwright_core::Error;

use super::error::StoreError;
use super::stored_row::{StoredRow, query_one, query_rows, stored_count, stored_time};
use super::{
    CampaignId, FailureId, FailureStatus, NewFailure, StatusChange, Store, StoredFailure,
    missing_row,
};

/// The maximum length of a failure's message, signature and details. The code under test may
/// produce texts of any length, and the failure must still be stored.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

impl Store {
    /// Records a failure that a campaign has found. If the harness already has a failure with this
    /// signature, it counts as a recurrence, and as returned if it was fixed.
    pub fn record_failure(
        &mut self,
        campaign: CampaignId,
        harness: &str,
        failure: &NewFailure,
    ) -> Result<FailureId, Error> {
        self.write(|transaction| {
            let query = "SELECT id, status FROM failure WHERE harness = ?1 AND signature = ?2";
            let signature = truncate(&failure.signature);
            let known = query_one(transaction, "failure", query, [harness, &signature], |row| {
                Ok((FailureId(row.integer("id")?), status(row)?))
            })?;
            if let Some((id, status)) = known {
                if status == FailureStatus::Fixed {
                    change_status(transaction, id, FailureStatus::Returned, campaign, failure.at)?;
                }
                record_sighting(transaction, id, campaign, 1, failure.at)?;
                return Ok(id);
            }
            transaction.execute(
                "INSERT INTO failure (harness, found_in, found, seen, times, status, kind, message, signature,
                     details, full_test, history)
                 VALUES (:harness, :campaign, :at, :at, 0, 'open', :kind, :message, :signature, :details, :full,
                     :history)",
                named_params! {
                    ":harness": harness,
                    ":campaign": campaign.0,
                    ":at": stored_time(failure.at),
                    ":kind": failure.kind,
                    ":message": truncate(&failure.message),
                    ":signature": signature,
                    ":details": truncate(&failure.details),
                    ":full": failure.full,
                    ":history": failure.history,
                },
            )?;
            let id = FailureId(transaction.last_insert_rowid());
            change_status(transaction, id, FailureStatus::Open, campaign, failure.at)?;
            record_sighting(transaction, id, campaign, 1, failure.at)?;
            Ok(id)
        })
    }

    /// Records the reduced test of a failure in its saved form, with the message and details of
    /// that test.
    pub fn record_reduction(
        &mut self,
        failure: FailureId,
        text: &str,
        message: &str,
        details: &str,
    ) -> Result<(), Error> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE failure SET reduced_test = ?2, message = ?3, details = ?4 WHERE id = ?1",
                params![failure.0, text, truncate(message), truncate(details)],
            )?;
            match changed {
                0 => Err(missing_row("failure", failure.0)),
                _ => Ok(()),
            }
        })
    }

    /// Records that a failure occurred `times` more times in a campaign, the last time at `at`.
    pub fn record_recurrence(
        &mut self,
        failure: FailureId,
        campaign: CampaignId,
        times: u64,
        at: SystemTime,
    ) -> Result<(), Error> {
        self.write(|transaction| record_sighting(transaction, failure, campaign, times, at))
    }

    /// Records the status of a failure as a campaign found it. An unchanged status is not recorded.
    pub fn set_status(
        &mut self,
        failure: FailureId,
        status: FailureStatus,
        campaign: CampaignId,
        at: SystemTime,
    ) -> Result<(), Error> {
        self.write(|transaction| {
            let query = "SELECT status FROM failure WHERE id = ?1";
            let before = query_one(transaction, "failure", query, [failure.0], self::status)?
                .ok_or_else(|| missing_row("failure", failure.0))?;
            if before == status {
                Ok(())
            } else {
                change_status(transaction, failure, status, campaign, at)
            }
        })
    }

    /// Records which of two failures is the same bug as the other one, seen in another way: `None` for a
    /// bug of its own.
    pub fn set_bug(&mut self, failure: FailureId, bug: Option<FailureId>) -> Result<(), Error> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM same_bug WHERE failure = ?1", [failure.0])?;
            if let Some(bug) = bug {
                let query = "INSERT INTO same_bug (failure, bug) VALUES (?1, ?2)";
                transaction.execute(query, [failure.0, bug.0])?;
            }
            Ok(())
        })
    }

    /// Returns all failures of a harness, oldest first.
    pub fn failures_of_harness(&self, harness: &str) -> Result<Vec<StoredFailure>, Error> {
        let query = "SELECT * FROM failure WHERE harness = ?1 ORDER BY id";
        self.read(|database| query_failures(database, query, [harness]))
    }

    /// Returns the failures that occurred in a campaign, oldest first.
    pub fn failures_of_campaign(&self, campaign: CampaignId) -> Result<Vec<StoredFailure>, Error> {
        let query = "SELECT failure.* FROM failure JOIN sighting ON sighting.failure = failure.id
            WHERE sighting.campaign = ?1 ORDER BY failure.id";
        self.read(|database| query_failures(database, query, [campaign.0]))
    }
}

/// Adds occurrences of a failure in a campaign.
fn record_sighting(
    database: &Connection,
    failure: FailureId,
    campaign: CampaignId,
    times: u64,
    at: SystemTime,
) -> Result<(), StoreError> {
    let times = stored_count(times);
    let exists = |query| database.prepare(query)?.exists([campaign.0]);
    if !exists("SELECT 1 FROM campaign WHERE id = ?1")? {
        return Err(missing_row("campaign", campaign.0));
    }
    let changed = database.execute(
        "UPDATE failure SET times = min(times + ?2, 9223372036854775807), seen = max(seen, ?3) WHERE id = ?1",
        params![failure.0, times, stored_time(at)],
    )?;
    if changed == 0 {
        return Err(missing_row("failure", failure.0));
    }
    database.execute(
        "INSERT INTO sighting (campaign, failure, times) VALUES (?1, ?2, ?3)
         ON CONFLICT (campaign, failure) DO UPDATE SET times = min(times + excluded.times, 9223372036854775807)",
        params![campaign.0, failure.0, times],
    )?;
    Ok(())
}

/// Sets the status of a failure and adds the change to its history.
fn change_status(
    database: &Connection,
    failure: FailureId,
    status: FailureStatus,
    campaign: CampaignId,
    at: SystemTime,
) -> Result<(), StoreError> {
    database.execute(
        "UPDATE failure SET status = ?2 WHERE id = ?1",
        params![failure.0, status.name()],
    )?;
    database.execute(
        "INSERT INTO status_change (failure, campaign, changed, status) VALUES (?1, ?2, ?3, ?4)",
        params![failure.0, campaign.0, stored_time(at), status.name()],
    )?;
    Ok(())
}

/// Reads failures with their status changes.
fn query_failures(
    database: &Connection,
    query: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<StoredFailure>, StoreError> {
    query_rows(database, "failure", query, parameters, |row| {
        let id = row.integer("id")?;
        Ok(StoredFailure {
            id: FailureId(id),
            harness: row.text("harness")?,
            found_in: CampaignId(row.integer("found_in")?),
            found: NewFailure {
                kind: row.text("kind")?,
                message: row.text("message")?,
                signature: row.text("signature")?,
                details: row.text("details")?,
                full: row.text("full_test")?,
                history: row.optional_text("history")?,
                at: row.time("found")?,
            },
            reduced: row.optional_text("reduced_test")?,
            status: status(row)?,
            times: row.count("times")?,
            last_seen: row.time("seen")?,
            changes: query_changes(database, id)?,
            same_bug_as: query_bug(database, id)?,
        })
    })
}

/// Reads the failure that is the same bug as this one, if there is one.
fn query_bug(database: &Connection, failure: i64) -> Result<Option<FailureId>, StoreError> {
    let query = "SELECT bug FROM same_bug WHERE failure = ?1";
    query_one(database, "same_bug", query, [failure], |row| {
        Ok(FailureId(row.integer("bug")?))
    })
}

/// Reads the status changes of a failure, oldest first.
fn query_changes(database: &Connection, failure: i64) -> Result<Vec<StatusChange>, StoreError> {
    let query = "SELECT * FROM status_change WHERE failure = ?1 ORDER BY id";
    query_rows(database, "status_change", query, [failure], |row| {
        Ok(StatusChange {
            status: status(row)?,
            campaign: CampaignId(row.integer("campaign")?),
            at: row.time("changed")?,
        })
    })
}

/// Reads a status from a row.
fn status(row: &StoredRow<'_>) -> Result<FailureStatus, StoreError> {
    FailureStatus::from_name(&row.text("status")?)
        .ok_or_else(|| row.damaged_column("status", "no status"))
}

/// Truncates a long text and marks the cut.
fn truncate(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_MESSAGE_BYTES {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(MAX_MESSAGE_BYTES);
    Cow::Owned(format!("{} (cut off)", &text[..end]))
}
