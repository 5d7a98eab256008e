"""Compares Testwright with a program without any tool that does the same steps, checks and comparisons."""

import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ours
import page
import straight_line
from measure import Failed, alternately, median, run
from peers import tstl_tools
from setting import Pace
from systems import HERE, SHOWN

#: Without the empty action: the interpreter compiles it to nothing, so there is nothing to compare with.
SYSTEMS = ["avl", "avl_thorough", "avl_simple", "sorted", "append"]
#: The systems in which a step names only some of the slots.
NAMING = ["avl", "avl_thorough"]
#: The systems with code outside the harness, whose coverage can be measured.
COVERED = ["avl", "avl_thorough", "avl_simple"]
#: Installed packages that systems import.
INSTALLED = ["sortedcontainers"]
#: The program that checks all properties after each step, and the one that checks only those of the named slots.
ALL, CHANGED = "straight_line_all", "straight_line_changed"
SEED = 1

#: Code that is added to a harness so that programs run beside it. `__import__` keeps the module out of those that are
#: reloaded for each test.
BESIDE = """
<@
_beside = __import__("beside")

def test_before_restart(_):
    _beside.turn()
@>
"""


class Recording:
    """The second half of the tests of a Testwright search, and programs that do the same.

    The first half warms up.
    """

    def __init__(self, setting, system):
        self.tests = 5 if setting.quick else 300
        self.block = 5 if setting.quick else 10
        self.harness = setting.systems.harness(system)
        self.folder = self.harness.parent
        kept = self.folder / "kept"
        self.searched = self._search(self.harness, "--keep-tests", kept.name)
        numbers = range(self.tests + 1, 2 * self.tests + 1)
        files = (kept / f"test-{number}.test" for number in numbers)
        self.saved = [straight_line.steps_of(file.read_text(encoding="utf-8")) for file in files]
        self.steps = sum(len(steps) for steps in self.saved)
        self.read = straight_line.read(self.harness.read_text(encoding="utf-8"))
        self.programs = set()

    def beside(self, *options, programs=(ALL,)):
        """Runs a search with programs beside it. Returns a dictionary from `search` and each program to the CPU seconds
        per step of each block of tests."""
        for name in programs:
            self.program(name)
        shutil.copy(HERE / "beside.py", self.folder)
        harness = self.folder / "beside.tstl"
        harness.write_text(self.harness.read_text(encoding="utf-8") + BESIDE, encoding="utf-8")
        with tempfile.NamedTemporaryFile("r") as result:
            numbers = {
                "BESIDE_TESTS": self.tests,
                "BESIDE_BLOCK": self.block,
                "BESIDE_PROGRAMS": " ".join(programs),
                "BESIDE_RESULT": result.name,
            }
            variables = {name: str(value) for name, value in numbers.items()}
            same(self._search(harness, *options, **variables), self.searched, "steps")
            text = result.read()
        per_block = self.steps * self.block / self.tests
        return {
            name: [nanoseconds / per_block / 1e9 for nanoseconds in times]
            for name, times in json.loads(text).items()
        }

    def _search(self, harness, *options, **variables):
        """Runs a search. Returns the number of steps."""
        # One more test, since the start of the next test ends the last one.
        options = ["--jobs", 1, "--tests", 2 * self.tests + 1, *options]
        _, report = ours.search(harness, *options, seed=SEED, **variables)
        return report["steps"]

    def program(self, name):
        """Writes and compiles a program."""
        if name in self.programs:
            return
        written = straight_line.program(self.read, self.saved, only_changed=name == CHANGED)
        same(written.steps, self.steps, "steps")
        source = self.folder / f"{name}.py"
        source.write_text(self._with_own_modules(written.text), encoding="utf-8")
        # In a separate process, since compiling needs much memory.
        compiling = "import py_compile, sys; py_compile.compile(*sys.argv[1:], doraise=True)"
        compiled = self.folder / f"{name}.pyc"
        run([sys.executable, "-c", compiling, source, compiled], self.folder).checked()
        self.programs.add(name)

    def _with_own_modules(self, text):
        """Makes a program import its own copies of the modules under test, which the search may instrument."""

        def renamed(match):
            word, name, rest = match.groups()
            own = f"plain_{name}"
            module = self.folder / f"{name}.py"
            if module.exists():
                shutil.copy(module, self.folder / f"{own}.py")
            elif name in INSTALLED:
                package = Path(importlib.util.find_spec(name).origin).parent
                shutil.copytree(package, self.folder / own, dirs_exist_ok=True)
            else:
                return match[0]
            return f"{word} {own}{rest}" if word == "from" else f"{word} {own} as {name}{rest}"

        return re.sub(r"^(import|from) (\w+)\b(.*)$", renamed, text, flags=re.MULTILINE)

    def properties(self):
        """Counts the properties that Testwright and the program evaluate."""
        (self.folder / "tally.py").write_text(
            (HERE / "tally.py").read_text(encoding="utf-8"), encoding="utf-8"
        )
        written = straight_line.program(self.read, self.saved, tally=True)
        source = self.folder / "tallied_program.py"
        source.write_text(written.text, encoding="utf-8")
        in_program = self._tally([sys.executable, source.name])
        same(in_program, written.properties, "properties in the program")
        tallied = self.folder / "tallied.tstl"
        tallied.write_text(_tallied(self.harness.read_text(encoding="utf-8")), encoding="utf-8")
        command = [*ours.COMMAND, "run", tallied.name, "--seed", SEED, "--strategy", "random"]
        half, whole = (self._tally([*command, "--tests", n * self.tests]) for n in (1, 2))
        return whole - half, in_program

    def _tally(self, command):
        """Counts the properties that a command evaluates."""
        with tempfile.NamedTemporaryFile() as file:
            run(command, self.folder, TALLY=file.name).checked()
            counted = os.path.getsize(file.name)
        if not counted:
            raise Failed(f"no property was counted: {command}")
        return counted


