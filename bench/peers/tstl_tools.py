"""Runs TSTL's compiler and its random tester, unchanged."""

import json
import re
import shutil
from pathlib import Path

from measure import Failed, run

NAME = "TSTL"
SHRINKING = Path(__file__).with_name("tstl_shrinking.py")


class Tstl:
    """Compiles a system's harness and makes tests from it."""

    name = NAME

    def __init__(self, systems, programs):
        self.systems = systems
        self.programs = programs
        self.reasons = {}

    def why_not(self, system, coverage):
        """Tries to test a system. Returns the reason if that is not possible, else None."""
        key = system, coverage
        if key not in self.reasons:
            self.reasons[key] = None
            try:
                self.search(system, 2, coverage=coverage)
            except Failed as failed:
                last = str(failed).strip().splitlines()[-1]
                self.reasons[key] = f"TSTL does not run: {last[:200]}"
        return self.reasons[key]

    def has_c_tracer(self):
        """Returns true if TSTL's version of coverage.py has its C tracer."""
        return run([self.programs / "python", "-c", "import coverage.tracer"], None).status == 0

    def search(self, system, tests, check=True, coverage=False, length=100):
        """Runs a search that finds nothing. Returns (run, steps)."""
        folder = self._compiled(self.systems.harness(system, purpose="tstl"), coverage)
        done = self.rt(folder, "--maxTests", tests, "--depth", length, *_flags(check, coverage))
        done.checked()
        return done, _steps(done)

    def find(self, bug, seed, seconds):
        """Searches for a bug. Returns (CPU seconds, steps) until it is found, or None."""
        folder = self._compiled(self.systems.harness("avl", bug, "tstl"), False)
        options = ["--depth", 100, "--full", "--noCover"]
        done = self.rt(folder, *options, seed=seed, timeout=seconds, limit=4 * seconds)
        if done.too_long:
            return None
        done.checked(0, 255)
        return (done.cpu, _steps(done)) if done.status == 255 else None

    def shrink(self, harness, test, seconds):
        """Reduces and normalises a test in TSTL's format. Returns executions, steps and length; no length if time was up."""
        folder = self._compiled(harness, False)
        shutil.copy(test, folder)
        command = [self.programs / "python", SHRINKING, test.name, seconds]
        done = run(command, folder, 20 * seconds).checked()
        return json.loads(done.output.splitlines()[-1])

    def compile(self, harness, coverage, limit=120):
        """Compiles a harness to a Python module beside it."""
        flags = [] if coverage else ["--noCover"]
        return run([self.programs / "tstl", *flags, harness.name], harness.parent, limit)

    def rt(self, folder, *options, seed=1, timeout=600, limit=120):
        """Runs the random tester."""
        command = [self.programs / "tstl_rt", "--seed", seed, "--timeout", timeout, *options]
        return run(command, folder, limit)

    def _compiled(self, harness, coverage):
        """Compiles a harness once. Returns the folder with the module."""
        folder = harness.parent / f"{harness.stem}-{'coverage' if coverage else 'plain'}"
        if not (folder / "sut.py").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for file in [harness, *harness.parent.glob("*.py")]:
                shutil.copy(file, folder)
            self.compile(folder / harness.name, coverage).checked()
        return folder


def _flags(check, coverage):
    return ([] if check else ["--noCheck"]) + ([] if coverage else ["--noCover"])


def _steps(done):
    found = re.search(r"^(\d+) TOTAL TEST OPERATIONS", done.output, re.MULTILINE)
    if not found:
        raise Failed(f"TSTL does not say how many steps it took:\n{done.output[-500:]}")
    return int(found[1])
