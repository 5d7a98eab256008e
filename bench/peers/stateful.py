"""Runs Hypothesis: the program `state_machines.py` beside this file has the state machines."""

import json
from pathlib import Path

from measure import run

NAME = "Hypothesis"
PROGRAM = Path(__file__).resolve().with_name("state_machines.py")


class Hypothesis:
    """Runs the state machine of a system."""

    name = NAME

    def __init__(self, systems, programs):
        self.systems = systems
        self.programs = programs

    def why_not(self, system, coverage):
        return None

    def search(self, system, tests, check=True, coverage=False, length=100):
        """Runs a search that finds nothing. Returns (run, steps)."""
        folder = self.systems.folder(system, "hypothesis")
        command = [self.programs / "python"]
        if coverage:
            command += ["-m", "coverage", "run", "--branch", f"--include={_measured(system)}"]
        command += [PROGRAM, system, "--tests", tests, "--length", length]
        done = run([*command, *([] if check else ["--no-check"])], folder, PYTHONPATH=str(folder))
        return done, json.loads(done.checked().output)["steps"]

    def find(self, bug, seed, seconds):
        """Searches for a bug. Returns (CPU seconds, steps) until it is found, or None."""
        folder = self.systems.folder("avl", "hypothesis")
        command = [self.programs / "python", PROGRAM, "avl", "--module", bug, "--seed", seed]
        command += ["--tests", 1_000_000, "--length", 100]
        done = run(command, folder, limit=seconds, PYTHONPATH=str(folder))
        if done.too_long:
            return None
        result = json.loads(done.checked().output)
        return (done.cpu, result["steps"]) if result["found"] else None


def _measured(system):
    return "*/avl.py" if system == "avl" else "*/sortedcontainers/*"
