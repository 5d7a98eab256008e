"""How close Testwright is to a program without any tool that does the same steps, checks and comparisons."""

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

#: The interpreter compiles the empty action to nothing, so there is nothing to compare with.
SYSTEMS = ["avl", "avl_thorough", "avl_simple", "sorted", "append"]
#: Those in which a step names a part of what there is.
NAMING = ["avl", "avl_thorough"]
#: Those whose code is outside of the harness, so that it can be covered.
COVERED = ["avl", "avl_thorough", "avl_simple"]
#: What systems import from elsewhere.
INSTALLED = ["sortedcontainers"]
#: The program that checks everything after each step, and the one that checks only what a step names.
ALL, CHANGED = "straight_line_all", "straight_line_changed"
SEED = 1

#: What is added to a harness so that programs run beside it. The module is imported in a way that keeps it out of what is
#: executed again for each test.
BESIDE = """
<@
_beside = __import__("beside")

def test_before_restart(_):
    _beside.turn()
@>
"""


class Recording:
    """The second half of the tests of a search of ours, and programs that do the same.

    The first half is there to warm up.
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
        """Searches with some options and runs programs beside it. From `search` and each program to the CPU seconds per
        step of each block of tests."""
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
        """How many steps a search takes."""
        # One test more than is wanted, since it is the next test that ends the last one.
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
        source.write_text(self._with_modules_of_its_own(written.text), encoding="utf-8")
        # In a process of its own, for compiling takes memory.
        compiling = "import py_compile, sys; py_compile.compile(*sys.argv[1:], doraise=True)"
        compiled = self.folder / f"{name}.pyc"
        run([sys.executable, "-c", compiling, source, compiled], self.folder).or_complain()
        self.programs.add(name)

    def _with_modules_of_its_own(self, text):
        """A program that does not share the modules under test, for in the same process they may be observed."""

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
        """How many properties Testwright and the program evaluate, each counted while it runs."""
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
        """How many properties a command evaluates."""
        with tempfile.NamedTemporaryFile() as file:
            run(command, self.folder, TALLY=file.name).or_complain()
            counted = os.path.getsize(file.name)
        if not counted:
            raise Failed(f"no property was counted: {command}")
        return counted


def _tallied(harness):
    """The harness, counting its properties."""
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
    # Nothing of this is measured, so it does no harm that several are prepared at a time.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        prepared = list(pool.map(lambda system: _prepared(setting, system), SYSTEMS))
    recordings = {system: recording for system, (recording, _) in zip(SYSTEMS, prepared)}
    counted = {system: properties for system, (_, properties) in zip(SYSTEMS, prepared)}
    return [_against_the_limit(setting, recordings, counted), _only_changed(setting, recordings)]


def _prepared(setting, system):
    """A recording with its programs, and how many properties are evaluated."""
    recording = Recording(setting, system)
    for name in (ALL, CHANGED) if system in NAMING else (ALL,):
        recording.program(name)
    counted = recording.properties()
    same(*counted, "properties")
    return recording, counted[0]


def _against_the_limit(setting, recordings, counted):
    table = page.Table(
        "Against a program without any tool",
        "The program consists of the tests that Testwright made, as straight-line Python code: the same actions, guards, reference calls, comparisons and properties in the same order. Slots are local variables and are empty again for each test; modules are not reloaded. No tool can be faster. Testwright and the program take turns in one process, each with the same few tests. Both are warm: Testwright made as many other tests before, and the program ran several times. The program has its own copies of the modules, without coverage. The numbers of steps and of evaluated properties were compared and are equal. 100 % is as fast as the program; the numbers are medians of all turns. TSTL makes its own tests from the same harness, of the same length, with properties and branch coverage.",
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
    """The same where a step is followed only by the properties of the slots that it names."""
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
    """How fast a search is, as a share of a program: the median of all turns."""
    return median(
        one / other for turns in runs for one, other in zip(turns[program], turns["search"])
    )


def _tstl(setting, system, limit):
    """How near TSTL comes to the limit of a system that has code to cover."""
    if system not in COVERED or not setting.tstl or setting.tstl.why_not(system, True):
        return "–"
    pace = Pace(setting, setting.tstl, system, check=True, coverage=True)
    # It takes long, and is far enough away to be measured once.
    return _percent(limit / pace())


def _percent(share):
    return f"{share:.0%}".replace("%", " %") if share >= 0.1 else f"{share:.1%}".replace("%", " %")
