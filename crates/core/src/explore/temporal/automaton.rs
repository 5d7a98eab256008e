//! From a formula to a Büchi automaton that accepts exactly the runs on which it holds.
//!
//! This is the tableau of Gerth, Peled, Vardi and Wolper, "Simple on-the-fly automatic verification of linear temporal
//! logic" (1995), with their names: a node has obligations that are still *new*, those that were *old*, met in this
//! state, and those for the *next*. Each `until` asks that its promise is kept again and again, which makes one set of
//! good nodes each; a counter turns the sets into one (degeneralisation).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::formula::{Atom, Formula};

/// Which atoms hold: one bit each, in the order of [`Formula::atoms`].
pub(super) type Letter = u64;

/// How many atoms a formula may have.
pub(super) const MOST_ATOMS: usize = Letter::BITS as usize;

/// A state of the automaton. A run is in it while it reads a letter that agrees.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Atoms that must hold.
    positive: Letter,
    /// Atoms that must not.
    negative: Letter,
    pub(super) next: Vec<u32>,
    /// A run that is here again and again is accepted.
    pub(super) accepting: bool,
    /// Nothing is asked any more: whatever comes is accepted.
    pub(super) done: bool,
}

impl Node {
    pub(super) fn agrees(&self, letter: Letter) -> bool {
        self.positive & !letter == 0 && self.negative & letter == 0
    }
}

/// A Büchi automaton.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    pub(super) nodes: Vec<Node>,
    /// Where runs begin.
    pub(super) initial: Vec<u32>,
}

/// A formula without `not`, except at atoms, whose parts are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    True,
    False,
    Literal { atom: usize, positive: bool },
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    Until(usize, usize),
    Release(usize, usize),
}

/// All parts of a formula, each once.
#[derive(Default)]
struct Parts {
    list: Vec<Part>,
    numbers: FxHashMap<Part, usize>,
}

impl Parts {
    fn number(&mut self, part: Part) -> usize {
        // A little arithmetic keeps the tableau small.
        let simpler = match part {
            Part::And(left, right) if left == right => Some(left),
            Part::Or(left, right) if left == right => Some(left),
            Part::And(one, other) | Part::Or(one, other) => {
                let (neutral, absorbing) = match part {
                    Part::And(..) => (Part::True, Part::False),
                    _ => (Part::False, Part::True),
                };
                let is = |number: usize, part: Part| self.list[number] == part;
                if is(one, absorbing) || is(other, neutral) {
                    Some(one)
                } else if is(other, absorbing) || is(one, neutral) {
                    Some(other)
                } else {
                    None
                }
            }
            Part::Until(_, right) | Part::Release(_, right)
                if matches!(self.list[right], Part::True | Part::False) =>
            {
                Some(right)
            }
            _ => None,
        };
        if let Some(number) = simpler {
            return number;
        }
        *self.numbers.entry(part).or_insert_with(|| {
            self.list.push(part);
            self.list.len() - 1
        })
    }

    /// The part for a formula, or for its negation.
    fn of(&mut self, formula: &Formula, positive: bool, atoms: &[Atom]) -> usize {
        let mut of = |formula: &Formula, positive| self.of(formula, positive, atoms);
        let part = match (formula, positive) {
            (Formula::True, true) | (Formula::False, false) => Part::True,
            (Formula::True, false) | (Formula::False, true) => Part::False,
            (Formula::Atom(atom), positive) => {
                let atom = atoms.iter().position(|other| other == atom).unwrap_or(0);
                Part::Literal { atom, positive }
            }
            (Formula::Not(one), positive) => return of(one, !positive),
            (Formula::Next(one), positive) => Part::Next(of(one, positive)),
            (Formula::Always(one), true) | (Formula::Eventually(one), false) => {
                let one = of(one, positive);
                Part::Release(self.number(Part::False), one)
            }
            (Formula::Always(one), false) | (Formula::Eventually(one), true) => {
                let one = of(one, positive);
                Part::Until(self.number(Part::True), one)
            }
            (Formula::And(left, right), true) | (Formula::Or(left, right), false) => {
                Part::And(of(left, positive), of(right, positive))
            }
            (Formula::And(left, right), false) | (Formula::Or(left, right), true) => {
                Part::Or(of(left, positive), of(right, positive))
            }
            (Formula::Implies(left, right), true) => Part::Or(of(left, false), of(right, true)),
            (Formula::Implies(left, right), false) => Part::And(of(left, true), of(right, false)),
            (Formula::Until(left, right), true) | (Formula::Release(left, right), false) => {
                Part::Until(of(left, positive), of(right, positive))
            }
            (Formula::Until(left, right), false) | (Formula::Release(left, right), true) => {
                Part::Release(of(left, positive), of(right, positive))
            }
            // `p weak until q` is `q release (p or q)`.
            (Formula::WeakUntil(left, right), true) => {
                let (left, right) = (of(left, true), of(right, true));
                Part::Release(right, self.number(Part::Or(left, right)))
            }
            (Formula::WeakUntil(left, right), false) => {
                let (left, right) = (of(left, false), of(right, false));
                Part::Until(right, self.number(Part::And(left, right)))
            }
        };
        self.number(part)
    }
}

type Set = BTreeSet<usize>;

/// A node of the tableau that is done but for those before it.
struct Closed {
    old: Set,
    next: Set,
    incoming: BTreeSet<usize>,
}

/// A node of the tableau in the making.
#[derive(Clone)]
struct Growing {
    incoming: BTreeSet<usize>,
    new: Vec<usize>,
    old: Set,
    next: Set,
}

