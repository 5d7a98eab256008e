//! The meaning of harness lines when they run.

use crate::support;

use support::{Folder, action, check, enabled, step};
use testwright_core::{System, laws};
use testwright_python::{Options, ReferenceExceptions};

const COUNTERS: &str = "\
pool: <int> 2
pool: <list> 1
<int> := <[1..3]>
<list> := []
~<list>.append(<int>)
len(<list,1>) > 1 -> <list>.pop()
<int> = <int> + 1
";

#[test]
fn a_python_harness_keeps_the_laws_of_a_system() {
    Folder::new(&[]).with(COUNTERS, |system| {
        laws::check_laws(system, 7, 60).expect("the laws hold")
    });
}

#[test]
fn slots_decide_what_is_enabled() {
    Folder::new(&[]).with(COUNTERS, |system| {
        let initial = [
            "int0 = 1",
            "int0 = 2",
            "int0 = 3",
            "int1 = 1",
            "int1 = 2",
            "int1 = 3",
            "list0 = []",
        ];
        assert_eq!(enabled(system), initial);
        assert_eq!(step(system, "int0 = 2"), "passed");
        assert_eq!(
            step(system, "int0 = 1"),
            "disabled",
            "a fresh value would be wasted"
        );
        assert_eq!(step(system, "list0 = []"), "passed");
        assert_eq!(step(system, "list0.append(int0)"), "passed");
        assert_eq!(step(system, "int0 = 1"), "passed", "the value was used");
        assert_eq!(
            step(system, "list0 = []"),
            "disabled",
            "a silent use is no use"
        );
        assert_eq!(
            step(system, "list0.pop()"),
            "disabled",
            "the guard is false"
        );
        assert_eq!(step(system, "list0.append(int0)"), "passed");
        assert_eq!(step(system, "list0.pop()"), "passed");
        assert_eq!(step(system, "list0 = []"), "passed");
    });
}

#[test]
fn exceptions_are_expected_or_failures() {
    let text = "\
exception: KeyError
pool: <x> 1
<x> := {}
{IndexError, ValueError} int('a' + str(<x>))
<x>[3]
[].pop()
{!ZeroDivisionError} 1 / len(<x>)
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(step(system, "x0 = {}"), "passed");
        assert_eq!(
            step(system, "int('a' + str(x0))"),
            "expected ValueError: invalid literal for int() with base 10: 'a{}'"
        );
        assert_eq!(step(system, "x0[3]"), "expected KeyError: 3");
        assert_eq!(
            step(system, "[].pop()"),
            "uncaught-exception: IndexError: pop from empty list"
        );
        assert_eq!(
            step(system, "1 / len(x0)"),
            "expected ZeroDivisionError: division by zero"
        );
        let problems = system.problems();
        assert_eq!(problems[0].line, 7);
        assert!(
            problems[0].message.contains("ZeroDivisionError"),
            "{problems:?}"
        );
    });
}

#[test]
fn an_initialisation_that_raises_leaves_the_slot_as_it_was() {
    let text = "\
pool: <x> 1
{ValueError} <x> := int(<['1','a']>)
print(<x>)
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(
            step(system, "x0 = int('a')"),
            "expected ValueError: invalid literal for int() with base 10: 'a'"
        );
        assert_eq!(
            step(system, "x0 = int('1')"),
            "passed",
            "still empty, so still definable"
        );
        assert_eq!(step(system, "print(x0)"), "passed");
        assert_eq!(
            step(system, "x0 = int('a')"),
            "expected ValueError: invalid literal for int() with base 10: 'a'"
        );
        assert_eq!(
            step(system, "x0 = int('1')"),
            "disabled",
            "the old value counts as fresh now"
        );
    });
}

#[test]
fn statements_behind_a_post_condition_run_if_it_holds() {
    let harness = "\
pool: <s> 1
<s> := []
<s>.append(1) => len(<s,1>) < 3; <s,1>.append(2); x = <s,1>[0]
";
    Folder::new(&[]).with(harness, |system| {
        step(system, "s0 = []");
        assert_eq!(step(system, "s0.append(1)"), "passed");
        let failed = step(system, "s0.append(1)");
        assert!(failed.starts_with("post-condition"), "{failed}");
    });
}

