"""`testwright model test`: runs of models and implementations, failures, and written files."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_models import MODULES, module, write_modules

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def models(testwright):
    """Writes small models to a folder."""
    write_modules(testwright)
    return testwright


def run_pytest(file, folder):
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120)


def test_runs_are_shown_if_there_is_nothing_to_test(models):
    done = models("model", "test", "Fork", "--runs", 1, "--seed", 1)
    assert done.stdout in [
        f"Seed 1\nRun 0\n  Go()\n  {side}()\n"
        "Run 0, 2 steps, no more actions enabled, reached accepting state\n1 run, 2 steps\n"
        for side in ("Left", "Right")
    ]
    line = ("model", "test", "Pile", "--runs", 3, "--steps", 9)
    same = [models(*line, "--seed", 5).stdout for _ in range(2)]
    assert same[0] == same[1] and same[0].count("reached accepting state") == 3
    assert models(*line, "--seed", 6).stdout != same[0]


def test_without_cleanup_a_run_ends_anywhere(models):
    line = ("model", "test", "Pile", "--runs", 20, "--steps", 5, "--seed", 1)
    ends = re.findall(r"Run \d+, (\d) steps, (.*)", models(*line, "--cleanup", 0).stdout)
    assert ("5", "ended in non-accepting state") in ends and len(ends) == 20
    ends = re.findall(r"Run \d+, (\d) steps, (.*)", models(*line).stdout)
    assert {how for _, how in ends} == {"reached accepting state"}


def test_a_failing_run_in_english(models):
    line = ("model", "test", "Pile", "--stepper", "Forgetful", "--seed", 1, "--runs", 30)
    done = models(*line, "--explain", status=1)
    feature = (models.folder / "testwright-out/Pile/failure_1.feature").read_text(encoding="utf-8")
    assert "".join(f"  {line}".rstrip() + "\n" for line in feature.splitlines()) in done.stdout
    assert 'Observed: "the pile is empty".' in feature
    steps = feature.partition("steps\n")[2].split("\n")
    assert [re.sub(r"\d", "N", step.strip()) for step in steps if step] == [
        'When I call "push" with N',
        'And I call "push" with N',
        'And I call "pop"',
        "Then the answer is N",
        'When I call "pop"',
        "Then the answer is N",
    ]
    diagram = (models.folder / "testwright-out/Pile/failure_1.mmd").read_text(encoding="utf-8")
    assert "P0->>P1: push 2\n" in diagram


def test_a_bug_is_found_reduced_and_written(models, tmp_path_factory):
    line = ("model", "test", "Pile", "--stepper", "Forgetful", "--seed", 1, "--runs", 30)
    done = models(*line, status=1)
    told = re.fullmatch(
        r"Seed 1\nRun \d+, \d+ steps, failed: the pile is empty\n30 runs, \d+ failed\n\n"
        r"Failure 1: the pile is empty\nRun \d+, reduced from \d+ to 4 steps in \d+ runs:\n((?:    .*\n)+)"
        r"Written: testwright-out/Pile/failure_1.py\nWritten: testwright-out/Pile/test_failure_1.py\n",
        done.stdout,
    )
    assert told, done.stdout
    number = told[1][9]
    assert told[1] == f"    Push({number},)\n    Push(2,)\n    Pop() / 2\n    Pop() / {number}\n"

    # The suite and the test also fail, from any folder.
    suite = models.folder / "testwright-out/Pile/failure_1.py"
    done = models("model", "test", suite, "--stepper", "Forgetful", status=1)
    assert "Run 0, 4 steps, failed: the pile is empty\n1 run, 1 failed\n" in done.stdout
    assert (
        "Run 0, 4 steps, not reduced, since only a model knows the results of shorter runs: name it, too:\n"
        in done.stdout
    )
    # Beside a model, a run of a suite is reduced like any other.
    models.write(
        "Long.py",
        "def Push(): pass\ndef Pop(): pass\nactions = (Push, Pop)\ntestSuite = [[(Push, (1,)), (Pop, (), 1), (Push, (1,)), (Push, (2,)), (Pop, (), 2), (Pop, (), 1)]]\n",
    )
    done = models("model", "test", "Pile", "Long", "--stepper", "Forgetful", "--out", "long", status=1)  # fmt: skip
    assert re.search(
        r"Run 0, reduced from \d to 4 steps in \d+ runs:\n"
        r"    Push\(1,\)\n    Push\(2,\)\n    Pop\(\) / 2\n    Pop\(\) / 1\n",
        done.stdout,
    ), done.stdout
    alone = run_pytest(models.folder / "long/test_failure_1.py", models.folder)
    assert alone.returncode == 1 and "AssertionError: the pile is empty" in alone.stdout
    test = models.folder / "testwright-out/Pile/test_failure_1.py"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    alone = run_pytest(test, elsewhere)
    assert alone.returncode == 1 and "AssertionError: the pile is empty" in alone.stdout, (
        alone.stdout
    )

    # They pass when the bug is fixed.
    models.write("Forgetful.py", MODULES["Forgetful"].replace("items.clear()  # the bug", "pass"))
    assert "1 run, none failed\n" in models("model", "test", suite, "--stepper", "Forgetful").stdout
    assert models(*line).stdout == "Seed 1\n30 runs, none failed\n"
    alone = run_pytest(test, elsewhere)
    assert alone.returncode == 0 and "1 passed" in alone.stdout, alone.stdout


def test_a_failing_run_can_be_kept_unreduced(models):
    line = (
        "model",
        "test",
        "Pile",
        "--stepper",
        "Forgetful",
        "--seed",
        1,
        "--no-reduce",
        "--out",
        "here",
    )
    done = models(*line, "--verbose", status=1)
    steps = re.search(r"Run 0, (\d+) steps, failed: the pile is empty\n", done.stdout)[1]
    assert f"Run 0, {steps} steps:\n" in done.stdout
    shown = re.search(r"^Run 0\n((?:  .*\n)+)", done.stdout, re.MULTILINE)[1]
    assert shown.count("\n") == int(steps)
    (run,) = module(models, "here/failure_1.py")["runs"]
    assert len(run) == int(steps) and shown.startswith(f"  {run[0][0]}(")
    assert not (models.folder / "testwright-out").exists()


def test_a_failing_run_of_a_suite_is_written_with_its_number(models):
    models.write(
        "Second.py",
        MODULES["PushPop"].replace("[(Push, (2,))", "[(Push, (1,)), (Pop, (), 1)], [(Push, (2,))"),
    )
    models.write("Forgetful.py", MODULES["Forgetful"].replace("== 2", "== 1"))
    done = models("model", "test", "Second", "Pile", "--stepper", "Forgetful", status=1)
    assert done.stdout.startswith("Run 2, 4 steps, failed: the pile is empty\n3 runs, 1 failed\n")
    written = models.folder / "testwright-out/Second/test_failure_1.py"
    assert "        run=2,\n" in written.read_text(encoding="utf-8")
    alone = run_pytest(written, models.folder)
    assert "AssertionError: the pile is empty" in alone.stdout, alone.stdout


def test_a_stepper_that_raises(models):
    done = models("model", "test", "Pile", "--stepper", "Raising", "--seed", 1, status=1)
    assert "\nFailure 1: stepper raised exception: LookupError, no 2\n" in done.stdout
    shown = done.stdout[done.stdout.index("    Push(2,)\n") :]
    assert re.match(
        r"    Push\(2,\)\n  \| Traceback \(most recent call last\):\n"
        r"  \|   File \".*Raising.py\", line 3, in TestAction\n(.*\n)+  \| LookupError: no 2\nWritten: ",
        shown,
    ), shown


def test_a_stepper_that_hangs(models):
    done = models(
        "model",
        "test",
        "Pile",
        "--stepper",
        "Hanging",
        "--seed",
        1,
        "--runs",
        2,
        "--timeout",
        "0.1s",
        status=1,
    )
    why = "no end after 100ms"
    assert f"failed: {why}\n" in done.stdout
    assert re.search(rf"Failure 1: {why}\nRun 0, reduced from \d+ to 1 step in ", done.stdout)
    assert "  |     time.sleep(60)\n" in done.stdout


def test_a_stepper_with_an_invalid_answer(models):
    done = models("model", "test", "Pile", "--stepper", "Odd", "--seed", 1, status=1)
    assert "Failure 1: stepper returned unhandled result: 7\n" in done.stdout
    assert "to 2 steps in " in done.stdout


def test_different_failures_are_distinguished(models):
    text = MODULES["Odd"].replace("return 7", "return 'something is wrong'")
    text = text.replace(
        "    if", "    if arguments == (2,):\n        return 'something is wrong'\n    if"
    )
    models.write("Twice.py", text)
    done = models(
        "model", "test", "Pile", "--stepper", "Twice", "--seed", 1, "--runs", 50, status=1
    )
    shown = re.findall(r"^Failure (\d): (.*)\n.* to (\d) steps? in", done.stdout, re.MULTILINE)
    assert sorted(length for _, _, length in shown) == ["1", "2"]
    assert done.stdout.count(", failed: ") == 2, "a line for the first run of each kind"
    assert (models.folder / "testwright-out/Pile/test_failure_2.py").is_file()


def covered_by(fsm, runs):
    """Returns the transitions of a deterministic machine that runs cover."""
    ways = {
        (before, action): (place, after)
        for place, (before, action, after) in enumerate(fsm["graph"])
    }
    for run in runs:
        state, places = fsm["initial"], []
        for name, arguments, *result in run:
            place, state = ways[state, (name, arguments, *(result or [None]))]
            places.append(place)
        assert state in fsm["accepting"]
        yield places


@pytest.mark.parametrize(
    "goal", ["actions", "labels", "states", "transitions", "pairs", "shortest"]
)
def test_runs_that_cover_a_model(models, goal):
    models("explore", "Pile", "--out", "PileFSM.py")
    fsm = module(models, "PileFSM.py")
    done = models("model", "test", "Pile", "--strategy", goal, "--suite", "Suite.py")
    runs = module(models, "Suite.py")["runs"]
    ways = list(covered_by(fsm, runs))
    graph = fsm["graph"]
    used = {place for way in ways for place in way}
    pairs = {pair for way in ways for pair in zip(way, way[1:])}
    all_pairs = {
        (one, two) for one in range(12) for two in range(12) if graph[one][2] == graph[two][0]
    }  # fmt: skip
    states = {fsm["initial"]} | {graph[place][2] for place in used}
    counts = {
        "actions": ({graph[place][1][0] for place in used}, 2),
        "labels": ({graph[place][1] for place in used}, 4),
        "states": (states, 7),
        "transitions": (used, 12),
        "pairs": (pairs, len(all_pairs)),
        "shortest": (states, 7),
    }
    covered, number = counts[goal]
    assert len(covered) == number
    unit = "states" if goal == "shortest" else goal
    steps = sum(map(len, runs))
    verb = "run with {} steps covers" if len(runs) == 1 else "runs with {} steps cover"
    assert done.stdout.startswith(
        f"{len(runs)} {verb.format(steps)} {number} of {number} {unit}\n"
    ), done.stdout
    assert done.stdout.endswith("Written: Suite.py\n")
    if goal == "transitions":
        assert steps == 12, "each once"
        assert "Run 0, 12 steps, reached accepting state\n" in done.stdout
    if goal == "shortest":
        assert {len(run) for run in runs} == {4}
    # The suite finds the bug.
    done = models("model", "test", "Suite", "--stepper", "Forgetful", status=int(goal != "actions"))
    assert ("the pile is empty" in done.stdout) == (goal != "actions")


def test_a_large_model_is_covered_up_to_the_limit(models):
    done = models(
        "model", "test", "Pile", "--strategy", "transitions", "--max", 6, "--suite", "Suite.py"
    )
    assert done.stderr == (
        "warning: the model has more transitions than were looked at\n |\n = help: `--max N` sets how many\n"
    )
    assert re.match(r"\d+ runs? with \d+ steps covers? \d of \d transitions\n", done.stdout)


def test_too_many_pairs_are_refused(models):
    models.write(
        "Dense.py",
        "n = 0\ndef Go(k):\n    global n\n    n = k\n"
        "state = ('n',)\nactions = (Go,)\ndomains = {Go: {'k': range(130)}}\n",
    )
    done = models("model", "test", "Dense", "--strategy", "pairs", status=2)
    assert done.stderr.startswith("error: 2,197,000 pairs of transitions are too many to cover\n")
    assert "--max N" in done.stderr
    models("model", "test", "Dense", "--strategy", "pairs", "--max", 1_000, "--suite", "Suite.py")


def test_transitions_that_no_run_can_cover_are_reported(models):
    models.write(
        "Trap.py",
        "place = 'free'\ndef Fall(how):\n    global place\n    place = how\ndef Look(): return place\n"
        "def Accepting(): return place == 'free'\ndef FallEnabled(how): return place == 'free'\n"
        "state = ('place',)\nactions = (Fall, Look)\nenablers = {Fall: [FallEnabled]}\n"
        "domains = {Fall: {'how': ['deep', 'far']}}\n",
    )
    done = models("model", "test", "Trap", "--strategy", "transitions", "--suite", "Suite.py")
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "1 run with 1 step covers 1 of 5 transitions",
        "left out, since no state follows in which a run may end: "
        "Fall('deep',), Fall('far',), Look() / 'deep', and 1 more",
    ]


def test_strategies(models):
    line = ("model", "test", "Pile", "--runs", 1, "--seed", 1, "--strategy")
    done = models(*line, "Last", "--steps", 4)
    assert done.stdout == (
        "Seed 1\nRun 0\n  Push(2,)\n  Pop() / 2\n  Push(2,)\n  Pop() / 2\n"
        "Run 0, 4 steps, reached accepting state\n1 run, 4 steps\n"
    )
    done = models(*line, "ActionNameCoverage", "--steps", 20)
    pushed, popped = done.stdout.count("Push("), done.stdout.count("Pop(")
    assert abs(pushed - popped) <= 1 and pushed + popped == 20
    done = models(*line, "StateCoverage")
    assert re.search(r"Run 0, \d+ steps, reached accepting state", done.stdout)


def test_a_suite_is_written_and_played(models):
    models("model", "test", "Pile", "--runs", 4, "--steps", 6, "--seed", 1, "--suite", "Suite.py")
    assert len(module(models, "Suite.py")["runs"]) == 4
    models.write("Fine.py", MODULES["Forgetful"].replace("items.clear()  # the bug", "pass"))
    assert models("model", "test", "Suite", "--stepper", "Fine").stdout == "4 runs, none failed\n"
    done = models("model", "test", "Suite", "Pile", "--runs", 1)
    assert done.stdout.count("reached accepting state") == 4, "all of them, whatever is asked for"


def test_invariants_are_checked_unless_switched_off(models):
    models.write(
        "Nothing.py", "def TestAction(name, arguments, expected): pass\ndef Reset(): pass\n"
    )
    line = (
        "model",
        "test",
        "Talk",
        "--stepper",
        "Nothing",
        "--exclude",
        "Answer",
        "--exclude",
        "Ask",
        "--seed",
        1,
    )
    done = models(*line, status=1)
    assert (
        "Failure 1: the invariant does not hold\nRun 0, reduced from 2 to 2 steps in "
        in done.stdout
    )
    assert "  in the state {'Talk': {'place': 'idle', 'tokens': -1}}\n" in done.stdout
    assert "10 runs, none failed\n" in models(*line, "--no-check").stdout


def test_actions_can_be_chosen(models):
    for choice in (["--action", "Spend"], ["--exclude", "Ask", "--exclude", "Answer"]):
        done = models("model", "test", "Talk", *choice, "--no-check", "--runs", 1, "--seed", 1)
        assert done.stdout == (
            "Seed 1\nRun 0\n  Spend()\n  Spend()\n"
            "Run 0, 2 steps, no more actions enabled, reached accepting state\n1 run, 2 steps\n"
            "  not covered: `Ask`, `Answer` left out\n  note: the property was not checked\n"
        )


# Tests that were written


REPLAY = """\
from testwright import models

