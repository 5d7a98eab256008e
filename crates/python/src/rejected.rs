//! Conditions found to be false while an action is being picked.

use rustc_hash::FxHashSet;
use testwright_core::TemplateId;

/// The conditions rejected since the set was cleared.
///
/// Many actions may share a condition: it need not mention all axes, and copies (`*N`) differ in
/// nothing. Evaluating it once is enough.
#[derive(Default)]
pub(crate) struct RejectedConditions {
    /// Templates and the numbers of their conditions.
    conditions: FxHashSet<(TemplateId, u64)>,
}

impl RejectedConditions {
    /// Clears the set, since conditions depend on the state.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.conditions.is_empty() {
            self.conditions.clear();
        }
    }

    /// Returns true if no condition was rejected.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Returns true if a condition was rejected.
    pub(crate) fn contains(&self, template: TemplateId, condition: u64) -> bool {
        self.conditions.contains(&(template, condition))
    }

    /// Adds a rejected condition.
    pub(crate) fn add(&mut self, template: TemplateId, condition: u64) {
        self.conditions.insert((template, condition));
    }
}
