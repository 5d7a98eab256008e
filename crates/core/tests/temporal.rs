//! Temporal properties of random machines, compared with the definition.

use crate::machine;

use machine::{Machine, machine_of};
use proptest::prelude::*;
use testwright_core::explore::temporal::{
    Atom, Counterexample, Formula, FormulaVerdict, RunEnding, holds_on_lasso, parse,
};
use testwright_core::explore::{ExploreOptions, Explorer};
use testwright_core::toys;
use testwright_core::{Equivalence, Step, Test};

// ---------------------------------------------------------------------------------------------- random machines

/// Generates a random graph whose states have two labels, `p` and `q`. Some states are dead ends.
fn any_machine() -> impl Strategy<Value = Machine> {
    let actions = toys::catalog(&[], &["go(<[0..1]>)"]);
    (1usize..4).prop_flat_map(move |states| machine_of(actions.clone(), states, 3, Just(None)))
}

/// A point of a run: the state, and the action that led there.
type RunPoint = (usize, Option<usize>);

impl Machine {
    fn holds(&self, (state, action): RunPoint, atom: &Atom) -> bool {
        match atom {
            Atom::Predicate(name) => self.labels[state][usize::from(name == "q")],
            Atom::Took(pattern) => match pattern.as_str() {
                "go(0)" => action == Some(0),
                _ => action.is_some(),
            },
        }
    }

    fn holds_on(&self, formula: &Formula, run: &[RunPoint], lap: usize) -> bool {
        let mut holds = |position: usize, atom: &Atom| self.holds(run[position], atom);
        holds_on_lasso(formula, run.len(), lap, &mut holds)
    }

    /// Returns the successors of a state; a dead end stays as it is.
    fn after(&self, state: usize) -> Vec<RunPoint> {
        let targets = self.next[state].iter().enumerate();
        let moves: Vec<RunPoint> = targets
            .filter_map(|(action, to)| to.map(|to| (to, Some(action))))
            .collect();
        if moves.is_empty() {
            vec![(state, None)]
        } else {
            moves
        }
    }

