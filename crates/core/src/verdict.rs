//! The verdict on a whole question: how much was covered, and what the answer leaves open.
//!
//! A question is for example "does any test fail?" or "does this formula hold?". Its answer is a
//! claim, and a claim needs evidence. So the words *all*, *none*, *holds* and *safe* are rendered only
//! from a verdict that [is a proof](Verdict::is_proof): everything was covered, and no caveat matters.
//!
//! ```
//! use testwright_core::verdict::{ReachedLimit, Caveat, Verdict, VerdictExtent};
//!
//! let mut verdict = Verdict::new(VerdictExtent::Complete);
//! assert!(verdict.is_proof());
//!
//! // A file is part of no state, so states that differ in it may have been taken for one.
//! verdict.add_caveats([Caveat::OutsideState { what: "an open file in `log0`".to_owned() }]);
//! assert!(!verdict.is_proof());
//!
//! let verdict = Verdict::new(VerdictExtent::Bounded { by: vec![ReachedLimit::Depth(3)] });
//! assert!(!verdict.is_proof());
//! ```

use std::fmt;

/// The answer to a question, without what was found: its evidence and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The part that was covered.
    pub extent: VerdictExtent,
    /// The caveats, sorted, each once.
    pub caveats: Vec<Caveat>,
}

/// The part of a question that was covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictExtent {
    /// Everything.
    Complete,
    /// Only a part, for these reasons.
    Bounded {
        /// The limits that were reached; never empty.
        by: Vec<ReachedLimit>,
    },
    /// Only a part, since the user stopped it.
    Interrupted,
}

/// A limit that was reached and left something uncovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReachedLimit {
    /// Longer tests were not tried.
    Depth(usize),
    /// No more states were visited.
    States(u64),
    /// No more transitions were taken.
    Transitions(u64),
    /// No more memory was used.
    Memory,
    /// No more time was spent.
    Time,
    /// No more tests were made.
    Tests(u64),
    /// No more steps were taken.
    Steps(u64),
    /// No more mutants of a program were tried.
    Mutants(u64),
    /// The search ended at a failure.
    Failure,
    /// The search ended at a goal.
    Goal,
    /// The search ended at a run that violates a formula.
    Violation,
    /// Nothing was tried after failing steps.
    AfterFailure,
    /// No action can be taken at the start.
    NoFirstAction,
    /// The system could not go on.
    Error,
}

/// Something that an answer does not cover, so that the answer may be wrong about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Caveat {
    /// A part of the system can be neither seen nor restored, so states that differ in it count as
    /// one.
    OutsideState {
        /// The part, such as ``an open file in `log0` ``.
        what: String,
    },
    /// The order of a set depends on the addresses of its members, so another run may see another
    /// order.
    AddressOrder {
        /// The location of the set, such as ``a set in `group0` ``.
        what: String,
    },
    /// The order of a set depends on the seed of hashes, and only the one of this run was tried.
    HashOrder {
        /// The location of the set, such as ``a set in `group0` ``.
        what: String,
    },
    /// Code asks for the identity of immutable values, by which states are not told apart.
    Identity {
        /// The code, such as ``` `id(…)` in pool.py, line 7```.
        place: String,
    },
    /// States count as one if an abstraction of the harness's author says so.
    Abstraction {
        /// The name of the pool.
        pool: String,
    },
    /// States that had counted as one behaved differently.
    StatesDiffer {
        /// The number of pairs that differed.
        pairs: u64,
        /// The number of pairs that were compared.
        compared: u64,
    },
    /// A failure did not occur again from a fresh start.
    Unconfirmed {
        /// The failure, in one line.
        failure: String,
    },
    /// An action that the model only observes has no domain, so it was never taken.
    UnexploredObservable {
        /// The name of the action.
        action: String,
    },
    /// A filter of the model cut off states.
    FilteredStates {
        /// The name of the filter.
        filter: String,
        /// The number of states that it cut off.
        states: u64,
    },
    /// The user left out actions of the models.
    LeftOutActions {
        /// The names of the actions.
        actions: Vec<String>,
    },
    /// Arguments of an action were not tried: its domains have none, or are paired and one of them is
    /// longer.
    UntriedArguments {
        /// The name of the action.
        action: String,
        /// The parameter with too few values, or too many.
        parameter: String,
        /// The number of its values that were left out; 0 if it has none at all.
        left_out: u64,
    },
    /// Properties were not checked.
    UncheckedProperties {
        /// The number of properties of the harness or invariants of models; 0 if it is not known.
        properties: u64,
    },
    /// No test took an action of a line of the harness.
    NeverTaken {
        /// The line, such as `line 7, <list>.pop()`.
        line: String,
    },
    /// A model draws random numbers, so another exploration may find other states.
    RandomModel,
    /// The system draws random numbers or reads the clock in a way that no state contains.
    Nondeterministic {
        /// The observation, as a clause.
        what: String,
    },
}

impl Verdict {
    /// Creates a verdict without caveats.
    pub fn new(extent: VerdictExtent) -> Verdict {
        Verdict {
            extent,
            caveats: Vec::new(),
        }
    }

