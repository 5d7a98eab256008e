//! Campaigns in the store: their start, progress and end.

use rusqlite::{Connection, named_params, params};
use testwright_core::Error;

use super::campaign_lock::{CampaignLock, is_running};
use super::error::StoreError;
use super::stored_row::{
    StoredRow, query_one, query_rows, stored_count, stored_seconds, stored_time,
};
use super::{
    CampaignEnding, CampaignId, CampaignProgress, CampaignRecord, CampaignState, NewCampaign,
    Store, missing_row,
};

/// The maximum number of points in a progress curve. Beyond it, every second one is deleted.
const MAX_CURVE_POINTS: i64 = 600;

/// The minimum distance between points, as a part of the time so far.
const MIN_SPACING: f64 = 1.0 / 300.0;

/// Selects campaigns with the number of failures seen in each.
const SELECT_RECORD: &str = "SELECT *,
    (SELECT count(DISTINCT coalesce(same_bug.bug, sighting.failure)) FROM sighting
        LEFT JOIN same_bug ON same_bug.failure = sighting.failure
        WHERE sighting.campaign = campaign.id) AS failures FROM campaign";

impl Store {
    /// Begins a campaign. It counts as running until [`finish`](Store::finish), or until this store
    /// is dropped or its process ends.
    pub fn begin(&mut self, campaign: &NewCampaign) -> Result<CampaignId, Error> {
        let store = self.resolved_path.clone();
        let lock = self.write(|transaction| {
            let words = serde_json::to_string(&campaign.command_line)
                .map_err(|error| Error::new(error.to_string()))?;
            transaction.execute(
                "INSERT INTO campaign (harness, digest, seed, words, version, python, jobs, started, noted)
                 VALUES (:harness, :digest, :seed, :words, :version, :python, :jobs, :started, :started)",
                named_params! {
                    ":harness": campaign.harness,
                    ":digest": campaign.digest,
                    ":seed": campaign.seed.to_string(),
                    ":words": words,
                    ":version": campaign.version,
                    ":python": campaign.python,
                    ":jobs": campaign.jobs,
                    ":started": stored_time(campaign.started),
                },
            )?;
            // Locked before other processes can see it, so that none takes it for a killed
            // campaign.
            lock_campaign(&store, transaction.last_insert_rowid())
        })?;
        let id = CampaignId(lock.campaign);
        self.locks.push(lock);
        Ok(id)
    }

    /// Returns the latest unfinished campaign of a harness: one that was killed, interrupted or
    /// failed. Running campaigns are skipped.
    pub fn unfinished(&self, harness: &str) -> Result<Option<CampaignRecord>, Error> {
        let query = format!(
            "{SELECT_RECORD} WHERE harness = ?1 AND (ending IS NULL OR ending <> 'complete') ORDER BY id DESC"
        );
        let records = self.read(|database| self.read_records(database, &query, [harness]))?;
        let is_running = |record: &CampaignRecord| record.state == CampaignState::Running;
        Ok(records.into_iter().find(|record| !is_running(record)))
    }

