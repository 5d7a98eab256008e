"""`testwright localize`: fault localisation."""

import json
import shutil
from pathlib import Path

import pytest

AVL = Path(__file__).resolve().parents[2] / "examples/avl"
FAILING = "stack0 = stack.Stack()\nstack0.top()\n"
PASSING = "int0 = 1\nstack0 = stack.Stack()\nstack0.push(int0)\nstack0.pop()\n"
BUG = "return self.items[-1]  # The bug: an empty stack has no top."


@pytest.fixture
def suite(testwright):
    testwright.write("saved/failing.test", FAILING)
    testwright.write("saved/passing.test", PASSING)
    testwright.write("saved/broken.test", "stack9.top()\n")
    return testwright


def suspects(command, *arguments):
    return json.loads(command("localize", *arguments, "--json", status=1).stdout)


@pytest.mark.parametrize("formula", ["ochiai", "tarantula", "dstar", "op2"])
def test_the_line_with_the_bug_is_on_top(suite, formula):
    found = suspects(suite, "saved", "--harness", "stack.tstl", "--formula", formula)
    assert (found["failing"], found["passing"], found["made"]) == (1, 1, 0)
    assert found["broken"] == ["saved/broken.test"]
    first, *others = found["suspects"]
    assert first["file"] == "stack.py" and first["source"] == BUG
    assert (first["rank"], first["failing"], first["passing"]) == (1, 1, 0)
    assert all(other["source"] == BUG or other["rank"] > 1 for other in others)


def test_a_table_for_people(suite):
    done = suite("localize", "saved", "--harness", "stack.tstl", "--top", "1", status=1)
    head, names, line, *_ = done.stdout.splitlines()
    assert head.startswith("1 failing test, 1 passing test; ")
    assert names.split() == ["rank", "score", "failing", "passing", "place", "source"]
    assert line.split()[:5] == ["1", "1.000", "1", "0", "stack.py:14"] and line.endswith(BUG)
    assert "unknown-step" in done.stderr


def test_passing_tests_are_made_if_there_are_none(suite):
    arguments = ["saved/failing.test", "--harness", "stack.tstl", "--seed", "5"]
    found = suspects(suite, *arguments)
    assert found["made"] == found["passing"] > 50 and found["seed"] == 5
    assert BUG in [suspect["source"] for suspect in found["suspects"][:3]]
    assert suspects(suite, *arguments) == found
    assert suspects(suite, *arguments, "--tests", "7")["made"] <= 7


def test_the_bug_of_the_example(testwright):
    for name in ["avl.py", "avl_wrong_find.py"]:
        shutil.copy(AVL / name, testwright.folder)
    harness = (AVL / "avl.tstl").read_text(encoding="utf-8")
    harness = harness.replace("@import avl\n", "@import avl_wrong_find as avl\n")
    harness = harness.replace("source: avl.py", "source: avl.py\nsource: avl_wrong_find.py")
    testwright.write("avl.tstl", harness)
    for number in range(1, 7):
        testwright("run", "avl.tstl", "--seed", number, "--out", f"out/{number}", status=1)
    failing = sorted(testwright.folder.glob("out/*/failure-1.test"))
    found = suspects(testwright, *failing, "--harness", "avl.tstl", "--seed", "1")
    assert found["failing"] == 6
    places = [(suspect["file"], suspect["source"]) for suspect in found["suspects"][:4]]
    loop = "while node is not None and (node.left or node.right):"
    assert ("avl_wrong_find.py", loop) in places


def test_there_must_be_a_fault(suite):
    done = suite("localize", "saved/passing.test", "--harness", "stack.tstl", status=2)
    assert "none of the tests fails" in done.stderr and done.stdout == ""
    suite.write("len.tstl", "pool: <int> 1\n<int> := 0\n1 / <int>\n")
    suite.write("len.test", "int0 = 0\n1 / int0\n")
    done = suite("localize", "len.test", "--harness", "len.tstl", status=2)
    assert "reach no code that is measured" in done.stderr
    (suite.folder / "empty").mkdir()
    done = suite("localize", "empty", "--harness", "stack.tstl", status=2)
    assert "there are no tests to replay" in done.stderr
