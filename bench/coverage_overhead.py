"""What coverage costs on a program that computes for two seconds: ours, coverage.py, SlipCover."""

import json
import sys

import ours
import page
from measure import alternately, median, run


def commands(setting):
    """(name, start of the command, environment variables) of each way to measure; the first measures nothing."""
    yield "no coverage", [sys.executable], {}
    if ours.has_command("cover"):
        yield OURS, [*ours.COMMAND, "cover"], {}
    if setting.programs:
        python = setting.programs / "python"
        tracer = [python, "-m", "coverage", "run"]
        yield "coverage.py, branches, C tracer", [*tracer, "--branch"], {"COVERAGE_CORE": "ctrace"}
        if sys.version_info >= (3, 14):
            yield "coverage.py, branches, `sys.monitoring`", [*tracer, "--branch"], MONITORING
        elif sys.version_info >= (3, 12):
            yield ONLY_LINES, tracer, MONITORING
        yield "SlipCover, branches", [python, "-m", "slipcover", "--branch"], {}
        yield "SlipCover, only lines", [python, "-m", "slipcover"], {}


OURS = "Testwright, branches"
ONLY_LINES = "coverage.py, only lines, `sys.monitoring`"
MONITORING = {"COVERAGE_CORE": "sysmon"}

WHY_LINES = "Before Python 3.14 `sys.monitoring` cannot tell coverage.py about branches, so this is for lines alone."


def measure(setting):
    folder = setting.systems.folder("busy", "coverage")
    rounds = 60 if setting.quick else 3200
    works = {}
    for name, command, variables in commands(setting):
        line = [*command, "busy.py", rounds]
        works[name] = lambda line=line, variables=variables: run(line, folder, **variables)
    results = alternately(setting.repeats, works)
    table = page.Table(
        "What coverage costs",
        "A program of 250 lines with loops, branches, generators and exceptions. All of it includes the start of the tool and its report; the second half is timed by the program itself, when everything that happens once has happened.",
        ["", "all of it", "", "the second half", ""],
    )
    bare = {}
    for name, runs in results.items():
        printed = [_printed(done.or_complain().output) for done in runs]
        assert len({answer["checksum"] for answer in printed}) == 1, f"{name} changes the program"
        whole = median(done.cpu for done in runs)
        warm = median(answer["warm"] for answer in printed)
        bare = bare or {"whole": whole, "warm": warm, "checksum": printed[0]["checksum"]}
        assert printed[0]["checksum"] == bare["checksum"], f"{name} changes the program"
        mark = table.note(WHY_LINES) if name == ONLY_LINES else ""
        table.add(
            name + mark,
            f"{whole:.2f} s",
            page.times(whole / bare["whole"]),
            f"{warm:.2f} s",
            page.times(warm / bare["warm"]),
        )
    if OURS not in results:
        mark = table.note("This version of Testwright has no `cover` command.")
        table.add(OURS, "not available" + mark, "", "", "")
    if not setting.programs:
        table.note("coverage.py and SlipCover are not installed.")
    return [table]


def _printed(output):
    """What the program printed; the tools print around it."""
    line = next(line for line in output.splitlines() if line.startswith('{"warm"'))
    return json.loads(line)
