//! A wrapper that adds snapshots and coverage to a toy.

use crate::{
    ActionId, Catalog, Coverage, Covered, Error, Outcome, Random, Snapshot, System, TargetId,
    TemplateSet,
};

/// Any toy, with snapshots and coverage. A target is a pair of consecutive lines of its catalog
/// (or the reset and a line), so it takes a test of some length to touch them all.
///
/// ```
/// use testwright_core::{ActionId, Covered, System, TargetId, toys::{Jugs, Watched}};
///
/// let mut jugs = Watched::new(Jugs::default());
/// jugs.step(ActionId(0));
/// jugs.step(ActionId(2));
/// // fill() after the reset, empty() after fill()
/// assert_eq!(jugs.touched().iter().collect::<Vec<_>>(), [TargetId(0), TargetId(4)]);
/// ```
#[derive(Clone, Debug)]
pub struct Watched<S> {
    toy: S,
    /// The last template plus one; 0 after a reset.
    last: usize,
    touched: Coverage,
    all: Coverage,
    new: Vec<TargetId>,
}

impl<S: System> Watched<S> {
    /// Wraps a toy.
    pub fn new(toy: S) -> Watched<S> {
        Watched {
            toy,
            last: 0,
            touched: Coverage::default(),
            all: Coverage::default(),
            new: Vec::new(),
        }
    }
}

impl<S: System> System for Watched<S> {
    fn actions(&self) -> &Catalog {
        self.toy.actions()
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.last = 0;
        self.toy.reset()
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        self.toy.is_enabled(action)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        self.toy.pick(random)
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        self.toy.pick_among(templates, random)
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let catalog = self.toy.actions();
        let template = catalog.template_of(action).0;
        let target = TargetId((self.last * catalog.templates().len() + template) as u32);
        self.last = template + 1;
        self.touched.insert(target);
        if self.all.insert(target) {
            self.new.push(target);
        }
        self.toy.step(action)
    }

    fn expected_exception(&mut self) -> String {
        self.toy.expected_exception()
    }

    fn check(&mut self) -> Outcome {
        self.toy.check()
    }
}

/// The touched targets are not part of the state, since they are about the past.
impl<S: System + Clone> Snapshot for Watched<S> {
    type State = (S, usize);

    fn snapshot(&mut self) -> Result<Self::State, Error> {
        Ok((self.toy.clone(), self.last))
    }

    fn restore(&mut self, state: &Self::State) -> Result<(), Error> {
        (self.toy, self.last) = state.clone();
        Ok(())
    }
}

impl<S: System> Covered for Watched<S> {
    fn all_touched(&self) -> Coverage {
        self.all.clone()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        std::mem::take(&mut self.new)
    }

    fn reset_touched(&mut self) -> Result<(), Error> {
        self.touched.clear();
        Ok(())
    }

    fn touched(&self) -> Coverage {
        self.touched.clone()
    }
}
