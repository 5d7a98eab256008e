//! Judging a formula on a system.

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, Letter, MOST_ATOMS};
use super::formula::{Atom, Formula};
use super::graph::{Edge, Graph};
use super::product::{Product, Run};
use super::shorten::Shortener;
use crate::explore::{
    Exploration, ExploreWatcher, Explorer, Order, Plan, Progress, Reach, StateId, Transition,
};
use crate::{ActionId, Catalog, Error, Likeness, System, Test};

/// What a caller knows about states. A closure that answers for predicates will do.
pub trait Atoms<S: ?Sized> {
    /// Whether a predicate holds in the system as it is now.
    fn holds(&mut self, system: &mut S, predicate: &str) -> Result<bool, Error>;

    /// Asked before each step; `false` ends the work.
    fn proceed(&mut self, _progress: &Progress) -> bool {
        true
    }

    /// Whether to take an action that is enabled in the system as it is now.
    fn allows(&mut self, _system: &mut S, _action: ActionId) -> bool {
        true
    }
}

impl<S: ?Sized, F: FnMut(&mut S, &str) -> Result<bool, Error>> Atoms<S> for F {
    fn holds(&mut self, system: &mut S, predicate: &str) -> Result<bool, Error> {
        self(system, predicate)
    }
}

/// What came of judging a formula.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Whether the formula holds.
    pub answer: Answer,
    /// The states and failures that were seen on the way. It was stopped if there is a counterexample.
    pub exploration: Exploration,
}

/// Whether a formula holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// On every run of the system on which no step fails.
    Holds,
    /// Nothing was found against it, but not everything was looked at. Nothing is known of runs that leave what was
    /// explored, and these may violate the formula.
    NothingFound(Reach),
    /// Not on this run.
    Violated(Counterexample),
}

/// A run on which a formula does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// What to do first.
    pub prefix: Test,
    /// What to do again and again then; empty unless the run goes round.
    pub lap: Test,
    /// How the run goes on for ever.
    pub ending: Ending,
    /// It was run again, and it is as it says. False only if there was no time for that.
    pub confirmed: bool,
}

/// How a run goes on for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The lap leads back to where it began.
    Lap,
    /// Nothing can be done after the prefix, and the state stays as it is.
    Deadlock,
    /// In any way: after the prefix nothing can make the formula hold.
    Anything,
}

impl<S: System + ?Sized, K> Explorer<'_, S, K> {
    /// Judges a temporal property: on all states within the plan, which are visited breadth first.
    ///
    /// ```
    /// use testwright_core::explore::temporal::{Answer, parse};
    /// use testwright_core::explore::{Explorer, Plan};
    /// use testwright_core::toys::Jugs;
    ///
    /// let mut jugs = Jugs::default();
    /// let mut explorer = Explorer::of(&mut jugs).with_copies().with_fingerprints();
    /// let plan = Plan { check: false, ..Plan::default() };
    /// let mut atoms = |jugs: &mut Jugs, predicate: &str| Ok(match predicate {
    ///     "big == 5" => jugs.litres()[1] == 5,
    ///     _ => jugs.litres() == [0, 0],
    /// });
    ///
    /// // Whoever fills the big jug has it full.
    /// let formula = parse("always (took 'fill(big)' implies {big == 5})").unwrap().formula;
    /// let judgement = explorer.judge(&formula, &plan, &mut atoms).unwrap();
    /// assert_eq!(judgement.answer, Answer::Holds);
    ///
    /// // But nobody has to fill it.
    /// let formula = parse("always (empty implies eventually {big == 5})").unwrap().formula;
    /// let judgement = explorer.judge(&formula, &plan, &mut atoms).unwrap();
    /// let Answer::Violated(run) = judgement.answer else { panic!() };
    /// assert_eq!((run.prefix.len(), run.lap.len()), (0, 2)); // fill the small jug, and empty it again
    /// ```
    pub fn judge(
        &mut self,
        formula: &Formula,
        plan: &Plan,
        atoms: &mut dyn Atoms<S>,
    ) -> Result<Judgement, Error> {
        if plan.matching == Some(Likeness::UpToRenaming) {
            let message = "temporal properties need states that are matched exactly";
            let help = "a circle up to renaming need not lead back to where it began";
            return Err(Error::new(message).with_help(help));
        }
        let vocabulary = Vocabulary::of(formula)?;
        let automaton = Automaton::of(&formula.clone().negated(), &vocabulary.atoms);
        let mut builder = Builder {
            caller: atoms,
            vocabulary,
            automaton: &automaton,
            graph: Graph::default(),
            look_at: 64,
            found: false,
            trouble: None,
        };
        let plan = Plan {
            order: Order::BreadthFirst,
            stop_at_goal: false,
            ..*plan
        };
        let exploration = self.explore(&plan, &mut builder)?;
        if let Some(error) = builder.trouble {
            return Err(error);
        }
        let Builder {
            caller,
            vocabulary,
            graph,
            found,
            ..
        } = builder;
        let product = Product {
            graph: &graph,
            automaton: &automaton,
        };
        let run = if found || product.has_run() {
            product.shortest_run()
        } else {
            None
        };
        let answer = match run {
            None if exploration.is_complete() => Answer::Holds,
            None => Answer::NothingFound(exploration.reach.clone()),
            Some(run) => {
                let shortener = Shortener {
                    explorer: self,
                    formula,
                    automaton: &automaton,
                    vocabulary,
                    caller,
                    plan: &plan,
                    progress: Progress {
                        steps: exploration.steps,
                        ..Progress::default()
                    },
                };
                Answer::Violated(shortener.shorten(rough(&run))?)
            }
        };
        Ok(Judgement {
            answer,
            exploration,
        })
    }
}

