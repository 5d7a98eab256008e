"""Typical user scripts for TSTL: they import the module that `testwright compile` writes."""

import shutil
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).with_name("scripts")
AVL = Path(__file__).resolve().parents[2] / "examples/avl"

TREES = ("avl", "avl_wrong_delete")

#: The expected output of each script, for a correct tree and for one with a bug.
EXPECTED = {
    "random_tester": ([" BRANCHES", "QUICK TESTS: "], ["FOUND A FAILURE IN TEST", "# STEP 0"]),
    "breadth_first": (["DEPTH 3 QUEUE"], ["DEPTH 3 QUEUE"]),
    "genetic": (["FAILURES: 0"], ["BEST: "]),
    "swarm": (["~<tree>.insert(<int>)"], ["~<tree>.insert(<int>)"]),
    "reports": (["avl.py ARCS: ", "TOTAL BRANCHES COVERED: ", "FILES: ['avl.py']"], ["PARTS: "]),
    # This script needs a failure.
    "judging": (None, ["SHORT: ", "DONE"]),
    "small_scope": (["FAILING: 0", "FURTHER: "], ["FURTHER: "]),
    "fuzzing": (["TAKEN: "], ["TAKEN: "]),
}


def test_every_script_is_run():
    assert set(EXPECTED) == {path.stem for path in SCRIPTS.glob("*.py")}


@pytest.mark.parametrize(
    "name, tree, expected",
    [
        (name, tree, expected)
        for name, both in EXPECTED.items()
        for tree, expected in zip(TREES, both)
        if expected
    ],
)
def test_a_script_runs(name, tree, expected, testwright):
    for module in {"avl", tree}:
        shutil.copy(AVL / f"{module}.py", testwright.folder)
    harness = (AVL / "avl.tstl").read_text().replace("@import avl\n", f"@import {tree} as avl\n")
    testwright.write("avl.tstl", harness.replace("source: avl.py", f"source: {tree}.py"))
    testwright("compile", "avl.tstl")
    shutil.copy(SCRIPTS / f"{name}.py", testwright.folder)
    done = testwright.python(f"{name}.py", "1")
    assert done.stderr == ""
    for words in expected:
        assert words in done.stdout
