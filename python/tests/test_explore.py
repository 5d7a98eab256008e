"""`testwright explore`: every state of a harness, goals, and temporal formulas."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest
import soak

ROOT = Path(__file__).resolve().parents[2]
FOUR = "jugs0.litres['large'] == 4"

COUNTER = """\
class Counter:
    def __init__(self):
        self.value = 0

    def add(self, number):
        self.value += number
"""

ADD = "    def add(self, number):\n"

ENDLESS = """\
@import counter
pool: <counter> 1
<counter> := counter.Counter()
<counter>.add(<[1..2]>)
"""

LISTS = """\
pool: <list> 2
<list> := []
len(<list,1>) < 2 -> <list>.append(<[1..2]>)
property: len(<list>) < 3
"""


@pytest.fixture
def jugs(testwright):
    for name in ("jugs.py", "jugs.tstl"):
        shutil.copy(ROOT / "examples/water-jugs" / name, testwright.folder)
    return testwright


@pytest.fixture
def endless(testwright):
    testwright.write("counter.py", COUNTER)
    testwright.write("endless.tstl", ENDLESS)
    return testwright


def explored(command, *arguments, status=0):
    return json.loads(command("explore", *arguments, "--json", status=status).stdout)


def last_line(done):
    return done.stdout.splitlines()[-1]


# All states


def test_all_states_of_the_jugs(jugs):
    # The puzzle has 16 states. In one more there are no jugs yet, and in one the jugs are unused.
    done = jugs("explore", "jugs.tstl", "--no-check")
    assert "All 18 states: no failure\n  note: the property was not checked\n" in done.stdout
    assert "Explored 18 states, " in done.stdout
    assert "Going back by copy: a copy leads to the same state as a replay\n" in done.stdout
    assert not (jugs.folder / "testwright-out").exists()


def test_the_first_failure_has_a_shortest_test(jugs):
    done = jugs("explore", "jugs.tstl", status=1)
    assert "Failure 1 after 7 steps: property violated: `4 not in" in done.stdout
    assert last_line(done).endswith(
        " states: 1 failure; stopped at the first failure, with tests of up to 6 steps covered"
    )
    found = jugs.folder / "testwright-out/jugs"
    assert sorted(file.name for file in found.iterdir()) == ["failure-1.test", "test_failure_1.py"]
    again = jugs("replay", found / "failure-1.test", "--harness", "jugs.tstl", status=1)
    assert "fails at step 7 of 7" in again.stdout


@pytest.mark.parametrize("order", ["breadth", "depth", "deepening"])
@pytest.mark.parametrize("back", ["copy", "replay"])
def test_every_order_finds_the_same(jugs, order, back):
    report = explored(jugs, "jugs.tstl", "--all", "--order", order, "--going-back", back, status=1)
    # What follows a failing step is not known.
    assert not report["complete"] and report["stopped"] is None
    assert [limit["kind"] for limit in report["bounded_by"]] == ["after-failure"]
    assert report["states"] == 16
    assert report["going_back"] == back
    assert [failure["steps"] for failure in report["failures"]] == [7]
    assert report["failures"][0]["reproduced"]


def test_depth_first_failures_are_reduced(jugs):
    done = jugs("explore", "jugs.tstl", "--order", "depth", status=1)
    assert "Reduced from " in done.stdout
    report = explored(jugs, "jugs.tstl", "--order", "depth", status=1)
    assert report["failures"][0]["steps"] < 10


def test_limits_never_claim_too_much(endless):
    def end(*limit):
        return last_line(endless("explore", "endless.tstl", *limit))

    limits = {
        ("--depth", "4"): "a depth of 4",
        ("--most-states", "100"): "a limit of 100 states, with tests of up to",
        ("--memory", "20k"): "the memory limit",
        ("--time", "0.3s"): "the time limit",
    }
    for limit, reason in limits.items():
        assert f" states: no failure found; bounded by {reason}" in end(*limit)
        report = explored(endless, "endless.tstl", *limit)
        assert not report["complete"] and report["caveats"] == []
        assert [reason["kind"] for reason in report["bounded_by"]] == [
            limit[0].removeprefix("--").removeprefix("most-")
        ]
    report = explored(endless, "endless.tstl", "--most-states", "50")
    assert (report["states"], report["stopped"], report["complete"]) == (50, "states", False)


def test_deadlocks_are_counted(testwright):
    # A fresh value must be used before its slot is filled again, and nothing uses it.
    testwright.write("end.tstl", "pool: <x> 2\n<x> := <[1..2]>\n")
    report = explored(testwright, "end.tstl")
    assert (report["states"], report["deadlocks"], len(report["deadlock"])) == (9, 4, 2)
    done = testwright("explore", "end.tstl")
    assert "In 4 states no action is enabled, in one of them after 2 steps\n" in done.stdout
    testwright.write("stuck.tstl", "pool: <x> 1\nFalse -> <x> := 1\n")
    done = testwright("explore", "stuck.tstl", status=2)
    assert "no action can be taken at the start" in done.stderr
    assert last_line(done).startswith("1 state: no failure found; stopped at the start, where")
    report = explored(testwright, "stuck.tstl", status=2)
    assert not report["complete"]
    # A goal that is reached at once, and a formula that is violated at once, are answers.
    assert explored(testwright, "stuck.tstl", "--goal", "True")["goal"]["answer"] == "found"
    explored(testwright, "stuck.tstl", "--formula", "eventually {False}", status=1)


# Small scope


def test_small_scope_tries_every_test(testwright):
    testwright.write("calls.py", "def f(number): pass\n")
    testwright.write("calls.tstl", "@import calls\ncalls.f(<[1..3]>)\n")
    done = testwright("explore", "calls.tstl", "--small-scope", "4")
    assert last_line(done) == (
        f"{3 + 9 + 27 + 81} tests: no failure found; bounded by a depth of 4"
    )
    report = explored(testwright, "calls.tstl", "--small-scope", "3", "--order", "depth")
    assert (report["transitions"], report["all_tests_up_to"]) == (39, 3)
    # With state matching there is only one state.
    assert explored(testwright, "calls.tstl")["states"] == 1


def test_small_scope_finds_the_shortest_failure(testwright):
    report = explored(testwright, "stack.tstl", "--small-scope", "3", status=1)
    assert report["failures"][0]["test"] == ["stack0 = stack.Stack()", "stack0.top()"]
    report = explored(testwright, "sound.tstl", "--small-scope", "2")
    assert report["failures"] == []


# Symmetry


def test_symmetry_gives_the_same_verdict_with_fewer_states(testwright):
    testwright.write("lists.tstl", LISTS)
    plain = explored(testwright, "lists.tstl")
    alike = explored(testwright, "lists.tstl", "--symmetry")
    assert plain["complete"] and alike["complete"]
    assert plain["failures"] == alike["failures"] == []
    assert plain["states"] / 2 <= alike["states"] < plain["states"]
    wrong = LISTS.replace("< 3", "< 2")
    testwright.write("wrong.tstl", wrong)
    plain = explored(testwright, "wrong.tstl", status=1)
    alike = explored(testwright, "wrong.tstl", "--symmetry", status=1)
    assert plain["failures"][0]["steps"] == alike["failures"][0]["steps"] == 3
    done = testwright("explore", "lists.tstl", "--symmetry")
    assert "states (whatever the names of slots), " in done.stdout


def test_symmetry_proves_nothing_about_a_slot_by_name(testwright):
    testwright.write("lists.tstl", LISTS)
    arguments = ["lists.tstl", "--symmetry", "--goal", "list0 == [1] and list1 == [3]"]
    assert explored(testwright, *arguments)["goal"]["answer"] == "not-found"
    assert explored(testwright, arguments[0], *arguments[2:])["goal"]["answer"] == "absent"


# Goals


def test_the_puzzle_is_solved(jugs):
    done = jugs("explore", "jugs.tstl", "--no-check", "--goal", FOUR)
    assert f"Goal reached after 7 steps (no test is shorter): {FOUR}\n" in done.stdout
    assert "  7  jugs0.pour('large', 'small')\n" in done.stdout
    assert f"Goal `{FOUR}`: found, 7 steps away\n" in done.stdout
    file = jugs.folder / "testwright-out/jugs/goal.test"
    assert f"# goal: {FOUR}\n" in file.read_text()
    jugs("replay", file, "--harness", "jugs.tstl", "--no-check")


def test_the_puzzle_cannot_be_solved_without_emptying(jugs):
    arguments = ["jugs.tstl", "--no-check", "--goal", FOUR]
    done = jugs("explore", *arguments, "--without", r"\.empty\(")
    assert r"proven absent, no test leads there without `\.empty\(`" in done.stdout
    assert explored(jugs, *arguments, "--without", "empty")["goal"]["answer"] == "absent"
    # But pouring from the large jug is not needed.
    report = explored(jugs, *arguments, "--without", r"pour\('large'")
    assert report["goal"]["answer"] == "found"
    report = explored(jugs, *arguments, "--depth", "6")
    assert report["goal"] == {"expression": FOUR, "answer": "not-found"}
    done = jugs("explore", *arguments, "--depth", "6")
    assert "Goal `" + FOUR + "`: not found; bounded by a depth of 6\n" in done.stdout


def test_a_goal_behind_a_failure(jugs):
    done = jugs("explore", "jugs.tstl", "--goal", FOUR, status=1)
    assert "`: not found; bounded by failing steps, after which nothing was tried" in done.stdout
    assert last_line(done).startswith("16 states: 1 failure")
    assert last_line(done).endswith("; bounded by failing steps, after which nothing was tried")


def test_best_first(endless):
    arguments = ["endless.tstl", "--goal", "counter0.value == 40"]
    best = explored(endless, *arguments, "--heuristic", "abs(40 - counter0.value)")
    plain = explored(endless, *arguments)
    assert best["goal"]["answer"] == plain["goal"]["answer"] == "found"
    assert best["states"] <= plain["states"]
    done = endless("explore", "endless.tstl", "--order", "best", status=2)
    assert "say so with `--heuristic EXPR`" in done.stderr
    done = endless("explore", *arguments, "--heuristic", "'far'", status=2)
    assert "`'far'` raised TypeError" in done.stderr


def test_goals_may_be_at_the_start_and_use_what_the_harness_knows(endless):
    report = explored(endless, "endless.tstl", "--goal", "counter0 is None")
    assert report["goal"]["steps"] == 0
    goal = "isinstance(counter0, counter.Counter) and counter0.value in {n for n in (3, 5)}  # odd"
    assert explored(endless, "endless.tstl", "--goal", goal)["goal"]["steps"] == 3


def test_unicode_names(testwright):
    testwright.write("größe.tstl", "pool: <größe> 2\n<größe> := <['ä','ß']>\n")
    report = explored(testwright, "größe.tstl", "--goal", "größe1 == 'ß'")
    assert report["goal"]["test"] == ["größe1 = 'ß'"]
    done = testwright("explore", "größe.tstl", "--goal", "größe1 == grösse", status=2)
    assert "there is neither a slot nor a name `grösse` in the harness" in done.stderr
    assert "its slots are `größe0` and `größe1`" in done.stderr


# Formulas


def test_a_formula_that_holds(jugs):
    fill = "jugs0.fill(\\'small\\')"
    formula = f"always (took '{fill}' implies {{jugs0.litres['small'] == 3}})"
    done = jugs("explore", "jugs.tstl", "--no-check", "--formula", formula)
    assert "Formula: holds in every run\n" in done.stdout
    assert "All 18 states: no failure\n" in done.stdout


def test_a_lasso(jugs):
    formula = "eventually {jugs0.litres['large'] == 5}"
    done = jugs("explore", "jugs.tstl", "--no-check", "--formula", formula, status=1)
    assert f"Formula violated: {formula}\n" in done.stdout
    assert "  and then forever:\n" in done.stdout
    assert "Formula: violated\n" in done.stdout
    report = explored(jugs, "jugs.tstl", "--no-check", "--formula", formula, status=1)
    assert report["formula"]["answer"] == "violated" and report["formula"]["then"] == "lap"
    text = (jugs.folder / "testwright-out/jugs/lasso.test").read_text()
    steps = report["formula"]["prefix"] + report["formula"]["lap"]
    assert [line for line in text.splitlines() if not line.startswith("#")] == steps
    assert "# then: the last " in text


def test_a_formula_is_not_judged_on_unseen_states(endless):
    arguments = ["endless.tstl", "--depth", "3", "--formula", "always {counter0.value != 40}"]
    # In the initial state the slot is empty, so the predicate is false there.
    assert explored(endless, *arguments, status=1)["formula"]["prefix"] == []
    arguments[-1] = "always not {counter0.value == 40}"
    assert explored(endless, *arguments)["formula"]["answer"] == "nothing-found"


# Backtracking


def test_values_that_cannot_be_copied_are_put_back_in_place(testwright):
    text = COUNTER + "\n    def __deepcopy__(self, memo):\n        raise TypeError('only one')\n"
    testwright.write("counter.py", text)
    testwright.write("single.tstl", ENDLESS + "property: <counter>.value < 5\n")
    done = testwright("explore", "single.tstl", status=1)
    assert "Going back by copy: " in done.stdout
    assert "Failure 1 after 4 steps" in done.stdout


def test_what_cannot_be_put_back_is_reached_by_replay(testwright):
    testwright.write(
        "single.tstl",
        "@import itertools\npool: <it> 1\n<it> := itertools.chain([1, 2], [3])\n"
        "assert next(~<it>) < 3\n",
    )
    report = explored(testwright, "single.tstl", status=1)
    assert report["going_back"] == "replay"
    assert report["failures"][0]["steps"] == 4


def test_unseen_objects_do_not_end_an_exploration(testwright):
    testwright.write(
        "locks.tstl", "@import threading\npool: <x> 1\n<x> := threading.Lock()\n<x>.locked()\n"
    )
    testwright("explore", "locks.tstl")
    testwright("explore", "locks.tstl", "--small-scope", "3")


def test_state_in_a_module_is_put_back(testwright):
    testwright.write(
        "hidden.py", "calls = []\ndef call(n):\n    calls.append(n)\n    assert len(calls) < 9\n"
    )
    testwright.write("hidden.tstl", "@import hidden\nhidden.call(<[1..2]>)\n")
    testwright("explore", "hidden.tstl", "--no-matching", "--depth", "5", "--going-back", "copy")


def test_states_that_look_alike_but_behave_differently_are_taken_apart(testwright):
    testwright.write(
        "hidden.py",
        "def numbers():\n    n = 0\n    while True:\n        n += 1\n        yield n\n"
        "left = numbers()\n",
    )
    testwright.write("hidden.tstl", "@import hidden\nassert next(hidden.left) < 3\n")
    report = explored(testwright, "hidden.tstl", status=1)
    assert report["failures"][0]["steps"] == 3
    assert not report["complete"]


# Places in which a test leaves a number behind that no reset puts back.
LEFT_BEHIND = {
    "a private dictionary of another module": (
        "import copyreg\ndef get():\n    return copyreg._extension_registry.get('left', 0)\n"
        "def put(n):\n    copyreg._extension_registry['left'] = n\n"
    ),
    "a setting of the interpreter": (
        "import sys\ndef get():\n    return round(sys.getswitchinterval() * 1000) % 5\n"
        "def put(n):\n    sys.setswitchinterval((5 + n) / 1000)\n"
    ),
}


@pytest.mark.parametrize("place", LEFT_BEHIND)
def test_a_failure_that_does_not_occur_in_a_process_of_its_own_is_a_caveat(testwright, place):
    testwright.write("m.py", LEFT_BEHIND[place] + "def tick():\n    put((get() + 1) % 3)\n")
    harness = "@import m\npool: <a> 1\n<a> := <[1..2]>\n~<a> + 0\nm.tick()\n"
    testwright.write("m.tstl", harness + "property: m.get() != 2\n")
    # In this process, one step fails after enough others. In a process of its own, it takes two.
    report = explored(testwright, "m.tstl")
    assert "unconfirmed" in [caveat["kind"] for caveat in report["caveats"]]


# Harnesses whose states have a part that nothing can see or put back: the module `m`, and the caveat.
UNSEEN = {
    "an attribute of a module of others": (
        "import textwrap\ndef tick():\n    textwrap.kept = 1\n",
        "what is set in `textwrap`",
    ),
    "an attribute of a class of others": (
        "from textwrap import TextWrapper\ndef tick():\n    TextWrapper.kept = 1\n",
        "what is set in `textwrap.TextWrapper`",
    ),
    "a generator": ("left = iter(x for x in [1])\ndef tick():\n    next(left, 0)\n", "`generator`"),
    "the annotations of a function": (
        "def note(): pass\nnote.__annotations__['kept'] = [0]\n"
        "def tick():\n    note.__annotations__['kept'][0] ^= 1\n",
        "`__annotations__`",
    ),
    "the hits of a cache": (
        "import functools\n@functools.lru_cache\ndef get():\n    pass\n"
        "def tick():\n    get()\n    return get.cache_info().hits\n",
        "`cache_info`",
    ),
    "an attribute of a class in a module of others": (
        "import textwrap\ndef tick():\n    textwrap.TextWrapper.kept = 1\n",
        "what is set in `textwrap.TextWrapper`",
    ),
    "a list of a module of others": (
        "import keyword\nwords = keyword.kwlist\n"
        "def tick():\n    words.pop() if words[-1] == '' else words.append('')\n",
        "what is set in `keyword.kwlist`",
    ),
    "an attribute of `sys`": (
        "import sys\ndef tick():\n    sys.kept = 1\n",
        "what is set in `sys`",
    ),
    "the clock by another name": (
        "import time\nclocks = [time.time]\ndef tick():\n    clocks[0]()\n",
        "`time.time` in m.py, line 4",
    ),
    "the clock that a library reads": (
        "import uuid\nmake = uuid.uuid1\ndef tick():\n    make()\n",
        "in m.py, line 4",
    ),
    "a thread": (
        "import threading\ndef tick():\n    one = threading.Thread(target=int)\n"
        "    one.start()\n    one.join()\n",
        "`thread.start_",
    ),
    "a folder": (
        "import os\ndef tick():\n    os.path.exists('there')\n",
        "`os.stat` in m.py, line 3",
    ),
    "a setting of the interpreter": (
        "import sys\ndef tick():\n    sys.setrecursionlimit(1500)\n",
        "`sys.setrecursionlimit` in m.py, line 3",
    ),
    "the identity of a value": (
        "same = id\ndef tick():\n    same(7)\n",
        "`id(…)` in m.py, line 3 asks",
    ),
}


@pytest.mark.parametrize("place", UNSEEN)
def test_what_no_state_contains_is_named(testwright, place):
    module, caveat = UNSEEN[place]
    testwright.write("m.py", module)
    testwright.write("m.tstl", "@from m import tick\ntick()\n")
    report = explored(testwright, "m.tstl", "--going-back", "replay")
    assert not report["complete"]
    assert any(caveat in found["text"] for found in report["caveats"]), report["caveats"]


def test_an_abstraction_is_a_caveat_of_every_claim(testwright):
    testwright.write(
        "m.tstl",
        "pool: <n> 1 ABSTRACT abs\n<n> := <[-2..2]>\nproperty: <n> != 3\n",
    )
    done = testwright("explore", "m.tstl")
    assert "up to the abstraction" in done.stdout and "All" not in done.stdout
    assert not explored(testwright, "m.tstl")["complete"]


def test_a_set_of_words_depends_on_the_seed_of_hashes(testwright):
    testwright.write("m.tstl", 'pool: <s> 1\n<s> := {"a"}\n~<s> ^= {<["b", "c"]>}\n')
    report = explored(testwright, "m.tstl")
    assert report["complete"]
    assert [caveat["kind"] for caveat in report["caveats"]] == ["hash-order"]


def test_what_a_line_of_the_harness_does_outside_is_named(testwright):
    lines = "time.time() > 0 -> 1 + 1\nopen('kept', 'w').close()\nproperty: time.monotonic() > 0\n"
    testwright.write("m.tstl", lines)
    texts = [caveat["text"] for caveat in explored(testwright, "m.tstl")["caveats"]]
    for name, line in [("time.time", 1), ("open(…)", 2), ("time.monotonic", 3)]:
        assert f"`{name}` in m.tstl, line {line} is not part of a state" in texts


PURE = """\
import asyncio, collections, contextlib, copy, dataclasses, datetime, enum, functools, hashlib, io, itertools, json
import logging, math, pickle, random, re, string, sys, textwrap, threading, typing, warnings

