//! Fingerprints: the states that have equal ones.

use crate::support;

use support::{Folder, step};
use testwright_core::{Equivalence, Fingerprint, Snapshot, System};
use testwright_python::PythonSystem;

const HARNESS: &str = "\
<@
import collections, decimal, fractions, datetime, re, threading
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y
class Slotted:
    __slots__ = ('x',)
    def __init__(self, x):
        self.x = x
class Chain(list):
    pass
def cyclic():
    own = [1]
    own.append(own)
    return own
def deep():
    chain = None
    for _ in range(5000):
        chain = [chain]
    return chain
def chain(*items):
    it = Chain(items)
    it.note = len(items)
    return it
@>
pool: <a> 2
";

/// Returns the fingerprint after both slots were given a value.
fn of(values: [&str; 2], likeness: Equivalence) -> Result<u128, String> {
    let lines: String = values
        .iter()
        .map(|value| format!("<a> := {value}\n"))
        .collect();
    let text = format!("{HARNESS}{lines}");
    Folder::new(&[]).with(&text, |system| {
        let actions: Vec<_> = (0..system.actions().len())
            .map(testwright_core::ActionId)
            .collect();
        // The line of a value comes with one action for each slot.
        system.step(actions[0]);
        system.step(actions[3]);
        system
            .fingerprint(likeness)
            .map_err(|error| error.to_string())
    })
}

fn one(value: &str) -> u128 {
    of([value, "None"], Equivalence::Equal).unwrap_or_else(|error| panic!("{value}: {error}"))
}

#[test]
fn equal_values_look_alike() {
    let alike = [
        ("1", "1.0"),
        ("0.0", "-0.0"),
        ("True", "1"),
        ("10 ** 30", "10 ** 15 * 10 ** 15"),
        ("{1: 'a', 2: 'b'}", "{2: 'b', 1: 'a'}"),
        ("{'x', 'y', 'z'}", "{'z', 'y', 'x'}"),
        ("{1, 2}", "set([2, 1])"),
        ("Point(1, [2])", "Point(1, [2])"),
        ("Slotted((1, 2))", "Slotted((1, 2))"),
        ("chain(1, 2)", "chain(1, 2)"),
        ("collections.deque([1, 2])", "collections.deque([1, 2])"),
        (
            "collections.OrderedDict(a=1)",
            "collections.OrderedDict(a=1)",
        ),
        ("decimal.Decimal('1.5')", "decimal.Decimal('1.5')"),
        ("datetime.date(2020, 1, 2)", "datetime.date(2020, 1, 2)"),
        ("cyclic()", "cyclic()"),
        ("deep()", "deep()"),
        ("len", "len"),
        ("Point", "Point"),
        ("(lambda: 1)", "(lambda: 1)"),
        ("re.compile('a+')", "re.compile('a+')"),
        ("iter([1, 2])", "iter([1, 2])"),
    ];
    for (left, right) in alike {
        assert_eq!(one(left), one(right), "{left} and {right}");
    }
}

#[test]
fn different_values_look_different() {
    let different = [
        ("1", "2"),
        ("1", "'1'"),
        ("'a'", "b'a'"),
        ("[1, 2]", "(1, 2)"),
        ("[1, 2]", "[2, 1]"),
        ("[[1], 2]", "[[1, 2]]"),
        ("{1: 2}", "{2: 1}"),
        ("Point(1, 2)", "Point(2, 1)"),
        ("Point(1, 2)", "Slotted(1)"),
        ("Slotted(1)", "Slotted(2)"),
        ("chain(1, 2)", "Chain([1, 2])"),
        ("chain(1, 2)", "[1, 2]"),
        ("collections.deque([1])", "collections.deque([1], 5)"),
        ("len", "max"),
        ("Point", "Slotted"),
        ("0.1", "0.2"),
        ("cyclic()", "[1, [1]]"),
        ("iter([1, 2])", "iter([2])"),
    ];
    for (left, right) in different {
        assert_ne!(one(left), one(right), "{left} and {right}");
    }
}

#[test]
fn sharing_is_seen() {
    let text = format!("{HARNESS}<a> := []\n<a> = <a>\n");
    Folder::new(&[]).with(&text, |system| {
        let fingerprint = |system: &mut PythonSystem<'_>| system.fingerprint(Equivalence::Equal);
        step(system, "a0 = []");
        step(system, "a1 = []");
        let equal = fingerprint(system).unwrap();
        system.reset().unwrap();
        step(system, "a0 = []");
        step(system, "a1 = []");
        step(system, "a1 = a0");
        assert_ne!(fingerprint(system).unwrap(), equal);
    });
}

#[test]
fn names_of_slots_count_or_not() {
    let both = |values, likeness| of(values, likeness).unwrap();
    let (one, other) = (["[1]", "[2]"], ["[2]", "[1]"]);
    assert_ne!(
        both(one, Equivalence::Equal),
        both(other, Equivalence::Equal)
    );
    assert_eq!(
        both(one, Equivalence::UpToRenaming),
        both(other, Equivalence::UpToRenaming)
    );
    let third = ["[1]", "[1]"];
    assert_ne!(
        both(one, Equivalence::UpToRenaming),
        both(third, Equivalence::UpToRenaming)
    );
}

#[test]
fn an_abstraction_decides_what_matters() {
    let text = format!("{HARNESS}pool: <b> 1 ABSTRACT len\n<b> := <[[1], [2], [1, 2]]>\n");
    let text = text.replace("[[1], [2], [1, 2]]", "[[1],[2],[1;2]]");
    let text = text.replace("[1;2]", "list((1, 2))");
    Folder::new(&[]).with(&text, |system| {
        let mut after = |value: &str| {
            system.reset().unwrap();
            assert_eq!(step(system, &format!("b0 = {value}")), "passed");
            system.fingerprint(Equivalence::Equal).unwrap()
        };
        assert_eq!(after("[1]"), after("[2]"));
    });
}

#[test]
fn a_copy_looks_like_the_original() {
    let text = format!("{HARNESS}<a> := Point([1], {{}})\n<a>.x.append(3)\n");
    Folder::new(&[]).with(&text, |system| {
        step(system, "a0 = Point([1], {})");
        let (state, before) = (
            system.snapshot().unwrap(),
            system.fingerprint(Equivalence::Equal).unwrap(),
        );
        step(system, "a0.x.append(3)");
        assert_ne!(system.fingerprint(Equivalence::Equal).unwrap(), before);
        system.restore(&state).unwrap();
        assert_eq!(system.fingerprint(Equivalence::Equal).unwrap(), before);
    });
}

#[test]
fn what_cannot_be_told_apart_is_said() {
    for value in ["threading.Lock()", "(x for x in [])"] {
        let error = of([value, "None"], Equivalence::Equal).expect_err(value);
        assert!(error.contains("states cannot be told apart"), "{error}");
    }
}
