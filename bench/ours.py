"""Runs Testwright as its users do."""

import json
import re
import sys
from pathlib import Path

from measure import Failed, run

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "testwright"]
NAME = "Testwright"


def offers(command, option):
    """Returns true if a command has an option."""
    shown = run([*COMMAND, command, "--help"], None)
    return shown.status == 0 and bool(re.search(rf"{re.escape(option)}\b", shown.output))


def has_command(name):
    return run([*COMMAND, name, "--help"], None).status == 0


def version():
    return run([*COMMAND, "--version"], None).checked().output.split()[-1]


def cost_of_the_log(build):
    """Returns the program `cost_of_the_log`, or None; builds it first if asked to."""
    # In the target folder of `make install`, with the same packages, so that almost nothing is compiled again.
    target = ROOT / "target" / "maturin"
    if build:
        chosen = ["-p", "testwright-extension", "-p", "testwright-campaign"]
        command = ["cargo", "build", "--quiet", "--release", "--target-dir", target, *chosen]
        run([*command, "--example", "cost_of_the_log"], ROOT, 600).checked()
    program = target / "release" / "examples" / "cost_of_the_log"
    return program if program.exists() else None


def search(harness, *options, seed=1, status=0, limit=120, **variables):
    """Runs a search. Returns its run and its JSON report."""
    # The other tools also choose uniformly.
    strategy = () if "--strategy" in options else ("--strategy", "random")
    command = [*COMMAND, "run", harness.name, "--json", "--seed", seed, *strategy, *options]
    done = run(command, harness.parent, limit, **variables)
    done.checked(*([status] if isinstance(status, int) else status))
    # There may be warnings before and after the report.
    report, _ = json.JSONDecoder().raw_decode(done.output[done.output.index("{") :])
    return done, report


def steps_to_failure(harness, strategy, seeds, budget):
    """Returns, for each seed, the number of steps until a strategy finds a failure, or None.

    All searches run in one process without workers, since a short search is mostly start-up. The steps are the same.
    """
    program = (
        "import sys, testwright\n"
        "line, out, *seeds = sys.argv[1:]\n"
        "for seed in seeds:\n"
        "    testwright.main([*line.split(), '--seed', seed, '--out', out])\n"
    )
    line = f"run {harness.name} --json --strategy {strategy} --steps {budget} --no-reduce --jobs 0 --no-store"
    command = [sys.executable, "-c", program, line, f"found-{harness.stem}-{strategy}", *seeds]
    output = run(command, harness.parent, 600).checked().output
    decoder, found = json.JSONDecoder(), []
    for start in re.finditer(r"^\{$", output, re.MULTILINE):
        report, _ = decoder.raw_decode(output[start.start() :])
        found.append(report["steps"] if report["failures"] else None)
    if len(found) != len(seeds):
        raise Failed(f"{len(found)} of {len(seeds)} searches:\n{output[-2000:]}")
    return found


def shrink(harness, test):
    """Reduces and normalises a test. Returns executions, steps and length."""
    command = [*COMMAND, "normalize", test, "--harness", harness.name, "--json"]
    done = run([*command, "--out", "normal.test"], harness.parent).checked(1)
    report = json.loads(done.output[done.output.index("{") :])
    return {
        "executions": report["runs"],
        "steps": report["steps_in_runs"],
        "length": report["steps"],
    }


def in_tstl_format(harness, test, target):
    """Writes a test with TSTL's names of actions."""
    program = (
        "import sys, testwright\n"
        "harness, test, target = sys.argv[1:]\n"
        "steps = testwright.load(harness).load_test(test)\n"
        "open(target, 'w').writelines(step.name + '\\n' for step in steps)\n"
    )
    run([sys.executable, "-c", program, harness, test, target], harness.parent).checked()


class Searcher:
    """Makes tests from a system's harness."""

    name = NAME

    def __init__(self, systems):
        self.systems = systems
        self.has_coverage = offers("run", "--coverage")

    def why_not(self, system, coverage):
        if coverage and not self.has_coverage:
            return "Testwright: this version has no `--coverage`"
        return None

    def search(self, system, tests, check=True, coverage=False, length=100):
        """Runs a search that finds nothing. Returns (run, steps)."""
        options = ["--tests", tests, "--length", length]
        options += [] if check else ["--no-check"]
        options += ["--coverage"] if coverage else []
        done, report = search(self.systems.harness(system), *options)
        return done, report["steps"]

    def find(self, bug, seed, seconds):
        """Searches for a bug. Returns (CPU seconds, steps) until it is found, or None."""
        options = ["--time", f"{seconds}s", "--no-reduce", "--out", f"found-{bug}"]
        done, report = search(
            self.systems.harness("avl", bug), *options, seed=seed, status=(0, 1), limit=4 * seconds
        )
        return (done.cpu, report["steps"]) if report["failures"] else None
