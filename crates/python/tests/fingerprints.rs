//! Fingerprints: the states that have equal ones.

use crate::support;

use support::{Folder, step};
use testwright_core::{Equivalence, Fingerprint, Snapshot, System};
use testwright_python::PythonSystem;

const HARNESS: &str = "\
<@
import collections, decimal, fractions, datetime, io, re, threading
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
class Hiding:
    def __init__(self, x):
        self.x = x
    def __getstate__(self):
        return {}
    def __deepcopy__(self, memo):
        return Hiding(0)
class Equal:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 1
def shrunk(it):
    it.update(range(100, 200))
    it.difference_update(range(100, 200))
    return it
def counter(start):
    def tick():
        nonlocal start
        start += 1
        return start
    return tick
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

/// Returns the fingerprints after both slots were given values, for each pair of values.
fn keys(pairs: &[[&str; 2]], likeness: Equivalence) -> Vec<u128> {
    let values = pairs.iter().flatten();
    let lines: String = values.map(|value| format!("<a> := {value}\n")).collect();
    let text = format!("{HARNESS}{lines}");
    Folder::new(&[]).with(&text, |system| {
        let key = |system: &mut PythonSystem<'_>, number: u64| {
            system.reset().unwrap();
            // The line of a value comes with one action for each slot.
            system.step(testwright_core::ActionId(4 * number));
            system.step(testwright_core::ActionId(4 * number + 3));
            system.fingerprint(likeness).unwrap()
        };
        (0..pairs.len() as u64)
            .map(|number| key(system, number))
            .collect()
    })
}

/// Returns true if two values have the same fingerprint.
fn are_alike(left: &str, right: &str) -> bool {
    let found = keys(&[[left, "None"], [right, "None"]], Equivalence::Equal);
    found[0] == found[1]
}

#[test]
fn equal_values_look_alike() {
    let alike = [
        ("10 ** 30", "10 ** 15 * 10 ** 15"),
        ("{1, 2}", "set([1, 2])"),
        ("float('nan')", "float('inf') - float('inf')"),
        ("[float('nan')]", "[float('nan')]"),
        ("Point(1, [2])", "Point(1, [2])"),
        ("Slotted((1, 2))", "Slotted((1, 2))"),
        ("Hiding(1)", "Hiding(1)"),
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
        ("re.compile('a+')", "re.compile('a+')"),
        ("iter([1, 2])", "iter([1, 2])"),
        ("io.StringIO('a')", "io.StringIO('a')"),
        ("counter(3)", "counter(3)"),
    ];
    for (left, right) in alike {
        assert!(are_alike(left, right), "{left} and {right}");
    }
}