    /// Adds caveats that are not there yet.
    pub fn add_caveats(&mut self, caveats: impl IntoIterator<Item = Caveat>) {
        self.caveats.extend(caveats);
        self.caveats.sort_unstable();
        self.caveats.dedup();
    }

    /// Creates the verdict of a question that was cut off by limits, if there are any.
    pub fn bounded_by(by: Vec<ReachedLimit>) -> Verdict {
        Verdict::new(if by.is_empty() {
            VerdictExtent::Complete
        } else {
            VerdictExtent::Bounded { by }
        })
    }

    /// Adds a limit. An interrupt says more than any limit.
    pub fn add_limit(&mut self, limit: ReachedLimit) {
        match &mut self.extent {
            VerdictExtent::Complete => self.extent = VerdictExtent::Bounded { by: vec![limit] },
            VerdictExtent::Bounded { by } if !by.contains(&limit) => by.push(limit),
            VerdictExtent::Bounded { .. } | VerdictExtent::Interrupted => {}
        }
    }

    /// Returns the limits that were reached; none if everything was covered or the user stopped it.
    pub fn limits(&self) -> &[ReachedLimit] {
        match &self.extent {
            VerdictExtent::Bounded { by } => by,
            VerdictExtent::Complete | VerdictExtent::Interrupted => &[],
        }
    }

    /// Returns true if a caveat matters, so that even the part that was covered is not certain.
    pub fn is_doubtful(&self) -> bool {
        self.caveats.iter().any(Caveat::matters)
    }

    /// Returns true if everything was covered, whatever the caveats are.
    pub fn is_complete(&self) -> bool {
        self.extent == VerdictExtent::Complete
    }

    /// Returns true if the answer is certain: everything was covered, and no caveat matters. Only then
    /// may a text say *all*, *none*, *holds* or *safe*.
    pub fn is_proof(&self) -> bool {
        self.is_complete() && !self.is_doubtful()
    }
}

impl Caveat {
    /// Returns true if the answer may be wrong because of it. The others are part of the question: the
    /// author of a model asks for a filter and for domains, and the user may leave out actions, or ask
    /// not to check properties. All commands run with one seed of hashes. A line that is never enabled
    /// cannot fail.
    pub fn matters(&self) -> bool {
        !matches!(
            self,
            Caveat::HashOrder { .. }
                | Caveat::FilteredStates { .. }
                | Caveat::LeftOutActions { .. }
                | Caveat::UntriedArguments { .. }
                | Caveat::UncheckedProperties { .. }
                | Caveat::NeverTaken { .. }
        )
    }

    /// Returns the name used in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Caveat::OutsideState { .. } => "outside-state",
            Caveat::AddressOrder { .. } => "address-order",
            Caveat::HashOrder { .. } => "hash-order",
            Caveat::Identity { .. } => "identity",
            Caveat::Abstraction { .. } => "abstraction",
            Caveat::StatesDiffer { .. } => "states-differ",
            Caveat::Unconfirmed { .. } => "unconfirmed",
            Caveat::UnexploredObservable { .. } => "unexplored-observable",
            Caveat::FilteredStates { .. } => "filtered-states",
            Caveat::LeftOutActions { .. } => "left-out-actions",
            Caveat::UntriedArguments { .. } => "untried-arguments",
            Caveat::UncheckedProperties { .. } => "unchecked-properties",
            Caveat::NeverTaken { .. } => "never-taken",
            Caveat::RandomModel => "random-model",
            Caveat::Nondeterministic { .. } => "nondeterministic",
        }
    }
}

impl fmt::Display for Caveat {
    /// Writes a clause that can follow "not covered: ".
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caveat::OutsideState { what } => write!(out, "{what} is not part of a state"),
            Caveat::AddressOrder { what } => {
                write!(out, "the order of {what} depends on memory addresses")
            }
            Caveat::HashOrder { what } => {
                write!(out, "the order of {what} depends on `PYTHONHASHSEED`")
            }
            Caveat::Identity { place } => {
                write!(out, "{place} asks for the identity of immutable values")
            }
            Caveat::Abstraction { pool } => {
                let what = "differences beyond the abstraction of the pool";
                write!(out, "{what} `{pool}`: the result is up to the abstraction")
            }
            Caveat::StatesDiffer { pairs, compared } => write!(
                out,
                "states that counted as one behaved differently in {pairs} of {compared} samples"
            ),
            Caveat::Unconfirmed { failure } => {
                write!(
                    out,
                    "this did not happen again from a fresh start: {failure}"
                )
            }
            Caveat::UnexploredObservable { action } => write!(
                out,
                "`{action}` is only observed and has no domain, so it was never taken"
            ),
            Caveat::FilteredStates { filter, states: 1 } => {
                write!(out, "`{filter}` cut off 1 state")
            }
            Caveat::FilteredStates { filter, states } => {
                write!(out, "`{filter}` cut off {states} states")
            }
            Caveat::LeftOutActions { actions } => {
                let names: Vec<String> = actions.iter().map(|name| format!("`{name}`")).collect();
                write!(out, "{} left out", names.join(", "))
            }
            Caveat::UntriedArguments {
                action,
                parameter,
                left_out: 0,
            } => write!(
                out,
                "`{action}` was never tried, since the domain of its parameter `{parameter}` is empty"
            ),
            Caveat::UntriedArguments {
                action,
                parameter,
                left_out,
            } => write!(
                out,
                "{left_out} of the values of `{parameter}` were not tried in `{action}`: \
                 the other parameters have fewer to be combined with"
            ),
            Caveat::UncheckedProperties { properties: 0 } => {
                out.write_str("properties and invariants were not checked")
            }
            Caveat::UncheckedProperties { properties: 1 } => {
                out.write_str("the property was not checked")
            }
            Caveat::UncheckedProperties { properties } => {
                write!(out, "{properties} properties were not checked")
            }
            Caveat::NeverTaken { line } => write!(out, "{line} was never taken"),
            Caveat::RandomModel => {
                out.write_str("a model draws random numbers, so there may be other states")
            }
            Caveat::Nondeterministic { what } => out.write_str(what),
        }
    }
}

