//! What can be tested.

use crate::{
    ActionId, Catalog, Coverage, Error, Outcome, Random, TargetId, TemplateId, TemplateSet,
};

/// Anything that can be tested: it has a state, actions that change it, and invariants.
///
/// This is all that generation, replay and reduction need. What only some systems can do is a trait of its own
/// ([`Snapshot`], [`Fingerprint`], [`Covered`]), so that a tool asks for what it needs and can say what is missing.
///
/// # Laws
/// - The same actions from a reset lead to the same state, and the same state enables the same actions.
///   Otherwise a seed would not replay, and reduction would chase ghosts.
/// - `pick` returns an enabled action, every enabled action with the same probability (an action repeated by
///   `*N` counts N times), and `None` only if nothing is enabled.
/// - `check` changes nothing that another `check` could notice; it may be called twice, or not at all.
/// - A system that misbehaves is a [`Failure`](crate::Failure) in the [`Outcome`], never a panic and never an [`Error`].
pub trait System {
    /// All actions, enabled or not.
    fn actions(&self) -> &Catalog;

    /// The number of an action that another process speaks of by its [name](Catalog::name). A system whose actions come
    /// up one by one gives it one even if it has not met it yet; others have the same numbers in all processes.
    fn number(&mut self, _class: &str, _rest: &str) -> Option<ActionId> {
        None
    }

    /// Back to the initial state. An error means that there is no initial state to go on from.
    fn reset(&mut self) -> Result<(), Error>;

    /// The same where a test begins and not where it restarts in its middle. A system whose reset does not undo
    /// everything may do more here.
    fn begin(&mut self) -> Result<(), Error> {
        self.reset()
    }

    /// Whether an action may be taken now.
    fn is_enabled(&mut self, action: ActionId) -> bool;

    /// A uniformly random enabled action.
    ///
    /// This one lists all that are enabled, which is good enough for a few dozen actions. A system with more
    /// should do better, for random testing calls this before every step.
    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let enabled = self.enabled();
        let place = random.below(enabled.len() as u64);
        enabled.get(place as usize).copied()
    }

    /// A uniformly random enabled action of some templates: swarm testing, for example, leaves others out for a while.
    ///
    /// This one lists all that are enabled, too.
    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        let mut enabled = self.enabled();
        enabled.retain(|action| templates.contains(self.actions().template_of(*action)));
        let place = random.below(enabled.len() as u64);
        enabled.get(place as usize).copied()
    }

    /// Which templates are alike: those with the same number have enabled actions in the same states, so who finds that one
    /// has none need not try the others. Of a template without a number that is not known.
    fn alike(&self, _template: TemplateId) -> Option<u64> {
        None
    }

    /// Takes an action that is enabled.
    fn step(&mut self, action: ActionId) -> Outcome;

    /// The exception of the last step as text, such as `KeyError: 3`, if the outcome was [`Outcome::Expected`].
    ///
    /// Only those ask who show it to somebody. A search does not, and making the text may take longer than the step.
    fn expected(&mut self) -> String {
        String::new()
    }

    /// Asks whether all invariants hold: [`Outcome::Passed`], [`Outcome::Failed`] or [`Outcome::Interrupted`].
    fn check(&mut self) -> Outcome;

    /// All enabled actions, in order. Costs as much as there are actions: for exploration, not for random walks.
    fn enabled(&mut self) -> Vec<ActionId> {
        self.actions()
            .ids()
            .filter(|action| self.is_enabled(*action))
            .collect()
    }
}

/// A system that can go back to a state it was in.
///
/// # Laws
/// - After `restore`, the system enables the same actions and answers them as it did after `snapshot`.
/// - A snapshot stays good whatever happens to the system, and can be restored any number of times.
pub trait Snapshot: System {
    /// A state to go back to.
    type State;

    /// The state as it is now. An error says what cannot be kept; replaying the test is the way out then.
    fn snapshot(&mut self) -> Result<Self::State, Error>;

    /// Back to a state.
    fn restore(&mut self, state: &Self::State) -> Result<(), Error>;
}

/// Which states count as alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Likeness {
    /// Those in which every slot holds the same.
    #[default]
    Equal,
    /// Also those that become equal when slots of a pool are renamed.
    UpToRenaming,
}

/// A system that can tell its states apart.
///
/// # Laws
/// - States with different fingerprints differ in something that an action or a check can notice, or in what the
///   author of the system says matters.
/// - States that differ have different fingerprints, but for the chance of a collision of 128-bit hashes.
/// - Asking changes nothing. The same state has the same fingerprint after a reset, too.
pub trait Fingerprint: System {
    /// A short key of the state as it is now. An error says which part of the state cannot be told apart.
    fn fingerprint(&mut self, likeness: Likeness) -> Result<u128, Error>;
}

/// A system that can tell what of it was touched: branches of the code under test, for example.
pub trait Covered: System {
    /// Everything that was ever touched.
    fn all_touched(&self) -> Coverage;

    /// What was touched for the first time ever since this was last asked. Cheap: for every test of a search.
    fn take_new(&mut self) -> Vec<TargetId>;

    /// Forgets what was touched lately. From now on everything counts again, which may take its time.
    fn begin_anew(&mut self) -> Result<(), Error>;

    /// What was touched since [`begin_anew`](Covered::begin_anew).
    fn touched(&self) -> Coverage;
}
