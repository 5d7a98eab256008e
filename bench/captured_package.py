"""Records one package, generates tests, and measures how good they are."""

import concurrent.futures
import datetime
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import ours
from measure import Failed, run

DRIVERS = Path(__file__).resolve().parent / "systems" / "captured"
TESTS = "tests"


@dataclass
class Home:
    """An interpreter that has the packages and pytest, but not Testwright."""

    python: Path
    #: The folder of its packages; empty for the interpreter that runs the benchmarks.
    packages: str
    has_coverage: bool

    @classmethod
    def find(cls, programs):
        python = programs / "python" if programs else Path(sys.executable)
        packages = ""
        if programs:
            ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
            packages = run(ask, None).checked().output.strip()
        return cls(python, packages, run([python, "-c", "import coverage"], None).status == 0)

    def has(self, package):
        return run([self.python, "-c", f"import pytest, {package}"], None).status == 0


class Captured:
    """A package, recorded while its driver ran."""

    def __init__(self, home, package, work):
        self.home = home
        self.package = package
        self.folder = work / f"captured-{package}"
        self.folder.mkdir(parents=True)
        self.driver = f"use_{package}.py"
        for name in (self.driver, "another_order.py", "without_body.py"):
            shutil.copy(DRIVERS / name, self.folder)
        # Without this file, pytest would use the settings of a parent folder.
        (self.folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        plain = run([home.python, self.driver], self.folder).checked()
        command = [*ours.COMMAND, "capture", "--quiet", "--scope", package, "--"]
        recorded = run(
            [*command, sys.executable, self.driver], self.folder, PYTHONPATH=home.packages
        )
        if recorded.checked().output != plain.output:
            raise Failed(f"capturing {package} changes what its driver prints")
        self.calls = self._calls()

    def _calls(self):
        shown = run([*ours.COMMAND, "show"], self.folder).checked()
        return sum(
            int(number.replace(",", ""))
            for number in re.findall(r", ([\d,]+) calls?,", shown.output)
        )

    def generate(self):
        """Generates the tests. Returns the CPU seconds."""
        command = [*ours.COMMAND, "generate", "--json", "--style", "pytest", "--python"]
        done = run([*command, self.home.python], self.folder, 600).checked()
        self.report = json.loads(done.output[done.output.index("{") :])
        units = {}
        for test in self.report["tests"]:
            units.setdefault(test["test"], []).append(test["unit"])
        (self.folder / "units.json").write_text(json.dumps(units), encoding="utf-8")
        return done.cpu

    def selected(self):
        """Returns the number of calls that were chosen to become tests."""
        kinds = ("full", "partial", "smoke", "stubs", "dropped", "not_written")
        return sum(self.report[kind] for kind in kinds)

    def checking(self):
        """Returns the number of chosen calls that became tests which check something."""
        return self.report["full"] + self.report["partial"]

    def _pytest(self, *options, **variables):
        command = [self.home.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-r", "fpE"]
        environment = {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        done = run([*command, *options, TESTS], self.folder, 300, **environment)
        if done.status not in (0, 1):
            raise Failed(f"the tests of {self.package} do not run:\n{done.output[-2000:]}")
        return done.output

    def failing(self):
        """Returns the tests that fail as written."""
        return _named("FAILED|ERROR", self._pytest())

    def flaky(self, times):
        """Returns the tests that fail in some order, with some hash seed."""

        def shuffled(seed):
            options = ("-p", "another_order")
            output = self._pytest(*options, ORDER=str(seed), PYTHONHASHSEED=str(seed))
            return _named("FAILED|ERROR", output)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return set().union(*pool.map(shuffled, range(1, times + 1)))

    def vacuous(self):
        """Returns the tests that pass whatever their unit does."""
        output = self._pytest("-p", "without_body", "-p", "no:randomly", UNITS="units.json")
        known = {test["test"]: test["outcome"] for test in self.report["tests"]}
        # The cases of a parametrised test count as one test.
        passed = {name.split("::", 1)[1].split("[")[0] for name in _named("PASSED", output)}
        return {name for name in passed if known[name] in ("full", "partial")}

    def noticed(self, sample):
        """Mutates the package on lines that the tests cover. Returns the numbers of noticed and of tried mutants."""
        # The copy is in the folder of the project, since `mutate` changes only code there.
        origin = Path(self.home.packages or self._origin())
        copy = self._copy(origin)
        command = [
            *ours.COMMAND,
            "mutate",
            "--sample",
            sample,
            "--json",
            "mutants.json",
            "--python",
        ]
        run([*command, self.home.python], self.folder, 600).checked(0, 1)
        report = json.loads((self.folder / "mutants.json").read_text(encoding="utf-8"))
        shutil.rmtree(copy) if copy.is_dir() else copy.unlink()
        tried = [module["tried"] for module in report["modules"]]
        return sum(module["noticed"] for module in report["modules"]), sum(tried)

    def _copy(self, origin):
        """Copies the package, or the single module, into the folder. Returns its path."""
        if (origin / self.package).is_dir():
            return Path(shutil.copytree(origin / self.package, self.folder / self.package))
        return Path(shutil.copy(origin / f"{self.package}.py", self.folder))

    def _origin(self):
        asked = f"import {self.package}; print({self.package}.__path__[0])"
        return Path(run([self.home.python, "-c", asked], None).checked().output.strip()).parent

    def ceiling(self):
        """Returns the share of the driver's lines that the tests cover, without the lines that an import runs."""
        bare = self._lines("-c", f"import {self.package}")
        driven = self._lines(self.driver) - bare
        tested = self._lines("-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS)
        return len(driven & tested) / len(driven)

    def _lines(self, *words):
        """Returns the lines of the package that a Python program covers."""
        if words[0] == "-c":
            (self.folder / "only_import.py").write_text(words[1] + "\n", encoding="utf-8")
            words = ("only_import.py",)
        coverage = [self.home.python, "-m", "coverage"]
        source = f"--source={self.package}"
        run([*coverage, "run", source, *words], self.folder, 300, COVERAGE_CORE="ctrace").checked()
        run([*coverage, "json", "-q", "-i", "-o", "lines.json"], self.folder).checked()
        files = json.loads((self.folder / "lines.json").read_text(encoding="utf-8"))["files"]
        return {(name, line) for name, file in files.items() for line in file["executed_lines"]}

    def traces(self):
        """Returns the traces of the machine and the day of the recording in the tests: folders, addresses, the date."""
        folders = [str(self.folder), str(Path.home()), self.home.packages or str(self.folder)]
        patterns = [re.escape(folder) for folder in folders]
        patterns += ["/tmp/tmp", "0x[0-9a-f]{8,}", re.escape(str(datetime.date.today()))]
        texts = [
            file.read_text(encoding="utf-8") for file in (self.folder / TESTS).glob("test_*.py")
        ]
        return [found for text in texts for found in re.findall("|".join(patterns), text)]


def _named(outcome, output):
    """Returns the tests with an outcome in pytest's summary."""
    found = re.findall(rf"^(?:{outcome}) (\S+)", output, re.MULTILINE)
    return {name for name in found if "::" in name}
