//! What can be tested.

use crate::{ActionId, Catalog, Error, Outcome, Random};

/// Anything that can be tested: it has a state, actions that change it, and invariants.
///
/// This is all that generation, replay and reduction need. What only some systems can do will be a trait of
/// its own, so that a tool asks for what it needs and can say what is missing.
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

    /// Back to the initial state. An error means that there is no initial state to go on from.
    fn reset(&mut self) -> Result<(), Error>;

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
        (0..self.actions().len())
            .map(ActionId)
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