    /// Resumes an unfinished campaign. It counts as running from now on.
    pub fn resume(&mut self, campaign: CampaignId) -> Result<(), Error> {
        let store = self.resolved_path.clone();
        let lock = self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE campaign SET ending = NULL, trouble = NULL, ended = NULL, resumed = resumed + 1 WHERE id = ?1",
                [campaign.0],
            )?;
            if changed == 0 {
                return Err(missing_row("campaign", campaign.0));
            }
            lock_campaign(&store, campaign.0)
        })?;
        self.locks.push(lock);
        Ok(())
    }

    /// Records the progress of a campaign. The latest progress is always stored; of earlier points,
    /// enough are kept to draw the growth of coverage.
    pub fn record_progress(
        &mut self,
        campaign: CampaignId,
        progress: &CampaignProgress,
    ) -> Result<(), Error> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE campaign SET noted = :noted, seconds = :seconds, tests = :tests, steps = :steps,
                     deadlocks = :deadlocks, covered = :covered, streams = :streams
                 WHERE id = :campaign",
                named_params! {
                    ":campaign": campaign.0,
                    ":noted": stored_time(progress.at),
                    ":seconds": stored_seconds(progress.seconds),
                    ":tests": stored_count(progress.tests),
                    ":steps": stored_count(progress.steps),
                    ":deadlocks": stored_count(progress.deadlocks),
                    ":covered": stored_count(progress.covered),
                    ":streams": stored_count(progress.streams),
                },
            )?;
            if changed == 0 {
                return Err(missing_row("campaign", campaign.0));
            }
            add_to_curve(transaction, campaign, progress.seconds)?;
            Ok(())
        })
    }

    /// Records the end of a campaign and releases its lock.
    pub fn finish(
        &mut self,
        campaign: CampaignId,
        ending: &CampaignEnding,
        at: std::time::SystemTime,
    ) -> Result<(), Error> {
        let reason = match ending {
            CampaignEnding::Failed(reason) => Some(reason),
            CampaignEnding::Complete | CampaignEnding::Interrupted => None,
        };
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE campaign SET ending = ?2, trouble = ?3, ended = ?4 WHERE id = ?1",
                params![campaign.0, ending.name(), reason, stored_time(at)],
            )?;
            match changed {
                0 => Err(missing_row("campaign", campaign.0)),
                _ => Ok(()),
            }
        })?;
        let position = (self.locks.iter()).position(|lock| lock.campaign == campaign.0);
        if let Some(position) = position {
            self.locks.swap_remove(position).release();
        }
        Ok(())
    }

    /// Returns all campaigns, oldest first.
    pub fn campaigns(&self) -> Result<Vec<CampaignRecord>, Error> {
        let query = format!("{SELECT_RECORD} ORDER BY id");
        self.read(|database| self.read_records(database, &query, []))
    }

    /// Returns one campaign, or an error if it does not exist.
    pub fn campaign(&self, campaign: CampaignId) -> Result<CampaignRecord, Error> {
        let query = format!("{SELECT_RECORD} WHERE id = ?1");
        self.read(|database| {
            let found = self.read_records(database, &query, [campaign.0])?.pop();
            found.ok_or_else(|| missing_row("campaign", campaign.0))
        })
    }

    /// Returns the stored points of a campaign's progress, from the first to the latest.
    pub fn progress_curve(&self, campaign: CampaignId) -> Result<Vec<CampaignProgress>, Error> {
        let query = "SELECT * FROM standing WHERE campaign = ?1 ORDER BY number";
        self.read(|database| query_rows(database, "standing", query, [campaign.0], read_progress))
    }

    /// Reads campaigns and finds out which of them are running.
    pub(super) fn read_records(
        &self,
        database: &Connection,
        query: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<CampaignRecord>, StoreError> {
        query_rows(database, "campaign", query, parameters, |row| {
            let id = row.integer("id")?;
            Ok(CampaignRecord {
                id: CampaignId(id),
                settings: read_settings(row)?,
                resumed: row.count("resumed")?,
                progress: read_progress(row)?,
                state: match read_ending(row)? {
                    Some((ending, at)) => CampaignState::Ended(ending, at),
                    None if is_running(&self.resolved_path, id) => CampaignState::Running,
                    None => CampaignState::BrokenOff,
                },
                failures: row.count("failures")?,
            })
        })
    }
}

/// Locks a campaign for this process, or returns an error if another process is running it.
fn lock_campaign(store: &std::path::Path, campaign: i64) -> Result<CampaignLock, StoreError> {
    CampaignLock::acquire(store, campaign)?.ok_or_else(|| {
        Error::new(format!("another process is running campaign {campaign}"))
            .with_help("wait until it is done, or begin another campaign")
            .into()
    })
}

