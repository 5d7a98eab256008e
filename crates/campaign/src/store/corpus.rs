//! Tests that reached something new, for campaigns to come.

use rusqlite::params;
use testwright_core::Error;

use super::fields::{rows, stored_count};
use super::{CampaignId, KeptTest, Store};

impl Store {
    /// Keeps tests of a harness that a campaign found worth keeping. One that is there already stays as it is.
    pub fn keep(
        &mut self,
        harness: &str,
        campaign: CampaignId,
        tests: &[KeptTest],
    ) -> Result<(), Error> {
        self.change(|transaction| {
            let mut insert = transaction.prepare(
                "INSERT OR IGNORE INTO kept_test (harness, kept_in, text, new) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for test in tests {
                insert.execute(params![harness, campaign.0, test.text, stored_count(test.new)])?;
            }
            Ok(())
        })
    }

    /// The tests that were kept for a harness, at most so many: the latest ones, in the order in which they were kept.
    pub fn corpus(&self, harness: &str, most: usize) -> Result<Vec<KeptTest>, Error> {
        let query = "SELECT text, new FROM kept_test WHERE harness = ?1 ORDER BY id DESC LIMIT ?2";
        let most = stored_count(most as u64);
        let mut tests = self.look(|database| {
            rows(
                database,
                "kept_test",
                query,
                params![harness, most],
                |row| {
                    Ok(KeptTest {
                        text: row.text("text")?,
                        new: row.count("new")?,
                    })
                },
            )
        })?;
        tests.reverse();
        Ok(tests)
    }
}
