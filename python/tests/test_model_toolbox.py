"""The commands for harnesses, used with models."""

import json
import re
import subprocess

import pytest
from small_models import MODULES, write_modules

CRASHES = """\
import os

number = 0

def Up():
    global number
    number += 1
    if number == 4:
        os._exit(7)

state = ("number",)
actions = (Up,)
"""


@pytest.fixture
def models(testwright):
    """Writes small models to a folder."""
    write_modules(testwright)
    return testwright


def steps(models, file):
    """Returns the steps of a saved test."""
    lines = (models.folder / file).read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def search(models, *arguments, status=1):
    return models("run", *arguments, "--seed", 1, "--tests", 200, "--length", 30, status=status)


def raising(models, *arguments):
    """Runs a command on a model that raises, which shows the model's own traceback."""
    done = subprocess.run(
        models.line(*arguments), cwd=models.folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "panicked" not in done.stderr and "internal error" not in done.stderr
    return done


# Searching


def test_an_invariant_that_is_false_is_found_and_reduced(models):
    done = search(models, "Talk", "--keep-going")
    assert "property violated: the invariant of `Talk` is false" in done.stdout
    assert (
        "property violated: a dead end: nothing is possible, and no run may end here" in done.stdout
    )
    assert "in the state {'Talk': {'place': 'stuck', 'tokens': " in done.stdout
    folder = "testwright-out/Talk"
    found = [steps(models, f"{folder}/failure-{number}.test") for number in (1, 2)]
    assert ["Ask()", "Answer('no',)"] in found
    assert any(found[number][-1] == "Spend()" for number in (0, 1))
    done = models("replay", f"{folder}/failure-1.test", f"{folder}/failure-2.test", status=1)
    assert done.stdout.count(": fails at step ") == 2
    note = (models.folder / folder / "failure-1.test").read_text()
    assert note.startswith("# testwright test 1\n# harness: Talk.py\n")


def test_the_same_seed_gives_the_same_tests(models):
    kept = []
    for folder in ("one", "other"):
        search(models, "Pile", "--keep-tests", folder, status=0)
        kept.append([path.read_text() for path in sorted((models.folder / folder).iterdir())])
    assert kept[0] == kept[1] and len(kept[0]) == 200


def test_an_exception_of_a_model_is_a_failure(models):
    done = search(models, "RaisesAtThree")
    assert "uncaught exception: ValueError: three is too much" in done.stdout
    assert "line 7, in Up" in done.stdout
    assert steps(models, "testwright-out/RaisesAtThree/failure-1.test") == ["Up()", "Up()"]


def test_an_exception_in_the_initial_state_is_reported(models):
    done = raising(models, "run", "Exits", "--seed", 1)
    assert "where runs begin, a model raises SystemExit: 0" in done.stderr


def test_nothing_is_found_in_a_correct_model(models):
    done = search(models, "Pile.py", status=0)
    assert "Pile.py: 2 action names; seed 1, 200 tests of up to 30 steps" in done.stdout
    assert "no failure found" in done.stdout


def test_models_are_composed(models):
    done = search(models, "Pile", "TwoOnly", "--keep-tests", "kept", status=0)
    assert "no failure found" in done.stdout
    seen = {line for path in (models.folder / "kept").iterdir() for line in steps(models, path)}
    assert seen == {"Push(2,)", "Pop()"}
    # Its only run is impossible: that is a dead end before the first step.
    done = search(models, "Pile", "PopFirst", status=2)
    assert "no action is enabled at the start, so nothing was tested" in done.stderr


def test_any_run_of_a_suite_may_be_taken(models):
    search(models, "Pile", "PushPop", "--keep-tests", "kept", status=0)
    runs = {tuple(steps(models, path)) for path in (models.folder / "kept").iterdir()}
    assert runs == {("Push(1,)", "Pop()"), ("Push(2,)", "Push(1,)", "Pop()", "Pop()")}


@pytest.mark.parametrize(
    "strategy", ["auto", "random", "swarm", "equal", "rare", "exploit", "extend"]
)
def test_every_strategy_makes_tests_of_models(models, strategy):
    done = search(models, "Talk", "--strategy", strategy)
    assert "Failure 1" in done.stdout


def test_a_search_prefers_new_transitions(models):
    models.write(
        "Stairs.py",
        "n = 0\ndef Up():\n    global n\n    n += 1\ndef Down():\n    global n\n    n = 0\n"
        "def StateInvariant(): return n < 12\nstate = ('n',)\nactions = (Up, Down)\n",
    )
    arguments = ["--seed", 1, "--tests", 3000, "--length", 30, "--strategy", "exploit"]
    models("run", "Stairs", *arguments, status=1)
    assert steps(models, "testwright-out/Stairs/failure-1.test") == ["Up()"] * 12


def test_the_result_for_scripts(models):
    models.write("Prints.py", MODULES["Prints"].replace("number < 2", "number < 9"))
    models.write(
        "Limit.py",
        "'''PyModel config'''\nimport Prints\nPrints.StateInvariant = lambda: Prints.number < 4\n",
    )
    done = search(models, "Prints", "Limit", "--json")
    found = json.loads(done.stdout)
    assert found["failures"][0]["test"] == ["Up()"] * 4
    assert found["templates"] == 1
    done = search(models, "Prints", "Limit", "--show-output")
    assert "imported\n" in done.stdout and "up to 1\n" in done.stdout


def test_a_model_that_ends_its_process_is_survived(models):
    models.write("Crashes.py", CRASHES)
    done = search(models, "Crashes")
    told = "after 3 steps: crash: the process exited with status 7, last step `Up()`"
    assert told in done.stdout
    assert steps(models, "testwright-out/Crashes/failure-1.test") == ["Up()"] * 3
    done = models("replay", "testwright-out/Crashes/failure-1.test", status=1)
    assert "failure-1.test: fails at step 3, Up(): the process exited with status 7" in done.stdout
    # Without workers the command also survives, but it cannot reduce the test.
    done = search(models, "Crashes", "--jobs", 0)
    assert "Crash after 3 steps: the process exited with status 7" in done.stdout
    assert steps(models, "testwright-out/Crashes/crash.test") == ["Up()"] * 3


def test_failures_in_english(models):
    models.write(
        "Stairs.py",
        "n = 0\ndef Up():\n    global n\n    n += 1\n"
        "def StateInvariant(): return n < 2\nstate = ('n',)\nactions = (Up,)\n",
    )
    done = search(models, "Stairs", "--explain")
    assert '    When I call "up"\n      And I call "up"\n' in done.stdout
    feature = (models.folder / "testwright-out/Stairs/failure-1.feature").read_text(
        encoding="utf-8"
    )
    assert "Expected: the n is less than 2." in feature


def test_a_model_that_hangs_is_survived(models):
    models.write("Hangs.py", CRASHES.replace("os._exit(7)", "while True: pass"))
    done = search(models, "Hangs", "--step-timeout", "1s")
    assert "after 3 steps: hang: no end after 1s, last step `Up()`" in done.stdout
    assert "in Up" in done.stdout
    assert steps(models, "testwright-out/Hangs/failure-1.test") == ["Up()"] * 3
    done = search(models, "Hangs", "--step-timeout", "1s", "--jobs", 0)
    assert "Hang after 3 steps: no end after 1s" in done.stdout
    assert steps(models, "testwright-out/Hangs/crash.test") == ["Up()"] * 3


@pytest.mark.parametrize(
    "words",
    [
        "run Pile --jobs 0 --json-lines",
        "run stack.tstl --stepper Pile",
        "run Pile --coverage",
        "run Pile --scenario TwoOnly",
        "run Pile --no-reset",
        "run Pile stack.tstl",
        "run stack.tstl Pile",
        "quick Pile --scenario TwoOnly",
        "standalone pile.test --harness Pile",
        "replay pile.test --harness Pile --coverage",
        "replay pile.test --harness Pile --harness stack.tstl",
        "replay pile.test",
    ],
)
def test_invalid_requests_are_refused_with_advice(models, words):
    models.write("stack.tstl", "pool: <x> 1\n<x> := 1\n")
    models.write("pile.test", "# testwright test 1\n# harness: Gone.py\nPush(1,)\n")
    done = models(*words.split(), status=2)
    assert "help: " in done.stderr or "= help" in done.stderr, done.stderr
    assert not (models.folder / "testwright-out").exists()


# Saved tests


@pytest.fixture
def long_test(models):
    """Saves a failing test of the model `Talk`."""
    lines = ["Ask()", "Answer('yes',)", "Ask()", "Answer('yes',)", "Ask()", "Answer('no',)"]
    models.write("long.test", "# testwright test 1\n# harness: Talk.py\n" + "\n".join(lines) + "\n")
    return "long.test"


def test_a_test_finds_its_model(models, long_test):
    done = models("replay", long_test, status=1)
    assert done.stdout.startswith(
        "long.test: fails at step 6 of 6\n    property violated: a dead end"
    )
    done = models("replay", long_test, "--harness", "Talk", status=1)
    assert "fails at step 6 of 6" in done.stdout


def test_each_step_is_shown_with_the_state(models, long_test):
    done = models("replay", long_test, "--verbose", status=1)
    assert "step 1: Ask()\n" in done.stdout
    assert "    → Talk = {'place': 'asked', 'tokens': 3}  (state)\n" in done.stdout


def test_a_disabled_step_is_skipped_and_an_unknown_one_is_reported(models):
    models.write("skips.test", "# harness\nPop()\nPush(1,)\nPush(2,)\nPush(2,)\nPop()\n")
    done = models("replay", "skips.test", "--harness", "Pile")
    assert "step 1 skipped, not enabled: Pop()" in done.stdout
    assert "step 4 skipped, not enabled: Push(2,)" in done.stdout
    models.write("unknown.test", "Push(1,)\nPush(7,)\n__import__('os')._exit(3)\n")
    done = models("replay", "unknown.test", "--harness", "Pile", status=2)
    assert "no action reads `Push(7,)`" in done.stderr
    assert "no action reads `__import__('os')._exit(3)`" in done.stderr
    assert "did you mean `Push(1,)`?" in done.stderr


def test_reduce_normalize_and_generalize(models, long_test):
    done = models("reduce", long_test, status=1)
    assert steps(models, "long.reduced.test") == ["Ask()", "Answer('no',)"]
    assert "Written to long.reduced.test" in done.stdout
    models.write("three.test", "Push(2,)\nPop()\nPush(2,)\nPush(2,)\n")
    models.write(
        "AtMostOne.py",
        "'''PyModel config'''\nimport Pile\nPile.StateInvariant = lambda: len(Pile.items) < 2\n",
    )
    harness = ["--harness", "Pile", "--harness", "AtMostOne"]
    models("normalize", "three.test", *harness, status=1)
    assert steps(models, "three.normal.test") == ["Push(1,)", "Push(1,)"]
    note = (models.folder / "three.normal.test").read_text()
    assert "# harness: Pile.py\n# harness: AtMostOne.py\n" in note
    done = models("generalize", "three.normal.test", status=1)
    assert "or Push(2,)" in done.stdout
    assert models("reduce", "three.test", *harness, "--out", "Pile.py", status=2).stderr


def test_triage_regress_markov_and_sequences(models):
    search(models, "Talk", "--keep-tests", "kept")
    done = models("triage", "kept", status=1)
    assert "Group 1: " in done.stdout
    done = models("regress", "kept", "--junit", "out.xml", status=1)
    assert " failed" in done.stdout and "Talk.py" in (models.folder / "out.xml").read_text()
    done = models("markov", "kept", "--order", 1, "--out", "talk.markov")
    assert "Learned from" in done.stdout
    followers = (models.folder / "talk.markov").read_text()
    assert "START CLASS\nAsk\nEND CLASS\n1 %%%% Answer\n" in followers
    for strategy, source in (("markov", "talk.markov"), ("sequences", "kept")):
        search(models, "Talk", "--strategy", strategy, "--from", source)
    models.write("talk.weights", "Ask %%%% 1\nAnswer %%%% 1\n")
    search(models, "Talk", "--strategy", "probabilities", "--from", "talk.weights", "--keep-going")
    assert steps(models, "testwright-out/Talk/failure-1.test") == ["Ask()", "Answer('no',)"]


def test_a_few_short_tests_take_every_transition(models):
    done = models("quick", "Pile", "--tests", 300, "--length", 30, "--seed", 1)
    table = re.sub(" +", " ", done.stdout)
    assert " Tests Steps Transitions\n" in table
    assert re.search(r"before .* 12\nafter .* 12\n", table), table
    note = (models.folder / "testwright-out/Pile-quick/quick-1.test").read_text()
    assert "# harness: Pile.py\n" in note and "in {'Pile': {'items': []}}" in note
    models("regress", "testwright-out/Pile-quick")


def test_the_transition_at_fault_is_suspected(models):
    models.write("short.test", "Ask()\nAnswer('no',)\n")
    done = models(
        "localize",
        "short.test",
        "--harness",
        "Talk",
        "--tests",
        20,
        "--seed",
        1,
        "--top",
        1,
        status=1,
    )
    assert "transition" in done.stdout
    assert re.search(r"\n +1 +[\d.]+ +1 +\d+ +Answer\('no',\) in \{'Talk': ", done.stdout), (
        done.stdout
    )


# Recorded runs


def test_a_recorded_run_is_a_scenario(models):
    models.write("run.jsonl", '{"action": "Push", "arguments": [2]}\n{"action": "Pop"}\n')
    done = models("explore", "Pile", "run.jsonl")
    assert done.stdout.startswith("Explored 3 states, 2 transitions")
    models.write(
        "bad.jsonl", '{"action": "Push", "arguments": [2]}\n{"action": "Pop", "result": 1}\n'
    )
    done = models("explore", "Pile", "bad.jsonl", status=1)
    assert "1 dead end" in done.stdout
    done = models("model", "test", "Pile", "run.jsonl")
    assert "  Push(2,)\n  Pop() / 2\nRun 0, 2 steps" in done.stdout
    search(models, "Pile", "run.jsonl", status=0)
    models.write(
        "two.jsonl",
        '{"action": "Push", "arguments": [2]}\n{"restart": true}\n{"action": "Push", "arguments": [1]}\n',
    )
    models.write("broken.jsonl", '{"action": "Push"\n')
    done = models("explore", "Pile", "broken.jsonl", status=2)
    assert "broken.jsonl:1:" in done.stderr and "this is not JSON" in done.stderr
    assert "no file `gone.jsonl`" in models("explore", "Pile", "gone.jsonl", status=2).stderr


# Choosing


def test_actions_can_be_given_weights(models):
    arguments = ["--runs", 1, "--steps", 200, "--cleanup", 0, "--seed", 1]
    models.write(
        "Coin.py",
        "def Heads(): pass\ndef Tails(n): pass\nstate = ()\nactions = (Heads, Tails)\n"
        "domains = {Tails: {'n': range(9)}}\n",
    )

    def heads(*more):
        shown = models("model", "test", "Coin", *arguments, *more).stdout
        return shown.count("  Heads()\n")

    assert heads() < 60
    assert 70 < heads("--weight", "Heads=1") < 130
    assert heads("--weight", "Heads=9") > 150
    assert heads("--weight", "Heads=0") == 0
    assert heads("--weight", "Heads=0", "--weight", "Tails=0") > 0
    done = models("model", "test", "Coin", "--weight", "Edge=1", status=2)
    assert "no action `Edge` to weigh" in done.stderr and "Heads, Tails" in done.stderr
    for wrong in ("Heads", "Heads=-1", "Heads=much", "=1"):
        models("model", "test", "Coin", "--weight", wrong, status=2)
    models("model", "test", "Coin", "--weight", "Heads=1", "--strategy", "StateCoverage", status=2)


@pytest.mark.parametrize("name", ["ActionNameCoverage", "StateCoverage"])
@pytest.mark.parametrize("package", ["", "pymodel."])
def test_a_strategy_may_use_the_built_in_ones(models, name, package):
    models.write(
        "Mine.py",
        f"from {package}{name} import SelectAction as usual\n"
        "def SelectAction(possible):\n    return usual([step for step in possible if step[0] != 'Spend'])\n",
    )
    arguments = ["--runs", 3, "--steps", 20, "--seed", 1]
    done = models("model", "test", "Talk", "--strategy", "Mine", *arguments)
    assert (
        "Ask()" in done.stdout and "Answer('no',)" in done.stdout and "Spend()" not in done.stdout
    )
    # A module of the user takes precedence.
    models.write(f"{name}.py", "def SelectAction(possible): return None, None\n")
    done = models("model", "test", "Talk", "--strategy", name, *arguments, status=2)
    assert "3 runs, 0 steps\n" in done.stdout
    assert "no run took a step, so nothing was tested" in done.stderr


# Oddities


def test_variables_that_are_not_restored_are_reported(models):
    models.write(
        "Aliases.py",
        "one = []\nother = one\ncalls = 0\nlog = []\n"
        "def A():\n    global calls\n    calls += 1\n    log.append(calls)\n    one.append(0)\n"
        "def AEnabled(): return len(one) < 2\n"
        "state = ('one', 'other')\nactions = (A,)\nenablers = {A: [AEnabled]}\n",
    )
    done = models("model", "lint", "Aliases", status=1)
    assert "`one` and `other` of `Aliases` hold the same object" in done.stdout
    assert "`calls` of `Aliases` changes, and is not in `state`" in done.stdout
    assert "`log` of `Aliases` changes, and is not in `state`" in done.stdout
    assert "Aliases: 2 transitions, 3 problems" in done.stdout
    done = models("model", "lint", "Pile", "TwoOnly")
    assert "no problems" in done.stdout


def test_an_exception_in_a_reset_is_attributed_to_the_stepper(models):
    models.write(
        "Stuck.py",
        "def TestAction(name, arguments, expected): pass\ndef Reset(): raise OSError('no')\n",
    )
    done = raising(models, "model", "test", "Pile", "--stepper", "Stuck", "--runs", 2, "--steps", 2)
    assert "the stepper `Stuck` raised OSError: no" in done.stderr
    assert "model raised" not in done.stderr


@pytest.mark.parametrize("name", ["it's", 'sa"id', "back\\slash"])
def test_a_quote_in_the_name_of_a_module_does_no_harm(models, name):
    models.write(f"{name}.py", MODULES["Pile"])
    models("explore", f"{name}.py", "--out", "Written.py")
    done = models("explore", "Written")
    assert done.stdout.startswith("Explored 7 states, 12 transitions")


# Ends


def test_an_exploration_survives_its_model(models):
    models.write("Crashes.py", CRASHES)
    done = models("explore", "Crashes", status=2)
    assert "The code of a model ended the process: the process exited with status 7" in done.stdout
    assert "Explored until then: 4 states, 3 transitions" in done.stdout
    assert "It was at state 3; with `--max 3` it ends before" in done.stdout
    done = models("explore", "Crashes", "--max", 3)
    assert "Explored 4 states, 3 transitions" in done.stdout
    models.write("Dies.py", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    done = models("explore", "Dies", status=2)
    assert "SIGSEGV" in done.stdout and "while the models were imported" in done.stdout


@pytest.mark.parametrize(
    "what", ["sys.exit(3)", "raise KeyboardInterrupt", "raise SystemExit('enough')"]
)
def test_known_states_are_reported_when_a_model_exits(models, what):
    models.write(
        "Leaves.py",
        f"import sys\nn = 0\ndef Up():\n    global n\n    n += 1\n    if n == 3: {what}\n"
        "state = ('n',)\nactions = (Up,)\n",
    )
    done = raising(models, "explore", "Leaves", "--out", "Left.py")
    assert "Explored 3 states, 2 transitions" in done.stdout
    assert "There may be more states; ended by an error of the system" in done.stdout
    assert "the code of a model raised" in done.stderr
    assert (models.folder / "Left.py").exists()