#[test]
fn post_conditions_see_locals_and_earlier_values() {
    let text = "\
pool: <s> 1
init: <s> = [1]
y = <s>.pop(); <s,1>.append(y) => y == 1 and len(<s,1>) == pre<(len(<s,1>))>
<s>.append(2) => len(<s,1>) == pre<(len(<s,1>))>, 'grew to ' + str(len(<s,1>))
{IndexError} <s>[7] => type(raised) == IndexError
{IndexError} <s>[8] => raised is None
{AssertionError} <s>.sort() => False
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(step(system, "y = s0.pop(); s0.append(y)"), "passed");
        assert_eq!(
            step(system, "s0.append(2)"),
            "post-condition: after `s0.append(2)`, `len(s0) == pre<(len(s0))>` is false: grew to 2"
        );
        assert_eq!(
            step(system, "s0[7]"),
            "expected IndexError: list index out of range"
        );
        assert!(step(system, "s0[8]").starts_with("post-condition"));
        assert!(step(system, "s0.sort()").starts_with("expected PostConditionFailed"));
    });
}

#[test]
fn properties_hold_for_every_combination_of_filled_slots() {
    let text = "\
pool: <a> 2
property: {TypeError} <a> + <a> != 5
property: <a> != 9, 'nine!'
<a> := <[2..9]>
<a> := 'text'
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(check(system), "passed");
        step(system, "a0 = 2");
        assert_eq!(check(system), "passed");
        step(system, "a1 = 3");
        assert_eq!(check(system), "property: `a0 + a1 != 5` is false");
        system.reset().expect("a reset");
        step(system, "a0 = 'text'");
        step(system, "a1 = 3");
        assert_eq!(check(system), "passed", "the exception is excused");
        system.reset().expect("a reset");
        step(system, "a1 = 9");
        assert_eq!(check(system), "property: `a1 != 9` is false: nine!");
    });
}

#[test]
fn typed_pools_are_checked_exactly() {
    let text = "pool: <n> 1 : int\n<n> := <[1,True,'a']>\nprint(<n>)\n";
    Folder::new(&[]).with(text, |system| {
        step(system, "n0 = 1");
        assert_eq!(check(system), "passed");
        step(system, "print(n0)");
        step(system, "n0 = True");
        assert_eq!(
            check(system),
            "pool-type: `n0` holds True, a value of type bool, but its pool is declared `: int`"
        );
    });
}

const SETS: &str = "\
@import sets
pool: <int> 2
pool: <c> 2 REF
<int> := <[1..2]>
<c> := sets.C()
~<c>.add(<int>)
{KeyError} ~<c>.remove(<int>)
~<c>.find(<int>)
v = ~<c>.get(); print(v)
reference: sets\\.C ==> set
reference: find ==> __contains__
reference: METHOD(get) ==> CALL(sorted)
compare: find
compare: get
compare: remove
";

const SETS_MODULE: &str = "\
class C:
    def __init__(self): self.items = []
    def add(self, item): self.items.append(item)
    def remove(self, item):
        if item in self.items: self.items.remove(item)
    def find(self, item): return item in self.items and item != 2
    def get(self): return sorted(self.items)
";

#[test]
fn the_reference_follows_and_is_compared() {
    Folder::new(&[("sets.py", SETS_MODULE)]).with(SETS, |system| {
        for line in ["int0 = 1", "int1 = 2", "c0 = sets.C()", "c0.add(int0)", "c0.find(int0)"] {
            assert_eq!(step(system, line), "passed", "{line}");
        }
        assert_eq!(step(system, "c0.add(int1)"), "passed");
        assert_eq!(
            step(system, "c0.find(int1)"),
            "reference-mismatch: `c0.find(int1)` gave False, the reference `c_REF0.__contains__(int1)` gave True"
        );
        assert_eq!(step(system, "v = c0.get(); print(v)"), "passed");
        assert_eq!(step(system, "c0.add(int0)"), "passed");
        assert_eq!(
            step(system, "v = c0.get(); print(v)"),
            "reference-mismatch: `v = c0.get(); print(v)` gave [1, 1, 2], the reference `v = sorted(c_REF0); print(v)` gave [1, 2]"
        );
        assert_eq!(step(system, "c1 = sets.C()"), "passed");
        assert_eq!(
            step(system, "c1.remove(int0)"),
            "exception-mismatch: `c1.remove(int0)` raised nothing, the reference `c_REF1.remove(int0)` raised KeyError(1)"
        );
    });
}

