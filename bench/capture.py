"""Unit tests written from a recorded run of real packages."""

import page
from captured_package import Captured, Home

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
