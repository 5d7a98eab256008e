//! Failures: how they were found, and what became of them.

use std::borrow::Cow;
use std::time::SystemTime;

use rusqlite::{Connection, named_params, params};
use testwright_core::Error;

use super::fields::{Fields, one, rows, stored_count, stored_time};
use super::problem::Problem;
use super::{
    CampaignId, FailureId, FoundFailure, KnownFailure, Status, StatusChange, Store, missing,
};

/// What a system says about its failure is cut off here, for it may say anything; the failure must not be lost by that.
const LONGEST_WORDS: usize = 1 << 20;

impl Store {
    /// Stores a failure that a campaign has found. If one of this harness is known by the same signature, it came up
    /// again, and has returned if it was fixed.
    pub fn found(
        &mut self,
        campaign: CampaignId,
        harness: &str,
        failure: &FoundFailure,
    ) -> Result<FailureId, Error> {
        self.change(|transaction| {
            let query = "SELECT id, status FROM failure WHERE harness = ?1 AND signature = ?2";
            let signature = cut(&failure.signature);
            let known = one(transaction, "failure", query, [harness, &signature], |row| {
                Ok((FailureId(row.whole("id")?), status(row)?))
            })?;
            if let Some((id, status)) = known {
                if status == Status::Fixed {
                    change_status(transaction, id, Status::Returned, campaign, failure.at)?;
                }
                saw(transaction, id, campaign, 1, failure.at)?;
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
                    ":message": cut(&failure.message),
                    ":signature": signature,
                    ":details": cut(&failure.details),
                    ":full": failure.full,
                    ":history": failure.history,
                },
            )?;
            let id = FailureId(transaction.last_insert_rowid());
            change_status(transaction, id, Status::Open, campaign, failure.at)?;
            saw(transaction, id, campaign, 1, failure.at)?;
            Ok(id)
        })
    }

    /// Stores the reduced test of a failure, in its saved form, and how that one fails.
    pub fn reduced(
        &mut self,
        failure: FailureId,
        text: &str,
        message: &str,
        details: &str,
    ) -> Result<(), Error> {
        self.change(|transaction| {
            let changed = transaction.execute(
                "UPDATE failure SET reduced_test = ?2, message = ?3, details = ?4 WHERE id = ?1",
                params![failure.0, text, cut(message), cut(details)],
            )?;
            match changed {
                0 => Err(missing("failure", failure.0)),
                _ => Ok(()),
            }
        })
    }

    /// A failure came up so many more times in a campaign, for the last time then.
    pub fn again(
        &mut self,
        failure: FailureId,
        campaign: CampaignId,
        times: u64,
        at: SystemTime,
    ) -> Result<(), Error> {
        self.change(|transaction| saw(transaction, failure, campaign, times, at))
    }

    /// Notes what has become of a failure, as a campaign found out. That it is as it was is not noted.
    pub fn set_status(
        &mut self,
        failure: FailureId,
        status: Status,
        campaign: CampaignId,
        at: SystemTime,
    ) -> Result<(), Error> {
        self.change(|transaction| {
            let query = "SELECT status FROM failure WHERE id = ?1";
            let before = one(transaction, "failure", query, [failure.0], self::status)?
                .ok_or_else(|| missing("failure", failure.0))?;
            if before == status {
                Ok(())
            } else {
                change_status(transaction, failure, status, campaign, at)
            }
        })
    }

    /// All failures of a harness, the oldest first.
    pub fn known(&self, harness: &str) -> Result<Vec<KnownFailure>, Error> {
        let query = "SELECT * FROM failure WHERE harness = ?1 ORDER BY id";
        self.look(|database| failures(database, query, [harness]))
    }

    /// The failures that came up in a campaign, the oldest first.
    pub fn failures_of(&self, campaign: CampaignId) -> Result<Vec<KnownFailure>, Error> {
        let query = "SELECT failure.* FROM failure JOIN sighting ON sighting.failure = failure.id
            WHERE sighting.campaign = ?1 ORDER BY failure.id";
        self.look(|database| failures(database, query, [campaign.0]))
    }
}

/// A failure was seen in a campaign.
fn saw(
    database: &Connection,
    failure: FailureId,
    campaign: CampaignId,
    times: u64,
    at: SystemTime,
) -> Result<(), Problem> {
    let times = stored_count(times);
    let exists = |query| database.prepare(query)?.exists([campaign.0]);
    if !exists("SELECT 1 FROM campaign WHERE id = ?1")? {
        return Err(missing("campaign", campaign.0));
    }
    let changed = database.execute(
        "UPDATE failure SET times = min(times + ?2, 9223372036854775807), seen = max(seen, ?3) WHERE id = ?1",
        params![failure.0, times, stored_time(at)],
    )?;
    if changed == 0 {
        return Err(missing("failure", failure.0));
    }
    database.execute(
        "INSERT INTO sighting (campaign, failure, times) VALUES (?1, ?2, ?3)
         ON CONFLICT (campaign, failure) DO UPDATE SET times = min(times + excluded.times, 9223372036854775807)",
        params![campaign.0, failure.0, times],
    )?;
    Ok(())
}

fn change_status(
    database: &Connection,
    failure: FailureId,
    status: Status,
    campaign: CampaignId,
    at: SystemTime,
) -> Result<(), Problem> {
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

fn failures(
    database: &Connection,
    query: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<KnownFailure>, Problem> {
    rows(database, "failure", query, parameters, |row| {
        let id = row.whole("id")?;
        Ok(KnownFailure {
            id: FailureId(id),
            harness: row.text("harness")?,
            found_in: CampaignId(row.whole("found_in")?),
            found: FoundFailure {
                kind: row.text("kind")?,
                message: row.text("message")?,
                signature: row.text("signature")?,
                details: row.text("details")?,
                full: row.text("full_test")?,
                history: row.text_if_any("history")?,
                at: row.time("found")?,
            },
            reduced: row.text_if_any("reduced_test")?,
            status: status(row)?,
            times: row.count("times")?,
            seen: row.time("seen")?,
            changes: changes(database, id)?,
        })
    })
}

fn changes(database: &Connection, failure: i64) -> Result<Vec<StatusChange>, Problem> {
    let query = "SELECT * FROM status_change WHERE failure = ?1 ORDER BY id";
    rows(database, "status_change", query, [failure], |row| {
        Ok(StatusChange {
            status: status(row)?,
            campaign: CampaignId(row.whole("campaign")?),
            at: row.time("changed")?,
        })
    })
}

fn status(row: &Fields<'_>) -> Result<Status, Problem> {
    Status::of_name(&row.text("status")?).ok_or_else(|| row.wrong("status", "no status"))
}

/// A text that is not too long, with a word where it was cut off.
fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_WORDS {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(LONGEST_WORDS);
    Cow::Owned(format!("{} (cut off)", &text[..end]))
}