#[test]
fn saved_tests_of_tstl_name_compared_actions_by_their_result() {
    Folder::new(&[("sets.py", SETS_MODULE)]).with(SETS, |system| {
        let texts = |line| system.tstl_texts(action(system, line)).expect("texts");
        assert_eq!(
            texts("c0.find(int0)"),
            (
                String::from("result = self.p_c[0].find(self.p_int[0])"),
                Some(String::from(
                    "result_REF = self.p_c_REF[0].__contains__(self.p_int[0])"
                ))
            )
        );
        assert_eq!(
            texts("v = c0.get(); print(v)"),
            (
                String::from("v = self.p_c[0].get(); print(v) ; result = v"),
                Some(String::from(
                    "v = sorted(self.p_c_REF[0]); print(v) ; result_REF = v"
                ))
            )
        );
    });
}

#[test]
fn strict_modes_compare_exceptions_of_every_mirrored_action() {
    let text = "\
pool: <c> 1 REF
init: <c> = 3
{Exception} own(<c>)
reference: own ==> other
<@
def own(c): raise ValueError('a')
def other(c): raise KeyError('a')
@>
";
    let folder = Folder::new(&[]);
    let outcome = |mode| {
        let options = Options {
            reference_exceptions: mode,
            ..Options::default()
        };
        folder.with_options(text, &options, |system| step(system, "own(c0)"))
    };
    assert_eq!(
        outcome(ReferenceExceptions::BothRaise),
        "expected ValueError: a"
    );
    assert!(outcome(ReferenceExceptions::SameType).starts_with("exception-mismatch"));
    assert!(outcome(ReferenceExceptions::SameTypeAndMessage).starts_with("exception-mismatch"));
}

#[test]
fn patterns_may_look_at_indices() {
    let text = "\
pool: <c> 2 REF
<c> := <[1..2]>
print(<c>)
reference: p_c_REF\\[1\\] = 1 ==> p_c_REF[1] = 7
property: REF:<c> != 7
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(step(system, "c0 = 1"), "passed");
        assert_eq!(check(system), "passed");
        assert_eq!(step(system, "c1 = 1"), "passed");
        assert_eq!(check(system), "property: `c_REF1 != 7` is false");
    });
}

#[test]
fn slots_in_strings_are_named_and_f_strings_see_values() {
    let text = "\
pool: <x> 2
<x> := <[5..6]>
assert (\"<x>\" == \"<x>\") or <x,1> != <x,2>, f\"{<x,1>}\"
";
    Folder::new(&[]).with(text, |system| {
        step(system, "x0 = 5");
        step(system, "x1 = 5");
        let texts = enabled(system);
        assert!(
            texts.iter().any(|text| text.contains("(\"x0\" == \"x1\")")),
            "{texts:?}"
        );
        let outcomes: Vec<String> = texts.iter().map(|text| step(system, text)).collect();
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| *outcome == "passed")
                .count(),
            2,
            "{outcomes:?}"
        );
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| outcome.ends_with("AssertionError: 5"))
                .count(),
            2,
            "{outcomes:?}"
        );
    });
}

#[test]
fn init_finally_hooks_and_logs_run_when_they_should() {
    let text = "\
<@
events = []
def test_before_each(sut): events.append('before')
def test_after_each(sut): events.append('after'); sut.setLog(1)
def test_after_restart(sut): raise RuntimeError('ignored')
@>
pool: <x> 1
init: <x> = 0
finally: events.append('end %d' % <x>)
log: 1 <x> + 1
log: POST 0 len(events)
log: 2 never
<x> = <x> + 1; events.append('act')
property: events != None
assert events == <[['before'],['end 1', 'before']]>
";
    let options = Options {
        log_level: Some(0),
        ..Options::default()
    };
    Folder::new(&[]).with_options(text, &options, |system| {
        step(system, "x0 = x0 + 1; events.append('act')");
        step(system, "x0 = x0 + 1; events.append('act')");
        let log = system.take_log();
        assert_eq!(
            log,
            [
                "[ POST LOG x0 = x0 + 1; events.append('act')  :  len(events)] 3",
                "[ LOG x0 = x0 + 1; events.append('act')  :  x0 + 1] 2",
                "[ POST LOG x0 = x0 + 1; events.append('act')  :  len(events)] 6",
            ]
        );
    });
}

