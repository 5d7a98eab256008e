//! The central trait: anything that can be tested.

use crate::verdict::Caveat;
use crate::{
    ActionId, Catalog, Coverage, Error, Outcome, PoolId, Random, TargetId, TemplateId, TemplateSet,
};

/// Anything that can be tested: it has a state, actions that change it, and invariants.
///
/// This is all that generation, replay and reduction need. Optional capabilities are separate
/// traits ([`Snapshot`], [`Fingerprint`], [`Covered`]), so that a tool requires what it needs and
/// can report what is missing.
///
/// # Laws
/// - The same actions from a reset lead to the same state, and the same state enables the same
///   actions. Otherwise a seed would not replay, and reduction would follow false leads.
/// - `pick` returns an enabled action, every enabled action with the same probability (an action repeated by
///   `*N` counts N times), and `None` only if nothing is enabled.
/// - `check` changes nothing that another `check` could notice; it may be called twice, or not at
///   all.
/// - A system that misbehaves is a [`Failure`](crate::Failure) in the [`Outcome`], never a panic and never an [`Error`].
pub trait System {
    /// Returns all actions, enabled or not.
    fn actions(&self) -> &Catalog;

    /// Returns the id of an action that another process identifies by its [name](Catalog::name). A
    /// system that discovers its actions one by one assigns an id even if the action is new; other
    /// systems have the same ids in all processes.
    fn action_by_name(&mut self, _class: &str, _rest: &str) -> Option<ActionId> {
        None
    }

    /// Returns to the initial state. An error means that there is no initial state to start from.
    fn reset(&mut self) -> Result<(), Error>;

    /// Returns to the initial state at the beginning of a test, not at a restart within it. A
    /// system whose reset does not undo everything may do more here.
    fn begin(&mut self) -> Result<(), Error> {
        self.reset()
    }

    /// Returns true if an action may be taken now.
    fn is_enabled(&mut self, action: ActionId) -> bool;

    /// Picks an enabled action uniformly at random.
    ///
    /// The default lists all enabled actions, which is good enough for a few dozen of them. A
    /// system with more should do better, since random testing calls this before every step.
    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let enabled = self.enabled();
        let index = random.below(enabled.len() as u64);
        enabled.get(index as usize).copied()
    }

    /// Picks an enabled action of some templates uniformly at random. Swarm testing, for example,
    /// excludes templates for a while.
    ///
    /// The default lists all enabled actions, too.
    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        let mut enabled = self.enabled();
        enabled.retain(|action| templates.contains(self.actions().template_of(*action)));
        let index = random.below(enabled.len() as u64);
        enabled.get(index as usize).copied()
    }

    /// Returns the enabling group of a template. Templates of one group have enabled actions in the
    /// same states, so if one has none, the others need not be tried. `None` if nothing is known.
    fn enabling_group(&self, _template: TemplateId) -> Option<u64> {
        None
    }

    /// Takes an enabled action.
    fn step(&mut self, action: ActionId) -> Outcome;

    /// Returns the exception of the last step as text, such as `KeyError: 3`, if the outcome was
    /// [`Outcome::Expected`].
    ///
    /// Called only to show it to a person. A search does not, and creating the text may take longer
    /// than the step.
    fn expected_exception(&mut self) -> String {
        String::new()
    }

    /// Checks all invariants: [`Outcome::Passed`], [`Outcome::Failed`] or [`Outcome::Interrupted`].
    fn check(&mut self) -> Outcome;

    /// Examines the current state, to find the step after which it went wrong. `None` if the system has
    /// nothing but its actions to offer. Slow: meant for failing tests, not for a search.
    fn examine(&mut self) -> Option<Examination> {
        None
    }

    /// Takes an enabled action, and adds the lines of code that it executes to `lines`, if the system can
    /// see them.
    fn step_with_lines(&mut self, action: ActionId, _lines: &mut Vec<String>) -> Outcome {
        self.step(action)
    }

    /// Returns all enabled actions, in order. Takes time proportional to the number of actions:
    /// meant for exploration, not for random testing.
    fn enabled(&mut self) -> Vec<ActionId> {
        self.actions()
            .ids()
            .filter(|action| self.is_enabled(*action))
            .collect()
    }
}

/// The parts of a state that help to find the step that led to a failure
/// ([`System::examine`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// Enabled actions whose result is checked: compared with a reference, or by a post-condition.
    pub observers: Vec<ActionId>,
    /// A key that tells states apart; `None` if there is none.
    pub state: Option<u128>,
    /// The slots that have a twin of the reference, compared with it.
    pub slots: Vec<SlotComparison>,
    /// The pools whose values are constants of the harness.
    pub constants: Vec<PoolId>,
    /// The invariants that do not hold, each by the line that states it.
    pub violations: Vec<String>,
}

/// A slot that holds a value, compared with its twin of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotComparison {
    /// The pool of the slot.
    pub pool: PoolId,
    /// The index of the slot in its pool.
    pub slot: u32,
    /// The parts in which the values differ, such as `.counts[…]`; none if they hold the same data.
    pub differences: Vec<String>,
    /// False if the values are of different make, so that they may differ although all is well.
    pub is_comparable: bool,
}

/// A system that can return to an earlier state.
///
/// # Laws
/// - After `restore`, the system enables the same actions and responds to them as it did after
///   `snapshot`.
/// - A snapshot stays valid whatever happens to the system, and can be restored any number of
///   times.
pub trait Snapshot: System {
    /// A saved state.
    type State;

    /// Saves the current state. An error says what cannot be saved; then the test has to be
    /// replayed instead.
    fn snapshot(&mut self) -> Result<Self::State, Error>;

    /// Restores a saved state.
    fn restore(&mut self, state: &Self::State) -> Result<(), Error>;
}

/// The states that count as equivalent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Equivalence {
    /// States in which every slot holds an equal value.
    #[default]
    Equal,
    /// Also states that become equal when slots of a pool are renamed.
    UpToRenaming,
}

/// A system whose states can be compared.
///
/// # Laws
/// - States with different fingerprints differ in something that an action or a check can notice, or in what the
///   author of the system says matters.
/// - Different states have different fingerprints, except for collisions of 128-bit hashes.
/// - Computing a fingerprint changes nothing. The same state has the same fingerprint after a
///   reset, too.
pub trait Fingerprint: System {
    /// Returns a short key of the current state. An error says which part of the state cannot be
    /// compared.
    fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error>;

    /// Returns what the fingerprints so far do not cover: parts of the system that cannot be seen, for
    /// example.
    fn caveats(&self) -> Vec<Caveat> {
        Vec::new()
    }
}

/// A system that measures its coverage: branches of the code under test, for example.
pub trait Covered: System {
    /// Returns everything that was ever touched.
    fn all_touched(&self) -> Coverage;

    /// Returns the targets touched for the first time since the last call. Cheap enough for every
    /// test of a search.
    fn take_new(&mut self) -> Vec<TargetId>;

    /// Starts a new measurement of [`touched`](Covered::touched). From now on every target is
    /// recorded again, which may be slow.
    fn reset_touched(&mut self) -> Result<(), Error>;

    /// Returns the targets touched since [`reset_touched`](Covered::reset_touched).
    fn touched(&self) -> Coverage;
}
