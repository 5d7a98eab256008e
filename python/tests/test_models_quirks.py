"""Special cases of composition and of PyModel's tools.

First a table: a scenario's step, a model, and the steps of their product. Then PyModel's quirks, by number: those that
scripts rely on are kept, the others are fixed. Those of steppers (9 to 13 and 19) are in `models/test_steppers.py`.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from models.folder import Folder


@pytest.fixture
def models(testwright):
    return Folder(testwright)


# A scenario's step and a model

ONE_PARAMETER = """
def A(x):
    return {1: "r", 2: None, 3: None}[x]

def B():
    pass

def is_known(x):
    return x in (1, 3)

state = ()
actions = (A, B)
enablers = {A: [is_known]}
domains = {A: {"x": [1, 2]}}
"""

TABLE = {
    "the same arguments and result": ("(A, (1,), 'r')", "", ["A(1,) / 'r'"]),
    "no result is not any result": ("(A, (1,), None)", "", []),
    "open arguments match all": ("(A, (), None)", "enablers = {}", ["A(1,) / 'r'", "A(2,)"]),
    "a result without arguments is no wildcard": ("(A, (), 'r')", "", []),
    "not in the domain": ("(A, (3,), None)", "", []),
    "not in the domain, but observable": ("(A, (3,), None)", "observables = [A]", ["A(3,)"]),
    "observable, and its guard says no": ("(A, (2,), None)", "observables = [A]", []),
}


@pytest.mark.parametrize("row", TABLE)
def test_the_product_of_a_scenario_and_a_model(models, row):
    step, more, wanted = TABLE[row]
    models.write(
        Model=ONE_PARAMETER + more,
        Scenario=f"from Model import A\ninitial, accepting = 0, [1]\ngraph = ((0, {step}, 1),)\n",
    )
    assert steps(models, "Model", "Scenario") == sorted(["B()", *wanted])


def steps(models, *names):
    """Returns the steps that are possible in the initial state."""
    _, fsm = models.analyze(*names)
    found = [step for before, step, _ in fsm["graph"] if before == 0]

    def text(action, arguments, result):
        end = "" if result is None else f" / {result!r}"
        return f"{action.__name__}{arguments}{end}"

    return sorted(text(*step) for step in found)


def test_a_scenario_needs_all_arguments_or_none(models):
    models.write(
        Model="def A(x, y): pass\nstate = ()\nactions = (A,)\ndomains = {A: {'x': [1], 'y': 'x'}}\n",
        Scenario="from Model import A\ninitial, accepting = 0, [1]\ngraph = ((0, (A, (1,), None), 1),)\n",
    )
    assert steps(models, "Model") == ["A(1, 'x')"]
    assert steps(models, "Model", "Scenario") == []


def test_an_action_is_forbidden_or_not_known(models):
    models.write(
        Model=ONE_PARAMETER,
        Forbids="from Model import A\ninitial, accepting, graph, actions = 0, [0], (), [A]\n",
        Unaware="def C(): pass\ninitial, accepting, graph = 0, [0], ((0, (C, (), None), 0),)\n",
    )
    assert steps(models, "Model", "Forbids") == ["B()"]
    assert steps(models, "Model", "Unaware") == ["A(1,) / 'r'", "B()", "C()"]


# PyModel's quirks, by number


def test_1_a_model_needs_no_docstring(models):
    models.write(Bare="n = 0\ndef A(): pass\nstate = ('n',)\nactions = (A,)\n")
    assert steps(models, "Bare") == ["A()"]


def test_2_all_guards_count(models):
    models.write(
        Guarded="def A(): pass\ndef yes(): return 1\ndef no(): return []\n"
        "state = ()\nactions = (A,)\nenablers = {A: (yes, no)}\n"
    )
    assert steps(models, "Guarded") == []


def test_3_cases_without_parameters_are_one_case(models):
    models.write(
        Cases="def A(): pass\ndef B(): pass\nstate = ()\nactions = (A, B)\n"
        "domains = {A: {}}\ncombinations = {A: 'cases', B: 'cases'}\n"
    )
    assert steps(models, "Cases") == ["A()", "B()"]


def test_4_actions_without_values_for_their_arguments(models):
    unguarded = "def A(x): pass\nstate = ()\nactions = (A,)\n"
    guarded = unguarded + "def AEnabled(x): return True\nenablers = {A: [AEnabled]}\n"
    models.write(Unguarded=unguarded, Guarded=guarded)
    for model, who in (("Unguarded", "A"), ("Guarded", "AEnabled")):
        for tool in ("pma", "pmt"):
            done = models.command("compat", tool, model, status=1)
            told = f"error: {who} needs 1 arguments, got 0.  Check parameter generator.\n"
            assert told in done.stderr
            assert f"`domains` of the module `{model}`" in done.stderr and "of `A`" in done.stderr


def test_5_only_scenarios_leave_arguments_open(models):
    models.write(
        Model="def A(): pass\nstate = ()\nactions = (A,)\n",
        Scenario="from Model import A\ninitial, accepting = 0, [1]\ngraph = ((0, (A, (1,), None), 1),)\n",
    )
    assert steps(models, "Model", "Scenario") == []
    done = models.command("compat", "pma", "Model", "Scenario")
    assert (
        "`Scenario` means `A(1,)`, and `A` of the module `Model` takes no arguments" in done.stderr
    )
    assert models.test("Model", "Scenario") == (
        "  0. Finished at step 0, no more actions enabled, ended in non-accepting state\n"
    )


def test_6_every_edge_that_fits_is_followed(models):
    models.write(
        Fork="def A(): pass\ndef B(): pass\ndef C(): pass\ninitial, accepting = 0, [3]\ngraph = (\n"
        "(0, (A, (), 1), 1), (0, (A, (), 1), 2), (0, (A, (), 2), 3),\n"
        "(1, (B, (), None), 3), (2, (C, (), None), 3))\n",
        Last="def SelectAction(possible):\n"
        "    return possible[-1][:2] if possible else (None, None)\n",
    )
    _, fsm = models.analyze("Fork")
    assert sorted(after for before, _, after in fsm["graph"] if before == 0) == [1, 2, 3]
    # After the first result, the machine is in two states; the next step decides between them.
    assert models.test("Fork", "-g", "Last") == (
        "A() / 1\nC()\n  0. Finished at step 2, no more actions enabled, reached accepting state\n"
    )
    seen = {models.test("Fork", "-s", seed).split("\n")[0] for seed in range(1, 9)}
    assert seen == {"A() / 1", "A() / 2"}


@pytest.mark.parametrize("names", ["Stack PushPop", "PushPop Stack"])
def test_7_the_result_is_that_of_the_model(models, names):
    printed = models.test(*names.split(), "-n", 20, "-s", 1)
    popped = [line for line in printed.splitlines() if line.startswith("Pop")]
    assert popped and all(line.startswith("Pop() / ") for line in popped)


def test_8_observed_actions_are_matched_by_name(models):
    # `TimerEvents` has its own functions.
    assert "Tick()" in models.test("Timer", "TimerEvents", "TwoSeconds", "-n", 2)


def test_14_exit_status_and_missing_reset(models):
    # PyModel's commands exit with 0 in both cases, and scripts rely on that.
    done = models.run("compat", "pmt", "Switch", "-n", 1, "-r", 2)
    assert done.stdout == (
        "PowerOn()\n  0. Finished at step 1, ended in non-accepting state\n"
        "No Reset function for model program Switch\n"
    )
    models.run("compat", "pmt", "Stack", "-n", 9, "-i", "StackStepper", STEPPER="text")
    # The commands of Testwright do not.
    models.command("explore", "Counter", status=1)


@pytest.mark.parametrize("option", ["-m", "-n", "-c", "-r"])
def test_15_negative_numbers_are_refused(models, option):
    tool = "pma" if option == "-m" else "pmt"
    done = models.command("compat", tool, "Stack", option, -1, status=2)
    assert "invalid value '-1'" in done.stderr


HARD = """
import dataclasses
import enum

