"""One deadline for every command that runs a system; what only takes long is not a hang.

Nothing here measures a duration: a command that does not end is ended by the time limit of `testwright`.
"""

import json

import pytest

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
