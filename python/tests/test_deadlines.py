"""One deadline for every command that runs a system; what only takes long is not a hang.

Nothing here measures a duration: a command that does not end is ended by the time limit of `testwright`.
"""

import json

import pytest
from small_models import MODULES

SPIN = """\
import time

def nap(seconds):
    time.sleep(seconds)

class Mute:
    def __repr__(self):
        while True:
            pass
"""
HANG = "@import spin\npool: <x> 1\n<x> := <[0]>\nspin.nap(10 ** 6)\n"
LIMIT = ("--step-timeout", "200ms")
CONFIRMING = "no end after 0.20s; confirming the hang with a limit of 3.2s (`--step-timeout` allows more)"  # fmt: skip


@pytest.fixture
def spin(testwright):
    testwright.write("spin.py", SPIN)
    testwright.write("hang.tstl", HANG)
    testwright.write("kept.test", "# testwright test 1\n# harness: hang.tstl\nx0 = 0\nspin.nap(10 ** 6)\n")  # fmt: skip
    return testwright


@pytest.mark.parametrize("command", ["replay", "regress", "triage", "reduce", "feature"])
def test_a_saved_hang_ends(spin, command):
    done = spin(command, "kept.test", *LIMIT, status=1)
    assert CONFIRMING in done.stderr
    assert "no end after 200ms" in done.stdout or command == "triage"


def test_explore_and_standalone_end(spin):
    done = spin("explore", "hang.tstl", *LIMIT, status=1)
    assert CONFIRMING in done.stderr and "no end after 200ms" in done.stdout
    assert "nap" in done.stdout
    done = spin("standalone", "kept.test", *LIMIT)
    assert "no end after 200ms" in done.stdout


def test_values_that_cannot_be_shown_are_within_the_deadline(spin):
    spin.write("mute.tstl", "@import spin\npool: <x> 1\n<x> := spin.Mute()\n")
    spin.write("mute.test", "# testwright test 1\n# harness: mute.tstl\nx0 = spin.Mute()\n")
    done = spin("replay", "mute.test", "--verbose", *LIMIT, status=1)
    assert "no end after 200ms" in done.stdout


@pytest.mark.parametrize("command", ["replay", "regress", "triage", "explore", "run"])
def test_a_slow_step_is_no_hang(spin, command):
    spin.write("slow.tstl", "@import spin\npool: <x> 1\n<x> := <[0]>\nspin.nap(1)\n")
    spin.write("slow.test", "# testwright test 1\n# harness: slow.tstl\nspin.nap(1)\nx0 = 0\n")
    arguments = {
        "explore": ("explore", "slow.tstl"),
        "run": ("run", "slow.tstl", "--seed", "1", "--tests", "1", "--length", "4", "--no-store"),
    }
    done = spin(*arguments.get(command, (command, "slow.test")), *LIMIT)
    assert "slow: " in done.stderr and "allow more with `--step-timeout`" in done.stderr
    assert not (spin.folder / "testwright-out").exists()


def test_the_reduction_of_a_hang_learns_its_limit(spin):
    # Each trial that waited for the limit of a step would take a minute.
    spin.write("stall.py", "import time\n\nclass Store:\n    n = 0\n    def add(self, k):\n        self.n += k\n    def go(self):\n        if self.n > 9:\n            time.sleep(10 ** 6)\n")  # fmt: skip
    spin.write("stall.tstl", "@import stall\npool: <k> 2 CONST\npool: <b> 1\n<k> := <1..4>\n<b> := stall.Store()\n~<b>.add(<k>)\n~<b>.go()\n")  # fmt: skip
    done = spin("run", "stall.tstl", "--seed", "1", "--tests", "20", "--no-store", "--json", "--step-timeout", "2s", status=1)  # fmt: skip
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["kind"] == "hang"
    assert len(failure["test"]) <= 7, failure["test"]


def test_time_bounds_the_reduction(testwright):
    # Each of many steps takes a while, so that the reduction would take much longer than the search.
    testwright.write("long.py", "import time\n\nclass Store:\n    n = 0\n    def add(self, k):\n        time.sleep(0.02)\n        self.n += k\n        assert self.n < 60\n")  # fmt: skip
    testwright.write("long.tstl", "@import long\npool: <b> 1\n<b> := long.Store()\n~<b>.add(<1..4>)\n")  # fmt: skip
    done = testwright("run", "long.tstl", "--seed", "1", "--time", "3s", "--no-store", status=1)
    assert "so it may not be the shortest" in done.stdout or "the time is up" in done.stdout


