"""Measures unit tests that are generated from recorded runs of real packages."""

import page
from captured_package import Captured, Home

#: The packages that every run measures.
PACKAGES = ["iniconfig", "tomli", "semver", "humanize", "tabulate"]

#: Further packages for a run of this chapter alone.
MORE = ["sortedcontainers", "packaging", "schedule", "dateutil", "markdown"]

#: Further packages that were not used while the test generator was developed.
UNSEEN = ["isodate", "jmespath", "simpleeval", "cachetools", "anytree"]

#: Packages that were added later: small functions, callbacks from C, objects that refer to each other, data behind properties.
LATER = ["inflection", "parse", "intervaltree", "prettytable", "xmltodict", "bidict"]

#: How often the tests run in a random order.
SHUFFLES = 20

#: The number of mutants of each package, and the number in a run of this chapter alone.
MUTANTS = 60
MANY_MUTANTS = 200


def measure(setting):
    return [_tests(setting)]


def _packages(setting):
    if setting.quick:
        return PACKAGES[:1]
    return PACKAGES + (MORE + UNSEEN + LATER if setting.is_alone else [])


def _tests(setting):
    home = Home.find(setting.captured)
    mutants = 10 if setting.quick else MANY_MUTANTS if setting.is_alone else MUTANTS
    table = page.Table(
        "Unit tests from a recorded run",
        f"A program uses a package as its documentation shows, errors included; `testwright capture` records it and `testwright generate` writes tests. Chosen: the calls that show behaviour which no other call shows. Full and partial: tests that check everything that is known of a call, or a part; the rest could not be reproduced. Fail: tests that fail as written. Flaky: tests that fail in one of {SHUFFLES} shuffled runs with other hash seeds. Vacuous: tests that pass even if the unit does nothing. Lines: the share of the lines that the program runs (without those that an import runs) that the tests run. Changes noticed: of up to {mutants} small changes of the package on lines that the tests run, the share that makes a test fail (`testwright mutate`). Traces: folders, addresses or the date of the recording; dates that the program read from the clock are data, not traces.",
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
        unseen = table.note("Not used while the test generator was developed.") if package in UNSEEN else ""  # fmt: skip
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