/// Reads the settings of a campaign from its row.
fn read_settings(row: &StoredRow<'_>) -> Result<NewCampaign, StoreError> {
    Ok(NewCampaign {
        harness: row.text("harness")?,
        digest: row.text("digest")?,
        seed: (row.text("seed")?.parse()).map_err(|_| row.damaged_column("seed", "no seed"))?,
        command_line: serde_json::from_str(&row.text("words")?)
            .map_err(|_| row.damaged_column("words", "no list of words"))?,
        version: row.text("version")?,
        python: row.text("python")?,
        jobs: (row.integer("jobs")?.try_into())
            .map_err(|_| row.damaged_column("jobs", "no number of workers"))?,
        started: row.time("started")?,
    })
}

/// Reads how and when a campaign ended, or `None` if it has not.
fn read_ending(
    row: &StoredRow<'_>,
) -> Result<Option<(CampaignEnding, std::time::SystemTime)>, StoreError> {
    let ending = match row.optional_text("ending")?.as_deref() {
        None => return Ok(None),
        Some("complete") => CampaignEnding::Complete,
        Some("interrupted") => CampaignEnding::Interrupted,
        Some("failed") => CampaignEnding::Failed(row.optional_text("trouble")?.unwrap_or_default()),
        Some(_) => return Err(row.damaged_column("ending", "no way to end")),
    };
    let at = row.optional_time("ended")?;
    match at {
        Some(at) => Ok(Some((ending, at))),
        None => Err(row.damaged_column("ended", "nothing where a time belongs")),
    }
}

/// Reads progress from a row of `campaign` or `standing`, which have the same columns for it.
fn read_progress(row: &StoredRow<'_>) -> Result<CampaignProgress, StoreError> {
    Ok(CampaignProgress {
        at: row.time("noted")?,
        seconds: row.seconds("seconds")?,
        tests: row.count("tests")?,
        steps: row.count("steps")?,
        deadlocks: row.count("deadlocks")?,
        covered: row.count("covered")?,
        streams: row.count("streams")?,
    })
}

/// Adds the latest progress of a campaign to its curve. It replaces the last point if that is too
/// close to the one before. A campaign may run for days, so when there are too many points, every
/// second one is deleted. Together this keeps the points evenly spread over time.
fn add_to_curve(
    database: &Connection,
    campaign: CampaignId,
    seconds: f64,
) -> Result<(), StoreError> {
    let query =
        "SELECT number, seconds FROM standing WHERE campaign = ?1 ORDER BY number DESC LIMIT 2";
    let last = query_rows(database, "standing", query, [campaign.0], |row| {
        Ok((row.integer("number")?, row.seconds("seconds")?))
    })?;
    let number = match last.as_slice() {
        [(number, last), (_, before)] if last - before < seconds * MIN_SPACING => *number,
        [(number, _), ..] => number.saturating_add(1),
        [] => 1,
    };
    database.execute(
        "INSERT OR REPLACE INTO standing
             (campaign, number, noted, seconds, tests, steps, deadlocks, covered, streams)
         SELECT id, ?2, noted, seconds, tests, steps, deadlocks, covered, streams FROM campaign WHERE id = ?1",
        params![campaign.0, number],
    )?;
    let query = "SELECT count(*) AS number FROM standing WHERE campaign = ?1";
    let points = query_one(database, "standing", query, [campaign.0], |row| {
        row.integer("number")
    })?;
    if points > Some(MAX_CURVE_POINTS) {
        // The first and the latest point stay.
        database.execute(
            "DELETE FROM standing WHERE campaign = ?1 AND number < ?2 AND number IN (
                 SELECT number FROM (
                     SELECT number, row_number() OVER (ORDER BY number) AS place FROM standing WHERE campaign = ?1
                 ) WHERE place % 2 = 0)",
            params![campaign.0, number],
        )?;
    }
    Ok(())
}