def test_what_hangs_before_the_first_step_ends(spin):
    spin.write("stuck.py", "import time\ntime.sleep(10 ** 6)\n")
    spin.write("import.tstl", "@import stuck\npool: <x> 1\n<x> := <[0]>\n")
    spin.write("raw.tstl", "<@\nimport spin\nspin.nap(10 ** 6)\n@>\npool: <x> 1\n<x> := <[0]>\n")
    for name in ("import", "raw"):
        spin.write(f"{name}.test", f"# testwright test 1\n# harness: {name}.tstl\nx0 = 0\n")
    spin.write("Stuck.py", "import stuck\n")
    spin.write("Pile.py", MODULES["Pile"])
    spin.write("ResetStuck.py", "import spin\ndef TestAction(name, arguments, expected): pass\ndef Reset(): spin.nap(10 ** 6)\n")  # fmt: skip
    spin.write("pile.test", "# testwright test 1\n# harness: Pile.py\nPush(1,)\n")
    spin.write("log.txt", "")
    stepping = ("--stepper", "ResetStuck")
    commands = [
        *((command, "import.test") for command in ("replay", "regress", "reduce", "triage", "standalone", "feature")),
        ("replay", "raw.test"),
        ("explore", "import.tstl"),
        ("run", "raw.tstl", "--no-store"),
        ("explore", "Stuck"),
        ("model", "check", "Pile", "--scenarios", "Stuck"),
        ("model", "lint", "Stuck"),
        ("model", "test", "Stuck"),
        ("model", "test", "Pile", *stepping, "--seed", "1"),
        ("graph", "Stuck", "--svg", "x.svg"),
        ("conform", "Stuck", "log.txt"),
        ("run", "Stuck", "--no-store"),
        ("run", "Pile", "--stepper", "Stuck", "--no-store"),
        ("run", "Pile", *stepping, "--no-store"),
        ("replay", "pile.test", *stepping),
        ("regress", "pile.test", "--stepper", "Stuck"),
    ]  # fmt: skip
    # All at once: each waits for its limit.
    started = [(command, spin.start(*command, *LIMIT)) for command in commands]
    for command, process in started:
        out, err = process.communicate(timeout=300)
        assert process.returncode == (1 if command[:2] == ("model", "test") else 2), (
            command,
            out,
            err,
        )
        assert "confirming the hang with a limit" in err, (command, err)
        assert "no end after" in out + err.replace("no end after 0.20s,", ""), (command, out, err)


def test_a_guard_that_hangs_is_a_step_of_the_test(spin):
    spin.write("guard.tstl", "@import spin\npool: <x> 1\n<x> := <[0]>\nspin.nap(10 ** 6) -> <x> := 3\n")  # fmt: skip
    done = spin("run", "guard.tstl", "--seed", "1", "--no-store", "--json", *LIMIT, status=1)
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["kind"] == "hang" and failure["test"][-1] == "x0 = 3"
    assert failure["reproduced"]


def test_a_slow_step_that_fails_is_no_chance(spin):
    spin.write("late.tstl", "@import spin\npool: <x> 1\n<x> := <[0]>\nspin.nap(0.7)\nassert <x> != 0\n")  # fmt: skip
    done = spin("run", "late.tstl", "--seed", "1", "--no-store", "--json", *LIMIT, status=1)
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["kind"] != "hang" and failure["reproduced"]


STEPPER = """\
import spin

items = []

def TestAction(name, arguments, expected):
    if name == "Push":
        items.append(arguments[0])
    else:
        try:
            spin.nap(SECONDS)
        except Exception:
            return "the implementation complains"
        items.pop()

def Reset():
    items.clear()
"""


@pytest.fixture
def pile(spin):
    spin.write("Pile.py", MODULES["Pile"])
    for name, seconds in (("Slow", "0.4"), ("Hanging", "10 ** 6")):
        spin.write(f"{name}.py", STEPPER.replace("SECONDS", seconds))
        notes = f"# testwright test 1\n# harness: Pile.py\n# stepper: {name}.py\n"
        spin.write(f"{name}.test", notes + "Push(1,)\nPush(2,)\nPop()\n")
    return spin


def test_a_slow_stepper_does_not_differ_from_its_model(pile):
    done = pile("replay", "Slow.test", *LIMIT)
    assert "passes" in done.stdout and "slow: " in done.stderr
    pile("regress", "Slow.test", *LIMIT)
    pile("run", "Pile", "--stepper", "Slow", "--seed", "1", "--tests", "1", "--length", "8", "--no-store", *LIMIT)  # fmt: skip
    pile("model", "test", "Pile", "--stepper", "Slow", "--seed", "1", "--runs", "1", "--steps", "6", "--timeout", "200ms")  # fmt: skip


@pytest.mark.parametrize("command", ["replay", "regress", "reduce", "triage", "generalize"])
def test_a_stepper_that_hangs_has_failed(pile, command):
    done = pile(command, "Hanging.test", *LIMIT, status=1)
    assert "complains" not in done.stdout
    assert ("no end after …ms" if command == "triage" else "no end after 200ms") in done.stdout


def test_a_stepper_that_hangs_has_a_reduced_test_and_a_pytest_file(pile):
    done = pile("run", "Pile", "--stepper", "Hanging", "--seed", "1", "--no-store", "--json", *LIMIT, status=1)  # fmt: skip
    (failure,) = json.loads(done.stdout)["failures"]
    assert (failure["kind"], failure["message"]) == ("hang", "no end after 200ms")
    assert failure["reproduced"] and len(failure["test"]) == 2
    assert (pile.folder / "testwright-out/Pile/test_failure_1.py").exists()


def test_a_reset_that_hangs_after_some_steps_is_no_chance(spin):
    spin.write("dying.py", "import spin\nclass Dying:\n    def __del__(self): spin.nap(10 ** 6)\n")
    spin.write("dying.tstl", "@import dying\npool: <x> 1\n<x> := dying.Dying()\n")
    done = spin("run", "dying.tstl", "--seed", "1", "--no-store", *LIMIT, status=1)
    assert "since it is the reset after these steps that hangs" in done.stdout
    assert "no end after 200ms" in spin("replay", "testwright-out/dying/failure-1.test", *LIMIT, status=1).stdout  # fmt: skip