impl ReachedLimit {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ReachedLimit::Depth(_) => "depth",
            ReachedLimit::States(_) => "states",
            ReachedLimit::Transitions(_) => "transitions",
            ReachedLimit::Memory => "memory",
            ReachedLimit::Time => "time",
            ReachedLimit::Tests(_) => "tests",
            ReachedLimit::Steps(_) => "steps",
            ReachedLimit::Mutants(_) => "mutants",
            ReachedLimit::Failure => "failure",
            ReachedLimit::Goal => "goal",
            ReachedLimit::Violation => "violation",
            ReachedLimit::AfterFailure => "after-failure",
            ReachedLimit::NoFirstAction => "no-first-action",
            ReachedLimit::Error => "error",
        }
    }
}

impl fmt::Display for ReachedLimit {
    /// Writes a phrase that can follow "bounded by ".
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReachedLimit::Depth(steps) => write!(out, "a depth of {steps}"),
            ReachedLimit::States(states) => write_count(out, *states, "state"),
            ReachedLimit::Transitions(transitions) => write_count(out, *transitions, "transition"),
            ReachedLimit::Memory => out.write_str("the memory limit"),
            ReachedLimit::Time => out.write_str("the time limit"),
            ReachedLimit::Tests(tests) => write_count(out, *tests, "test"),
            ReachedLimit::Steps(steps) => write_count(out, *steps, "step"),
            ReachedLimit::Mutants(mutants) => write_count(out, *mutants, "mutant"),
            ReachedLimit::Failure => out.write_str("the first failure"),
            ReachedLimit::Goal => out.write_str("the goal"),
            ReachedLimit::Violation => out.write_str("the violation"),
            ReachedLimit::AfterFailure => {
                out.write_str("failing steps, after which nothing was tried")
            }
            ReachedLimit::NoFirstAction => out.write_str("the start, where no action is enabled"),
            ReachedLimit::Error => out.write_str("an error of the system"),
        }
    }
}

/// Writes a limit with its unit.
fn write_count(out: &mut fmt::Formatter<'_>, number: u64, unit: &str) -> fmt::Result {
    let plural = if number == 1 { "" } else { "s" };
    write!(out, "a limit of {number} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_caveats_that_matter_prevent_a_proof() {
        let mut verdict = Verdict::new(VerdictExtent::Complete);
        let what = "a set".to_owned();
        verdict.add_caveats([Caveat::HashOrder { what }]);
        assert!(verdict.is_proof());
        let pool = "jug".to_owned();
        let abstraction = Caveat::Abstraction { pool };
        assert!(abstraction.matters());
        verdict.add_caveats([Caveat::RandomModel, Caveat::RandomModel]);
        assert_eq!(verdict.caveats.len(), 2);
        assert!(verdict.is_complete() && !verdict.is_proof());
    }

    #[test]
    fn limits_are_collected_and_an_interrupt_stays() {
        let mut verdict = Verdict::bounded_by(Vec::new());
        assert!(verdict.is_proof());
        verdict.add_limit(ReachedLimit::Depth(3));
        verdict.add_limit(ReachedLimit::AfterFailure);
        verdict.add_limit(ReachedLimit::Depth(3));
        let limits = [ReachedLimit::Depth(3), ReachedLimit::AfterFailure];
        assert_eq!(verdict.limits(), limits);
        let mut verdict = Verdict::new(VerdictExtent::Interrupted);
        verdict.add_limit(ReachedLimit::Time);
        assert_eq!(verdict.extent, VerdictExtent::Interrupted);
    }

    #[test]
    fn a_bound_prevents_a_proof() {
        let by = vec![ReachedLimit::Time];
        assert!(!Verdict::new(VerdictExtent::Bounded { by }).is_proof());
        assert!(!Verdict::new(VerdictExtent::Interrupted).is_proof());
    }
}
