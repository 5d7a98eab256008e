//! Checking only changed properties finds the same violations as checking all of them.

use crate::support;

use support::{Folder, check, step};
use testwright_python::{CheckMode, Options, PythonSystem};

fn changed() -> Options {
    Options {
        checks: CheckMode::Changed,
        ..Options::default()
    }
}

/// Takes the steps, checks after each, and compares the result with that of checking everything.
/// Returns the last outcome, and the reason for checking everything, if any.
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

/// Takes the steps with change tracking in effect; the last step must violate a property.
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
fn changes_of_closures_and_defaults_are_noticed() {
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
fn properties_with_unknown_code_are_always_checked() {
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
fn unchanged_properties_are_not_checked() {
    // Output is the one effect of a property that it cannot see itself.
    let text = "@import box\npool: <box> 2\npool: <int> 1\n<box> := box.Box([])\n~<box>.items.append(<int>)\n<int> := 1\n~<int>.bit_length()\nproperty: print('checked', len(<box>.items)) is None\n";
    let options = Options {
        output: testwright_python::OutputMode::Capture,
        ..changed()
    };
    Folder::new(&[("box.py", BOX)]).with_options(text, &options, |system| {
        for (text, expected) in [
            ("box0 = box.Box([])", Some("checked 0")),
            ("int0 = 1", None),
            ("box1 = box.Box([])", Some("checked 0")),
            ("box0.items.append(int0)", Some("checked 1")),
            ("int0.bit_length()", None),
            ("box1.items.append(int0)", Some("checked 1")),
        ] {
            assert_eq!(step(system, text), "passed");
            assert_eq!(check(system), "passed");
            // The test runner prints its dots to the same stream.
            let output = system.take_output();
            let times = output.matches("checked").count();
            assert_eq!(times, usize::from(expected.is_some()), "{text}: {output}");
            assert!(
                output.contains(expected.unwrap_or_default()),
                "{text}: {output}"
            );
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

/// Three calls of `spoil` break the property, each time in a way that no object in a slot shows.
#[track_caller]
fn is_noticed_or_told(name: &str, module: &str, told: Option<&str>) {
    let file = format!("{name}.py");
    let files = [(file.as_str(), module), ("keyword.py", "n = 0\n")];
    let text = format!(
        "@import {name}\npool: <a> 1\n<a> := {name}.make()\n{name}.spoil()\nproperty: {name}.fine(<a>)\n"
    );
    let (make, spoil) = (format!("a0 = {name}.make()"), format!("{name}.spoil()"));
    let (last, why) = compare(&files, &text, &[&make, &spoil, &spoil, &spoil]);
    assert!(last.starts_with("property"), "{name}: {last}");
    match told {
        Some(told) => assert!(
            why.as_ref().is_some_and(|why| why.contains(told)),
            "{name}: {why:?}"
        ),
        None => assert_eq!(why, None, "{name}"),
    }
}

#[test]
fn names_and_texts_of_functions_and_classes() {
    for (name, made, change, condition) in [
        ("case_n1", "[f]", "f.__name__ = 'x'", "a[0].__name__ == 'f'"),
        (
            "case_n2",
            "[f]",
            "f.__qualname__ = 'x'",
            "'f at' in repr(a[0])",
        ),
        ("case_n3", "[f]", "f.__doc__ = 'x'", "f.__doc__ is None"),
        (
            "case_n4",
            "[f]",
            "f.__module__ = 'x'",
            "f.__module__ != 'x'",
        ),
        (
            "case_n5",
            "A()",
            "A.__name__ = 'x'",
            "type(a).__name__ == 'A'",
        ),
        (
            "case_n6",
            "A()",
            "A.__qualname__ = 'x'",
            "A.__qualname__ == 'A'",
        ),
    ] {
        let module = format!(
            "class A: pass\ndef f(): pass\ncalls = []\ndef make(): return {made}\ndef spoil():\n    calls.append(1)\n    if len(calls) > 2: {change}\ndef fine(a): return {condition}\n"
        );
        is_noticed_or_told(name, &module, None);
    }
}

#[test]
fn changes_of_annotations_are_noticed() {
    let module = "class A:\n    x: int\nA.__annotations__\ncalls = []\ndef make(): return A()\ndef spoil():\n    calls.append(1)\n    if len(calls) > 2: A.__annotations__['x'] = str\ndef fine(a): return ";
    let direct = format!("{module} A.__annotations__['x'] is int\n");
    is_noticed_or_told("case_o1", &direct, Some("__annotations__"));
    let by_text = format!("{module} getattr(A, '__annotations__')['x'] is int\n");
    is_noticed_or_told("case_o2", &by_text, Some("__annotations__"));
    let evaluated = "from typing import get_type_hints as hints\nlimit = int\ncalls = []\ndef f(x: 'limit'): pass\ndef make(): return []\ndef spoil():\n    global limit\n    calls.append(1)\n    if len(calls) > 2: limit = str\ndef fine(a): return hints(f)['x'] is int\n";
    is_noticed_or_told("case_o3", evaluated, Some("get_type_hints"));
    // Generic classes can be compared as long as their hooks are not called.
    let generic = "import typing\nT = typing.TypeVar('T')\nclass A(typing.Generic[T]):\n    n = 0\ndef make(): return A()\ndef spoil(): A.n += 1\ndef fine(a): return a.n < 3\n";
    is_noticed_or_told("case_o4", generic, None);
}

#[test]
fn the_order_of_attributes() {
    let module = "class A:\n    def __init__(self): self.a, self.b = 1, 2\n    def fine(self): return list(self.__dict__)[0] == 'a'\n    def spoil(self):\n        a = self.a\n        del self.a\n        self.a = a\n";
    // Without a module, since computed names may refer to anything in it.
    let text = "@from case_p import A\npool: <a> 1\npool: <b> 1\npool: <int> 1\n<a> := A()\n<b> := ~<a>\n<int> := 1\n~<b>.spoil()\nproperty: <a>.fine()\n";
    let steps = ["a0 = A()", "b0 = a0", "int0 = 1", "b0.spoil()"];
    is_noticed(&[("case_p.py", module)], text, &steps);
}

#[test]
fn imports_in_functions() {
    let counted = "n = 0\ndef make(): return []\ndef spoil():\n    global n\n    n += 1\n";
    for (name, fine, told) in [
        (
            "case_q1",
            "import builtins; return builtins.eval('n') < 3",
            Some("eval"),
        ),
        (
            "case_q2",
            "from builtins import eval as e; return e('n') < 3",
            Some("eval"),
        ),
        ("case_q3", "import case_q3; return case_q3.n < 3", None),
    ] {
        let module = format!("{counted}def fine(a):\n    {fine}\n");
        is_noticed_or_told(name, &module, told);
    }
    // A module of a package with the name of a library.
    let relative = "import os, sys\n__path__, __package__ = [os.path.dirname(__file__)], 'case_q4'\ndef make(): return []\ndef spoil(): sys.modules['case_q4.keyword'].n += 1\ndef fine(a):\n    from .keyword import n\n    return n < 3\n";
    is_noticed_or_told("case_q4", relative, Some(".keyword"));
    // Another module in its place.
    let replaced = "import sys, types\ndef put(n):\n    sys.modules['case_q5_part'] = part = types.ModuleType('part')\n    part.n = n\nput(0)\ndef make(): return []\ndef spoil(): put(sys.modules['case_q5_part'].n + 1)\ndef fine(a):\n    import case_q5_part\n    return case_q5_part.n < 3\n";
    is_noticed_or_told("case_q5", replaced, None);
    let unknown = "import sys, types\nsys.modules.pop('case_q6_part', None)\npart = types.ModuleType('part')\npart.n = 0\ndef make(): return []\ndef spoil():\n    part.n += 1\n    sys.modules['case_q6_part'] = part\ndef fine(a):\n    try: import case_q6_part\n    except ImportError: return True\n    return case_q6_part.n < 3\n";
    is_noticed_or_told("case_q6", unknown, Some("case_q6_part"));
}

#[test]
fn fake_library_classes_are_not_trusted() {
    let counted = "state = [0]\ndef make(): return A()\ndef spoil(): state[0] += 1\ndef fine(a): return a.fine()\ndef hidden(self): return state[0] < 3\n";
    for (name, made) in [
        ("case_r1", "__name__ = 'math'\nclass A: fine = hidden\n"),
        ("case_r2", "class A: fine, __module__ = hidden, 'types'\n"),
        (
            "case_r3",
            "import types\nA = types.new_class('A', (), {}, lambda body: body.update(fine=hidden))\n",
        ),
        (
            "case_r4",
            "import abc\nA = abc.ABCMeta('A', (), {'fine': hidden})\n",
        ),
        (
            "case_r5",
            "import types\nA = types.new_class('SimpleNamespace', (), {}, lambda body: body.update(fine=hidden))\n",
        ),
    ] {
        is_noticed_or_told(name, &format!("{counted}{made}"), None);
    }
    let builtins = "own = {'len': lambda x: 0}\nspace = {'__builtins__': own}\nexec('def count(x): return len(x)', space)\ncount = space['count']\ncalls = []\ndef make(): return []\ndef spoil():\n    calls.append(1)\n    if len(calls) > 2: own['len'] = lambda x: 9\ndef fine(a): return count(a) < 3\n";
    is_noticed_or_told("case_r6", builtins, None);
}

#[test]
fn attributes_read_by_library_code_are_watched() {
    let counted = "state = [0]\ndef spoil(): state[0] += 1\n";
    let set = "from collections.abc import MutableSet\nclass A(MutableSet):\n    def __contains__(self, x): return x == 1\n    def __iter__(self): return iter([1])\n    def __len__(self): return 1\n    def add(self, x): pass\n    def discard(self, x): state[0] > 2 and 1 / 0\n    @classmethod\n    def _from_iterable(cls, items): return [0] * state[0]\ndef make(): return A()\n";
    let color = "import enum\nclass Color(enum.Enum):\n    red = 1\n    blue = 2\n    @classmethod\n    def _missing_(cls, value): return cls.red if state[0] < 3 else None\ndef make(): return []\n";
    for (name, made, fine, told) in [
        ("case_s1", set, "return len(a & a) < 3", None),
        ("case_s2", set, "a -= [1]; return True", None),
        ("case_s3", color, "return Color(5) is Color.red", None),
        (
            "case_s4",
            "import reprlib\nclass A: pass\nclass Repr(reprlib.Repr):\n    def repr_A(self, x, level): return 'x' * state[0]\nshow = Repr()\ndef make(): return A()\n",
            "return len(show.repr(a)) < 3",
            Some("made up"),
        ),
        (
            "case_s5",
            "import string\nclass A:\n    @property\n    def odd(self): return state[0]\ntext = '{0.od' + 'd}'\ndef make(): return A()\n",
            "return string.Formatter().vformat(text, (a,), {}) < '3'",
            Some("made up"),
        ),
        (
            "case_s6",
            "class A:\n    def write(self, text): state[0] > 2 and 1 / 0\nout = A()\ndef make(): return A()\n",
            "return print(1, file=out) is None",
            None,
        ),
        (
            "case_s7",
            "import dataclasses\nclass Number:\n    def __get__(self, holder, owner): return state[0]\n@dataclasses.dataclass\nclass A:\n    odd: int = 1\nA.odd = Number()\ndef make(): return A.__new__(A)\n",
            "return list(dataclasses.asdict(a).values())[0] < 3",
            None,
        ),
    ] {
        is_noticed_or_told(
            name,
            &format!("{counted}{made}def fine(a):\n    {fine}\n"),
            told,
        );
    }
    let members = "import enum\nclass Color(enum.Enum):\n    red = 1\n    blue = 2\ncalls = []\ndef make(): return []\ndef spoil():\n    calls.append(1)\n    if len(calls) > 2: Color._value2member_map_[1] = Color.blue\ndef fine(a): return Color(1) is Color.red\n";
    is_noticed_or_told("case_s8", members, None);
    let copied = "import copy, copyreg\nclass A: pass\ncalls = []\ndef make(): return A()\ndef spoil():\n    calls.append(1)\n    if len(calls) > 2: copyreg.pickle(A, lambda a: (list, ()))\ndef fine(a): return isinstance(copy.copy(a), A)\n";
    is_noticed_or_told("case_s9", copied, None);
}

#[test]
fn names_that_are_handed_over() {
    let counted = "state = [0]\nclass A:\n    @property\n    def odd(self): return state[0]\ndef make(): return A()\ndef spoil(): state[0] += 1\n";
    for (name, fine, told) in [
        ("case_v1", "getattr(a, 'odd') < 3", None),
        ("case_v2", "getattr(a, 'odd', None) < 3", None),
        ("case_v3", "'{0.odd}'.format(a) < '3'", None),
        ("case_v4", "'{0:{1.odd}}'.format(1, a) != '  1'", None),
        (
            "case_v5",
            "getattr(a, ''.join(['od', 'd'])) < 3",
            Some("made up"),
        ),
        (
            "case_v6",
            "getattr(a, 'odd' if a else 'o') < 3",
            Some("made up"),
        ),
        (
            "case_v7",
            "list(map(getattr, [a], ['odd']))[0] < 3",
            Some("made up"),
        ),
        (
            "case_v8",
            "(text if a else '{0}').format(a) < '3'",
            Some("made up"),
        ),
        ("case_v9", "str.format(text, a) < '3'", Some("made up")),
        (
            "case_v10",
            "hasattr(a, 'odd') and getattr(a, text[3:6]) < 3",
            Some("made up"),
        ),
    ] {
        let module = format!("{counted}text = '{{0.odd}}'\ndef fine(a): return {fine}\n");
        is_noticed_or_told(name, &module, told);
    }
}

#[test]
fn classes_written_in_c() {
    for (name, import, fine, told) in [
        (
            "case_t1",
            "from random import Random",
            "Random().random() >= 0",
            "Random",
        ),
        (
            "case_t2",
            "from io import FileIO",
            "FileIO(__file__).readall() != b''",
            "FileIO",
        ),
        (
            "case_t3",
            "from statistics import NormalDist",
            "NormalDist().samples(1) != []",
            "NormalDist",
        ),
        (
            "case_t4",
            "import datetime\nnow = datetime.datetime.__dict__['now']",
            "now.__get__(None, int) != 1",
            "datetime",
        ),
    ] {
        let module = format!("{import}\ndef make(): return []\ndef fine(a): return {fine}\n");
        let text = format!(
            "@import {name}\npool: <a> 1\n<a> := {name}.make()\nproperty: {{TypeError}} {name}.fine(<a>)\n"
        );
        let file = format!("{name}.py");
        let (_, why) = compare(
            &[(&file, &module)],
            &text,
            &[&format!("a0 = {name}.make()")],
        );
        assert!(
            why.as_ref().is_some_and(|why| why.contains(told)),
            "{name}: {why:?}"
        );
    }
    // The names of fields are read by C code that is supported.
    let module = "import collections\nP = collections.namedtuple('P', 'x y')\nshared = []\ndef make(): return P(shared, 1)\ndef spoil(): shared.append(1)\ndef fine(a): return len(a.x) < 3\n";
    is_noticed_or_told("case_t5", module, None);
}

#[test]
fn modules_of_another_class() {
    let module = "import sys, types\nclass Module(types.ModuleType):\n    def __getattribute__(self, name): return 5\npart = types.ModuleType('part')\npart.limit = 1\ncalls = []\ndef make(): return []\ndef spoil():\n    calls.append(1)\n    if len(calls) > 2: part.__class__ = Module\ndef fine(a): return part.limit < 3\n";
    is_noticed_or_told("case_u", module, Some("Module"));
}
