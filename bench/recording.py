"""Measures the time and memory of recording a program, and compares them with the promise, coverage.py and MonkeyType.

The programs measure the CPU seconds of the relevant part themselves. The best of the repeats counts.
"""

import json
import shutil
import sys
from dataclasses import dataclass

import ours
import page
from measure import alternately, run

#: True if events can be switched off for single code objects, which needs Python 3.12.
HAS_MONITORING = sys.version_info >= (3, 12)


@dataclass(frozen=True)
class Row:
    """A row of the table: a program, and the promised limit."""

    words: str
    system: str
    #: The amount of work.
    size: int
    #: The promised ratio, since Python 3.12 and before.
    limits: tuple
    scope: str = ""
    #: An argument that only the recorded program gets.
    word: str = ""
    #: True if other tools are measured as well.
    has_peers: bool = True


ROWS = [
    Row("parsing, after all kinds of calls were recorded", "parsing", 6000, (1.5, 3)),
    Row("only calls, after all kinds of calls were recorded", "recursion", 200, (4, 12)),
    Row("parsing, while every call is recorded", "first_calls", 60, (30, 40)),
    # Small differences need more work to be visible.
    Row("code outside the recorded scope", "parsing", 24000, (1.05, 1.5), scope="json", has_peers=False),
    Row("after the recording has stopped", "parsing", 24000, (1, 1), word="after", has_peers=False),
]  # fmt: skip

NAMES = {
    "testwright": "Testwright",
    "ctrace": "coverage.py, C tracer",
    "sysmon": "coverage.py, `sys.monitoring`",
    "monkeytype": "MonkeyType",
}


def commands(setting, row):
    """Yields (name, start of the command, environment variables) of each tool for the program of a row."""
    capture = [*ours.COMMAND, "capture", "--quiet", *(["--scope", row.scope] if row.scope else [])]
    yield "testwright", [sys.executable] if row.word else [*capture, "--", sys.executable], {}
    if not row.has_peers:
        return
    if setting.programs:
        coverage = [setting.programs / "python", "-m", "coverage", "run"]
        yield "ctrace", coverage, {"COVERAGE_CORE": "ctrace"}
        if HAS_MONITORING:
            yield "sysmon", coverage, {"COVERAGE_CORE": "sysmon"}
    if setting.monkeytype:
        yield "monkeytype", [setting.monkeytype / "python", "-m", "monkeytype", "run"], {}


def measure(setting):
    names = [name for name in NAMES if name != "sysmon" or HAS_MONITORING]
    table = page.Table(
        "The cost of recording",
        f"CPU time of a recorded program, relative to the same program alone; the best of {setting.repeats}. Promised: the upper limit for Testwright. coverage.py records lines, MonkeyType records the types of arguments and results; Testwright records values, side effects and input.",
        ["", "promised", *(NAMES[name] for name in names)],
    )  # fmt: skip
    memory = page.Table(
        "Memory used by recording",
        "Peak memory of the process, without and with Testwright. The promise is at most 64 MB more, however long a program runs.",
        ["", "alone", "recorded", "more"],
    )
    for row in ROWS:
        bare, recorded = _runs(setting, row)
        limit = row.limits[0 if HAS_MONITORING else 1]
        cells = []
        for name in names:
            runs = recorded.get(name)
            cells.append(page.times(_seconds(runs) / _seconds(bare)) if runs else "–")
        table.add(row.words, f"×{limit:g}", *cells)
        if row.has_peers:
            peaks = [max(done.peak for done in runs) for runs in (bare, recorded["testwright"])]
            memory.add(row.words, *(f"{peak:.0f} MB" for peak in peaks), f"{peaks[1] - peaks[0]:.0f} MB")  # fmt: skip
    for tool, is_there in (("coverage.py", setting.programs), ("MonkeyType", setting.monkeytype)):
        if not is_there:
            table.note(f"{tool} is not installed.")
    return [table, memory]


def _runs(setting, row):
    """Runs the program alone and with each tool. Returns its runs, and those of the tools by name."""
    size = max(row.size // 50, 2) if setting.quick else row.size

    def work(name, command, variables, size=size):
        folder = setting.systems.folder(row.system, f"recording-{name}{row.scope}{row.word}")
        if row.system == "first_calls":
            parsing = setting.systems.folder("parsing", "recording")
            shutil.copy(parsing / "parsing.py", folder / "reader.txt")
        word = [row.word] if row.word and name else []
        line = [*command, f"{row.system}.py", size, *word]
        return lambda: run(line, folder, 120, **variables)

    works = {"": work("", [sys.executable], {})}
    slow = {}
    for name, command, variables in commands(setting, row):
        if name == "monkeytype":
            # Less work is enough for a ratio, and MonkeyType is a hundred times slower.
            slow[name] = work(name, command, variables, max(size // 10, 2))
            slow[""] = work("", [sys.executable], {}, max(size // 10, 2))
        else:
            works[name] = work(name, command, variables)
    results = alternately(setting.repeats, works)
    bare = results.pop("")
    checksums = {_printed(done)["checksum"] for runs in [bare, *results.values()] for done in runs}
    assert len(checksums) == 1, f"a tool changes what {row.system} does"
    if slow:
        small = alternately(1, slow)
        ratio = _seconds(small["monkeytype"]) / _seconds(small[""])
        results["monkeytype"] = ratio * _seconds(bare)
    return bare, results


def _seconds(runs):
    """Returns the best time of some runs, or a time as it is."""
    return (
        runs if isinstance(runs, float) else max(min(_printed(done)["warm"] for done in runs), 1e-6)
    )


def _printed(done):
    """Returns the JSON line of the program; the tools print other lines around it."""
    lines = done.checked().output.splitlines()
    return json.loads(next(line for line in lines if line.startswith('{"warm"')))
