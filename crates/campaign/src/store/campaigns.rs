//! Campaigns: how they begin, go on and end.

use rusqlite::{Connection, named_params, params};
use testwright_core::Error;

use super::claim::{Claim, is_running};
use super::fields::{Fields, one, rows, stored_count, stored_seconds, stored_time};
use super::problem::Problem;
use super::{
    CampaignEnding, CampaignId, CampaignRecord, CampaignState, NewCampaign, Standing, Store,
    missing,
};

/// More standings than that are thinned out.
const MOST_STANDINGS: i64 = 600;

/// Standings are at least this part of the time so far apart.
const FINEST: f64 = 1.0 / 300.0;

const RECORD: &str = "SELECT *,
    (SELECT count(*) FROM sighting WHERE sighting.campaign = campaign.id) AS failures FROM campaign";

impl Store {
    /// Begins a campaign. It counts as running until [`finish`](Store::finish), or until this store is dropped or its
    /// process ends.
    pub fn begin(&mut self, campaign: &NewCampaign) -> Result<CampaignId, Error> {
        let store = self.real.clone();
        let claim = self.change(|transaction| {
            let words = serde_json::to_string(&campaign.words)
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
            // Before anybody else can see it, so that nobody ever takes it for one that broke off.
            claim(&store, transaction.last_insert_rowid())
        })?;
        let id = CampaignId(claim.campaign);
        self.claims.push(claim);
        Ok(id)
    }

    /// The latest campaign of a harness that did not come to its end: it was killed, interrupted, or could not go on.
    /// One that is running is not meant.
    pub fn unfinished(&self, harness: &str) -> Result<Option<CampaignRecord>, Error> {
        let query = format!(
            "{RECORD} WHERE harness = ?1 AND (ending IS NULL OR ending <> 'complete') ORDER BY id DESC"
        );
        let records = self.look(|database| self.records(database, &query, [harness]))?;
        let is_running = |record: &CampaignRecord| record.state == CampaignState::Running;
        Ok(records.into_iter().find(|record| !is_running(record)))
    }

    /// Takes a campaign up again that did not come to its end. It counts as running from now on.
    pub fn resume(&mut self, campaign: CampaignId) -> Result<(), Error> {
        let store = self.real.clone();
        let claim = self.change(|transaction| {
            let changed = transaction.execute(
                "UPDATE campaign SET ending = NULL, trouble = NULL, ended = NULL, resumed = resumed + 1 WHERE id = ?1",
                [campaign.0],
            )?;
            if changed == 0 {
                return Err(missing("campaign", campaign.0));
            }
            claim(&store, campaign.0)
        })?;
        self.claims.push(claim);
        Ok(())
    }

    /// Notes how far a campaign has come. The latest standing is always known; of those before, as many are kept as it
    /// takes to draw how coverage grew.
    pub fn note(&mut self, campaign: CampaignId, standing: &Standing) -> Result<(), Error> {
        self.change(|transaction| {
            let changed = transaction.execute(
                "UPDATE campaign SET noted = :noted, seconds = :seconds, tests = :tests, steps = :steps,
                     deadlocks = :deadlocks, covered = :covered, streams = :streams
                 WHERE id = :campaign",
                named_params! {
                    ":campaign": campaign.0,
                    ":noted": stored_time(standing.at),
                    ":seconds": stored_seconds(standing.seconds),
                    ":tests": stored_count(standing.tests),
                    ":steps": stored_count(standing.steps),
                    ":deadlocks": stored_count(standing.deadlocks),
                    ":covered": stored_count(standing.covered),
                    ":streams": stored_count(standing.streams),
                },
            )?;
            if changed == 0 {
                return Err(missing("campaign", campaign.0));
            }
            add_to_curve(transaction, campaign, standing.seconds)?;
            Ok(())
        })
    }

    /// Ends a campaign.
    pub fn finish(
        &mut self,
        campaign: CampaignId,
        ending: &CampaignEnding,
        at: std::time::SystemTime,
    ) -> Result<(), Error> {
        let trouble = match ending {
            CampaignEnding::Failed(trouble) => Some(trouble),
            CampaignEnding::Complete | CampaignEnding::Interrupted => None,
        };
        self.change(|transaction| {
            let changed = transaction.execute(
                "UPDATE campaign SET ending = ?2, trouble = ?3, ended = ?4 WHERE id = ?1",
                params![campaign.0, ending.name(), trouble, stored_time(at)],
            )?;
            match changed {
                0 => Err(missing("campaign", campaign.0)),
                _ => Ok(()),
            }
        })?;
        let position = (self.claims.iter()).position(|claim| claim.campaign == campaign.0);
        if let Some(position) = position {
            self.claims.swap_remove(position).release();
        }
        Ok(())
    }

