"""A folder with models, and helpers that read the results of the commands."""

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

from models import reference

HERE = Path(reference.__file__).parent
#: The names in a written module that hold numbers of states.
MARKS = ("accepting", "unsafe", "finished", "deadend", "runstarts")
RUN = re.compile(r" *(\d+)\. (Finished|Success|Failure) at step (\d+), (.*)")


class Folder:
    """A folder with all models of the tests. `command` runs `testwright` in it."""

    def __init__(self, command):
        self.command = command
        self.path = command.folder
        for file in (HERE / "modules").glob("*.py"):
            shutil.copy(file, self.path)

    def write(self, **modules):
        for name, text in modules.items():
            (self.path / f"{name}.py").write_text(text, encoding="utf-8")

    def analyze(self, *arguments, most=100_000, output="Found"):
        """Runs `pma`. Returns its output and the module that it writes."""
        done = self.command("compat", "pma", *arguments, "-m", most, "-o", output)
        return done.stdout, self.read(output)

    def test(self, *arguments, **environment):
        """Runs `pmt`. Returns its output."""
        return self.run("compat", "pmt", *arguments, **environment).stdout

    def read(self, module):
        return runpy.run_path(str(self.path / f"{module}.py"))

    def run(self, *arguments, status=0, **environment):
        """Runs `testwright` in the folder. Unlike `command`, it allows tracebacks of the user's modules."""
        done = subprocess.run(
            self.command.line(*arguments),
            cwd=self.path,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "panicked" not in done.stderr, done.stderr
        assert "internal error" not in done.stderr, done.stderr
        # A traceback shows only the user's code, never Testwright's.
        assert "site-packages/testwright" not in done.stderr, done.stderr
        return done


def graph_of(fsm):
    """Converts a written module to the graph format of the reference."""
    states = fsm["states"]
    transitions = [
        (states[before], action.__name__, arguments, result, states[after])
        for before, (action, arguments, result), after in fsm["graph"]
    ]
    assert len(transitions) == len({reference.canonical(one) for one in transitions}), "once each"
    graph = {mark: [states[number] for number in fsm[mark]] for mark in MARKS}
    graph.update(states=states.values(), transitions=transitions, initial=[states[fsm["initial"]]])
    return reference.comparable(graph)


def shown(value):
    """Formats a value as the commands print it: like `repr`, but with sorted sets."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))}{',' * (len(value) == 1)})"
    if isinstance(value, frozenset) and value:
        return f"frozenset({{{', '.join(map(shown, sorted(value)))}}})"
    return repr(value)


def step_text(action, arguments, result):
    """Formats a step as the commands print it."""
    if result is None:
        return f"{action.__name__}{shown(arguments)}"
    text = f"'{result}'" if isinstance(result, str) else shown(result)
    return f"{action.__name__}{shown(arguments)} / {text}"


def follow(fsm, printed):
    """Checks that the printed traces are paths of a graph with the right ends. Returns their number."""
    starts, runs = fsm["runstarts"], 0
    states, steps = {starts[0]}, 0
    for line in printed.splitlines():
        if re.fullmatch(r"Test finished, completed \d+ runs", line):
            assert line == f"Test finished, completed {runs} runs" and runs > 1
            continue
        end = RUN.fullmatch(line)
        if end is None:
            steps += 1
            states = {
                after
                for before, step, after in fsm["graph"]
                if before in states and step_text(*step) == line
            }
            assert states, f"{line} is not possible at step {steps} of run {runs}"
            continue
        number, _, taken, info = end.groups()
        assert (int(number), int(taken)) == (runs, steps)
        is_accepting = bool(states & set(fsm["accepting"]))
        is_over = not any(before in states for before, _, _ in fsm["graph"])
        wanted = "no more actions enabled, " * is_over
        wanted += "reached accepting state" if is_accepting else "ended in non-accepting state"
        assert info == wanted
        runs += 1
        states, steps = {starts[min(runs, len(starts) - 1)]}, 0
    assert steps == 0, "every run is told to have ended"
    return runs
