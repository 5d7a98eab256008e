//! What a formula means on a run that goes round in circles, word for word.

use super::formula::{Atom, Formula};

/// Whether a formula holds on a run of `length` states in which the state `lap` follows the last one again.
///
/// `holds` says whether an atom does, in a state given by its place. This is the definition of each operator, without
/// any automaton, so it can check what automata come to.
///
/// ```
/// use testwright_core::explore::temporal::{holds_on, parse};
///
/// // Red, then green and yellow in turns, for ever.
/// let lights = ["red", "green", "yellow"];
/// let holds = |text: &str| {
///     let formula = parse(text).unwrap().formula;
///     holds_on(&formula, 3, 1, &mut |place, atom| atom.to_string() == lights[place])
/// };
/// assert!(holds("red and next always not red"));
/// assert!(holds("always eventually green"));
/// assert!(!holds("eventually always green"));
/// ```
pub fn holds_on(
    formula: &Formula,
    length: usize,
    lap: usize,
    holds: &mut dyn FnMut(usize, &Atom) -> bool,
) -> bool {
    let truth = truth(formula, length, lap, holds);
    truth.first().copied().unwrap_or(true)
}

/// In which states of the run a formula holds.
fn truth(
    formula: &Formula,
    length: usize,
    lap: usize,
    holds: &mut dyn FnMut(usize, &Atom) -> bool,
) -> Vec<bool> {
    let mut of = |formula: &Formula| truth(formula, length, lap, holds);
    let after = |place: usize| if place + 1 < length { place + 1 } else { lap };
    // What holds at a place depends on what holds at the next; where the run closes, on an assumption that the second
    // time round is confirmed or corrected.
    let settle = |assumed: bool, step: &dyn Fn(usize, bool) -> bool| {
        let mut truth = vec![assumed; length];
        for _ in 0..2 {
            for place in (0..length).rev() {
                truth[place] = step(place, truth[after(place)]);
            }
        }
        truth
    };
    let each = |truth: &dyn Fn(usize) -> bool| (0..length).map(truth).collect();
    match formula {
        Formula::True => vec![true; length],
        Formula::False => vec![false; length],
        Formula::Atom(atom) => (0..length).map(|place| holds(place, atom)).collect(),
        Formula::Not(one) => {
            let one = of(one);
            each(&|place| !one[place])
        }
        Formula::Next(one) => {
            let one = of(one);
            each(&|place| one[after(place)])
        }
        Formula::Always(one) => {
            let one = of(one);
            settle(true, &|place, next| one[place] && next)
        }
        Formula::Eventually(one) => {
            let one = of(one);
            settle(false, &|place, next| one[place] || next)
        }
        Formula::And(left, right) => {
            let (left, right) = (of(left), of(right));
            each(&|place| left[place] && right[place])
        }
        Formula::Or(left, right) => {
            let (left, right) = (of(left), of(right));
            each(&|place| left[place] || right[place])
        }
        Formula::Implies(left, right) => {
            let (left, right) = (of(left), of(right));
            each(&|place| !left[place] || right[place])
        }
        Formula::Until(left, right) => {
            let (left, right) = (of(left), of(right));
            settle(false, &|place, next| right[place] || left[place] && next)
        }
        Formula::WeakUntil(left, right) => {
            let (left, right) = (of(left), of(right));
            settle(true, &|place, next| right[place] || left[place] && next)
        }
        Formula::Release(left, right) => {
            let (left, right) = (of(left), of(right));
            settle(true, &|place, next| right[place] && (left[place] || next))
        }
    }
}
