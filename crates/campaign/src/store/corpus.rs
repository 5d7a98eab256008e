//! Tests that reached new coverage, kept for later campaigns.

use rusqlite::params;
use testwright_core::Error;

use super::stored_row::{query_rows, stored_count};
use super::{CampaignId, CorpusTest, Store};

impl Store {
    /// Stores tests of a harness that a campaign found worth keeping. Tests that are already stored
    /// stay unchanged.
    pub fn keep_tests(
        &mut self,
        harness: &str,
        campaign: CampaignId,
        tests: &[CorpusTest],
    ) -> Result<(), Error> {
        self.write(|transaction| {
            let mut insert = transaction.prepare(
                "INSERT OR IGNORE INTO kept_test (harness, kept_in, text, new) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for test in tests {
                insert.execute(params![harness, campaign.0, test.text, stored_count(test.new)])?;
            }
            Ok(())
        })
    }

    /// Returns the kept tests of a harness, at most `max`: the latest ones, in the order in which
    /// they were kept.
    pub fn corpus(&self, harness: &str, max: usize) -> Result<Vec<CorpusTest>, Error> {
        let query = "SELECT text, new FROM kept_test WHERE harness = ?1 ORDER BY id DESC LIMIT ?2";
        let max = stored_count(max as u64);
        let mut tests = self.read(|database| {
            query_rows(database, "kept_test", query, params![harness, max], |row| {
                Ok(CorpusTest {
                    text: row.text("text")?,
                    new: row.count("new")?,
                })
            })
        })?;
        tests.reverse();
        Ok(tests)
    }
}