    /// Tries every lasso of up to this many points.
    fn some_run_violates(
        &self,
        formula: &Formula,
        run: &mut Vec<RunPoint>,
        max_points: usize,
    ) -> bool {
        let (state, _) = run[run.len() - 1];
        for next in self.after(state) {
            // The run closes if a point with this state and action occurred before.
            for lap in 0..run.len() {
                if run[lap] == next && !self.holds_on(formula, run, lap) {
                    return true;
                }
            }
            if run.len() < max_points {
                run.push(next);
                let found = self.some_run_violates(formula, run, max_points);
                run.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// Converts a counterexample to a run, with its steps checked; `None` if it ends in anything.
    fn run_of(&self, run: &Counterexample) -> Option<(Vec<RunPoint>, usize)> {
        let mut points = vec![(0, None)];
        let walk = |test: &Test, points: &mut Vec<RunPoint>| {
            for step in &test.steps {
                let Step::Act(action) = step else { panic!() };
                let (state, _) = points[points.len() - 1];
                let to = self.next[state][action.0 as usize].expect("enabled");
                points.push((to, Some(action.0 as usize)));
            }
        };
        walk(&run.prefix, &mut points);
        let lap = points.len();
        let (start, _) = points[lap - 1];
        match run.ending {
            RunEnding::Cycle => {
                walk(&run.cycle, &mut points);
                assert_eq!(points[points.len() - 1].0, start, "the lap leads back");
            }
            RunEnding::Deadlock => {
                assert!(self.next[start].iter().all(Option::is_none));
                points.push((start, None));
            }
            RunEnding::AnyContinuation => return None,
        }
        Some((points, lap))
    }

    /// Returns a run that begins with this test.
    fn some_run_after(&self, test: &Test, choices: &[usize]) -> (Vec<RunPoint>, usize) {
        let mut points = vec![(0, None)];
        for step in &test.steps {
            let Step::Act(action) = step else { panic!() };
            let (state, _) = points[points.len() - 1];
            let to = self.next[state][action.0 as usize].expect("enabled");
            points.push((to, Some(action.0 as usize)));
        }
        let beginning = points.len();
        loop {
            let position = points.len() - 1;
            let after = self.after(points[position].0);
            let next = after[choices[position % choices.len()] % after.len()];
            let known = (beginning..points.len()).find(|lap| points[*lap] == next);
            if let (Some(lap), true) = (known, position >= beginning + 3) {
                return (points, lap);
            }
            points.push(next);
        }
    }
}

// ---------------------------------------------------------------------------------------------- random formulas

fn predicate(name: &str) -> Formula {
    Formula::Atom(Atom::Predicate(name.to_owned()))
}

fn any_formula(atom: BoxedStrategy<Formula>, depth: u32, size: u32) -> BoxedStrategy<Formula> {
    atom.prop_recursive(depth, size, 2, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let two = (one.clone(), one.clone());
        prop_oneof![
            one.clone().prop_map(Formula::Not),
            one.clone().prop_map(Formula::Next),
            one.clone().prop_map(Formula::Always),
            one.prop_map(Formula::Eventually),
            two.clone()
                .prop_map(|(left, right)| Formula::And(left, right)),
            two.clone()
                .prop_map(|(left, right)| Formula::Or(left, right)),
            two.clone()
                .prop_map(|(left, right)| Formula::Implies(left, right)),
            two.clone()
                .prop_map(|(left, right)| Formula::Until(left, right)),
            two.clone()
                .prop_map(|(left, right)| Formula::WeakUntil(left, right)),
            two.prop_map(|(left, right)| Formula::Release(left, right)),
        ]
    })
    .boxed()
}

fn known_formula() -> BoxedStrategy<Formula> {
    let took = |pattern: &str| Formula::Atom(Atom::Took(pattern.to_owned()));
    let atoms = prop_oneof![
        4 => Just(predicate("p")),
        4 => Just(predicate("q")),
        1 => Just(took("go(0)")),
        1 => Just(took("*")),
        1 => Just(Formula::True),
        1 => Just(Formula::False),
    ];
    any_formula(atoms.boxed(), 4, 7)
}

fn written_formula() -> BoxedStrategy<Formula> {
    let text = prop_oneof![
        "[a-z{}<>\"' ]{1,6}",
        "[a-z`< ]{1,6}",
        "[A-Z]",
        "until|took|weak"
    ];
    let predicate = text
        .prop_map(|text| text.trim().to_owned())
        .prop_filter("something must be there", |text| !text.is_empty())
        .prop_map(|text| Formula::Atom(Atom::Predicate(text)));
    let took = "[a-z\\\\\"'*(){} ]{0,6}".prop_map(|text| Formula::Atom(Atom::Took(text)));
    let atoms = prop_oneof![predicate, took, Just(Formula::True), Just(Formula::False)];
    any_formula(atoms.boxed(), 6, 20)
}

/// Evaluates a formula at a position of a run by the textbook definition, looking at every later
/// position.
fn by_definition(
    machine: &Machine,
    formula: &Formula,
    run: &[RunPoint],
    lap: usize,
    at: usize,
) -> bool {
    let after = |position: usize| {
        if position + 1 < run.len() {
            position + 1
        } else {
            lap
        }
    };
    // Everything that happens later happens within one more lap.
    let mut positions = vec![at];
    while positions.len() < 2 * run.len() {
        positions.push(after(positions[positions.len() - 1]));
    }
    let of = |formula: &Formula, at: usize| by_definition(machine, formula, run, lap, at);
    let until = |left: &Formula, right: &Formula| {
        (0..positions.len()).any(|end| {
            of(right, positions[end]) && positions[..end].iter().all(|position| of(left, *position))
        })
    };
    match formula {
        Formula::True => true,
        Formula::False => false,
        Formula::Atom(atom) => machine.holds(run[at], atom),
        Formula::Not(one) => !of(one, at),
        Formula::Next(one) => of(one, after(at)),
        Formula::Always(one) => positions.iter().all(|position| of(one, *position)),
        Formula::Eventually(one) => positions.iter().any(|position| of(one, *position)),
        Formula::And(left, right) => of(left, at) && of(right, at),
        Formula::Or(left, right) => of(left, at) || of(right, at),
        Formula::Implies(left, right) => !of(left, at) || of(right, at),
        Formula::Until(left, right) => until(left, right),
        Formula::WeakUntil(left, right) => {
            until(left, right) || positions.iter().all(|position| of(left, *position))
        }
        Formula::Release(left, right) => {
            let (left, right) = (left.clone().negated(), right.clone().negated());
            !until(&left, &right)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The automaton agrees with trying all short runs, and a counterexample is one.
    #[test]
    fn the_verdict_is_that_of_trying_everything(
        mut machine in any_machine(),
        formula in known_formula(),
        copies in any::<bool>(),
        choices in prop::collection::vec(0usize..2, 1..12),
    ) {
        let copy = machine.clone();
        let mut atoms = |machine: &mut Machine, name: &str| {
            Ok(machine.labels[machine.state][usize::from(name == "q")])
        };
        let explorer = Explorer::new(&mut machine).with_fingerprints();
        let plan = ExploreOptions::default();
        let judgement = if copies {
            explorer.with_snapshots().judge(&formula, &plan, &mut atoms)
        } else {
            { explorer }.judge(&formula, &plan, &mut atoms)
        };
        let brute = copy.some_run_violates(&formula, &mut vec![(0, None)], 7);
        match judgement.unwrap().verdict {
            FormulaVerdict::Holds => prop_assert!(!brute, "{formula} is violated, but said to hold"),
            FormulaVerdict::NothingFound(reach) => prop_assert!(false, "{reach}"),
            FormulaVerdict::Violated(run) => {
                prop_assert!(run.confirmed);
                match copy.run_of(&run) {
                    Some((points, lap)) => {
                        prop_assert!(!copy.holds_on(&formula, &points, lap), "{formula}: {run:?}");
                    }
                    None => {
                        let (points, lap) = copy.some_run_after(&run.prefix, &choices);
                        prop_assert!(!copy.holds_on(&formula, &points, lap), "{formula}: {run:?}");
                    }
                }
            }
        }
    }

    /// With a budget or a limit, no claim is false.
    #[test]
    fn bounded_verdicts_are_sound(
        mut machine in any_machine(),
        formula in known_formula(),
        depth in 0usize..4,
        matched in any::<bool>(),
    ) {
        let copy = machine.clone();
        let mut atoms = |machine: &mut Machine, name: &str| {
            Ok(machine.labels[machine.state][usize::from(name == "q")])
        };
        let plan = ExploreOptions {
            depth: Some(depth),
            matching: matched.then_some(Equivalence::Equal),
            ..ExploreOptions::default()
        };
        let judgement = Explorer::new(&mut machine).with_fingerprints().judge(&formula, &plan, &mut atoms);
        match judgement.unwrap().verdict {
            FormulaVerdict::Holds => prop_assert!(!copy.some_run_violates(&formula, &mut vec![(0, None)], 7)),
            FormulaVerdict::NothingFound(_) => {}
            FormulaVerdict::Violated(run) => {
                let (points, lap) = match copy.run_of(&run) {
                    Some(run) => run,
                    None => copy.some_run_after(&run.prefix, &[0, 1]),
                };
                prop_assert!(!copy.holds_on(&formula, &points, lap));
            }
        }
    }

    #[test]
    fn evaluation_is_the_definition(machine in any_machine(), formula in known_formula(), choices in prop::collection::vec(0usize..2, 1..8)) {
        let (run, lap) = machine.some_run_after(&Test::default(), &choices);
        let expected = by_definition(&machine, &formula, &run, lap, 0);
        prop_assert_eq!(machine.holds_on(&formula, &run, lap), expected, "{}", formula);
    }

    #[test]
    fn writing_then_reading_is_identity(formula in written_formula()) {
        let text = formula.to_string();
        let parsed = parse(&text);
        prop_assert_eq!(parsed.as_ref().map(|parsed| &parsed.formula), Ok(&formula), "{}", text);
        for (atom, range) in parsed.unwrap().atom_ranges {
            if let Atom::Predicate(predicate) = atom {
                prop_assert_eq!(&text[range], predicate);
            }
        }
    }

    #[test]
    fn any_text_may_be_read(text in "(always|until|weak|took|\"|'|\\{|\\}|`|\\(|\\)|!|\\[\\]|<>|->|&&|p|G|ä|\\\\| |\\PC)*") {
        match parse(&text) {
            Ok(parsed) => prop_assert_eq!(parse(&parsed.formula.to_string()).unwrap().formula, parsed.formula),
            Err(problem) => prop_assert!(text.get(problem.range).is_some()),
        }
    }
}