def _tallied(harness):
    """Returns a harness that counts its properties."""
    lines, inside = ["@import tally"], False
    for line in harness.splitlines():
        words = line.strip()
        if re.fullmatch(r"\w+:", words):
            inside = words == "properties:"
        elif words.startswith("property: "):
            line = f"property: tally.tally({words[len('property: ') :]})"
        elif inside and words:
            line = f"  tally.tally({words})"
        lines.append(line)
    return "\n".join(lines) + "\n"


def same(one, other, what):
    if one != other:
        raise Failed(f"not the same work: {one} and {other} {what}")


def measure(setting):
    # This is not timed, so the preparations can run in parallel.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        prepared = list(pool.map(lambda system: _prepared(setting, system), SYSTEMS))
    recordings = {system: recording for system, (recording, _) in zip(SYSTEMS, prepared)}
    counted = {system: properties for system, (_, properties) in zip(SYSTEMS, prepared)}
    return [_against_the_limit(setting, recordings, counted), _only_changed(setting, recordings)]


def _prepared(setting, system):
    """Prepares a recording with its programs. Returns it and the number of evaluated properties."""
    recording = Recording(setting, system)
    for name in (ALL, CHANGED) if system in NAMING else (ALL,):
        recording.program(name)
    counted = recording.properties()
    same(*counted, "properties")
    return recording, counted[0]


def _against_the_limit(setting, recordings, counted):
    table = page.Table(
        "Against a program without any tool",
        "The program consists of the tests that Testwright made, as straight-line Python code: the same actions, guards, reference calls, comparisons and properties in the same order. Slots are local variables and are empty again for each test; modules are not reloaded. This is the limit for any tool. Testwright and the program take turns in one process, each with the same few tests. Both are warm: Testwright made as many other tests before, and the program ran several times. The program has its own copies of the modules, without coverage. The numbers of steps and of evaluated properties were compared and are equal. 100 % is as fast as the program; the numbers are medians of all turns. TSTL makes its own tests from the same harness, of the same length, with properties and branch coverage.",
        [
            *("system", "steps", "properties", "the program, per step"),
            *("Testwright", "`--coverage`", f"{tstl_tools.NAME}, coverage"),
        ],
    )  # fmt: skip
    for system, recording in recordings.items():
        works = {"": recording.beside}
        if setting.ours.has_coverage:
            works["--coverage"] = lambda recording=recording: recording.beside("--coverage")
        taken = alternately(setting.repeats, works)
        limit = median(seconds for turns in taken[""] for seconds in turns[ALL])
        cells = {name: _percent(_share(turns, ALL)) for name, turns in taken.items()}
        if "--coverage" not in cells:
            cells["--coverage"] = "not available" + table.note(
                "This version of Testwright has no `--coverage`."
            )
        shown = [cells[name] for name in ("", "--coverage")]
        numbers = f"{recording.steps:,}", f"{counted[system]:,}", page.microseconds(limit)
        table.add(SHOWN[system], *numbers, *shown, _tstl(setting, system, limit))
    return table


def _only_changed(setting, recordings):
    """Compares Testwright and the program when each step checks only the properties of the slots that it names."""
    can = ours.offers("run", "--checks")
    table = page.Table(
        "Checking only what a step names",
        "The first column is the straight-line program with all properties after each step. The second checks only the properties of the slots that the step names. The last column is the speed of Testwright with `--checks changed`, as a percentage of the second program.",
        ["system", "all, per step", "named, per step", "", "Testwright"],
    )
    options = ["--checks", "changed"] if can else []
    for system in NAMING:
        recording = recordings[system]
        both = {"": lambda recording=recording: recording.beside(*options, programs=(ALL, CHANGED))}
        (turns,) = alternately(setting.repeats, both).values()
        every, named = (
            median(time for one in turns for time in one[name]) for name in (ALL, CHANGED)
        )
        own = (
            _percent(_share(turns, CHANGED))
            if can
            else "not available" + table.note("This version of Testwright has no `--checks`.")
        )
        shown = page.microseconds(every), page.microseconds(named)
        table.add(SHOWN[system], *shown, page.times(every / named), own)
    return table


def _share(runs, program):
    """Returns the speed of a search as a share of a program's: the median of all turns."""
    return median(
        one / other for turns in runs for one, other in zip(turns[program], turns["search"])
    )


def _tstl(setting, system, limit):
    """Returns the speed of TSTL as a share of the limit, for systems with code to cover."""
    if system not in COVERED or not setting.tstl or setting.tstl.why_not(system, True):
        return "–"
    pace = Pace(setting, setting.tstl, system, check=True, coverage=True)
    # It is slow, and far enough from the limit to be measured once.
    return _percent(limit / pace())


def _percent(share):
    return f"{share:.0%}".replace("%", " %") if share >= 0.1 else f"{share:.1%}".replace("%", " %")
