//! Translation of a formula to a Büchi automaton that accepts exactly the runs on which it holds.
//!
//! This is the tableau of Gerth, Peled, Vardi and Wolper, "Simple on-the-fly automatic verification
//! of linear temporal logic" (1995), with their names: a node has obligations that are *new*, those
//! that are *old*, met in this state, and those for the *next* state. Each `until` requires that
//! its promise is kept infinitely often, which gives one set of good nodes each; a counter combines
//! the sets into one (degeneralization).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::formula::{Atom, Formula};

/// The atoms that hold: one bit each, in the order of [`Formula::atoms`].
pub(super) type Letter = u64;

/// The maximum number of atoms in a formula.
pub(super) const MAX_ATOMS: usize = Letter::BITS as usize;

/// A state of the automaton. A run is in it while it reads a letter that agrees with it.
#[derive(Clone, Debug)]
pub(super) struct AutomatonNode {
    /// Atoms that must hold.
    positive: Letter,
    /// Atoms that must not hold.
    negative: Letter,
    /// The nodes that may follow.
    pub(super) next: Vec<u32>,
    /// True if a run that visits this node infinitely often is accepted.
    pub(super) accepting: bool,
    /// True if there are no obligations left: every continuation is accepted.
    pub(super) accepts_everything: bool,
}

impl AutomatonNode {
    /// Returns true if a letter satisfies the literals of this node.
    pub(super) fn agrees(&self, letter: Letter) -> bool {
        self.positive & !letter == 0 && self.negative & letter == 0
    }
}

/// A Büchi automaton.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    pub(super) nodes: Vec<AutomatonNode>,
    /// The nodes in which runs begin.
    pub(super) initial: Vec<u32>,
}

/// A formula in negation normal form: `not` only before atoms. Its operands are numbers of
/// subformulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Subformula {
    True,
    False,
    Literal { atom: usize, positive: bool },
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    Until(usize, usize),
    Release(usize, usize),
}

/// All subformulas of a formula, each once.
#[derive(Default)]
struct Subformulas {
    list: Vec<Subformula>,
    numbers: FxHashMap<Subformula, usize>,
}

impl Subformulas {
    /// Returns the number of a subformula, which may be new. Trivial cases are simplified.
    fn number(&mut self, subformula: Subformula) -> usize {
        // Simplification keeps the tableau small.
        let simpler = match subformula {
            Subformula::And(left, right) if left == right => Some(left),
            Subformula::Or(left, right) if left == right => Some(left),
            Subformula::And(one, other) | Subformula::Or(one, other) => {
                let (neutral, absorbing) = match subformula {
                    Subformula::And(..) => (Subformula::True, Subformula::False),
                    _ => (Subformula::False, Subformula::True),
                };
                let is = |number: usize, subformula: Subformula| self.list[number] == subformula;
                if is(one, absorbing) || is(other, neutral) {
                    Some(one)
                } else if is(other, absorbing) || is(one, neutral) {
                    Some(other)
                } else {
                    None
                }
            }
            Subformula::Until(_, right) | Subformula::Release(_, right)
                if matches!(self.list[right], Subformula::True | Subformula::False) =>
            {
                Some(right)
            }
            _ => None,
        };
        if let Some(number) = simpler {
            return number;
        }
        *self.numbers.entry(subformula).or_insert_with(|| {
            self.list.push(subformula);
            self.list.len() - 1
        })
    }

    /// Returns the number of a formula, or of its negation.
    fn add_formula(&mut self, formula: &Formula, positive: bool, atoms: &[Atom]) -> usize {
        let mut of = |formula: &Formula, positive| self.add_formula(formula, positive, atoms);
        let subformula = match (formula, positive) {
            (Formula::True, true) | (Formula::False, false) => Subformula::True,
            (Formula::True, false) | (Formula::False, true) => Subformula::False,
            (Formula::Atom(atom), positive) => {
                let atom = atoms.iter().position(|other| other == atom).unwrap_or(0);
                Subformula::Literal { atom, positive }
            }
            (Formula::Not(one), positive) => return of(one, !positive),
            (Formula::Next(one), positive) => Subformula::Next(of(one, positive)),
            (Formula::Always(one), true) | (Formula::Eventually(one), false) => {
                let one = of(one, positive);
                Subformula::Release(self.number(Subformula::False), one)
            }
            (Formula::Always(one), false) | (Formula::Eventually(one), true) => {
                let one = of(one, positive);
                Subformula::Until(self.number(Subformula::True), one)
            }
            (Formula::And(left, right), true) | (Formula::Or(left, right), false) => {
                Subformula::And(of(left, positive), of(right, positive))
            }
            (Formula::And(left, right), false) | (Formula::Or(left, right), true) => {
                Subformula::Or(of(left, positive), of(right, positive))
            }
            (Formula::Implies(left, right), true) => {
                Subformula::Or(of(left, false), of(right, true))
            }
            (Formula::Implies(left, right), false) => {
                Subformula::And(of(left, true), of(right, false))
            }
            (Formula::Until(left, right), true) | (Formula::Release(left, right), false) => {
                Subformula::Until(of(left, positive), of(right, positive))
            }
            (Formula::Until(left, right), false) | (Formula::Release(left, right), true) => {
                Subformula::Release(of(left, positive), of(right, positive))
            }
            // `p weak until q` is `q release (p or q)`.
            (Formula::WeakUntil(left, right), true) => {
                let (left, right) = (of(left, true), of(right, true));
                Subformula::Release(right, self.number(Subformula::Or(left, right)))
            }
            (Formula::WeakUntil(left, right), false) => {
                let (left, right) = (of(left, false), of(right, false));
                Subformula::Until(right, self.number(Subformula::And(left, right)))
            }
        };
        self.number(subformula)
    }
}