/// A run as tests. Where nothing can be done, nothing is.
fn rough(run: &Run) -> Counterexample {
    let actions = |edges: &[Edge]| Test::of(edges.iter().filter_map(|edge| edge.action));
    let stays = |edges: &[Edge]| edges.iter().any(|edge| edge.action.is_none());
    let ending = if stays(&run.prefix) || stays(&run.lap) {
        Ending::Deadlock
    } else if run.lap.is_empty() {
        Ending::Anything
    } else {
        Ending::Lap
    };
    Counterexample {
        prefix: actions(&run.prefix),
        lap: actions(&run.lap),
        ending,
        confirmed: false,
    }
}

/// The atoms of a formula, and which of them actions make true.
pub(super) struct Vocabulary {
    pub(super) atoms: Vec<Atom>,
    took: FxHashMap<ActionId, Letter>,
}

impl Vocabulary {
    fn of(formula: &Formula) -> Result<Vocabulary, Error> {
        let atoms = formula.atoms();
        if atoms.len() > MOST_ATOMS {
            let message = format!("the formula has more than {MOST_ATOMS} different atoms");
            return Err(Error::new(message));
        }
        Ok(Vocabulary {
            atoms,
            took: FxHashMap::default(),
        })
    }

    /// What holds in the system as it is now, apart from how it was reached.
    pub(super) fn state<S: ?Sized>(
        &self,
        system: &mut S,
        caller: &mut dyn Atoms<S>,
    ) -> Result<Letter, Error> {
        let mut letter = 0;
        for (bit, atom) in self.atoms.iter().enumerate() {
            if let Atom::Predicate(predicate) = atom
                && caller.holds(system, predicate)?
            {
                letter |= 1 << bit;
            }
        }
        Ok(letter)
    }

    /// What holds because an action was just taken.
    pub(super) fn step(&mut self, catalog: &Catalog, action: ActionId) -> Letter {
        let atoms = &self.atoms;
        *self.took.entry(action).or_insert_with(|| {
            if !atoms.iter().any(|atom| matches!(atom, Atom::Took(_))) {
                return 0;
            }
            let text = catalog.text(action);
            let bits = atoms.iter().enumerate().filter(|(_, atom)| match atom {
                Atom::Took(pattern) => is_like(pattern, &text),
                Atom::Predicate(_) => false,
            });
            bits.fold(0, |letter, (bit, _)| letter | 1 << bit)
        })
    }
}