lock, reentrant = threading.Lock(), threading.RLock()
log = logging.getLogger(__name__)
Color = enum.Enum("Color", "RED BLUE")
count = 0

@dataclasses.dataclass(order=True)
class Item:
    size: int = 0
    parts: list = dataclasses.field(default_factory=list)

@functools.singledispatch
def show(value):
    return repr(value)

@show.register
def show_number(value: int):
    return "number"

@functools.lru_cache(maxsize=None)
def cached(n):
    return n

async def wait(n):
    await asyncio.sleep(0)
    return n

def tick():
    global count
    count = (count + 1) % 3
    item = copy.deepcopy(Item(count, [count]))
    found = [str(item), dataclasses.asdict(item), show(count), cached(count), Color(1), asyncio.run(wait(1))]
    found += [json.loads(json.dumps([1, 2.5])), re.sub("a+", "b", "caat"), math.sqrt(2), pickle.loads(b"N.")]
    found += [list(itertools.permutations("ab")), collections.Counter("aab"), textwrap.fill("a b"), hash("a")]
    found += [datetime.datetime.strptime("2020", "%Y"), hashlib.sha256(b"a").digest(), io.StringIO("a").read()]
    found += [string.Template("$a").substitute(a=1), typing.get_type_hints(show_number), random.randint(0, 9)]
    with lock, reentrant, contextlib.suppress(KeyError):
        {}[0]
    log.warning("tick %s", count)
    warnings.warn("tick")
    print(found, file=sys.stderr)
    random.seed(0)
