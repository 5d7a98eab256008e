//! Judging a temporal formula on a system.

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, Letter, MAX_ATOMS};
use super::formula::{Atom, Formula};
use super::graph::{GraphEdge, TemporalGraph};
use super::product::{AcceptedRun, AutomatonProduct};
use super::shrink::CounterexampleShrinker;
use crate::explore::{
    Exploration, ExploreOptions, ExploreProgress, ExploreWatcher, ExploredExtent, Explorer,
    SearchOrder, StateId, StateTransition,
};
use crate::{ActionId, Catalog, Equivalence, Error, System, Test};

/// Evaluates the predicates of a formula. A closure can implement it.
pub trait AtomEvaluator<S: ?Sized> {
    /// Returns true if a predicate holds in the current state of the system.
    fn holds(&mut self, system: &mut S, predicate: &str) -> Result<bool, Error>;

    /// Called before each step. Returning `false` ends the work.
    fn proceed(&mut self, _progress: &ExploreProgress) -> bool {
        true
    }

    /// Returns true if an enabled action may be taken in the current state of the system.
    fn allows(&mut self, _system: &mut S, _action: ActionId) -> bool {
        true
    }
}

impl<S: ?Sized, F: FnMut(&mut S, &str) -> Result<bool, Error>> AtomEvaluator<S> for F {
    fn holds(&mut self, system: &mut S, predicate: &str) -> Result<bool, Error> {
        self(system, predicate)
    }
}

/// The result of judging a formula.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The verdict.
    pub verdict: FormulaVerdict,
    /// The states and failures seen on the way. The exploration was stopped if there is a
    /// counterexample.
    pub exploration: Exploration,
}

/// The verdict on a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormulaVerdict {
    /// The formula holds on every run without a failing step.
    Holds,
    /// No counterexample was found, but not everything was explored. Runs that leave the explored
    /// part may violate the formula.
    NothingFound(ExploredExtent),
    /// The formula does not hold on this run.
    Violated(Counterexample),
}

/// A run on which a formula does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The steps to take first.
    pub prefix: Test,
    /// The steps to repeat forever after the prefix; empty unless the run ends in a cycle.
    pub cycle: Test,
    /// The way in which the run continues forever.
    pub ending: RunEnding,
    /// True if the run was confirmed by running it again. False only if there was no time for that.
    pub confirmed: bool,
}

/// The way in which a run continues forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunEnding {
    /// The cycle leads back to where it began, and is repeated.
    Cycle,
    /// No action is possible after the prefix, and the state stays as it is.
    Deadlock,
    /// Any continuation violates the formula.
    AnyContinuation,
}

impl<S: System + ?Sized, K> Explorer<'_, S, K> {
    /// Judges a temporal property on all states within the options. They are visited breadth first.
    ///
    /// ```
    /// use testwright_core::explore::temporal::{FormulaVerdict, parse};
    /// use testwright_core::explore::{Explorer, ExploreOptions};
    /// use testwright_core::toys::Jugs;
    ///
    /// let mut jugs = Jugs::default();
    /// let mut explorer = Explorer::new(&mut jugs).with_snapshots().with_fingerprints();
    /// let options = ExploreOptions { check: false, ..ExploreOptions::default() };
    /// let mut atoms = |jugs: &mut Jugs, predicate: &str| Ok(match predicate {
    ///     "big == 5" => jugs.litres()[1] == 5,
    ///     _ => jugs.litres() == [0, 0],
    /// });
    ///
    /// // Filling the big jug makes it full.
    /// let formula = parse("always (took 'fill(big)' implies {big == 5})").unwrap().formula;
    /// let judgment = explorer.judge(&formula, &options, &mut atoms).unwrap();
    /// assert_eq!(judgment.verdict, FormulaVerdict::Holds);
    ///
    /// // But it need not ever be filled.
    /// let formula = parse("always (empty implies eventually {big == 5})").unwrap().formula;
    /// let judgment = explorer.judge(&formula, &options, &mut atoms).unwrap();
    /// let FormulaVerdict::Violated(run) = judgment.verdict else { panic!() };
    /// assert_eq!((run.prefix.len(), run.cycle.len()), (0, 2)); // fill the small jug, and empty it again
    /// ```
    pub fn judge(
        &mut self,
        formula: &Formula,
        options: &ExploreOptions,
        atoms: &mut dyn AtomEvaluator<S>,
    ) -> Result<Judgement, Error> {
        if options.matching == Some(Equivalence::UpToRenaming) {
            let message = "temporal properties need states that are matched exactly";
            let help = "a circle up to renaming need not lead back to where it began";
            return Err(Error::new(message).with_help(help));
        }
        let formula_atoms = FormulaAtoms::from_formula(formula)?;
        let automaton = Automaton::from_formula(&formula.clone().negated(), &formula_atoms.atoms);
        let mut recorder = GraphRecorder {
            evaluator: atoms,
            formula_atoms,
            automaton: &automaton,
            graph: TemporalGraph::default(),
            next_search_at: 64,
            found: false,
            error: None,
        };
        let options = ExploreOptions {
            order: SearchOrder::BreadthFirst,
            stop_at_goal: false,
            ..*options
        };
        let exploration = self.explore(&options, &mut recorder)?;
        if let Some(error) = recorder.error {
            return Err(error);
        }
        let GraphRecorder {
            evaluator: caller,
            formula_atoms,
            graph,
            found,
            ..
        } = recorder;
        let product = AutomatonProduct {
            graph: &graph,
            automaton: &automaton,
        };
        let run = if found || product.has_accepted_run() {
            product.shortest_run()
        } else {
            None
        };
        let verdict = match run {
            None if exploration.is_complete() => FormulaVerdict::Holds,
            None => FormulaVerdict::NothingFound(exploration.extent.clone()),
            Some(run) => {
                let shrinker = CounterexampleShrinker {
                    explorer: self,
                    formula,
                    automaton: &automaton,
                    formula_atoms,
                    evaluator: caller,
                    options: &options,
                    progress: ExploreProgress {
                        steps: exploration.steps,
                        ..ExploreProgress::default()
                    },
                };
                FormulaVerdict::Violated(shrinker.shrink(to_counterexample(&run))?)
            }
        };
        Ok(Judgement {
            verdict,
            exploration,
        })
    }
}

