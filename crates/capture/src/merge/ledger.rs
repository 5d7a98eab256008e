//! The list of all tests ever written, by file. It prevents deleted tests from coming back.

use std::collections::{BTreeMap, BTreeSet};

/// The first line of the file, which explains it to readers.
const HEADER: &str =
    "# Tests that `testwright generate` wrote: file and id. Those that are gone stay gone.";

/// All tests ever written, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The ids, by path.
    files: BTreeMap<String, BTreeSet<String>>,
}

impl Ledger {
    /// Parses the output of [`Ledger::text`], and skips other lines.
    #[must_use]
    pub fn parse(text: &str) -> Ledger {
        let mut ledger = Ledger::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((file, id)) = line.rsplit_once(' ') {
                ledger.add(file, id);
            }
        }
        ledger
    }

    /// Returns the ids of all tests ever written to a file.
    #[must_use]
    pub fn ids_of_file(&self, file: &str) -> BTreeSet<String> {
        self.files.get(file).cloned().unwrap_or_default()
    }

    /// Returns the ids of all tests ever written.
    pub fn all_ids(&self) -> impl Iterator<Item = &String> {
        self.files.values().flatten()
    }

    /// Adds a test.
    pub fn add(&mut self, file: &str, id: &str) {
        let ids = self.files.entry(file.to_owned()).or_default();
        ids.insert(id.to_owned());
    }

    /// Renders the list as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for (file, ids) in &self.files {
            for id in ids {
                text.push_str(&format!("{file} {id}\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_is_parsed_as_it_was_rendered() {
        let mut ledger = Ledger::default();
        ledger.add("tests/test a.py", "0a1b");
        ledger.add("tests/test a.py", "ffff");
        assert_eq!(Ledger::parse(&ledger.text()), ledger);
        assert_eq!(ledger.ids_of_file("tests/test a.py").len(), 2);
        assert!(ledger.ids_of_file("other").is_empty());
    }
}
