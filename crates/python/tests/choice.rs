//! Picking an action: every enabled one is equally likely, and no condition is evaluated twice.

use crate::support;

use std::collections::BTreeMap;

use support::{Folder, enabled, step};
use testwright_core::{ActionId, Random, System, TemplateId, TemplateSet};
use testwright_python::PythonSystem;

/// Counts the evaluations of its guards. A guard may be false for some slots and true for others,
/// and that changes.
const GUARDED: &str = "\
<@
asked = []
def ask(*question):
    asked.append(question)
    return True
def even(number):
    return ask('even', number) and number % 2 == 0
@>
pool: <number> 6
pool: <list> 2
<number> := <[1..4]>
<list> := []
even(<number,1>) -> ~<list>.append(<number>)
even(len(<list,1>)) -> <list>.reverse()
len(<list,1>) > 2 -> <list>.clear()
*3 even(len(<list,1>)) -> ~<list>.count(<[1..50]>)
";

#[test]
fn guards_do_not_spoil_the_uniform_choice_whatever_the_state() {
    Folder::new(&[]).with(GUARDED, |system| {
        let mut random = Random::new(4);
        for round in 0..8 {
            let all = system.enabled();
            let weight = |action| {
                if system.actions().text(action).contains("count") {
                    3
                } else {
                    1
                }
            };
            let weights: BTreeMap<_, u32> = all
                .iter()
                .map(|action| (system.actions().first_copy(*action), weight(*action)))
                .collect();
            let total: u32 = weights.values().sum();
            let mut counts = BTreeMap::new();
            let draws = total * 400;
            for _ in 0..draws {
                let picked = system.pick(&mut random).expect("an enabled action");
                *counts.entry(picked).or_insert(0u32) += 1;
            }
            assert!(counts.keys().eq(weights.keys()), "in round {round}");
            for (picked, count) in counts {
                let expected = f64::from(weights[&picked] * 400);
                let off = (f64::from(count) - expected) / expected.sqrt();
                assert!(off.abs() < 5.0, "{}: {off}", system.actions().text(picked));
            }
            for _ in 0..round {
                let next = system.pick(&mut random).expect("an enabled action");
                system.step(next);
            }
        }
    });
}

#[test]
fn no_guard_is_asked_twice_for_one_choice() {
    let text = "\
<@
asked = []
def no(*question):
    asked.append(question)
    return False
@>
pool: <x> 3
init: <x> = object()
no('slot', <x,1>) -> print(<x>, <[1..1000]>)
no('both', <x,1>, <[1..20]>) -> print(<x>)
*100 no('copies') -> print('often')
no('nothing') -> print('once')
assert len(set(asked)) == len(asked)
asked.clear()
";
    Folder::new(&[]).with(text, |system| {
        let once = "assert len(set(asked)) == len(asked)";
        for seed in 0..20 {
            assert_eq!(step(system, "asked.clear()"), "passed");
            let mut random = Random::new(seed);
            let picked = system.pick(&mut random).expect("something is enabled");
            assert!(system.actions().text(picked).contains("asked"));
            assert_eq!(step(system, once), "passed");
        }
        assert_eq!(enabled(system).len(), 2);
    });
}

#[test]
fn a_deadlock_asks_each_guard_once() {
    let text = "\
<@
asked = [0]
def no(*question):
    asked[0] += 1
    return False
@>
pool: <x> 5
init: <x> = 0
log: 1 asked[0]
no(<x,1>, <[1..2000]>) -> print(<x>)
";
    let options = testwright_python::Options {
        log_level: Some(1),
        ..testwright_python::Options::default()
    };
    Folder::new(&[]).with_options(text, &options, |system| {
        assert_eq!(system.pick(&mut Random::new(1)), None);
        system.step(ActionId(0));
        let said = system.take_log().join("\n");
        assert!(said.ends_with("] 10000"), "{said}");
    });
}

#[test]
fn values_held_by_an_expected_exception_are_released() {
    let text = "\
@import weakref, gc
<@
class Thing:
    pass
things = []
def fail():
    thing = Thing()
    things.append(weakref.ref(thing))
    raise KeyError(3)
@>
{KeyError} fail()
gc.disable()
property: all(thing() is None for thing in things)
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(step(system, "gc.disable()"), "passed");
        assert_eq!(step(system, "fail()"), "expected KeyError: 3");
        assert_eq!(support::check(system), "passed");
    });
}

/// Draws among some templates and compares the results with the enabled actions of these templates.
fn check_among(system: &mut PythonSystem<'_>, set: &TemplateSet, random: &mut Random) {
    let mut weights: BTreeMap<ActionId, u32> = BTreeMap::new();
    for action in system.enabled() {
        if set.contains(system.actions().template_of(action)) {
            // Copies are one action, drawn more often.
            let first = system.actions().first_copy(action);
            *weights.entry(first).or_default() += 1;
        }
    }
    let total: u32 = weights.values().sum();
    let mut counts = BTreeMap::new();
    for _ in 0..total * 200 {
        let picked = system.pick_among(set, random).expect("an enabled action");
        *counts.entry(picked).or_insert(0u32) += 1;
    }
    assert!(counts.keys().eq(weights.keys()));
    for (picked, count) in counts {
        let expected = f64::from(weights[&picked] * 200);
        let off = (f64::from(count) - expected) / expected.sqrt();
        assert!(off.abs() < 5.5, "{}: {off}", system.actions().text(picked));
    }
    if total == 0 {
        assert_eq!(system.pick_among(set, random), None);
    }
}

#[test]
fn a_choice_among_some_lines_is_uniform_whatever_was_asked_before() {
    // Many lines of few kinds, besides the guarded ones.
    let lines = (0..30).map(|number| match number % 3 {
        0 => format!("<number> := {number}\n"),
        1 => format!("~<list>.count({number})\n"),
        _ => format!("even(<number,1> + {number}) -> print(<number>)\n"),
    });
    let text: String = [GUARDED.to_owned()].into_iter().chain(lines).collect();
    Folder::new(&[]).with(&text, |system| {
        let mut random = Random::new(9);
        let count = system.actions().templates().len();
        let all = || (0..count).map(TemplateId);
        for round in 0..5 {
            let half: TemplateSet = all().filter(|_| random.below(2) == 0).collect();
            let few: TemplateSet = all().filter(|_| random.below(12) == 0).collect();
            let one: TemplateSet = [TemplateId(random.below(count as u64) as usize)]
                .into_iter()
                .collect();
            let mut bigger = half.clone();
            bigger.insert(TemplateId(round));
            for set in [
                &half,
                &few,
                &half,
                &one,
                &bigger,
                &TemplateSet::default(),
                &all().collect(),
            ] {
                check_among(system, set, &mut random);
            }
            for _ in 0..3 * round {
                // The weights of a set are kept while slots change, and updated when the set is
                // selected.
                let next = system
                    .pick_among(&half, &mut random)
                    .or_else(|| system.pick(&mut random));
                system.step(next.expect("an enabled action"));
                system.pick_among(&one, &mut random);
            }
            check_among(system, &half, &mut random);
        }
    });
}