"""


def test_pure_code_has_no_caveats(testwright):
    testwright.write("m.py", PURE)
    testwright.write("m.tstl", "@import m\npool: <a> 1\n<a> := [1, 2]\n~<a>.sort()\nm.tick()\n")
    report = explored(testwright, "m.tstl")
    assert report["complete"] and not report["caveats"], report["caveats"]
    assert report["states"] < 50


def test_what_an_import_adds_to_modules_of_others_is_no_caveat(testwright):
    module = "import xml\ndef tick():\n    import xml.sax.saxutils\n    import textwrap\n"
    testwright.write("m.py", module + "    textwrap.dedent('')\n")
    testwright.write("m.tstl", "@from m import tick\ntick()\n")
    report = explored(testwright, "m.tstl")
    assert report["complete"] and not report["caveats"]


# States that differ in something that is easily missed. Each line: the module `m`, the harness, and the
# length of the shortest failing test.
STATES = {
    "order of a dict": (
        "",
        'pool: <d> 1\n<d> := {"a": 1, "b": 2}\n~<d>["a"] = ~<d,1>.pop("a")\n'
        'assert next(iter(<d>)) != "b"\n',
        3,
    ),
    "order of an ordered dict": (
        "",
        "@import collections\npool: <d> 1\n<d> := collections.OrderedDict(a=1, b=2)\n"
        '~<d>.move_to_end("a")\nassert next(iter(<d>)) != "b"\n',
        3,
    ),
    "integer and float": (
        "",
        "pool: <d> 1\n<d> := 1\n~<d> = ~<d> * 1.0\nassert isinstance(<d>, int)\n",
        3,
    ),
    "integer and bool": (
        "",
        "pool: <d> 1\n<d> := [1]\n~<d>[0] = True\nassert <d>[0] is not True\n",
        3,
    ),
    "negative zero": (
        "",
        'pool: <d> 1\n<d> := 0.0\n~<d> = -~<d>\nassert str(<d>) != "-0.0"\n',
        3,
    ),
    "shared and equal lists": (
        "",
        "pool: <d> 2\n<d> := []\n<d> = <d>\n~<d>.append(1)\nassert <d> is not <d>"
        " or len(<d,1>) < 2\n",
        4,
    ),
    "a set that grew and shrank": (
        "def grow(s):\n    s.update(range(100, 140))\n    s.difference_update(range(100, 140))\n",
        "@import m\npool: <s> 1\n<s> := {1, 8}\nm.grow(~<s>)\nassert list(<s>) != [1, 8]\n",
        3,
    ),
    "order of a deque": (
        "",
        "@import collections\npool: <d> 1\n<d> := collections.deque([1, 2], 2)\n"
        "~<d>.rotate(1)\nassert <d>[0] != 2\n",
        3,
    ),
    "objects that are all equal": (
        "class B:\n    def __init__(self):\n        self.n = 0\n    def inc(self):\n"
        "        self.n += 1\n    def __eq__(self, other):\n        return True\n"
        "    def __hash__(self):\n        return 1\n    def __getstate__(self):\n"
        "        return {}\n",
        "@import m\npool: <b> 1\n<b> := m.B()\n~<b>.inc()\nassert <b>.n < 2\n",
        4,
    ),
    "a module global": (
        "n = 0\ndef one():\n    global n\n    n += 1\ndef two():\n    global n\n    n += 2\n",
        "@import m\nm.one()\nm.two()\nproperty: m.n != 5\n",
        3,
    ),
    "a class attribute": (
        "class C:\n    n = 0\n    @classmethod\n    def inc(cls):\n        cls.n += 1\n",
        "@import m\nm.C.inc()\nproperty: m.C.n != 3\n",
        3,
    ),
    "a default argument": (
        "def put(x, seen=[]):\n    seen.append(x)\n    return len(seen)\n",
        "@import m\nassert m.put(<[1..2]>) < 3\n",
        3,
    ),
    "a closure": (
        "def make():\n    n = 0\n    def tick():\n        nonlocal n\n        n += 1\n"
        "        return n\n    return tick\ntick = make()\n",
        "@import m\nassert m.tick() < 3\n",
        3,
    ),
    "a cache without a bound": (
        "import functools\n@functools.lru_cache(maxsize=None)\ndef get(x):\n    return []\n",
        "@import m\nm.get(<[1..2]>).append(1)\nassert len(m.get(1)) < 2\n",
        3,
    ),
    "a cache with a bound": (
        "import functools\n@functools.lru_cache(maxsize=1)\ndef get(x):\n    return []\n",
        "@import m\nm.get(<[1..2]>).append(1)\nassert len(m.get(1)) < 2\n",
        3,
    ),
    "the class of an object": (
        "class One:\n    pass\nclass Two(One):\n    pass\nit = One()\n"
        "def change():\n    it.__class__ = Two\n",
        "@import m\nm.change()\nproperty: type(m.it) is m.One\n",
        1,
    ),
    "the class of an object in a slot": (
        "class One:\n    pass\nclass Two:\n    pass\n"
        "def change(it):\n    it.__class__ = {One: Two, Two: One}[type(it)]\n",
        "@import m\npool: <a> 2\n<a> := m.One()\nm.change(~<a>)\n"
        "assert not (type(<a>) is m.Two and type(<a>) is m.One)\n",
        4,
    ),
    "a module made at run time": (
        'import types\nmade = types.ModuleType("made")\nmade.value = []\n'
        "def add():\n    made.value.append(1)\ndef more():\n    made.more = made.value\n",
        '@import m\nm.add()\nm.more()\nassert not hasattr(m.made, "more") or m.made.value != [1, 1]\n',
        4,
    ),
    "two iterators": (
        "kept = [iter([1, 2, 3]), 0]\nother = iter([1])\n"
        "def step():\n    kept[1] = next(kept[0], 0)\n"
        "def new():\n    kept[0] = iter([1, 2, 3])\n",
        "@import m\nm.step()\nm.new()\nassert m.kept[1] != 3\n",
        4,
    ),
    "the cause of an exception": (
        "it = ValueError()\ndef change():\n    it.__cause__ = KeyError()\n",
        "@import m\nm.change()\nassert m.it.__cause__ is None\n",
        2,
    ),
    "a list from another module": (
        "items = []\ndef add():\n    items.append(1)\n",
        "@from m import items, add\nadd()\nitems.append(2)\nproperty: items != [1, 2, 1]\n",
        3,
    ),
    "a module in a package": (
        "",
        "@import package.sub\npackage.sub.inc()\nproperty: package.sub.deep.n != 3\n",
        3,
    ),
    "a bound method in a slot": (
        "class C:\n    def __init__(self):\n        self.n = 0\n    def inc(self):\n"
        "        self.n += 1\n        assert self.n < 3\n",
        "@import m\npool: <f> 1\n<f> := m.C().inc\n~<f>()\n",
        4,
    ),
    "a partial in a slot": (
        "",
        "@import functools\npool: <f> 1\n<f> := functools.partial([].append, 1)\n~<f>()\n"
        "assert len(<f>.func.__self__) < 2\n",
        4,
    ),
    "random numbers": (
        "import random\ndef draw():\n    random.random()\n",
        "@import m\nm.draw()\nassert random.random() != <[1..1]> and random.getstate()[1][-1] != 6\n",
        3,
    ),
    "raw code": (
        "",
        "<@\nn = 0\ndef tick():\n    global n\n    n += 1\n@>\ntick()\nassert n < 2\n",
        3,
    ),
    "slots of a class": (
        "class C:\n    __slots__ = ('n',)\n    def __init__(self):\n        self.n = 0\n"
        "    def inc(self):\n        self.n += 1\n",
        "@import m\npool: <c> 1\n<c> := m.C()\n~<c>.inc()\nassert <c>.n < 2\n",
        4,
    ),
}
ALL_THE_SAME = (
    [],
    ["--going-back", "replay"],
    ["--going-back", "copy"],
    ["--order", "deepening"],
    ["--no-matching", "--depth", "5"],
    ["--small-scope", "5"],
)


@pytest.mark.parametrize("name", STATES)
def test_states_are_told_apart(testwright, name):
    module, harness, length = STATES[name]
    testwright.write("m.py", module)
    (testwright.folder / "package").mkdir()
    testwright.write("package/__init__.py", "")
    testwright.write("package/deep.py", "n = 0\n")
    testwright.write("package/sub.py", "from . import deep\ndef inc():\n    deep.n += 1\n")
    testwright.write("state.tstl", harness)
    for options in soak.some(ALL_THE_SAME, 3, name):
        report = explored(testwright, "state.tstl", *options, status=1)
        found = report["failures"][0]
        if options[:1] != ["--small-scope"]:
            assert found["steps"] == length, options
        assert found["reproduced"], options


@pytest.mark.parametrize(
    "module, harness, states",
    [
        ("", "pool: <a> 1\n<a> := float('nan')\n~<a> = float('nan')\n", 2),
        ("", "pool: <a> 1\n<a> := [float('nan')]\n~<a>[0] = float('nan')\n", 2),
        (
            "class B:\n    def __init__(self, v):\n        self.v = v\n",
            "@import m\npool: <a> 2\n<a> := m.B(<[1..3]>)\n",
            16,
        ),
        (
            "items = []\ndef add():\n    items.append(1)\ndef clear():\n    global items\n"
            "    items = []\n",
            "@import m\nlen(m.items) < 3 -> m.add()\nm.clear()\n",
            4,
        ),
        (
            "",
            "@import collections\npool: <a> 1\n<a> := collections.deque([], 2)\n"
            "~<a>.append(<[1..2]>)\n",
            8,
        ),
    ],
)
def test_states_that_are_alike_are_one(testwright, module, harness, states):
    testwright.write("m.py", module)
    testwright.write("state.tstl", harness)
    for options in ([], ["--going-back", "replay"], ["--order", "depth"]):
        report = explored(testwright, "state.tstl", *options)
        assert (report["states"], report["complete"]) == (states, True), options


# Mistakes


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--goal", "counter0.value =="], ["error[host-syntax]", "--goal:1:"]),
        (
            ["--goal", "counter7.value == 1"],
            ["error[unknown-name]", "`counter7`", "`counter0`", "^^^^^^^^"],
        ),
        (["--goal", "(yield)"], ["`yield` and `await` have no place"]),
        (["--goal", ""], ["--goal"]),
        (
            ["--goal", "counter0.size == 1"],
            ["raised AttributeError", "must have a value in every state"],
        ),
        (["--heuristic", "nothing"], ["error[unknown-name]", "--heuristic:1:1"]),
        (["--formula", "always ({counter0} ->"], ["error[bad-formula]", "--formula:1:"]),
        (["--formula", "always {counter0.value ==}"], ["error[host-syntax]", "--formula:1:"]),
        (["--formula", "always {conter0.value == 1}"], ["--formula:1:9", "^^^^^^^"]),
        (["--formula", "always {counter0.size}"], ["raised AttributeError"]),
        (["--without", "add(["], ["error[bad-pattern]", "--without:1:"]),
        (["--memory", "much"], ["write a size such as 64MB"]),
        (["--depth", "0"], ["must be a whole number from 1"]),
        (["--no-matching"], ["would never end", "`--depth N`"]),
        (["--order", "depth", "--formula", "always true"], ["breadth first"]),
        (["--order", "depth", "--heuristic", "1"], ["`--heuristic` is for `--order best`"]),
        (["--symmetry", "--small-scope", "3"], ["cannot be used with"]),
        (["--out", "counter.py/sub"], ["is a file", "--out FOLDER"]),
    ],
)
def test_mistakes_are_explained(endless, arguments, words):
    done = endless("explore", "endless.tstl", *arguments, status=2)
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_cannot_be_written(jugs):
    folder = jugs.folder / "fixed"
    folder.mkdir(mode=0o500)
    done = jugs("explore", "jugs.tstl", "--out", "fixed", status=2)
    assert "cannot write to the folder `fixed`" in done.stderr


def test_a_deleted_folder_is_recreated(testwright):
    testwright.write(
        "gone.py", "import shutil\ndef f():\n    shutil.rmtree('out', True)\n    raise ValueError\n"
    )
    testwright.write("gone.tstl", "@import gone\ngone.f()\n")
    testwright("explore", "gone.tstl", "--out", "out", status=1)
    assert (testwright.folder / "out/failure-1.test").exists()


# Ctrl-C


@pytest.mark.parametrize(
    "extra", [[], ["--json"], ["--order", "depth"], ["--going-back", "replay"]]
)
def test_ctrl_c_reports_what_is_known_so_far(endless, extra):
    endless.write("counter.py", COUNTER.replace(ADD, f"{ADD}        {endless.marker_code}\n"))
    running = endless.start("explore", "endless.tstl", *extra)
    endless.wait_for_marker(200)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 0, err
    assert "Traceback" not in err
    if extra == ["--json"]:
        report = json.loads(out)
        assert report["interrupted"] and report["stopped"] == "interrupted"
        # The code that marks each step writes a file, so that nothing is covered for certain.
        assert report["states"] > 10 and report["all_tests_up_to"] == 0
        assert any("open(" in caveat["text"] for caveat in report["caveats"])
    else:
        *_, last, not_covered = out.splitlines()
        assert " no failure found; interrupted" in last
        assert not_covered.startswith("  not covered: `open(")


@pytest.mark.parametrize("extra", [[], ["--going-back", "copy"], ["--json"]])
def test_ctrl_c_in_a_system_that_does_not_react(testwright, extra):
    testwright.write(
        "deaf.py",
        # The handler is inside a loop, so an exception never leaves the function.
        f"def f():\n    {testwright.marker_code}\n    while True:\n"
        "        try:\n            while True: sum(range(99))\n        except: pass\n",
    )
    testwright.write("deaf.tstl", "@import deaf\ndeaf.f()\n")
    running = testwright.start("explore", "deaf.tstl", *extra)
    testwright.wait_for_marker()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 0, err
    assert "does not react to Ctrl-C" in err
    if extra == ["--json"]:
        assert json.loads(out)["interrupted"]
    else:
        last = out.splitlines()[-1]
        assert " no failure found; interrupted" in last


def test_ctrl_c_keeps_what_was_found(endless):
    endless.write("two.tstl", ENDLESS + "property: <counter>.value != 7\n")
    running = endless.start("explore", "two.tstl", "--all")
    endless.wait_for("testwright-out/two/failure-1.test")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 1, err
    assert "1 failure" in out.splitlines()[-1]
    assert (endless.folder / "testwright-out/two/failure-1.test").exists()


def test_lines_that_are_never_enabled_are_named(testwright):
    testwright.write("part.tstl", "pool: <x> 1\n<x> := <[1..2]>\n<x> + 1\n<x> == 7 -> <x> - 1\n")
    done = testwright("explore", "part.tstl")
    assert done.stdout.endswith(
        " states: no failure\n  not covered: line 4, `<x> - 1`, was never taken\n"
    )
    # A part of the states says nothing about the others.
    assert "never taken" not in testwright("explore", "part.tstl", "--depth", "1").stdout


def test_a_bounded_verdict_claims_nothing(endless):
    for question in ([], ["--goal", "counter0.value == -1"], ["--formula", "always {True}"]):
        for limit in (["--depth", "3"], ["--most-states", "20"], ["--time", "0.2s"]):
            done = endless("explore", "endless.tstl", *question, *limit)
            for claim in ("All ", "no failure\n", "every ", "holds", "proven", "cannot", "safe"):
                assert claim not in done.stdout, done.stdout
            report = explored(endless, "endless.tstl", *question, *limit)
            assert not report["complete"] and report["bounded_by"]
            assert report.get("goal", {}).get("answer") in (None, "not-found")
            assert report.get("formula", {}).get("answer") in (None, "nothing-found")
