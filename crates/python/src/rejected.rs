//! Conditions that were found not to hold while an action is being picked.

use rustc_hash::FxHashSet;
use testwright_core::TemplateId;

/// What was rejected since the last start.
///
/// Many actions may share a condition: it need not mention all that they differ in, and copies (`*N`) differ in
/// nothing. Asking once is enough.
#[derive(Default)]
pub(crate) struct Rejected {
    conditions: FxHashSet<(TemplateId, u64)>,
}

impl Rejected {
    /// Forgets everything: another state, other answers.
    #[inline]
    pub(crate) fn start(&mut self) {
        if !self.conditions.is_empty() {
            self.conditions.clear();
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    pub(crate) fn contains(&self, template: TemplateId, condition: u64) -> bool {
        self.conditions.contains(&(template, condition))
    }

    pub(crate) fn add(&mut self, template: TemplateId, condition: u64) {
        self.conditions.insert((template, condition));
    }
}
