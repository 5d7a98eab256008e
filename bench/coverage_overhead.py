"""Measures the cost of coverage on a program that computes for two seconds: Testwright, coverage.py, SlipCover."""

import json
import shutil
import sys

import ours
import page
from measure import alternately, median, run


def commands(setting):
    """Yields (name, start of the command, options that select one module, environment variables) of each tool; the first
    measures nothing."""
    yield "no coverage", [sys.executable], [], {}
    if ours.has_command("cover"):
        yield OURS, [*ours.COMMAND, "cover"], ["--source", "busy.py"], {}
    if setting.programs:
        python = setting.programs / "python"
        tracer, only = [python, "-m", "coverage", "run"], ["--include", "*/busy.py"]
        branches = [*tracer, "--branch"]
        yield "coverage.py, branches, C tracer", branches, only, {"COVERAGE_CORE": "ctrace"}
        if sys.version_info >= (3, 14):
            yield "coverage.py, branches, `sys.monitoring`", branches, only, MONITORING
        elif sys.version_info >= (3, 12):
            yield ONLY_LINES, tracer, only, MONITORING
        slip, without = [python, "-m", "slipcover"], ["--omit", "*/busy_unmeasured.py,*/turns.py"]
        yield "SlipCover, branches", [*slip, "--branch"], without, {}
        yield "SlipCover, only lines", slip, without, {}


OURS = "Testwright, branches"
ONLY_LINES = "coverage.py, only lines, `sys.monitoring`"
MONITORING = {"COVERAGE_CORE": "sysmon"}

WHY_LINES = "Before Python 3.14 coverage.py cannot measure branches with `sys.monitoring`, so this row is for lines only."


def measure(setting):
    folder = setting.systems.folder("busy", "coverage")
    shutil.copy(folder / "busy.py", folder / "busy_unmeasured.py")
    rounds = 60 if setting.quick else 3200
    works = {}
    for name, command, one_module, variables in commands(setting):
        line = [*command, "busy.py", rounds]
        works[name, "whole"] = lambda line=line, variables=variables: run(line, folder, **variables)
        turns = [*command, *one_module, "turns.py", rounds // 4]
        works[name, "turns"] = lambda line=turns, variables=variables: run(
            line, folder, **variables
        )
    results = alternately(setting.repeats, works)
    table = page.Table(
        "The cost of coverage",
        'A program of 250 lines with loops, branches, generators and exceptions. "All of it" includes the start of the tool and its report. "Once warm": two copies of the program do the same work in turns in one process, and only one copy is measured, after all one-time work is done. A tracer also looks at each call of the other copy, so in this column it looks better than it is.',
        ["", "all of it", "", "once warm"],
    )
    bare = {}
    for name in dict.fromkeys(name for name, _ in works):
        printed = [_printed(done.checked().output, "checksum") for done in results[name, "whole"]]
        checksums = {answer["checksum"] for answer in printed}
        whole = median(done.cpu for done in results[name, "whole"])
        bare = bare or {"whole": whole, "checksums": checksums}
        assert checksums == bare["checksums"], f"{name} changes the program"
        turns = (_printed(done.checked().output, "warm") for done in results[name, "turns"])
        warm = median(answer["warm"] for answer in turns)
        mark = table.note(WHY_LINES) if name == ONLY_LINES else ""
        table.add(
            name + mark,
            f"{whole:.2f} s",
            page.times(whole / bare["whole"]),
            page.times(warm),
        )
    if (OURS, "whole") not in results:
        mark = table.note("This version of Testwright has no `cover` command.")
        table.add(OURS, "not available" + mark, "", "")
    if not setting.programs:
        table.note("coverage.py and SlipCover are not installed.")
    return [table]


def _printed(output, what):
    """Returns the JSON line of the program; the tools print other lines around it."""
    line = next(line for line in output.splitlines() if line.startswith(f'{{"{what}"'))
    return json.loads(line)