    /// All campaigns, the oldest first.
    pub fn campaigns(&self) -> Result<Vec<CampaignRecord>, Error> {
        let query = format!("{RECORD} ORDER BY id");
        self.look(|database| self.records(database, &query, []))
    }

    /// One campaign.
    pub fn campaign(&self, campaign: CampaignId) -> Result<CampaignRecord, Error> {
        let query = format!("{RECORD} WHERE id = ?1");
        self.look(|database| {
            let found = self.records(database, &query, [campaign.0])?.pop();
            found.ok_or_else(|| missing("campaign", campaign.0))
        })
    }

    /// How a campaign came to where it is: some of its standings, from the first to the latest.
    pub fn curve(&self, campaign: CampaignId) -> Result<Vec<Standing>, Error> {
        let query = "SELECT * FROM standing WHERE campaign = ?1 ORDER BY number";
        self.look(|database| rows(database, "standing", query, [campaign.0], standing))
    }

    pub(super) fn records(
        &self,
        database: &Connection,
        query: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<CampaignRecord>, Problem> {
        rows(database, "campaign", query, parameters, |row| {
            let id = row.whole("id")?;
            Ok(CampaignRecord {
                id: CampaignId(id),
                begun: begun(row)?,
                resumed: row.count("resumed")?,
                standing: standing(row)?,
                state: match ended(row)? {
                    Some((ending, at)) => CampaignState::Ended(ending, at),
                    None if is_running(&self.real, id) => CampaignState::Running,
                    None => CampaignState::BrokenOff,
                },
                failures: row.count("failures")?,
            })
        })
    }
}

fn claim(store: &std::path::Path, campaign: i64) -> Result<Claim, Problem> {
    Claim::take(store, campaign)?.ok_or_else(|| {
        Error::new(format!("another process is running campaign {campaign}"))
            .with_help("wait until it is done, or begin another campaign")
            .into()
    })
}

fn begun(row: &Fields<'_>) -> Result<NewCampaign, Problem> {
    Ok(NewCampaign {
        harness: row.text("harness")?,
        digest: row.text("digest")?,
        seed: (row.text("seed")?.parse()).map_err(|_| row.wrong("seed", "no seed"))?,
        words: serde_json::from_str(&row.text("words")?)
            .map_err(|_| row.wrong("words", "no list of words"))?,
        version: row.text("version")?,
        python: row.text("python")?,
        jobs: (row.whole("jobs")?.try_into())
            .map_err(|_| row.wrong("jobs", "no number of workers"))?,
        started: row.time("started")?,
    })
}

fn ended(row: &Fields<'_>) -> Result<Option<(CampaignEnding, std::time::SystemTime)>, Problem> {
    let ending = match row.text_if_any("ending")?.as_deref() {
        None => return Ok(None),
        Some("complete") => CampaignEnding::Complete,
        Some("interrupted") => CampaignEnding::Interrupted,
        Some("failed") => CampaignEnding::Failed(row.text_if_any("trouble")?.unwrap_or_default()),
        Some(_) => return Err(row.wrong("ending", "no way to end")),
    };
    let at = row.time_if_any("ended")?;
    match at {
        Some(at) => Ok(Some((ending, at))),
        None => Err(row.wrong("ended", "nothing where a time belongs")),
    }
}

fn standing(row: &Fields<'_>) -> Result<Standing, Problem> {
    Ok(Standing {
        at: row.time("noted")?,
        seconds: row.seconds("seconds")?,
        tests: row.count("tests")?,
        steps: row.count("steps")?,
        deadlocks: row.count("deadlocks")?,
        covered: row.count("covered")?,
        streams: row.count("streams")?,
    })
}

/// Adds the latest standing of a campaign to its curve, instead of the one before if that is too close to the one
/// before it. A campaign may go on for days, so when there are many, every second one goes; together this keeps them
/// evenly spread over the time.
fn add_to_curve(database: &Connection, campaign: CampaignId, seconds: f64) -> Result<(), Problem> {
    let query =
        "SELECT number, seconds FROM standing WHERE campaign = ?1 ORDER BY number DESC LIMIT 2";
    let last = rows(database, "standing", query, [campaign.0], |row| {
        Ok((row.whole("number")?, row.seconds("seconds")?))
    })?;
    let number = match last.as_slice() {
        [(number, last), (_, before)] if last - before < seconds * FINEST => *number,
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
    let many = one(database, "standing", query, [campaign.0], |row| {
        row.whole("number")
    })?;
    if many > Some(MOST_STANDINGS) {
        // The first and the latest stay.
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
