//! The semantics of formulas on a run that ends in a cycle, by definition.

use super::formula::{Atom, Formula};

/// Returns true if a formula holds on a run of `length` states in which state `cycle_start` follows the
/// last one again.
///
/// `holds` evaluates an atom in the state at a position. This is the definition of each operator,
/// without any automaton, so it can check the results of automata.
///
/// ```
/// use testwright_core::explore::temporal::{holds_on_lasso, parse};
///
/// // Red, then green and yellow in turns, forever.
/// let lights = ["red", "green", "yellow"];
/// let holds = |text: &str| {
///     let formula = parse(text).unwrap().formula;
///     holds_on_lasso(&formula, 3, 1, &mut |position, atom| atom.to_string() == lights[position])
/// };
/// assert!(holds("red and next always not red"));
/// assert!(holds("always eventually green"));
/// assert!(!holds("eventually always green"));
/// ```
pub fn holds_on_lasso(
    formula: &Formula,
    length: usize,
    cycle_start: usize,
    holds: &mut dyn FnMut(usize, &Atom) -> bool,
) -> bool {
    let truth = truth_values(formula, length, cycle_start, holds);
    truth.first().copied().unwrap_or(true)
}

/// Returns, for each state of the run, whether a formula holds there.
fn truth_values(
    formula: &Formula,
    length: usize,
    cycle_start: usize,
    holds: &mut dyn FnMut(usize, &Atom) -> bool,
) -> Vec<bool> {
    let mut of = |formula: &Formula| truth_values(formula, length, cycle_start, holds);
    let after = |position: usize| {
        if position + 1 < length {
            position + 1
        } else {
            cycle_start
        }
    };
    // The truth at a position depends on the next one. Where the run closes, an assumption is made,
    // which the second round confirms or corrects.
    let settle = |assumed: bool, step: &dyn Fn(usize, bool) -> bool| {
        let mut truth = vec![assumed; length];
        for _ in 0..2 {
            for position in (0..length).rev() {
                truth[position] = step(position, truth[after(position)]);
            }
        }
        truth
    };
    let each = |truth: &dyn Fn(usize) -> bool| (0..length).map(truth).collect();
    match formula {
        Formula::True => vec![true; length],
        Formula::False => vec![false; length],
        Formula::Atom(atom) => (0..length).map(|position| holds(position, atom)).collect(),
        Formula::Not(one) => {
            let one = of(one);
            each(&|position| !one[position])
        }
        Formula::Next(one) => {
            let one = of(one);
            each(&|position| one[after(position)])
        }
        Formula::Always(one) => {
            let one = of(one);
            settle(true, &|position, next| one[position] && next)
        }
        Formula::Eventually(one) => {
            let one = of(one);
            settle(false, &|position, next| one[position] || next)
        }
        Formula::And(left, right) => {
            let (left, right) = (of(left), of(right));
            each(&|position| left[position] && right[position])
        }
        Formula::Or(left, right) => {
            let (left, right) = (of(left), of(right));
            each(&|position| left[position] || right[position])
        }
        Formula::Implies(left, right) => {
            let (left, right) = (of(left), of(right));
            each(&|position| !left[position] || right[position])
        }
        Formula::Until(left, right) => {
            let (left, right) = (of(left), of(right));
            settle(false, &|position, next| {
                right[position] || left[position] && next
            })
        }
        Formula::WeakUntil(left, right) => {
            let (left, right) = (of(left), of(right));
            settle(true, &|position, next| {
                right[position] || left[position] && next
            })
        }
        Formula::Release(left, right) => {
            let (left, right) = (of(left), of(right));
            settle(true, &|position, next| {
                right[position] && (left[position] || next)
            })
        }
    }
}
