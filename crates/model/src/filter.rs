//! Selection of actions by name.

use testwright_core::product::{Interner, NameId};

/// Actions to include and to exclude, by name. An action that is left out vanishes from the
/// vocabulary of every model, so that no model can take it or forbid it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Names to keep. If the list is not empty, all other actions are left out.
    pub include: Vec<String>,
    /// Names to leave out, even if `include` has them too.
    pub exclude: Vec<String>,
    /// True to do as PyModel does: names that no model has are ignored, and states are compared by
    /// Python's `==`. Otherwise such names are errors, and states are told apart exactly.
    pub follows_pymodel: bool,
}

impl Filter {
    /// Returns true if the action called `name` is kept.
    pub fn includes(&self, name: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|one| one == name);
        !is_in(&self.exclude) && (self.include.is_empty() || is_in(&self.include))
    }

    /// Returns true if the action with this interned name is kept.
    pub fn includes_name(&self, interner: &Interner, name: NameId) -> bool {
        self.includes(interner.name_text(name))
    }
}