/// Stands in `incoming` for the beginning of a run.
const BEGINNING: usize = usize::MAX;

struct Tableau {
    parts: Parts,
    closed: Vec<Closed>,
    numbers: FxHashMap<(Set, Set), usize>,
}

impl Tableau {
    fn grow(&mut self, start: Growing) {
        let mut waiting = vec![start];
        while let Some(mut node) = waiting.pop() {
            let Some(number) = node.new.pop() else {
                self.close(node, &mut waiting);
                continue;
            };
            if node.old.contains(&number) {
                waiting.push(node);
                continue;
            }
            let part = self.parts.list[number];
            match part {
                Part::False => continue,
                Part::Literal { atom, positive } => {
                    let positive = !positive;
                    let opposite = self.parts.numbers.get(&Part::Literal { atom, positive });
                    if opposite.is_some_and(|opposite| node.old.contains(opposite)) {
                        continue;
                    }
                }
                _ => {}
            }
            node.old.insert(number);
            match part {
                Part::True | Part::False | Part::Literal { .. } => {}
                Part::And(left, right) => node.new.extend([left, right]),
                Part::Next(one) => {
                    node.next.insert(one);
                }
                Part::Or(left, right) => {
                    let mut other = node.clone();
                    other.new.push(right);
                    node.new.push(left);
                    waiting.push(other);
                }
                Part::Until(left, right) => {
                    let mut later = node.clone();
                    later.new.push(left);
                    later.next.insert(number);
                    node.new.push(right);
                    waiting.push(later);
                }
                Part::Release(left, right) => {
                    let mut later = node.clone();
                    later.new.push(right);
                    later.next.insert(number);
                    node.new.extend([left, right]);
                    waiting.push(later);
                }
            }
            waiting.push(node);
        }
    }

    /// All obligations of a node are met or put off: it is a node of the automaton, maybe one that is there.
    fn close(&mut self, node: Growing, waiting: &mut Vec<Growing>) {
        let key = (node.old, node.next);
        if let Some(number) = self.numbers.get(&key) {
            self.closed[*number].incoming.extend(node.incoming);
            return;
        }
        let number = self.closed.len();
        waiting.push(Growing {
            incoming: BTreeSet::from([number]),
            new: key.1.iter().copied().collect(),
            old: Set::new(),
            next: Set::new(),
        });
        self.numbers.insert(key.clone(), number);
        let (old, next) = key;
        self.closed.push(Closed {
            old,
            next,
            incoming: node.incoming,
        });
    }
}

impl Automaton {
    /// The automaton of a formula with these atoms.
    pub(super) fn of(formula: &Formula, atoms: &[Atom]) -> Automaton {
        let mut parts = Parts::default();
        let root = parts.of(formula, true, atoms);
        let mut tableau = Tableau {
            parts,
            closed: Vec::new(),
            numbers: FxHashMap::default(),
        };
        tableau.grow(Growing {
            incoming: BTreeSet::from([BEGINNING]),
            new: vec![root],
            old: Set::new(),
            next: Set::new(),
        });
        tableau.degeneralise()
    }
}

impl Tableau {
    /// One copy of the nodes for each `until`. A run leaves copy i when it keeps the promise i, and one that leaves
    /// all copies again and again keeps all of them.
    fn degeneralise(&self) -> Automaton {
        let promises: Vec<(usize, usize)> = (0..self.parts.list.len())
            .filter_map(|number| match self.parts.list[number] {
                Part::Until(_, right) => Some((number, right)),
                _ => None,
            })
            // A part that simplification left behind is in no node, and promises nothing.
            .filter(|(until, _)| self.closed.iter().any(|node| node.old.contains(until)))
            .collect();
        let copies = promises.len().max(1);
        let count = self.closed.len();
        let keeps = |node: &Closed, copy: usize| {
            promises
                .get(copy)
                .is_none_or(|(until, right)| !node.old.contains(until) || node.old.contains(right))
        };
        let mut after = vec![Vec::new(); count];
        let mut initial = Vec::new();
        for (number, node) in self.closed.iter().enumerate() {
            for before in &node.incoming {
                match *before {
                    BEGINNING => initial.push(number as u32),
                    before => after[before].push(number),
                }
            }
        }
        let mut nodes = Vec::with_capacity(count * copies);
        for copy in 0..copies {
            for (number, node) in self.closed.iter().enumerate() {
                let kept = keeps(node, copy);
                let following = if kept { (copy + 1) % copies } else { copy };
                let next = after[number].iter();
                let (positive, negative) = self.literals(node);
                nodes.push(Node {
                    positive,
                    negative,
                    next: next.map(|to| (following * count + to) as u32).collect(),
                    accepting: copy == 0 && kept,
                    done: node.next.is_empty(),
                });
            }
        }
        Automaton { nodes, initial }
    }

    fn literals(&self, node: &Closed) -> (Letter, Letter) {
        let mut literals = (0, 0);
        for number in &node.old {
            match self.parts.list[*number] {
                Part::Literal { atom, positive } if positive => literals.0 |= 1 << atom,
                Part::Literal { atom, .. } => literals.1 |= 1 << atom,
                _ => {}
            }
        }
        literals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_formulas_have_small_automata() {
        let size = |text: &str| {
            let formula: Formula = text.parse().unwrap();
            Automaton::of(&formula, &formula.atoms()).nodes.len()
        };
        assert_eq!(size("true"), 1 + 1);
        assert_eq!(size("always p"), 1);
        assert_eq!(size("eventually p"), 3);
        assert_eq!(size("false"), 0);
        assert!(size("not always (p implies eventually q)") <= 10);
    }
}