#[test]
fn different_values_look_different() {
    let different = [
        ("1", "2"),
        ("1", "'1'"),
        ("1", "1.0"),
        ("True", "1"),
        ("0.0", "-0.0"),
        ("'a'", "b'a'"),
        ("'\\ud800'", "'\\ud801'"),
        ("[1, 2]", "(1, 2)"),
        ("[1, 2]", "[2, 1]"),
        ("[[1], 2]", "[[1, 2]]"),
        ("{1: 2}", "{2: 1}"),
        ("{1: 'a', 2: 'b'}", "{2: 'b', 1: 'a'}"),
        (
            "collections.OrderedDict(a=1, b=2)",
            "collections.OrderedDict(b=2, a=1)",
        ),
        ("{8, 16}", "{16, 8}"),
        ("{1}", "shrunk({1})"),
        ("Point(1, 2)", "Point(2, 1)"),
        ("Point(1, 2)", "Slotted(1)"),
        ("Slotted(1)", "Slotted(2)"),
        ("Hiding(1)", "Hiding(2)"),
        ("Equal(1)", "Equal(2)"),
        ("chain(1, 2)", "Chain([1, 2])"),
        ("chain(1, 2)", "[1, 2]"),
        ("collections.deque([1])", "collections.deque([1], 5)"),
        ("collections.deque([1, 2])", "collections.deque([2, 1])"),
        ("len", "max"),
        ("Point", "Slotted"),
        ("0.1", "0.2"),
        ("cyclic()", "[1, [1]]"),
        ("iter([1, 2])", "iter([2])"),
        ("counter(3)", "counter(4)"),
        ("Point(1, 2).__init__", "Point(2, 2).__init__"),
        ("io.StringIO('a')", "io.StringIO('b')"),
        ("[[], []]", "[[]] * 2"),
    ];
    for (left, right) in different {
        assert!(!are_alike(left, right), "{left} and {right}");
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
    let pairs = [["[1]", "[2]"], ["[2]", "[1]"], ["[1]", "[1]"]];
    let exact = keys(&pairs, Equivalence::Equal);
    assert_ne!(exact[0], exact[1]);
    let renamed = keys(&pairs, Equivalence::UpToRenaming);
    assert_eq!(renamed[0], renamed[1]);
    assert_ne!(renamed[0], renamed[2]);
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

/// Checks that a step changes the state, that going back undoes it in place, and that the same steps
/// after a reset lead to the same fingerprint.
fn is_undone(raw: &str, module: &str, lines: [&str; 2]) {
    let text = format!("{raw}pool: <a> 1\n{}\n{}\n", lines[0], lines[1]);
    Folder::new(&[("m.py", module)]).with(&text, |system| {
        let key = |system: &mut PythonSystem<'_>| system.fingerprint(Equivalence::Equal).unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            system.reset().unwrap();
            let start = key(system);
            system.step(testwright_core::ActionId(0));
            let (state, before) = (system.snapshot().unwrap(), key(system));
            let mut after = Vec::new();
            for _ in 0..3 {
                system.step(testwright_core::ActionId(1));
                after.push(key(system));
                system.step(testwright_core::ActionId(1));
                after.push(key(system));
                system.restore(&state).unwrap();
                assert_eq!(key(system), before, "{lines:?}");
            }
            assert_ne!(after[0], before, "{lines:?}");
            assert_eq!(after[..2], after[2..4], "{lines:?}");
            seen.push((start, before, after));
        }
        assert_eq!(seen[0], seen[1], "{lines:?}");
        assert_eq!(system.caveats(), [], "{lines:?}");
    });
}

const MODULE: &str = "\
import collections, functools
n = 0
items = []
table = {}
class C:
    n = 0
    many = []
    def __init__(self):
        self.n = 0
    def inc(self):
        self.n += 1
class D(collections.OrderedDict):
    pass
def put(x, cache=[]):
    cache.append(x)
    return cache
def make():
    total = 0
    def tick():
        nonlocal total
        total += 1
    return tick
tick = make()
@functools.lru_cache(maxsize=None)
def known(x):
    return []
def bump():
    global n
    n += 1
def fresh(name):
    globals()[name] = 1
def rebind():
    global items
    items = items + [1]
made = C()
";

#[test]
fn changes_anywhere_are_seen_and_undone() {
    let raw = "@import m\n@from m import items\n<@\nmine = []\nn = 0\ndef bump():\n    global n\n    n += 1\n@>\n";
    for lines in [
        ["m.bump()", "m.bump()"],
        ["m.items.append(1)", "m.items.append(2)"],
        ["items.append(1)", "items.append(2)"],
        ["m.rebind()", "m.rebind()"],
        [
            "m.table.update(a=1)",
            "m.table.update({len(m.table): m.table})",
        ],
        ["m.C.inc(m.C)", "m.C.inc(m.C)"],
        ["m.C.many.append(1)", "m.C.many.append(1)"],
        ["m.C.extra = 1", "m.C.extra += 1"],
        ["m.put(1)", "m.put(2)"],
        ["m.tick()", "m.tick()"],
        ["m.known(1)", "m.known(1).append(len(m.known(1)))"],
        ["m.made.inc()", "m.made.inc()"],
        ["m.put.note = 1", "m.put.note += 1"],
        ["m.bump()", "mine.append(m.n)"],
        ["bump()", "bump()"],
        ["<a> := m.items", "<a>.append(3)"],
        ["<a> := m.made.inc", "<a>()"],
        ["<a> := m.make()", "<a>()"],
        ["<a> := m.D(x=[])", "<a>['x'].append(<a>)"],
        ["<a> := {3}", "<a>.add(max(<a>) * 7)"],
        [
            "<a> := collections.deque([1], 3)",
            "<a>.append(2 + len(<a>))",
        ],
        ["<a> := random.random()", "<a> = random.gauss(0, 1)"],
        ["<a> := bytearray(b'x')", "<a>.extend(b'yz')"],
        ["<a> := io.StringIO()", "<a>.write('y')"],
        ["<a> := random.Random(3)", "<a>.random()"],
    ] {
        let imports = "@import collections\n@import io\n@import random\n";
        is_undone(&format!("{imports}{raw}"), MODULE, lines);
    }
}

/// Returns the caveats after a slot was given a value.
fn caveats_of(value: &str) -> Vec<String> {
    let text = format!("{HARNESS}<a> := {value}\n");
    Folder::new(&[]).with(&text, |system| {
        system.step(testwright_core::ActionId(0));
        system.fingerprint(Equivalence::Equal).unwrap();
        system.caveats().iter().map(ToString::to_string).collect()
    })
}

#[test]
fn what_cannot_be_seen_is_a_caveat() {
    for (value, caveat) in [
        (
            "(x for x in [])",
            "a `generator` in `a0` is not part of a state",
        ),
        (
            "threading.Thread()",
            "a `Thread` in `a0` is not part of a state",
        ),
        (
            "{Point(1, 2), Point(2, 1)}",
            "the order of a set in `a0` depends on memory addresses",
        ),
        (
            "{'x', 'y'}",
            "the order of a set in `a0` depends on `PYTHONHASHSEED`",
        ),
    ] {
        assert_eq!(caveats_of(value), [caveat], "{value}");
    }
    for value in ["[1, {2: 'x'}]", "{1, 2}", "Point(1, {3})", "counter(1)"] {
        assert_eq!(caveats_of(value), Vec::<String>::new(), "{value}");
    }
}
