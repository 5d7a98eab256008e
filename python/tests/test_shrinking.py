"""`testwright normalize` and `generalize`."""

import json

import pytest

LONG = """\
int1 = 5
stack1 = stack.Stack()
stack1.push(int1)
stack1.pop()
stack1.top()
"""
NORMAL = ["stack0 = stack.Stack()", "stack0.top()"]


@pytest.fixture
def saved(testwright):
    testwright.write("long.test", LONG)
    testwright.write("passing.test", "int0 = 1\n")
    return testwright


def steps(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_different_tests_for_one_bug_have_one_normal_form(saved):
    done = saved("normalize", "long.test", "--harness", "stack.tstl", status=1)
    assert "Reduced from 5 to 2 steps in " in done.stdout
    assert steps(saved.folder / "long.normal.test") == NORMAL
    done = saved(
        "normalize", "long.test", "--harness", "stack.tstl", "--thorough", "--out", "-", status=1
    )
    assert done.stdout.splitlines()[-2:] == NORMAL


@pytest.mark.parametrize("command", ["reduce", "normalize"])
def test_a_reduction_for_scripts(saved, command):
    done = saved(
        command, "long.test", "--harness", "stack.tstl", "--json", "--out", "short.test", status=1
    )
    report = json.loads(done.stdout)
    assert (report["full_steps"], report["steps"]) == (5, 2)
    assert report["test"] == steps(saved.folder / report["file"])
    assert report["complete"] and report["kind"] == "uncaught-exception"
    # Every run takes at least one step, the first one all steps.
    assert 1 < report["runs"] < report["steps_in_runs"]
    done = saved(command, "long.test", "--harness", "stack.tstl", "--json", "--out", "-", status=1)
    assert json.loads(done.stdout) == {**report, "file": None}


def test_only_failing_tests_have_a_normal_form(saved):
    for command in ("normalize", "generalize"):
        done = saved(command, "passing.test", "--harness", "stack.tstl", status=2)
        assert "does not fail" in done.stderr


def test_generalize(saved):
    harness = "pool: <int> 2\n<int> := <[1..9]>\n<int> = <int> * 1\nassert <int> + <int> < 7\n"
    saved.write("sum.tstl", harness)
    saved.write("sum.test", "int0 = 4\nint1 = 3\nassert int0 + int1 < 7\n")
    done = saved("generalize", "sum.test", "--harness", "sum.tstl", status=1)
    assert "#  or int0 = 5\n#   - int0 = 9\n" in done.stdout
    assert "#  or int1 = 4\n#   - int1 = 9\n" in done.stdout
    assert "int0 = 3" not in done.stdout and "int1 = 2" not in done.stdout
    assert "#] (steps in [] can be in any order)" in done.stdout
    without = saved("generalize", "sum.test", "--harness", "sum.tstl", "--no-fresh", status=1)
    assert len(without.stdout) <= len(done.stdout)


def test_a_found_failure_is_simplified(saved):
    saved("run", "stack.tstl", "--seed", "11", status=1)
    assert steps(saved.folder / "testwright-out/stack/failure-1.test") == NORMAL


@pytest.mark.parametrize("strategy", "auto random swarm equal rare exploit extend".split())
def test_strategies_find_the_bug_and_are_reproducible(saved, strategy):
    arguments = ("run", "stack.tstl", "--seed", "3", "--strategy", strategy, "--no-reduce")
    saved(*arguments, status=1)
    first = (saved.folder / "testwright-out/stack/failure-1.test").read_text()
    saved(*arguments, status=1)
    assert (saved.folder / "testwright-out/stack/failure-1.test").read_text() == first


def test_strategies_that_work_with_files(saved):
    (saved.folder / "some").mkdir()
    (saved.folder / "long.test").rename(saved.folder / "some/long.test")
    saved("run", "stack.tstl", "--strategy", "sequences", "--from", "some", "--seed", "1", status=1)
    saved.write("table.txt", "<stack> := stack.Stack() %%%% 0.5\n<stack>.top() %%%% 0.5\n")
    saved("run", "stack.tstl", "--strategy", "probabilities", "--from", "table.txt", status=1)
    saved.write("bad.txt", "<nothing> := 1 %%%% 0.5\n")
    done = saved("run", "stack.tstl", "--strategy", "probabilities", "--from", "bad.txt", status=2)
    assert "bad.txt, line 1" in done.stderr
    done = saved("run", "stack.tstl", "--strategy", "markov", status=2)
    assert "--from PATH" in done.stderr