/// Turns a run into tests. A deadlock contributes no step.
fn to_counterexample(run: &AcceptedRun) -> Counterexample {
    let actions =
        |edges: &[GraphEdge]| Test::from_actions(edges.iter().filter_map(|edge| edge.action));
    let stays = |edges: &[GraphEdge]| edges.iter().any(|edge| edge.action.is_none());
    let ending = if stays(&run.prefix) || stays(&run.cycle) {
        RunEnding::Deadlock
    } else if run.cycle.is_empty() {
        RunEnding::AnyContinuation
    } else {
        RunEnding::Cycle
    };
    Counterexample {
        prefix: actions(&run.prefix),
        cycle: actions(&run.cycle),
        ending,
        confirmed: false,
    }
}

/// The atoms of a formula, and the atoms that each action makes true.
pub(super) struct FormulaAtoms {
    pub(super) atoms: Vec<Atom>,
    action_letters: FxHashMap<ActionId, Letter>,
}

impl FormulaAtoms {
    /// Collects the atoms of a formula. Returns an error if there are too many.
    fn from_formula(formula: &Formula) -> Result<FormulaAtoms, Error> {
        let atoms = formula.atoms();
        if atoms.len() > MAX_ATOMS {
            let message = format!("the formula has more than {MAX_ATOMS} different atoms");
            return Err(Error::new(message));
        }
        Ok(FormulaAtoms {
            atoms,
            action_letters: FxHashMap::default(),
        })
    }

    /// Evaluates all predicates in the current state of the system.
    pub(super) fn state_letter<S: ?Sized>(
        &self,
        system: &mut S,
        evaluator: &mut dyn AtomEvaluator<S>,
    ) -> Result<Letter, Error> {
        let mut letter = 0;
        for (bit, atom) in self.atoms.iter().enumerate() {
            if let Atom::Predicate(predicate) = atom
                && evaluator.holds(system, predicate)?
            {
                letter |= 1 << bit;
            }
        }
        Ok(letter)
    }

    /// Returns the atoms that are true because an action was just taken.
    pub(super) fn step_letter(&mut self, catalog: &Catalog, action: ActionId) -> Letter {
        let atoms = &self.atoms;
        *self.action_letters.entry(action).or_insert_with(|| {
            if !atoms.iter().any(|atom| matches!(atom, Atom::Took(_))) {
                return 0;
            }
            let text = catalog.text(action);
            let bits = atoms.iter().enumerate().filter(|(_, atom)| match atom {
                Atom::Took(pattern) => matches_pattern(pattern, &text),
                Atom::Predicate(_) => false,
            });
            bits.fold(0, |letter, (bit, _)| letter | 1 << bit)
        })
    }
}

/// Returns true if a text matches a pattern, in which `*` stands for anything.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Records the graph during the exploration, and looks for an accepted run now and then.
struct GraphRecorder<'a, S: ?Sized> {
    evaluator: &'a mut dyn AtomEvaluator<S>,
    formula_atoms: FormulaAtoms,
    automaton: &'a Automaton,
    graph: TemporalGraph,
    /// The number of states at which to look for a run next.
    next_search_at: usize,
    found: bool,
    error: Option<Error>,
}

