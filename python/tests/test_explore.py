"""`testwright explore`: every state of a harness, goals, and temporal formulas."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

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
    assert last_line(done) == "All 18 states: no failure"
    assert "Explored 18 states, " in done.stdout
    assert "Going back by copy: a copy leads to the same state as a replay\n" in done.stdout
    assert not (jugs.folder / "testwright-out").exists()


def test_the_first_failure_has_a_shortest_test(jugs):
    done = jugs("explore", "jugs.tstl", status=1)
    assert "Failure 1 after 7 steps: property violated: `4 not in" in done.stdout
    assert last_line(done).startswith("Stopped at the first failure, after ")
    assert last_line(done).endswith(" states, with all tests up to 6 steps covered: 1 failure")
    found = jugs.folder / "testwright-out/jugs"
    assert sorted(file.name for file in found.iterdir()) == ["failure-1.test", "test_failure_1.py"]
    again = jugs("replay", found / "failure-1.test", "--harness", "jugs.tstl", status=1)
    assert "fails at step 7 of 7" in again.stdout


@pytest.mark.parametrize("order", ["breadth", "depth", "deepening"])
@pytest.mark.parametrize("back", ["copy", "replay"])
def test_every_order_finds_the_same(jugs, order, back):
    report = explored(jugs, "jugs.tstl", "--all", "--order", order, "--going-back", back, status=1)
    assert report["complete"] and report["stopped"] is None
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

    assert end("--depth", "4").startswith("All tests up to 4 steps (")
    assert end("--depth", "4").endswith(" states): no failure")
    assert end("--most-states", "100").startswith("Stopped at 100 states, with all tests up to ")
    assert end("--most-states", "100").endswith(" steps covered: no failure so far")
    assert end("--memory", "20k").startswith("Stopped with 20 KB full, at ")
    assert end("--time", "0.3s").startswith("Stopped after 0.3")
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
    done = testwright("explore", "stuck.tstl")
    assert "no action can be taken at the start" in done.stderr
    assert last_line(done) == "The only state: no failure"


# Small scope


def test_small_scope_tries_every_test(testwright):
    testwright.write("calls.py", "def f(number): pass\n")
    testwright.write("calls.tstl", "@import calls\ncalls.f(<[1..3]>)\n")
    done = testwright("explore", "calls.tstl", "--small-scope", "4")
    assert last_line(done) == f"All tests up to 4 steps ({3 + 9 + 27 + 81}): no failure"
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
    assert "not found, and no test up to 6 steps leads there" in done.stdout


def test_a_goal_behind_a_failure(jugs):
    done = jugs("explore", "jugs.tstl", "--goal", FOUR, status=1)
    assert "what would follow a failing step was not explored" in done.stdout
    assert last_line(done).startswith("All 16 states: 1 failure")


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
    assert "Formula: holds on every run\n" in done.stdout
    assert last_line(done) == "All 18 states: no failure"


def test_a_lasso(jugs):
    formula = "eventually {jugs0.litres['large'] == 5}"
    done = jugs("explore", "jugs.tstl", "--no-check", "--formula", formula, status=1)
    assert f"Formula violated: {formula}\n" in done.stdout
    assert "  and then for ever:\n" in done.stdout
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


def test_values_that_cannot_be_copied(testwright):
    text = COUNTER + "\n    def __deepcopy__(self, memo):\n        raise TypeError('only one')\n"
    testwright.write("counter.py", text)
    testwright.write("single.tstl", ENDLESS + "property: <counter>.value < 5\n")
    done = testwright("explore", "single.tstl", status=1)
    reason = "copying the values of the slots raised TypeError: only one"
    assert f"Going back by replay: {reason}\n" in done.stdout
    assert "Failure 1 after 4 steps" in done.stdout
    report = explored(testwright, "single.tstl", status=1)
    assert (report["going_back"], report["going_back_because"]) == ("replay", reason)


def test_states_that_cannot_be_distinguished(testwright):
    testwright.write(
        "locks.tstl", "@import threading\npool: <x> 1\n<x> := threading.Lock()\n<x>.locked()\n"
    )
    done = testwright("explore", "locks.tstl", status=2)
    assert "states cannot be told apart" in done.stderr
    assert "`--small-scope N`" in done.stderr
    testwright("explore", "locks.tstl", "--small-scope", "3")


def test_a_state_outside_the_slots_shows_when_the_test_is_run_again(testwright):
    testwright.write(
        "hidden.py", "calls = []\ndef call(n):\n    calls.append(n)\n    assert len(calls) < 9\n"
    )
    testwright.write("hidden.tstl", "@import hidden\nhidden.call(<[1..2]>)\n")
    done = testwright(
        "explore", "hidden.tstl", "--no-matching", "--depth", "5", "--going-back", "copy", status=1
    )
    assert "the test behaves differently" in done.stdout


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
        (["--out", "counter.py/sub"], ["is a file", "--out DIR"]),
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
        assert report["states"] > 10 and report["all_tests_up_to"] > 1
    else:
        last = out.splitlines()[-1]
        assert last.startswith("Interrupted at ") and last.endswith(": no failure so far")


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
        assert last.startswith("Interrupted at ") and last.endswith(": no failure so far")


def test_ctrl_c_keeps_what_was_found(endless):
    endless.write("two.tstl", ENDLESS + "property: <counter>.value != 7\n")
    running = endless.start("explore", "two.tstl", "--all")
    endless.wait_for("testwright-out/two/failure-1.test")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 1, err
    assert "1 failure" in out.splitlines()[-1]
    assert (endless.folder / "testwright-out/two/failure-1.test").exists()