/// Whether a text is what a pattern says, in which `*` stands for anything.
fn is_like(pattern: &str, text: &str) -> bool {
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

/// Writes the graph down while it is explored, and looks for a run now and then.
struct Builder<'a, S: ?Sized> {
    caller: &'a mut dyn Atoms<S>,
    vocabulary: Vocabulary,
    automaton: &'a Automaton,
    graph: Graph,
    /// With how many states to look for a run.
    look_at: usize,
    found: bool,
    trouble: Option<Error>,
}

impl<S: System + ?Sized> ExploreWatcher<S> for Builder<'_, S> {
    fn proceed(&mut self, progress: &Progress) -> bool {
        !self.found && self.trouble.is_none() && self.caller.proceed(progress)
    }

    fn allows(&mut self, system: &mut S, action: ActionId) -> bool {
        self.caller.allows(system, action)
    }

    fn entered(&mut self, system: &mut S, _state: StateId, _depth: usize) {
        let letter = self.vocabulary.state(system, self.caller);
        self.graph.add_state(letter.unwrap_or_else(|error| {
            self.trouble.get_or_insert(error);
            0
        }));
    }

    fn took(&mut self, system: &mut S, transition: &Transition) {
        if let Some(to) = transition.to {
            let took = self.vocabulary.step(system.actions(), transition.action);
            let edge = Edge {
                action: Some(transition.action),
                to: to.0 as u32,
                letter: self.graph.letters[to.0 as usize] | took,
            };
            self.graph.add_edge(transition.from.0 as u32, edge);
        }
    }

    fn finished(&mut self, state: StateId, actions: usize) {
        if actions == 0 {
            self.graph.stay(state.0 as u32);
        }
        if self.graph.len() >= self.look_at {
            self.look_at = self.graph.len() * 2;
            let product = Product {
                graph: &self.graph,
                automaton: self.automaton,
            };
            self.found = product.has_run();
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
        assert!(is_like("f(*)", "f(1, 2)") && is_like("*", "") && is_like("a*b*c", "a b b c"));
        assert!(!is_like("f(*)", "g(1)") && !is_like("ab*b", "ab") && !is_like("f", "f()"));
        assert!(is_like("x * 2", "x * 2"));
    }

    fn crossing(text: &str) -> Answer {
        let mut crossing = Crossing::default();
        let mut explorer = Explorer::of(&mut crossing).with_fingerprints();
        let plan = Plan {
            failures: crate::explore::Failures::All,
            ..Plan::default()
        };
        let mut green = |crossing: &mut Crossing, _: &str| Ok(crossing.is_green());
        let formula = parse(text).unwrap().formula;
        explorer.judge(&formula, &plan, &mut green).unwrap().answer
    }

    fn lengths(answer: Answer) -> (usize, usize, Ending) {
        let Answer::Violated(run) = answer else {
            panic!("{answer:?}")
        };
        assert!(run.confirmed);
        (run.prefix.len(), run.lap.len(), run.ending)
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
            assert_eq!(crossing(text), Answer::Holds, "{text}");
        }
        // Waiting for ever, at once.
        assert_eq!(
            lengths(crossing("eventually not green")),
            (0, 1, Ending::Lap)
        );
        assert_eq!(
            lengths(crossing("always eventually green")),
            (1, 1, Ending::Lap)
        );
        // Whatever follows the second switch.
        let twice = "always (took 'switch()' implies not green)";
        assert_eq!(lengths(crossing(twice)), (2, 0, Ending::Anything));
        assert_eq!(lengths(crossing("not green")), (0, 0, Ending::Anything));
        let both = "not ((always eventually green) and always eventually not green)";
        assert_eq!(lengths(crossing(both)), (0, 2, Ending::Lap));
        let steady = "eventually always (took 'wait()' or took 'go()')";
        assert_eq!(lengths(crossing(steady)), (0, 2, Ending::Lap));
    }

    #[test]
    fn a_deadlock_lasts_for_ever() {
        struct OnlyFilling;
        impl Atoms<Jugs> for OnlyFilling {
            fn holds(&mut self, jugs: &mut Jugs, _predicate: &str) -> Result<bool, Error> {
                Ok(jugs.litres() == [3, 5])
            }
            fn allows(&mut self, jugs: &mut Jugs, action: ActionId) -> bool {
                jugs.actions().text(action).starts_with("fill")
            }
        }
        let mut jugs = Jugs::default();
        let mut explorer = Explorer::of(&mut jugs).with_fingerprints();
        let mut judge = |text: &str| {
            let formula = parse(text).unwrap().formula;
            let judgement = explorer.judge(&formula, &Plan::default(), &mut OnlyFilling);
            judgement.unwrap().answer
        };
        assert_eq!(judge("eventually always full"), Answer::Holds);
        assert_eq!(judge("eventually always not took 'fill(*)'"), Answer::Holds);
        let answer = judge("always eventually took 'fill(*)'");
        assert_eq!(lengths(answer), (2, 0, Ending::Deadlock));
    }

    #[test]
    fn what_is_not_explored_is_not_judged() {
        let mut counters = Counters::new(100);
        let mut explorer = Explorer::of(&mut counters)
            .with_copies()
            .with_fingerprints();
        let plan = Plan {
            most_states: Some(50),
            ..Plan::default()
        };
        let formula = parse("always not took 'counter1.add(int2)'")
            .unwrap()
            .formula;
        let mut none = |_: &mut Counters, _: &str| Ok(false);
        let judgement = explorer.judge(&formula, &plan, &mut none).unwrap();
        assert!(matches!(
            judgement.answer,
            Answer::NothingFound(Reach::Partial { .. })
        ));
        // The states' edges count too where memory is limited.
        let plan = Plan {
            most_bytes: Some(20_000),
            ..Plan::default()
        };
        let judgement = explorer.judge(&formula, &plan, &mut none).unwrap();
        let alone = explorer.explore(&plan, &mut ()).unwrap();
        assert!(judgement.exploration.states * 2 < alone.states);
        assert!(judgement.exploration.bytes < 40_000);
        // A prefix that cannot be mended is found in a tree of tests, too.
        let plan = Plan::small_scope(3);
        let judgement = explorer.judge(&formula, &plan, &mut none).unwrap();
        assert_eq!(lengths(judgement.answer), (3, 0, Ending::Anything));
        let formula = parse("eventually took 'counter1.read()'").unwrap().formula;
        let judgement = explorer.judge(&formula, &plan, &mut none).unwrap();
        assert_eq!(judgement.answer, Answer::NothingFound(Reach::Length(3)));
    }

    #[test]
    fn an_early_counterexample_ends_the_exploration() {
        let mut safe = Safe::new(9, &[1; 5_000]);
        let mut explorer = Explorer::of(&mut safe).with_fingerprints();
        let formula = parse("eventually opened").unwrap().formula;
        let mut never = |_: &mut Safe, _: &str| Ok(false);
        let judgement = explorer
            .judge(&formula, &Plan::default(), &mut never)
            .unwrap();
        assert_eq!(lengths(judgement.answer), (0, 1, Ending::Lap));
        assert!(judgement.exploration.states < 100);
    }

    #[test]
    fn trouble_is_passed_on() {
        let mut jugs = Jugs::default();
        let mut explorer = Explorer::of(&mut jugs).with_fingerprints();
        let formula = parse("always {x +}").unwrap().formula;
        let mut broken = |_: &mut Jugs, text: &str| Err(Error::new(format!("no `{text}`")));
        let error = explorer.judge(&formula, &Plan::default(), &mut broken);
        assert_eq!(error.unwrap_err().message, "no `x +`");
        let plan = Plan {
            matching: Some(Likeness::UpToRenaming),
            ..Plan::default()
        };
        let error = explorer.judge(&formula, &plan, &mut broken).unwrap_err();
        assert!(error.message.contains("matched exactly"));
        let many: Vec<String> = (0..70).map(|number| format!("p{number}")).collect();
        let formula = parse(&many.join(" and ")).unwrap().formula;
        let error = explorer.judge(&formula, &Plan::default(), &mut broken);
        assert!(error.unwrap_err().message.contains("more than 64"));
    }
}