impl<S: System + ?Sized> ExploreWatcher<S> for GraphRecorder<'_, S> {
    fn proceed(&mut self, progress: &ExploreProgress) -> bool {
        !self.found && self.error.is_none() && self.evaluator.proceed(progress)
    }

    fn is_allowed(&mut self, system: &mut S, action: ActionId) -> bool {
        self.evaluator.allows(system, action)
    }

    fn on_state(&mut self, system: &mut S, _state: StateId, _depth: usize) {
        let letter = self.formula_atoms.state_letter(system, self.evaluator);
        self.graph.add_state(letter.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            0
        }));
    }

    fn on_transition(&mut self, system: &mut S, transition: &StateTransition) {
        if let Some(to) = transition.to {
            let took = self
                .formula_atoms
                .step_letter(system.actions(), transition.action);
            let edge = GraphEdge {
                action: Some(transition.action),
                to: to.0 as u32,
                letter: self.graph.letters[to.0 as usize] | took,
            };
            self.graph.add_edge(transition.from.0 as u32, edge);
        }
    }

    fn on_state_finished(&mut self, state: StateId, actions: usize) {
        if actions == 0 {
            self.graph.add_deadlock(state.0 as u32);
        }
        if self.graph.len() >= self.next_search_at {
            self.next_search_at = self.graph.len() * 2;
            let product = AutomatonProduct {
                graph: &self.graph,
                automaton: self.automaton,
            };
            self.found = product.has_accepted_run();
        }
    }

    fn bytes(&self) -> usize {
        // The search for a run marks each state once for each node of the automaton.
        self.graph.bytes() + self.graph.len() * self.automaton.nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::temporal::parse;
    use crate::toys::{Counters, Crossing, Jugs, Safe};

    #[test]
    fn patterns() {
        assert!(
            matches_pattern("f(*)", "f(1, 2)")
                && matches_pattern("*", "")
                && matches_pattern("a*b*c", "a b b c")
        );
        assert!(
            !matches_pattern("f(*)", "g(1)")
                && !matches_pattern("ab*b", "ab")
                && !matches_pattern("f", "f()")
        );
        assert!(matches_pattern("x * 2", "x * 2"));
    }

    fn crossing(text: &str) -> FormulaVerdict {
        let mut crossing = Crossing::default();
        let mut explorer = Explorer::new(&mut crossing).with_fingerprints();
        let options = ExploreOptions {
            failures: crate::explore::FailurePolicy::All,
            ..ExploreOptions::default()
        };
        let mut green = |crossing: &mut Crossing, _: &str| Ok(crossing.is_green());
        let formula = parse(text).unwrap().formula;
        explorer
            .judge(&formula, &options, &mut green)
            .unwrap()
            .verdict
    }

    fn lengths(verdict: FormulaVerdict) -> (usize, usize, RunEnding) {
        let FormulaVerdict::Violated(run) = verdict else {
            panic!("{verdict:?}")
        };
        assert!(run.confirmed);
        (run.prefix.len(), run.cycle.len(), run.ending)
    }

    #[test]
    fn a_crossing_is_judged() {
        let holds = [
            "green",
            "always (green or not green)",
            "always (took \"switch()\" implies not (green and next (took \"switch()\" and green)))",
            "always (green and next took 'switch()' implies next not green)",
            "(always eventually took 'switch()') implies always eventually green",
            "not took '*'",
            "next took '*'",
            "not green release green or eventually not green",
        ];
        for text in holds {
            assert_eq!(crossing(text), FormulaVerdict::Holds, "{text}");
        }
        // Waiting forever from the start.
        assert_eq!(
            lengths(crossing("eventually not green")),
            (0, 1, RunEnding::Cycle)
        );
        assert_eq!(
            lengths(crossing("always eventually green")),
            (1, 1, RunEnding::Cycle)
        );
        // Whatever follows the second switch.
        let twice = "always (took 'switch()' implies not green)";
        assert_eq!(lengths(crossing(twice)), (2, 0, RunEnding::AnyContinuation));
        assert_eq!(
            lengths(crossing("not green")),
            (0, 0, RunEnding::AnyContinuation)
        );
        let both = "not ((always eventually green) and always eventually not green)";
        assert_eq!(lengths(crossing(both)), (0, 2, RunEnding::Cycle));
        let steady = "eventually always (took 'wait()' or took 'go()')";
        assert_eq!(lengths(crossing(steady)), (0, 2, RunEnding::Cycle));
    }

    #[test]
    fn a_deadlock_lasts_for_ever() {
        struct OnlyFilling;
        impl AtomEvaluator<Jugs> for OnlyFilling {
            fn holds(&mut self, jugs: &mut Jugs, _predicate: &str) -> Result<bool, Error> {
                Ok(jugs.litres() == [3, 5])
            }
            fn allows(&mut self, jugs: &mut Jugs, action: ActionId) -> bool {
                jugs.actions().text(action).starts_with("fill")
            }
        }
        let mut jugs = Jugs::default();
        let mut explorer = Explorer::new(&mut jugs).with_fingerprints();
        let mut judge = |text: &str| {
            let formula = parse(text).unwrap().formula;
            let judgement = explorer.judge(&formula, &ExploreOptions::default(), &mut OnlyFilling);
            judgement.unwrap().verdict
        };
        assert_eq!(judge("eventually always full"), FormulaVerdict::Holds);
        assert_eq!(
            judge("eventually always not took 'fill(*)'"),
            FormulaVerdict::Holds
        );
        let verdict = judge("always eventually took 'fill(*)'");
        assert_eq!(lengths(verdict), (2, 0, RunEnding::Deadlock));
    }

    #[test]
    fn formulas_are_not_judged_on_unexplored_states() {
        let mut counters = Counters::new(100);
        let mut explorer = Explorer::new(&mut counters)
            .with_snapshots()
            .with_fingerprints();
        let options = ExploreOptions {
            max_states: Some(50),
            ..ExploreOptions::default()
        };
        let formula = parse("always not took 'counter1.add(int2)'")
            .unwrap()
            .formula;
        let mut none = |_: &mut Counters, _: &str| Ok(false);
        let judgement = explorer.judge(&formula, &options, &mut none).unwrap();
        assert!(matches!(
            judgement.verdict,
            FormulaVerdict::NothingFound(ExploredExtent::Partial { .. })
        ));
        // The states' edges count too where memory is limited.
        let options = ExploreOptions {
            max_bytes: Some(20_000),
            ..ExploreOptions::default()
        };
        let judgement = explorer.judge(&formula, &options, &mut none).unwrap();
        let alone = explorer.explore(&options, &mut ()).unwrap();
        assert!(judgement.exploration.states * 2 < alone.states);
        assert!(judgement.exploration.bytes < 40_000);
        // A prefix that cannot be mended is found in a tree of tests, too.
        let options = ExploreOptions::small_scope(3);
        let judgement = explorer.judge(&formula, &options, &mut none).unwrap();
        assert_eq!(
            lengths(judgement.verdict),
            (3, 0, RunEnding::AnyContinuation)
        );
        let formula = parse("eventually took 'counter1.read()'").unwrap().formula;
        let judgement = explorer.judge(&formula, &options, &mut none).unwrap();
        assert_eq!(
            judgement.verdict,
            FormulaVerdict::NothingFound(ExploredExtent::Length(3))
        );
    }

    #[test]
    fn an_early_counterexample_ends_the_exploration() {
        let mut safe = Safe::new(9, &[1; 5_000]);
        let mut explorer = Explorer::new(&mut safe).with_fingerprints();
        let formula = parse("eventually opened").unwrap().formula;
        let mut never = |_: &mut Safe, _: &str| Ok(false);
        let judgement = explorer
            .judge(&formula, &ExploreOptions::default(), &mut never)
            .unwrap();
        assert_eq!(lengths(judgement.verdict), (0, 1, RunEnding::Cycle));
        assert!(judgement.exploration.states < 100);
    }

    #[test]
    fn errors_are_passed_on() {
        let mut jugs = Jugs::default();
        let mut explorer = Explorer::new(&mut jugs).with_fingerprints();
        let formula = parse("always {x +}").unwrap().formula;
        let mut broken = |_: &mut Jugs, text: &str| Err(Error::new(format!("no `{text}`")));
        let error = explorer.judge(&formula, &ExploreOptions::default(), &mut broken);
        assert_eq!(error.unwrap_err().message, "no `x +`");
        let options = ExploreOptions {
            matching: Some(Equivalence::UpToRenaming),
            ..ExploreOptions::default()
        };
        let error = explorer.judge(&formula, &options, &mut broken).unwrap_err();
        assert!(error.message.contains("matched exactly"));
        let many: Vec<String> = (0..70).map(|number| format!("p{number}")).collect();
        let formula = parse(&many.join(" and ")).unwrap().formula;
        let error = explorer.judge(&formula, &ExploreOptions::default(), &mut broken);
        assert!(error.unwrap_err().message.contains("more than 64"));
    }
}