#[test]
fn assumptions_end_a_test() {
    let text = "pool: <x> 1\nassume: <x> < 2\n<x> := <[1..2]>\nprint(<x>)\n";
    Folder::new(&[]).with(text, |system| {
        step(system, "x0 = 1");
        assert!(!enabled(system).is_empty());
        step(system, "print(x0)");
        step(system, "x0 = 2");
        assert_eq!(enabled(system), [""; 0]);
        system.reset().expect("a reset");
        assert!(!enabled(system).is_empty());
    });
}

#[test]
fn expect_lines_compare_before_and_after() {
    let text = "\
<@
def size_before(x): return len(x)
def size_after(x): return len(x)
def size_check(before, after, x): return after == before + 1
@>
pool: <x> 1
init: <x> = []
expect: <x>.append(1) ==> size(<x,1>)
expect: <x>.clear() ==> size(<x,1>)
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(step(system, "x0.append(1)"), "passed");
        assert!(step(system, "x0.clear()").starts_with("post-condition"));
    });
}

#[test]
fn functions_in_raw_code_remember_values_on_entry() {
    let text = "\
<@
def grow(items):
    \"\"\"Grows.\"\"\"
    items.append(1)
    return len(items) - pre<(len(items))>
def guardedPop(items):
    if not items:
        return False
    %COMMIT%
    items.pop()
@>
pool: <x> 1
init: <x> = []
assert grow(<x>) == 1
guardedPop(<x>)
";
    Folder::new(&[]).with(text, |system| {
        assert_eq!(step(system, "guardedPop(x0)"), "disabled");
        assert_eq!(step(system, "assert grow(x0) == 1"), "passed");
        assert_eq!(step(system, "guardedPop(x0)"), "passed");
        assert_eq!(step(system, "guardedPop(x0)"), "disabled");
    });
}

#[test]
fn local_modules_are_reset_before_each_test() {
    let counter = "count = 0\ndef more():\n    global count\n    count += 1\n    return count\n";
    let text = "@import counter_module\n@import math\nassert counter_module.more() == 1\n";
    let folder = Folder::new(&[("counter_module.py", counter)]);
    folder.with(text, |system| {
        for _ in 0..3 {
            assert_eq!(step(system, "assert counter_module.more() == 1"), "passed");
            system.reset().expect("a reset");
        }
    });
    let options = Options {
        reset_modules: false,
        ..Options::default()
    };
    folder.with_options(text, &options, |system| {
        let outcomes: Vec<String> = (0..2)
            .map(|_| step(system, "assert counter_module.more() == 1"))
            .collect();
        assert_ne!(outcomes, ["passed", "passed"]);
    });
}

#[test]
fn a_local_module_comes_before_a_standard_one_that_is_already_loaded() {
    let folder = Folder::new(&[("random.py", "def random(): return 'ours'\n")]);
    let text = "@import random as chosen\nassert chosen.random() == 'ours'\n";
    folder.with(text, |system| {
        assert_eq!(step(system, "assert chosen.random() == 'ours'"), "passed");
    });
}

#[test]
fn a_guard_that_raises_is_a_problem_of_the_harness() {
    let text = "pool: <x> 1\n<x> := 1\nlen(<x>) > 1 -> print(<x,1>)\n";
    Folder::new(&[]).with(text, |system| {
        step(system, "x0 = 1");
        assert_eq!(step(system, "print(x0)"), "disabled");
        let problems = system.problems();
        assert_eq!(problems[0].line, 3);
        assert_eq!(
            problems[0].message,
            "the guard raised TypeError: object of type 'int' has no len()"
        );
    });
}

#[test]
fn copies_make_an_action_more_likely() {
    let text = "pool: <x> 1\ninit: <x> = 0\n*9 <x> = 1\n<x> = 2\n";
    Folder::new(&[]).with(text, |system| {
        let mut random = testwright_core::Random::new(3);
        let often = action(system, "x0 = 1");
        let count = (0..1_000)
            .filter(|_| system.pick(&mut random) == Some(often))
            .count();
        assert!((850..950).contains(&count), "{count}");
    });
}