for steps in {steps}:
    try:
        models.replay(models=["Pile"], stepper="Forgetful", steps=steps)
        print("well")
    except AssertionError as problem:
        print(problem)
"""


def test_replay(models):
    good = [("Push", (1,)), ("Pop", ())]
    bad = [("Push", (1,)), ("Push", (2,)), ("Pop", ()), ("Pop", ())]
    steps = [
        good,
        bad,
        good,
        bad,
        [("Pop", ())],
        [("Push", (1,))],
        [("Shove", (1,))],
        [["Push", [1]]],
    ]
    models.write("replay.py", REPLAY.format(steps=steps))
    said = models.python("replay.py").stdout.splitlines()
    assert said == [
        "well",
        "the pile is empty",
        "well",
        "the pile is empty",
        "Pop() is not possible here",
        "well",
        "Shove(1,) is not possible here",
        "well",
    ]


def test_replay_with_missing_names(models):
    models.write(
        "replay.py", "from testwright import models\nmodels.replay(['Nowhere'], 'Forgetful', [])\n"
    )
    done = subprocess.run(
        [sys.executable, "replay.py"], cwd=models.folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "RuntimeError: there is no module `Nowhere`" in done.stderr


# Nondeterministic implementations: `examples/chunks`, with real threads and sockets


@pytest.fixture
def chunks(testwright):
    for file in (EXAMPLES / "chunks").glob("*.py"):
        shutil.copy(file, testwright.folder)
    return testwright


def test_a_correct_peer_passes_with_every_seed(chunks):
    line = ("model", "test", "Echo", "--stepper", "Stepper", "--timeout", "20s")
    assert chunks(*line, "--runs", 200, "--seed", 1).stdout == "Seed 1\n200 runs, none failed\n"
    for seed in range(2, 12):
        assert "10 runs, none failed\n" in chunks(*line, "--seed", seed).stdout


WRONG_PEERS = {
    # This peer closes the connection too early and loses messages.
    "Hasty": (
        "0.3s",
        r"Closed\(\)",
        r"    Send\('\w+',\)\n    Close\(\)\n(    Receive\('\w+',\)  \(observed\)\n)*",
    ),
    # This peer repeats messages; one message is enough to show it.
    "Repeating": (
        "0.15s",
        r"Receive\('\w+',\)",
        r"    Send\('\w+',\)\n(    Close\(\)\n)?(    Receive\('\w+',\)  \(observed\)\n)*",
    ),
}


@pytest.mark.parametrize("peer", WRONG_PEERS)
def test_a_wrong_peer_fails_and_the_run_is_reduced(chunks, peer):
    timeout, why, steps = WRONG_PEERS[peer]
    line = (
        "model",
        "test",
        "Echo",
        "--stepper",
        peer,
        "--timeout",
        timeout,
        "--runs",
        50,
        "--seed",
        1,
    )
    done = chunks(*line, status=1)
    story = r"Run \d+, reduced from \d+ to \d steps? in \d+ runs(; it fails in \d+ of 10 tries)?:\n"
    assert re.search(
        rf"\nFailure 1: {why}, action not enabled\n{story}{steps}"
        r"  in the state {'Echo': .*}\n  Echo: the guard `\w+Enabled` says no\nWritten: ",
        done.stdout,
    ), done.stdout
    assert "Failure 2" not in done.stdout, "the same with other letters is the same"
    # The written test also fails, though perhaps not at the first try.
    written = chunks.folder / "testwright-out/Echo/test_failure_1.py"
    alone = run_pytest(written, chunks.folder)
    assert alone.returncode == 1 and "action not enabled" in alone.stdout, alone.stdout
    # It passes with the correct peer.
    text = written.read_text(encoding="utf-8").replace(f'stepper="{peer}"', 'stepper="Stepper"')
    chunks.write("testwright-out/Echo/test_repaired.py", text)
    alone = run_pytest(chunks.folder / "testwright-out/Echo/test_repaired.py", chunks.folder)
    assert alone.returncode == 0, alone.stdout
