//! Which actions to speak of.

use testwright_core::product::{NameId, Words};

/// Actions to include and to exclude, by name. What is left out vanishes from the vocabulary of every model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// If any are named, all others are left out.
    pub include: Vec<String>,
    /// These are left out in any case.
    pub exclude: Vec<String>,
}

impl Filter {
    /// Whether an action stays.
    pub fn keeps(&self, name: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|one| one == name);
        !is_in(&self.exclude) && (self.include.is_empty() || is_in(&self.include))
    }

    /// Whether an action stays.
    pub fn keeps_name(&self, words: &Words, name: NameId) -> bool {
        self.keeps(words.name_text(name))
    }
}