#[test]
fn guards_do_not_spoil_the_uniform_choice() {
    let text = "pool: <x> 8\ninit: <x> = 0\nidentity(<x,1>) -> print(<x>)\n<@\ncalls = [0]\ndef identity(x):\n    return True\n@>\n\
        pool: <y> 1\ninit: <y> = 5\n<[1..20]> % <y> == 0 -> print(<y,1>, 'y')\n";
    Folder::new(&[]).with(text, |system| {
        let mut random = testwright_core::Random::new(4);
        let all = enabled(system);
        assert_eq!(all.len(), 12);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..12_000 {
            *counts.entry(system.pick(&mut random)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 12);
        assert!(
            counts.values().all(|count| (850..1_150).contains(count)),
            "{counts:?}"
        );
    });
}

#[test]
fn tracebacks_name_the_line_of_the_harness() {
    let text = "pool: <x> 1\ninit: <x> = 0\n\n{KeyError} f(<x>) => pre<(1 // <x,1>)> == 1\n{nosuch.E} [].pop()\n";
    Folder::new(&[]).with(text, |system| {
        for (line, number) in [("f(x0)", 4), ("[].pop()", 5)] {
            let action = action(system, line);
            let testwright_core::Outcome::Failed(failure) = system.step(action) else {
                panic!("{line} must fail");
            };
            let wanted = format!("case.tstl\", line {number}, in line_{number}");
            assert!(failure.details.contains(&wanted), "{}", failure.details);
        }
    });
}

#[test]
fn lines_that_differ_in_literals_only_are_told_apart() {
    let text = "\
pool: <x> 2
<@
def fail(word, number):
    raise ValueError('%s %d' % (word, number))
@>
<x> := 'first'
<x> := 'second'
<x> := \"third\"
fail('a', 11)
fail('b', 22)
fail('c', 33)
assert <x> == 'third'
assert <x> != 'third'
assert <x> != 'second'
";
    Folder::new(&[]).with(text, |system| {
        for (line, number) in [
            ("fail('a', 11)", 9),
            ("fail('b', 22)", 10),
            ("fail('c', 33)", 11),
        ] {
            let action = action(system, line);
            assert!(system.is_enabled(action));
            let testwright_core::Outcome::Failed(failure) = system.step(action) else {
                panic!("{line} must fail");
            };
            let wanted = format!("case.tstl\", line {number}, in line_{number}");
            assert!(failure.details.contains(&wanted), "{}", failure.details);
            let values = &line[6..7];
            assert!(
                failure
                    .message
                    .starts_with(&format!("ValueError: {values} "))
            );
        }
        for taken in [
            "x0 = 'first'",
            "assert x0 != 'second'",
            "x0 = 'second'",
            "assert x0 != 'third'",
        ] {
            assert_eq!(step(system, taken), "passed", "{taken}");
        }
        assert_eq!(step(system, "x0 = \"third\""), "passed");
        assert_eq!(step(system, "assert x0 == 'third'"), "passed");
    });
}

#[test]
fn a_python_harness_can_go_back() {
    let text = "\
pool: <list> 2
pool: <set> 2 REF
reference: set ==> set
<list> := []
~<list>.append(<[1..3]>)
<set> := set()
~<set>.update(<list>)
~<list>.append(~<list>)
property: len(<set>) < 3
";
    Folder::new(&[]).with(text, |system| {
        for seed in 0..5 {
            laws::check_snapshot_laws(system, seed, 40).expect("the laws of snapshots hold");
        }
    });
}

#[test]
fn shared_objects_stay_shared_and_unseen_objects_are_caveats() {
    use testwright_core::{Equivalence, Fingerprint, Snapshot};
    let text = "\
pool: <a> 1
pool: <b> 1
<a> := []
<b> := <a>
<a>.append(1); assert <a,1> is <b>
<a> := (item for item in [])
";
    Folder::new(&[]).with(text, |system| {
        step(system, "a0 = []");
        step(system, "b0 = a0");
        let state = system.snapshot().expect("lists can be copied");
        assert_eq!(step(system, "a0.append(1); assert a0 is b0"), "passed");
        system.restore(&state).expect("back");
        assert_eq!(step(system, "a0.append(1); assert a0 is b0"), "passed");
        assert_eq!(step(system, "a0 = (item for item in [])"), "passed");
        system
            .fingerprint(Equivalence::Equal)
            .expect("a fingerprint");
        let caveats = system.caveats();
        assert!(
            caveats
                .iter()
                .any(|caveat| caveat.name() == "outside-state"),
            "generators cannot be seen: {caveats:?}"
        );
        let Err(error) = system.snapshot() else {
            panic!("generators cannot be put back");
        };
        let cause = "what is in a `generator` cannot be seen";
        assert!(error.message.contains(cause), "{}", error.message);
    });
}
