"""Unit tests written from a recorded run of real packages, and what the recording costs."""

import json
import sys

import ours
import page
from captured_package import Captured, Home
from measure import alternately, run

#: What every run measures.
PACKAGES = ["iniconfig", "tomli", "semver", "humanize", "tabulate"]

#: What a run of this chapter alone measures besides.
MORE = ["sortedcontainers", "packaging", "schedule", "dateutil", "markdown"]

#: The same. Nobody looked at tests of these while the writing of tests was improved.
UNSEEN = ["isodate", "jmespath", "simpleeval", "cachetools", "anytree"]

#: The same, added later: small functions, callbacks from C, objects that refer to each other, data behind properties.
LATER = ["inflection", "parse", "intervaltree", "prettytable", "xmltodict", "bidict"]

#: How often the tests run in another order.
SHUFFLES = 20

#: How many small changes of each package are tried, and how many if there is time.
MUTANTS = 60
MANY_MUTANTS = 200

LOADS = {"busy": "parsing, trees, generators", "recursion": "nothing but calls"}


def measure(setting):
    return [_tests(setting), _cost(setting)]


def _packages(setting):
    if setting.quick:
        return PACKAGES[:1]
    return PACKAGES + (MORE + UNSEEN + LATER if setting.is_alone else [])


def _tests(setting):
    home = Home.find(setting.captured)
    mutants = 10 if setting.quick else MANY_MUTANTS if setting.is_alone else MUTANTS
    table = page.Table(
        "Unit tests from a recorded run",
        f"A program uses a package as its documentation shows, errors included; `testwright capture` records it and `testwright generate` writes tests. Chosen: the calls that show something which no other shows. Then what became of them: tests that check all that is known, or a part; the rest could not be made again. Fail, flaky, vacuous: tests that fail as written; in one of {SHUFFLES} shuffled runs with other hashes; not even if the unit does nothing. Lines: of those that the program reaches and an import alone does not, the share that the tests reach. Changes noticed: of up to {mutants} small changes of the package on lines that the tests reach, those that make a test fail (`testwright mutate`). Traces: folders, addresses or the date of the recording; dates that a clock told the program are data of its objects.",
        ["package", "calls", "chosen", "full", "partial", "rest", "fail", "flaky", "vacuous", "lines", "changes noticed", "traces", "CPU per chosen call"],
    )  # fmt: skip
    for package in _packages(setting):
        if not home.has(package):
            table.add(package + table.note("It is not installed."), *["–"] * (len(table.head) - 1))
            continue
        captured = Captured(home, package, setting.work)
        seconds = captured.generate()
        chosen = captured.selected()
        lines = f"{captured.ceiling():.0%}" if home.has_coverage else "–"
        unseen = table.note("Not looked at while the writing of tests was improved.") if package in UNSEEN else ""  # fmt: skip
        table.add(
            package + unseen,
            captured.calls,
            chosen,
            captured.report["full"],
            captured.report["partial"],
            chosen - captured.checking(),
            len(captured.failing()),
            len(captured.flaky(2 if setting.quick else SHUFFLES)),
            len(captured.vacuous()),
            lines + ("" if home.has_coverage else table.note("coverage.py is not installed.")),
            _share(*captured.noticed(mutants)),
            len(captured.traces()),
            f"{seconds / max(chosen, 1):.2f} s",
        )
    return table


def _share(some, of_all):
    return f"{some / of_all:.0%}" if of_all else "–"


def commands(setting):
    """(name, start of the command, environment variables) of each way to watch a program; the first does not."""
    yield "nobody watches", [sys.executable], {}
    ours_with = [*ours.COMMAND, "capture", "--quiet"]
    yield "Testwright records it", [*ours_with, "--", sys.executable], {}
    other = [*ours_with, "--scope", "json", "--", sys.executable]
    yield "Testwright records another package", other, {}
    if setting.programs:
        tracer = [setting.programs / "python", "-m", "coverage", "run"]
        yield "coverage.py, C tracer", tracer, {"COVERAGE_CORE": "ctrace"}
        if sys.version_info >= (3, 12):
            yield "coverage.py, `sys.monitoring`", tracer, {"COVERAGE_CORE": "sysmon"}
    if setting.monkeytype:
        yield "MonkeyType", [setting.monkeytype / "python", "-m", "monkeytype", "run"], {}


def _cost(setting):
    table = page.Table(
        "What recording costs",
        f"Two programs: {' and '.join(LOADS.values())}. All of it includes the start of the tool and its report; the second half is timed by the program itself, when all kinds of calls were seen. The best of {setting.repeats}.",
        ["", *(f"{words}: {part}" for words in LOADS.values() for part in ("all of it", "second half", "peak memory"))],
    )  # fmt: skip
    rounds = {"busy": 800, "recursion": 200}
    cells = {}
    for load in LOADS:
        works = {}
        for name, command, variables in commands(setting):
            folder = setting.systems.folder(load, f"capture-{len(works)}")
            line = [*command, f"{load}.py", 8 if setting.quick else rounds[load]]
            works[name] = lambda line=line, folder=folder, variables=variables: run(line, folder, 300, **variables)  # fmt: skip
        bare = None
        for name, runs in alternately(setting.repeats, works).items():
            told = [_told(done.or_complain().output) for done in runs]
            whole = min(done.cpu for done in runs)
            warm = min(answer["warm"] for answer in told)
            checksums = {answer["checksum"] for answer in told}
            bare = bare or (whole, warm, checksums)
            assert checksums == bare[2], f"{name} changes the program"
            peak = max(done.peak for done in runs)
            cells.setdefault(name, [])
            cells[name] += [_ratio(whole, bare[0]), _ratio(warm, bare[1]), f"{peak:.0f} MB"]
    for name, row in cells.items():
        table.add(name, *row)
    if not setting.programs:
        table.note("coverage.py is not installed.")
    if not setting.monkeytype:
        table.note("MonkeyType is not installed.")
    return table


def _ratio(value, bare):
    return page.times(value / max(bare, 1e-6))


def _told(output):
    """What the program printed; the tools print around it."""
    line = next(line for line in output.splitlines() if line.startswith('{"warm"'))
    return json.loads(line)
