//! Coverage in the store: the arcs of the code under test that a campaign has reached.

use rusqlite::{Connection, params};
use testwright_core::Error;

use super::stored_row::query_rows;
use super::{CampaignId, ReachedArc, Store, missing_row};

impl Store {
    /// Adds arcs that a campaign has reached. Arcs that it has reached before stay unchanged.
    pub fn record_arcs(&mut self, campaign: CampaignId, arcs: &[ReachedArc]) -> Result<(), Error> {
        self.write(|transaction| {
            if !transaction.prepare("SELECT 1 FROM campaign WHERE id = ?1")?.exists([campaign.0])? {
                return Err(missing_row("campaign", campaign.0));
            }
            let mut insert = transaction.prepare(
                "INSERT OR IGNORE INTO place (campaign, file, from_line, to_line, test) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            // Adjacent arcs mostly have the same file and the same test.
            let mut latest: [Option<(&str, i64)>; 2] = [None; 2];
            for arc in arcs {
                let mut ids = [0; 2];
                for (index, text) in [arc.file.as_str(), arc.test.as_str()].into_iter().enumerate() {
                    ids[index] = match latest[index] {
                        Some((same, id)) if same == text => id,
                        _ => intern_text(transaction, text)?,
                    };
                    latest[index] = Some((text, ids[index]));
                }
                let [file, test] = ids;
                insert.execute(params![campaign.0, file, arc.from, arc.to, test])?;
            }
            Ok(())
        })
    }

    /// Returns all arcs that a campaign has reached, ordered by file and line.
    pub fn arcs(&self, campaign: CampaignId) -> Result<Vec<ReachedArc>, Error> {
        let query = "SELECT files.text AS file, from_line, to_line, tests.text AS test FROM place
            JOIN shared_text AS files ON files.id = place.file
            JOIN shared_text AS tests ON tests.id = place.test
            WHERE campaign = ?1 ORDER BY files.text, from_line, to_line";
        self.read(|database| {
            query_rows(database, "place", query, [campaign.0], |row| {
                let line = |column| {
                    let line = row.integer(column)?;
                    line.try_into()
                        .map_err(|_| row.damaged_column(column, "no line number"))
                };
                Ok(ReachedArc {
                    file: row.text("file")?,
                    from: line("from_line")?,
                    to: line("to_line")?,
                    test: row.text("test")?,
                })
            })
        })
    }
}

/// Returns the id of a text that many rows share, and adds the text if it is new.
fn intern_text(database: &Connection, text: &str) -> rusqlite::Result<i64> {
    database.execute(
        "INSERT OR IGNORE INTO shared_text (text) VALUES (?1)",
        [text],
    )?;
    database.query_row(
        "SELECT id FROM shared_text WHERE text = ?1",
        [text],
        |row| row.get(0),
    )
}
