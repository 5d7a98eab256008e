"""The systems with seeded bugs: the correct ones pass, and every bug can be found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
try:
    from systems import seeded
finally:
    sys.path.remove(str(BENCH))

BUGS = {bug.name: bug for bug in seeded.bugs()}


def search(harness, seed, steps, *options):
    command = [sys.executable, "-m", "testwright", "run", harness.name, "--seed", seed]
    command += ["--steps", steps, "--no-reduce", "--json", *options]
    done = subprocess.run(
        [str(word) for word in command], cwd=harness.parent, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return json.loads(done.stdout)


def test_there_are_enough_systems_and_bugs():
    assert len(seeded.NAMES) >= 8
    assert len(BUGS) == sum(len(seeded.bugs(name)) for name in seeded.NAMES) >= 24


@pytest.mark.parametrize("system", seeded.NAMES)
def test_without_a_bug_nothing_is_found(system, tmp_path):
    harness = seeded.prepare(tmp_path, system)
    for strategy in ("auto", "swarm"):
        report = search(harness, 7, 5_000, "--strategy", strategy)
        assert report["failures"] == []
        assert report["steps"] == 5_000


@pytest.mark.parametrize("name", BUGS)
def test_every_bug_is_found_with_some_seed(name, tmp_path):
    bug = BUGS[name]
    harness = seeded.prepare(tmp_path, bug.system, bug)
    assert any(search(harness, seed, 40_000)["failures"] for seed in range(1, 9))


def test_a_bug_that_no_longer_applies_is_reported(tmp_path):
    gone = seeded.Bug("lru", "lru-gone", "", "no such text", "")
    with pytest.raises(ValueError, match="lru-gone: the right text stands 0 times"):
        seeded.prepare(tmp_path, "lru", gone)
