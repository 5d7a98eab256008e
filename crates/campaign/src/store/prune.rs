//! Deletion of old campaigns and failures.

use rusqlite::{Connection, TransactionBehavior, params};
use testwright_core::Error;

use super::campaign_lock::remove_lock_file;
use super::error::StoreError;
use super::stored_row::query_rows;
use super::{CampaignId, CampaignState, FailureId, PruneOptions, PruneResult, Store};

impl Store {
    /// Deletes campaigns with their curves and coverage, and failures if requested, and makes the
    /// file smaller.
    ///
    /// Running campaigns stay. Failures outlive their campaigns. So do kept tests, as long as a
    /// campaign of their harness is left.
    pub fn prune(&mut self, options: &PruneOptions) -> Result<PruneResult, Error> {
        let campaigns = self.campaigns_to_drop(options)?;
        let drop_all = |database: &Connection| delete_from(database, campaigns, options);
        let mut pruned = if options.dry_run {
            // The same work, rolled back at the end.
            self.run_and_roll_back(drop_all)?
        } else {
            self.write(|transaction| drop_all(transaction))?
        };
        pruned.size_before = self.size()?;
        pruned.size_after = pruned.size_before;
        if !options.dry_run {
            for campaign in &pruned.campaigns {
                remove_lock_file(&self.resolved_path, campaign.0);
            }
            let result = self.compact();
            pruned.compact_error = result.err().map(|error| error.into_error(&self.path));
            pruned.size_after = self.size()?;
        }
        Ok(pruned)
    }

    /// Runs `work` in a transaction and rolls it back.
    fn run_and_roll_back<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, Error> {
        let database = &mut self.database;
        let run = || {
            let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
            work(&transaction)
        };
        run().map_err(|error: StoreError| error.into_error(&self.path))
    }

    /// Returns the campaigns beyond all given limits.
    fn campaigns_to_drop(&self, options: &PruneOptions) -> Result<Vec<CampaignId>, Error> {
        if options.keep.is_none() && options.before.is_none() {
            return Ok(Vec::new());
        }
        let mut records = self.campaigns()?;
        let latest = records.len().saturating_sub(options.keep.unwrap_or(0));
        records.truncate(latest);
        let is_old = |started| options.before.is_none_or(|before| started < before);
        Ok(records
            .into_iter()
            .filter(|record| {
                is_old(record.settings.started) && record.state != CampaignState::Running
            })
            .map(|record| record.id)
            .collect())
    }

    /// Returns the freed space to the file system.
    fn compact(&self) -> Result<(), StoreError> {
        self.database.execute_batch("VACUUM")?;
        self.database
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Returns the size of the store in bytes.
    pub fn size(&self) -> Result<u64, Error> {
        let number = |name| {
            let value = self
                .database
                .pragma_query_value(None, name, |row| row.get::<_, u32>(0));
            value.map_err(|error| StoreError::from(error).into_error(&self.path))
        };
        Ok(u64::from(number("page_count")?) * u64::from(number("page_size")?))
    }
}

/// Deletes campaigns, failures, and the texts and tests that nothing refers to any more.
fn delete_from(
    database: &Connection,
    campaigns: Vec<CampaignId>,
    options: &PruneOptions,
) -> Result<PruneResult, StoreError> {
    for campaign in &campaigns {
        database.execute("DELETE FROM campaign WHERE id = ?1", [campaign.0])?;
    }
    let query = "SELECT id FROM failure WHERE
        (?1 AND status = 'fixed') OR
        (?2 AND status <> 'fixed' AND NOT EXISTS (SELECT 1 FROM sighting WHERE sighting.failure = failure.id))
        ORDER BY id";
    let failures = query_rows(
        database,
        "failure",
        query,
        params![options.fixed, options.open],
        |row| Ok(FailureId(row.integer("id")?)),
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
    Ok(PruneResult {
        campaigns,
        failures,
        tests: tests as u64,
        ..PruneResult::default()
    })
}
