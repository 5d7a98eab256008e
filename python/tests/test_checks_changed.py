"""`--checks changed` finds what `--checks all` finds: the same failures, by the same steps."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
HARNESSES = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/*.tstl"))
BUGS = ["avl_missing_rebalance", "avl_wrong_delete", "avl_wrong_find"]


def search(testwright, harness, seed, checks):
    """Runs a search. Returns its report and files, without times and the option of the checks."""
    shutil.rmtree(testwright.folder / "out", ignore_errors=True)
    line = testwright.line(
        *("run", harness, "--seed", seed, "--tests", 25, "--keep-going", "--no-reduce"),
        *("--json", "--out", "out", "--keep-tests", "out/tests", "--checks", checks),
    )
    done = subprocess.run(
        line, cwd=testwright.folder, stdout=subprocess.PIPE, text=True, timeout=120
    )
    assert done.returncode in (0, 1)
    found = json.loads(done.stdout)
    del found["seconds"]
    files = {path.name: path.read_text() for path in (testwright.folder / "out").rglob("*.test")}
    # A saved test names the checks if they are not the usual ones.
    option = f"# options: --checks {checks}\n"
    assert all((option in text) == (checks == "changed") for text in files.values())
    return found, {name: text.replace(option, "") for name, text in files.items()}


@pytest.mark.soak(keep=8)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("harness", HARNESSES)
def test_examples(testwright, harness, seed):
    shutil.copytree(EXAMPLES / Path(harness).parent, testwright.folder, dirs_exist_ok=True)
    name = Path(harness).name
    assert search(testwright, name, seed, "changed") == search(testwright, name, seed, "all")


@pytest.mark.soak(keep=3)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("bug", BUGS)
def test_seeded_bugs(testwright, bug, seed):
    shutil.copytree(EXAMPLES / "avl", testwright.folder, dirs_exist_ok=True)
    text = (EXAMPLES / "avl" / "avl.tstl").read_text()
    testwright.write("buggy.tstl", text.replace("@import avl\n", f"@import {bug} as avl\n"))
    found, files = search(testwright, "buggy.tstl", seed, "changed")
    assert found["failures"]
    assert (found, files) == search(testwright, "buggy.tstl", seed, "all")


def test_the_reason_for_checking_everything_is_reported_once(testwright):
    testwright.write(
        "dice.tstl",
        "@import random\npool: <x> 1\n<x> := [1]\nproperty: random.random() < len(<x>)\n",
    )
    done = testwright("run", "dice.tstl", "--seed", "1", "--tests", "3", "--checks", "changed")
    assert done.stderr.count("all properties were checked after every step") == 1


def test_no_check_excludes_checks_changed(testwright):
    done = testwright("run", "stack.tstl", "--no-check", "--checks", "changed", status=2)
    assert "cannot be used with" in done.stderr