class Colour(enum.Enum):
    RED = 1

@dataclasses.dataclass(frozen=True)
class Point:
    x: int

said = ""

def states(text):
    global said
    said = text
    return text

def values(value):
    return value

nameless = lambda: float("inf")
state = ("said",)
actions = (states, values, nameless)
domains = {
    states: {"text": ["it's", 'a "quote"', "back\\\\slash", "line\\nend", "ünïcode", "\\udcff"]},
    values: {"value": [Colour.RED, Point(1), 2.5, b"x", frozenset({1, 2}), (None,), ...]},
}
"""


def test_16_what_is_written_is_python(models):
    models.write(Hard=HARD, Single="def A(): return 'x'\nstate = ()\nactions = (A,)\n")
    _, fsm = models.analyze("Hard", "-e", "<lambda>")
    assert len(fsm["states"]) == 7 and len(fsm["graph"]) == 7 * 13
    results = {result for _, (action, _, result), _ in fsm["graph"] if action.__name__ == "states"}
    assert "it's" in results and "line\nend" in results and "\udcff" in results
    said, again = models.analyze("Found", output="Again")
    assert len(again["graph"]) == len(fsm["graph"])
    models.test("Hard", "-n", 60, "-s", 1, "-o", "Recorded")
    suite = models.read("Recorded")
    assert [action.__name__ for action in suite["actions"]] == ["states", "values", "<lambda>"]
    names = {step[0].__name__ for step in suite["testSuite"][0]}
    assert names == {"states", "values", "<lambda>"}
    # An action that is only in this list.
    models.test("Single", "-n", 2, "-o", "Recorded")
    assert "\nactions = (A,)\n" in (models.path / "Recorded.py").read_text()
    assert models.test("Recorded") == (
        "A() / 'x'\nA() / 'x'\n"
        "  0. Finished at step 2, no more actions enabled, reached accepting state\n"
    )


def test_18_what_is_read_is_not_overwritten(models):
    before = {file.name: file.read_text() for file in models.path.glob("*.py")}
    for line in (
        "pma Stack -o Stack",
        "pma Depth Stack -o Depth",
        "pma PushPop PushPopFSM",
        "pma Depth PushPop -o Stack",
        "pma ./Stack.py -o Stack",
        "pmt Stack -n 1 -o Stack",
        "pmt Depth PushPop -n 1 -o Stack",
        "pmt Stack -n 1 -i StackStepper -o StackStepper",
        "pmt Stack -n 1 -g First -o First",
    ):
        models.write(PushPopFSM=before["PushPop.py"])
        done = models.command("compat", *line.split(), status=1)
        assert "would be lost" in done.stderr and done.stdout == ""
    (models.path / "PushPopFSM.py").unlink()
    done = models.command("explore", "Stack", "Depth", "--out", "Depth.py", status=2)
    assert "would be lost" in done.stderr
    assert {file.name: file.read_text() for file in models.path.glob("*.py")} == before


def test_20_the_filter_applies_to_chosen_steps_only(models):
    models.write(
        Filtered="n = 0\ndef A():\n    global n\n    n += 1\ndef Seen():\n    global n\n    n += 5\n"
        "def StateFilter(): return 0 < n < 3\nstate = ('n',)\n"
        "actions = (A, Seen)\nobservables = (Seen,)\ncleanup = ()\n",
        Observing="from observation_queue import queue\n"
        "def TestAction(name, arguments, expected): queue.append(('Seen', ()))\n",
    )
    _, fsm = models.analyze("Filtered")
    # The initial state is kept although the filter rejects it.
    assert [state["Filtered"]["n"] for state in fsm["states"].values()] == [0, 1, 2]
    assert models.test("Filtered", "-i", "Observing", "-n", 3) == (
        "A()\nSeen()\n  0. Success at step 2, no more actions enabled, reached accepting state\n"
    )


def test_21_tests_go_on_in_unsafe_states(models):
    printed = models.test("Counter", "-g", "First", "-n", 4)
    assert printed == (
        "Step(1,) / 1\nStep(1,) / 2\nStep(1,) / 3\nStep(1,) / 4\n"
        "  0. Finished at step 4, ended in non-accepting state\n"
    )


def test_22_variables_are_copied_one_by_one_and_others_leak(models):
    models.write(
        Aliases="one = []\nother = one\ncalls = 0\n"
        "def A():\n    global calls\n    calls += 1\n    one.append(0)\n    return calls\n"
        "def AEnabled(): return len(one) < 2\n"
        "state = ('one', 'other')\nactions = (A,)\nenablers = {A: [AEnabled]}\n"
    )
    _, fsm = models.analyze("Aliases")
    found = [
        tuple(len(items) for items in state["Aliases"].values()) for state in fsm["states"].values()
    ]
    assert found == [(0, 0), (1, 0), (2, 0)]
    assert [result for _, (_, _, result), _ in fsm["graph"]] == [1, 2]
    # In a run, every step is tried before it is taken.
    assert "A() / 2\nA() / 4\n" in models.test("Aliases")


def test_22_a_reference_to_the_state_sees_changes_in_a_run_only(models):
    # The first step of a run is tried on the same set that the configuration uses as a domain.
    _, fsm = models.analyze("Populations", "LiveDomain")
    removed = {step[1] for _, step, _ in fsm["graph"] if step[0].__name__ == "remove"}
    assert removed == {("ann",)}
    models.write(
        Only="'''PyModel configuration'''\nimport Populations\nPopulations.everybody = ('bob',)\n"
    )
    printed = models.test("Only", "Populations", "LiveDomain", "-n", 60, "-s", 2)
    assert "remove('bob',)" in printed and "remove('ann',)" in printed


def test_23_a_later_spelling_takes_precedence_with_a_warning(models):
    models.write(
        Spelled="n = 0\ndef A():\n    global n\n    n += 1\ndef state_filter(): return n < 3\n"
        "def Accepting(): return False\nstate = ('n',)\nactions = (A,)\n",
        Configured="'''PyModel configuration'''\nimport Spelled\n"
        "Spelled.StateFilter = lambda: Spelled.n < 5\nSpelled.accepting = lambda: Spelled.n == 1\n",
    )
    done = models.command("compat", "pma", "Spelled", "Configured")
    assert done.stdout == "3 states, 2 transitions, 1 accepting states, 0 unsafe states\n"
    assert "the module `Spelled` has both `StateFilter` and `state_filter`" in done.stderr
    assert "`accepting` counts" in done.stderr


def test_24_what_is_known_before_an_exception_is_written(models):
    models.write(
        Raises="n = 0\ndef A():\n    global n\n    n += 1\n    if n == 3: raise ValueError('three')\n"
        "    return n\nstate = ('n',)\nactions = (A,)\n"
    )
    done = models.run("compat", "pma", "Raises", status=1)
    assert "ValueError: three" in done.stderr and done.stdout == ""
    fsm = models.read("RaisesFSM")
    assert len(fsm["graph"]) == 2 and fsm["frontier"] == [2]
    done = models.run("compat", "pmt", "Raises", "-o", "Recorded", status=1)
    assert done.stdout == "A() / 1\nA() / 2\n"
    assert [len(run) for run in models.read("Recorded")["testSuite"]] == [2]
    assert "(A, (), 2)" in (models.path / "Recorded.py").read_text()


def test_25_a_machine_without_accepting_states_may_end_anywhere(models):
    said, fsm = models.analyze("Fork")
    assert sorted(fsm["accepting"]) == sorted(fsm["states"])


@pytest.mark.parametrize(
    "name", ["model", "FSM", "TestSuite", "Dot", "Analyzer", "pmt", "testsuite"]
)
def test_26_modules_may_have_any_name(models, name):
    models.write(**{name: (models.path / "Switch.py").read_text()})
    assert steps(models, name) == ["PowerOn()"]


def test_26_but_not_those_that_python_needs(models):
    models.write(copy=(models.path / "Switch.py").read_text())
    # This runs the installed command: with `python -m`, Python itself would import the file.
    command = Path(sys.executable).parent / "testwright"
    done = subprocess.run(
        [command, "compat", "pma", "copy"], cwd=models.path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "`copy` is the name of a module of Python itself" in done.stderr


def test_27_no_reset_is_needed_after_the_last_run(models):
    models.write(
        Once="from Switch import PowerOff, PowerOn\ntestSuite = [[(PowerOn, ()), (PowerOff, ())]]\n"
    )
    for names in (["Once", "Switch"], ["Switch", "Once"]):
        said, fsm = models.analyze(*names)
        assert said == "3 states, 2 transitions, 1 accepting states, 0 unsafe states\n"


def test_27_a_missing_reset_is_reported_before_the_first_run(models):
    models.write(
        Twice="from Switch import PowerOff, PowerOn\n"
        "testSuite = [[(PowerOn, ()), (PowerOff, ())], [(PowerOn, ())]]\n"
    )
    # The lines are PyModel's, which notices the missing reset later; the warning comes before them.
    missing = "No Reset function for model program Switch\n"
    warning = "warning: `Switch` has no `Reset`, so there is only one run\n"
    for words in (["Switch", "-n", 1, "-r", 2], ["Switch", "-n", 1, "-r", 0], ["Twice", "Switch"]):
        done = models.run("compat", "pmt", *words)
        assert done.stderr == warning
        assert done.stdout.endswith(missing) and "  0. Finished" in done.stdout
    done = models.run("compat", "pmt", "Switch", "-n", 1, "-r", 1)
    assert "PowerOn()" in done.stdout and not done.stderr
    assert "Test finished" in models.test("Twice")
    # `testwright model test` restores the variables instead.
    done = models.command("model", "test", "Switch", "--runs", 2, "--steps", 2)
    assert "2 runs" in done.stdout


def test_28_open_arguments_of_a_scenario_offer_nothing_to_observe(models):
    models.write(
        Seen="n = 0\ndef Go(): pass\ndef Seen(x): pass\ndef is_known(x): return x == 7\n"
        "state = ('n',)\nactions = (Go, Seen)\nobservables = [Seen]\nenablers = {Seen: [is_known]}\n",
        Any="from Seen import Go, Seen\ninitial, accepting = 0, [0]\n"
        "graph = ((0, (Go, (), None), 1), (1, (Seen, (), None), 0))\n",
        Sees="from observation_queue import queue\n"
        "def TestAction(name, arguments, expected): queue.append(('Seen', (7,)))\n",
    )
    assert steps(models, "Seen", "Any") == ["Go()"]
    _, fsm = models.analyze("Seen", "Any")
    assert len(fsm["states"]) == 2 and len(fsm["deadend"]) == 1
    assert models.test("Seen", "Any", "-i", "Sees", "-n", 4) == (
        "Go()\nSeen(7,)\nGo()\nSeen(7,)\n  0. Success at step 4, reached accepting state\n"
    )
