//! Checking only what may have changed finds what checking everything finds.

mod support;

use support::{Folder, check, step};
use testwright_python::{ChecksWhen, Options, PythonSystem};

fn changed() -> Options {
    Options {
        checks: ChecksWhen::Changed,
        ..Options::default()
    }
}

/// Takes the steps, checks after each, and compares what is found with what checking everything finds. Returns the
/// last answer, and why everything was checked if it was.
#[track_caller]
fn compare(files: &[(&str, &str)], text: &str, steps: &[&str]) -> (String, Option<String>) {
    let run = |system: &mut PythonSystem<'_>| {
        let mut answers = Vec::new();
        for text in steps {
            answers.push((step(system, text), check(system)));
        }
        let why = system
            .problems()
            .into_iter()
            .find(|problem| problem.line == 0);
        (answers, why.map(|problem| problem.message))
    };
    let (all, _) = Folder::new(files).with(text, run);
    let (only_changed, why) = Folder::new(files).with_options(text, &changed(), run);
    assert_eq!(only_changed, all);
    (all.last().expect("a step").1.clone(), why)
}

/// The same, for something that is understood: the last step must break a property.
#[track_caller]
fn is_noticed(files: &[(&str, &str)], text: &str, steps: &[&str]) {
    let (last, why) = compare(files, text, steps);
    assert!(last.starts_with("property"), "{last}");
    assert_eq!(why, None);
}

const BOX: &str = "class Box:\n    def __init__(self, items): self.items = items\n";

#[test]
fn a_list_shared_by_two_slots() {
    let text = "@import box\npool: <list> 1\npool: <box> 2\n<list> := []\n<box> := box.Box(~<list>)\n~<list>.append(1)\nproperty: len(<box>.items) < 2\n";
    let steps = [
        "list0 = []",
        "box0 = box.Box(list0)",
        "box1 = box.Box(list0)",
        "list0.append(1)",
        "list0.append(1)",
    ];
    is_noticed(&[("box.py", BOX)], text, &steps);
}

#[test]
fn a_registry_in_a_module() {
    let module = "registry = {}\ndef fill(): registry['x'] = len(registry)\nclass A:\n    def fine(self): return 'x' not in registry\n";
    let text =
        "@import case_a\npool: <a> 1\n<a> := case_a.A()\ncase_a.fill()\nproperty: <a>.fine()\n";
    is_noticed(
        &[("case_a.py", module)],
        text,
        &["a0 = case_a.A()", "case_a.fill()"],
    );
}

#[test]
fn a_global_of_another_module() {
    let files = [
        (
            "lower.py",
            "limit = 5\ndef lower():\n    global limit\n    limit = 0\n",
        ),
        (
            "upper.py",
            "import lower\nclass A:\n    def fine(self): return lower.limit > 0\n",
        ),
    ];
    let text = "@import lower\n@import upper\npool: <a> 1\n<a> := upper.A()\nlower.lower()\nproperty: <a>.fine()\n";
    is_noticed(&files, text, &["a0 = upper.A()", "lower.lower()"]);
}

#[test]
fn an_attribute_of_a_class() {
    let module = "class Base:\n    limit = [3]\nclass A(Base):\n    def fine(self): return self.limit[0] > 0\ndef replace(): Base.limit = [0]\ndef change(): Base.limit[0] = 0\n";
    let text = "@import case_b\npool: <a> 1\n<a> := case_b.A()\ncase_b.replace()\ncase_b.change()\nproperty: <a>.fine()\n";
    is_noticed(
        &[("case_b.py", module)],
        text,
        &["a0 = case_b.A()", "case_b.replace()"],
    );
    is_noticed(
        &[("case_b.py", module)],
        text,
        &["a0 = case_b.A()", "case_b.change()"],
    );
}

#[test]
fn what_functions_enclose_and_their_defaults() {
    let module = "def make():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n    def get(seen=[]):\n        return n + len(seen)\n    return up, get\n";
    let text = "@import case_c\npool: <f> 1\n<f> := case_c.make()\n~<f>[0]()\n~<f>[1].__defaults__[0].append(1)\nproperty: <f>[1]() < 1\n";
    is_noticed(
        &[("case_c.py", module)],
        text,
        &["f0 = case_c.make()", "f0[0]()"],
    );
    is_noticed(
        &[("case_c.py", module)],
        text,
        &["f0 = case_c.make()", "f0[1].__defaults__[0].append(1)"],
    );
}

