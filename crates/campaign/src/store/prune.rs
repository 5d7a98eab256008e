//! Dropping what nobody needs any more.

use rusqlite::{Connection, TransactionBehavior, params};
use testwright_core::Error;

use super::claim::forget;
use super::fields::rows;
use super::problem::Problem;
use super::{CampaignId, CampaignState, FailureId, PruneOptions, Pruned, Store};

impl Store {
    /// Drops campaigns with their curves and coverage, and failures if asked, and makes the file smaller.
    ///
    /// A campaign that is running stays. Failures outlive their campaigns, and so do kept tests as long as a campaign of
    /// their harness is left.
    pub fn prune(&mut self, options: &PruneOptions) -> Result<Pruned, Error> {
        let campaigns = self.to_drop(options)?;
        let drop_all = |database: &Connection| drop_from(database, campaigns, options);
        let mut pruned = if options.dry_run {
            // The very same work, given up at the end.
            self.try_out(drop_all)?
        } else {
            self.change(|transaction| drop_all(transaction))?
        };
        pruned.size_before = self.size()?;
        pruned.size_after = pruned.size_before;
        if !options.dry_run {
            for campaign in &pruned.campaigns {
                forget(&self.real, campaign.0);
            }
            let compacted = self.compact();
            pruned.not_compacted = compacted.err().map(|problem| problem.of(&self.path));
            pruned.size_after = self.size()?;
        }
        Ok(pruned)
    }

    /// Does some work and leaves everything as it was.
    fn try_out<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Problem>,
    ) -> Result<T, Error> {
        let database = &mut self.database;
        let tried = || {
            let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
            work(&transaction)
        };
        tried().map_err(|problem: Problem| problem.of(&self.path))
    }

    /// The campaigns that are beyond every limit that was given.
    fn to_drop(&self, options: &PruneOptions) -> Result<Vec<CampaignId>, Error> {
        if options.keep.is_none() && options.before.is_none() {
            return Ok(Vec::new());
        }
        let mut records = self.campaigns()?;
        let latest = records.len().saturating_sub(options.keep.unwrap_or(0));
        records.truncate(latest);
        let is_old = |started| options.before.is_none_or(|before| started < before);
        Ok(records
            .into_iter()
            .filter(|record| is_old(record.begun.started) && record.state != CampaignState::Running)
            .map(|record| record.id)
            .collect())
    }

    /// Gives the room of what was dropped back to the disk.
    fn compact(&self) -> Result<(), Problem> {
        self.database.execute_batch("VACUUM")?;
        self.database
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// How much of the disk the store takes, in bytes.
    pub fn size(&self) -> Result<u64, Error> {
        let number = |name| {
            let value = self
                .database
                .pragma_query_value(None, name, |row| row.get::<_, u32>(0));
            value.map_err(|error| Problem::from(error).of(&self.path))
        };
        Ok(u64::from(number("page_count")?) * u64::from(number("page_size")?))
    }
}

fn drop_from(
    database: &Connection,
    campaigns: Vec<CampaignId>,
    options: &PruneOptions,
) -> Result<Pruned, Problem> {
    for campaign in &campaigns {
        database.execute("DELETE FROM campaign WHERE id = ?1", [campaign.0])?;
    }
    let query = "SELECT id FROM failure WHERE
        (?1 AND status = 'fixed') OR
        (?2 AND status <> 'fixed' AND NOT EXISTS (SELECT 1 FROM sighting WHERE sighting.failure = failure.id))
        ORDER BY id";
    let failures = rows(
        database,
        "failure",
        query,
        params![options.fixed, options.open],
        |row| Ok(FailureId(row.whole("id")?)),
    )?;
    for failure in &failures {
        database.execute("DELETE FROM failure WHERE id = ?1", [failure.0])?;
    }
    let tests = if campaigns.is_empty() {
        0
    } else {
        database.execute(
                "DELETE FROM shared_text WHERE id NOT IN (SELECT file FROM place UNION SELECT test FROM place)",
                [],
            )?;
        database.execute(
            "DELETE FROM kept_test WHERE harness NOT IN (SELECT harness FROM campaign)",
            [],
        )?
    };
    Ok(Pruned {
        campaigns,
        failures,
        tests: tests as u64,
        ..Pruned::default()
    })
}