type SubformulaSet = BTreeSet<usize>;

/// A finished node of the tableau. Only its predecessors may still be added.
struct ClosedNode {
    old: SubformulaSet,
    next: SubformulaSet,
    incoming: BTreeSet<usize>,
}

/// A node of the tableau under construction.
#[derive(Clone)]
struct OpenNode {
    incoming: BTreeSet<usize>,
    new: Vec<usize>,
    old: SubformulaSet,
    next: SubformulaSet,
}

/// The pseudo-node in `incoming` that marks the beginning of a run.
const BEGINNING: usize = usize::MAX;

/// The tableau of a formula.
struct Tableau {
    subformulas: Subformulas,
    closed: Vec<ClosedNode>,
    numbers: FxHashMap<(SubformulaSet, SubformulaSet), usize>,
}

impl Tableau {
    /// Expands a node and everything that follows from it.
    fn expand(&mut self, start: OpenNode) {
        let mut waiting = vec![start];
        while let Some(mut node) = waiting.pop() {
            let Some(number) = node.new.pop() else {
                self.close_node(node, &mut waiting);
                continue;
            };
            if node.old.contains(&number) {
                waiting.push(node);
                continue;
            }
            let subformula = self.subformulas.list[number];
            match subformula {
                Subformula::False => continue,
                Subformula::Literal { atom, positive } => {
                    let positive = !positive;
                    let opposite = self
                        .subformulas
                        .numbers
                        .get(&Subformula::Literal { atom, positive });
                    if opposite.is_some_and(|opposite| node.old.contains(opposite)) {
                        continue;
                    }
                }
                _ => {}
            }
            node.old.insert(number);
            match subformula {
                Subformula::True | Subformula::False | Subformula::Literal { .. } => {}
                Subformula::And(left, right) => node.new.extend([left, right]),
                Subformula::Next(one) => {
                    node.next.insert(one);
                }
                Subformula::Or(left, right) => {
                    let mut other = node.clone();
                    other.new.push(right);
                    node.new.push(left);
                    waiting.push(other);
                }
                Subformula::Until(left, right) => {
                    let mut later = node.clone();
                    later.new.push(left);
                    later.next.insert(number);
                    node.new.push(right);
                    waiting.push(later);
                }
                Subformula::Release(left, right) => {
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

    /// Turns a node whose obligations are all met or postponed into a node of the automaton, or
    /// merges it into an equal one.
    fn close_node(&mut self, node: OpenNode, waiting: &mut Vec<OpenNode>) {
        let key = (node.old, node.next);
        if let Some(number) = self.numbers.get(&key) {
            self.closed[*number].incoming.extend(node.incoming);
            return;
        }
        let number = self.closed.len();
        waiting.push(OpenNode {
            incoming: BTreeSet::from([number]),
            new: key.1.iter().copied().collect(),
            old: SubformulaSet::new(),
            next: SubformulaSet::new(),
        });
        self.numbers.insert(key.clone(), number);
        let (old, next) = key;
        self.closed.push(ClosedNode {
            old,
            next,
            incoming: node.incoming,
        });
    }
}

impl Automaton {
    /// Builds the automaton of a formula with these atoms.
    pub(super) fn from_formula(formula: &Formula, atoms: &[Atom]) -> Automaton {
        let mut subformulas = Subformulas::default();
        let root = subformulas.add_formula(formula, true, atoms);
        let mut tableau = Tableau {
            subformulas,
            closed: Vec::new(),
            numbers: FxHashMap::default(),
        };
        tableau.expand(OpenNode {
            incoming: BTreeSet::from([BEGINNING]),
            new: vec![root],
            old: SubformulaSet::new(),
            next: SubformulaSet::new(),
        });
        tableau.degeneralise()
    }
}

impl Tableau {
    /// Builds one copy of the nodes for each `until`. A run leaves copy i when it keeps promise i.
    /// A run that leaves all copies infinitely often keeps all promises.
    fn degeneralise(&self) -> Automaton {
        let promises: Vec<(usize, usize)> = (0..self.subformulas.list.len())
            .filter_map(|number| match self.subformulas.list[number] {
                Subformula::Until(_, right) => Some((number, right)),
                _ => None,
            })
            // A subformula that simplification left behind is in no node, and promises nothing.
            .filter(|(until, _)| self.closed.iter().any(|node| node.old.contains(until)))
            .collect();
        let copies = promises.len().max(1);
        let count = self.closed.len();
        let keeps = |node: &ClosedNode, copy: usize| {
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
                nodes.push(AutomatonNode {
                    positive,
                    negative,
                    next: next.map(|to| (following * count + to) as u32).collect(),
                    accepting: copy == 0 && kept,
                    accepts_everything: node.next.is_empty(),
                });
            }
        }
        Automaton { nodes, initial }
    }

    /// Returns the atoms that must hold in a node, and those that must not.
    fn literals(&self, node: &ClosedNode) -> (Letter, Letter) {
        let mut literals = (0, 0);
        for number in &node.old {
            match self.subformulas.list[*number] {
                Subformula::Literal { atom, positive } if positive => literals.0 |= 1 << atom,
                Subformula::Literal { atom, .. } => literals.1 |= 1 << atom,
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
            Automaton::from_formula(&formula, &formula.atoms())
                .nodes
                .len()
        };
        assert_eq!(size("true"), 1 + 1);
        assert_eq!(size("always p"), 1);
        assert_eq!(size("eventually p"), 3);
        assert_eq!(size("false"), 0);
        assert!(size("not always (p implies eventually q)") <= 10);
    }
}
