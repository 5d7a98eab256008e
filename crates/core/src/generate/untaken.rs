//! Templates of which no test has taken an action.

use crate::{ActionId, Catalog, Step, TemplateId};

/// The templates of a catalog of which no test has taken an action yet.
///
/// Looking at a step is a search among the templates that are left, so it costs nothing once all are
/// taken.
#[derive(Clone, Debug, Default)]
pub struct UntakenTemplates {
    /// Each template with its first id and the first id after it, in order.
    left: Vec<(TemplateId, u64, u64)>,
}

impl UntakenTemplates {
    /// Starts with all templates of a catalog.
    pub fn new(catalog: &Catalog) -> UntakenTemplates {
        let number = catalog.templates().len();
        let first = |template: usize| match template {
            template if template < number => catalog.first(TemplateId(template)).0,
            _ => catalog.end(),
        };
        let bounds = |template| (TemplateId(template), first(template), first(template + 1));
        UntakenTemplates {
            left: (0..number).map(bounds).collect(),
        }
    }

    /// Removes the template of an action. Returns true if it was there.
    pub fn take(&mut self, action: ActionId) -> bool {
        let index = self.left.partition_point(|(_, _, end)| *end <= action.0);
        let is_new = self
            .left
            .get(index)
            .is_some_and(|(_, start, _)| *start <= action.0);
        if is_new {
            self.left.remove(index);
        }
        is_new
    }

    /// Removes the templates of the steps of a test. Returns a step for each that was there.
    pub fn take_all(&mut self, steps: &[Step]) -> Vec<Step> {
        let mut first = Vec::new();
        for step in steps {
            if self.left.is_empty() {
                break;
            }
            if let Step::Act(action) = step
                && self.take(*action)
            {
                first.push(*step);
            }
        }
        first
    }

    /// Returns the templates that are left, in order.
    pub fn iter(&self) -> impl Iterator<Item = TemplateId> {
        self.left.iter().map(|(template, ..)| *template)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::System;
    use crate::toys::Jugs;

    #[test]
    fn templates_are_left_until_one_of_their_actions_is_taken() {
        let jugs = Jugs::default();
        let catalog = jugs.actions();
        let number = catalog.templates().len();
        let mut untaken = UntakenTemplates::new(catalog);
        assert_eq!(untaken.iter().count(), number);
        let all: Vec<Step> = catalog.ids().map(Step::Act).collect();
        let last = *all.last().unwrap();
        assert_eq!(untaken.take_all(&[Step::Restart, last, last]), [last]);
        assert!(untaken.iter().eq((0..number - 1).map(TemplateId)));
        assert_eq!(untaken.take_all(&all).len(), number - 1);
        assert_eq!(untaken.iter().count(), 0);
        assert!(untaken.take_all(&all).is_empty());
    }
}