#[test]
fn slots_and_missing_attributes() {
    let module = "class A:\n    __slots__ = ('x', 'y')\n    def __init__(self): self.x = 1\n    def move(self): self.y = self.x; del self.x\n    def fine(self): return hasattr(self, 'x')\nclass B:\n    def __init__(self): self.x = 1\n    move = A.move\n    def fine(self):\n        try: self.x\n        except AttributeError: return False\n        return True\nclass C(B):\n    __slots__ = ('z',)\nHOLDER = [None]\ndef hold(x): HOLDER[0] = x\ndef move(): HOLDER[0].move()\n";
    for class in ["B", "C"] {
        let text = format!(
            "@import case_d\npool: <a> 1\n<a> := case_d.{class}()\ncase_d.hold(~<a>)\ncase_d.move()\nproperty: <a>.fine()\n"
        );
        let first = format!("a0 = case_d.{class}()");
        is_noticed(
            &[("case_d.py", module)],
            &text,
            &[&first, "case_d.hold(a0)", "case_d.move()"],
        );
    }
    let text = "@import case_d\npool: <a> 1\n<a> := case_d.A()\ncase_d.hold(~<a>)\ncase_d.move()\nproperty: <a>.fine()\n";
    let (last, _) = compare(
        &[("case_d.py", module)],
        text,
        &["a0 = case_d.A()", "case_d.hold(a0)", "case_d.move()"],
    );
    assert!(last.starts_with("property"), "{last}");
}

#[test]
fn containers_of_all_kinds() {
    for (made, change, condition) in [
        ("deque([1, 2])", "rotate(1)", "x[0] == 1"),
        ("{1: 2}", "update({1: 3})", "x[1] == 2"),
        ("{1, 2}", "discard(1)", "1 in x"),
        ("bytearray(b'ab')", "reverse()", "x[0] == 97"),
        (
            "OrderedDict(a=1, b=2)",
            "move_to_end('a')",
            "list(x)[0] == 'a'",
        ),
        ("Counter('ab')", "clear()", "len(x) == 2"),
        ("defaultdict(list)", "__getitem__(1)", "len(x) == 0"),
        ("iter([1, 2])", "__next__()", "x.__length_hint__() == 2"),
        ("BytesIO(b'ab')", "read()", "x.tell() == 0"),
        ("[1.5]", "__setitem__(0, 0.5 + len('ab'))", "x[0] == 1.5"),
    ] {
        let text = format!(
            "@from collections import deque, OrderedDict, Counter, defaultdict\n@from io import BytesIO\n<@\ndef fine(x): return {condition}\n@>\npool: <x> 1\npool: <y> 1\n<x> := {made}\n<y> := ~<x>\n~<y>.{change}\nproperty: fine(<x>)\n"
        );
        let (last, why) = compare(
            &[],
            &text,
            &[&format!("x0 = {made}"), "y0 = x0", &format!("y0.{change}")],
        );
        assert!(last.starts_with("property"), "{made}: {last}");
        assert_eq!(why, None, "{made}");
    }
}

#[test]
fn numbers_that_come_to_lie_where_others_were() {
    let module = "class A:\n    def __init__(self): self.x = 1000.5\n    def twice(self):\n        self.x += 1.0\n        self.x -= 2.0\n";
    let text = "@import case_e\npool: <a> 1\npool: <b> 1\n<a> := case_e.A()\n<b> := ~<a>\n~<b>.twice()\nproperty: <a>.x > 998\n";
    let steps = [
        "a0 = case_e.A()",
        "b0 = a0",
        "b0.twice()",
        "b0.twice()",
        "b0.twice()",
    ];
    is_noticed(&[("case_e.py", module)], text, &steps);
}

#[test]
fn methods_that_are_replaced() {
    let module = "import math\nclass A:\n    def fine(self): return True\n    def root(self): return math.sqrt(4) == 2\ndef patch(): A.fine = lambda self: False\ndef patch_instance(a): a.fine = lambda: False\ndef patch_math(): math.sqrt = lambda x: 3\ndef unpatch_math(f): math.sqrt = f\n";
    let text = "@import case_f\n@import math\n<@\nROOT = math.sqrt\n@>\npool: <a> 1\npool: <b> 1\n<a> := case_f.A()\n<b> := ~<a>\ncase_f.patch()\ncase_f.patch_instance(~<b>)\ncase_f.patch_math()\ncase_f.unpatch_math(ROOT)\nproperty: <a>.fine()\nproperty: <a>.root()\nfinally: case_f.unpatch_math(ROOT)\n";
    let files = [("case_f.py", module)];
    is_noticed(&files, text, &["a0 = case_f.A()", "case_f.patch()"]);
    is_noticed(
        &files,
        text,
        &["a0 = case_f.A()", "b0 = a0", "case_f.patch_instance(b0)"],
    );
    let steps = [
        "a0 = case_f.A()",
        "case_f.patch_math()",
        "case_f.unpatch_math(ROOT)",
    ];
    let (last, why) = compare(&files, text, &steps);
    assert_eq!((last.as_str(), why), ("passed", None));
}

