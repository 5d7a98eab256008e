//! Which places of the code under test a campaign has reached.

use rusqlite::{Connection, params};
use testwright_core::Error;

use super::fields::rows;
use super::{CampaignId, PlaceReached, Store, missing};

impl Store {
    /// Adds places that a campaign has reached. Those that it has reached before stay as they are.
    pub fn reached(&mut self, campaign: CampaignId, places: &[PlaceReached]) -> Result<(), Error> {
        self.change(|transaction| {
            if !transaction.prepare("SELECT 1 FROM campaign WHERE id = ?1")?.exists([campaign.0])? {
                return Err(missing("campaign", campaign.0));
            }
            let mut insert = transaction.prepare(
                "INSERT OR IGNORE INTO place (campaign, file, from_line, to_line, test) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            // Neighbours mostly have the same file and the same test.
            let mut latest: [Option<(&str, i64)>; 2] = [None; 2];
            for place in places {
                let mut ids = [0; 2];
                for (index, text) in [place.file.as_str(), place.test.as_str()].into_iter().enumerate() {
                    ids[index] = match latest[index] {
                        Some((same, id)) if same == text => id,
                        _ => shared_text(transaction, text)?,
                    };
                    latest[index] = Some((text, ids[index]));
                }
                let [file, test] = ids;
                insert.execute(params![campaign.0, file, place.from, place.to, test])?;
            }
            Ok(())
        })
    }

    /// All places that a campaign has reached, in order of files and lines.
    pub fn places(&self, campaign: CampaignId) -> Result<Vec<PlaceReached>, Error> {
        let query = "SELECT files.text AS file, from_line, to_line, tests.text AS test FROM place
            JOIN shared_text AS files ON files.id = place.file
            JOIN shared_text AS tests ON tests.id = place.test
            WHERE campaign = ?1 ORDER BY files.text, from_line, to_line";
        self.look(|database| {
            rows(database, "place", query, [campaign.0], |row| {
                let line = |column| {
                    let line = row.whole(column)?;
                    line.try_into()
                        .map_err(|_| row.wrong(column, "no line number"))
                };
                Ok(PlaceReached {
                    file: row.text("file")?,
                    from: line("from_line")?,
                    to: line("to_line")?,
                    test: row.text("test")?,
                })
            })
        })
    }
}

/// The number of a text that many rows share.
fn shared_text(database: &Connection, text: &str) -> rusqlite::Result<i64> {
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