#[test]
fn properties_with_effects() {
    let text = "<@\nclass A:\n    n = 0\n    def count(self):\n        self.n += 1\n        return self.n < 4\ntotal = 0\ndef count(a):\n    global total\n    total += 1\n    return total < 10\n@>\npool: <a> 2\npool: <int> 1\n<a> := A()\n<int> := 1\n~<int>.bit_length()\n";
    for property in [
        "property: <a>.count()\n",
        "property: count(<a>)\n",
        "property: count(<a>) or <a,1>.count()\n",
    ] {
        let mut steps = vec!["a0 = A()", "int0 = 1", "a1 = A()"];
        steps.extend(["int0.bit_length()"; 8]);
        compare(&[], &format!("{text}{property}"), &steps);
    }
}

#[test]
fn what_is_not_understood_is_checked() {
    for (import, condition, why) in [
        ("random", "random.random() >= 0", "Random"),
        ("time", "time.time() > 0", "time"),
        ("os", "os.getcwd() != ''", "posix"),
        ("math", "eval('1') == x.__len__() + 1", "eval"),
        ("math", "self.p_x[0] is x", "self"),
    ] {
        let text = format!(
            "@import {import}\n<@\ndef fine(x): return {condition}\n@>\npool: <x> 1\n<x> := []\nproperty: fine(<x>)\n"
        );
        let (last, told) = compare(&[], &text, &["x0 = []"]);
        assert_eq!(last, "passed", "{condition}");
        let told = told.unwrap_or_else(|| panic!("{condition}: nothing was told"));
        assert!(
            told.contains("all properties were checked after every step"),
            "{told}"
        );
        assert!(told.contains(why) || why == "self", "{told}");
    }
}

#[test]
fn what_did_not_change_is_not_checked() {
    // What a property prints is the one effect that it cannot see itself.
    let text = "@import box\npool: <box> 2\npool: <int> 1\n<box> := box.Box([])\n~<box>.items.append(<int>)\n<int> := 1\n~<int>.bit_length()\nproperty: print('checked', len(<box>.items)) is None\n";
    let options = Options {
        output: testwright_python::Output::Capture,
        ..changed()
    };
    Folder::new(&[("box.py", BOX)]).with_options(text, &options, |system| {
        for (text, expected) in [
            ("box0 = box.Box([])", "checked 0\n"),
            ("int0 = 1", ""),
            ("box1 = box.Box([])", "checked 0\n"),
            ("box0.items.append(int0)", "checked 1\n"),
            ("int0.bit_length()", ""),
            ("box1.items.append(int0)", "checked 1\n"),
        ] {
            assert_eq!(step(system, text), "passed");
            assert_eq!(check(system), "passed");
            assert_eq!(system.take_output(), expected, "{text}");
        }
        assert_eq!(system.problems(), []);
    });
}

#[test]
fn a_method_that_only_the_library_calls() {
    let module = "state = [1]\nclass A:\n    def keys(self): return state\n    def __getitem__(self, key): return key\ndef spoil(): state.append(2)\n";
    let text = "@import case_k\npool: <a> 1\n<a> := case_k.A()\ncase_k.spoil()\nproperty: len(dict(<a>)) < 2\n";
    let (last, _) = compare(
        &[("case_k.py", module)],
        text,
        &["a0 = case_k.A()", "case_k.spoil()"],
    );
    assert!(last.starts_with("property"), "{last}");
}

#[test]
fn names_that_are_made_up_under_another_name() {
    let module = "from operator import methodcaller as ask\nstate = [1]\nclass A:\n    def odd(self): return len(state) < 2\nhow = 'o' + 'dd'\ndef fine(a): return ask(how)(a)\ndef spoil(): state.append(2)\n";
    let text = "@import case_m\npool: <a> 1\n<a> := case_m.A()\ncase_m.spoil()\nproperty: case_m.fine(<a>)\n";
    let (last, _) = compare(
        &[("case_m.py", module)],
        text,
        &["a0 = case_m.A()", "case_m.spoil()"],
    );
    assert!(last.starts_with("property"), "{last}");
}
