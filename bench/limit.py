"""How close Testwright is to a program without any tool that does the same steps, checks and comparisons."""

import json
import os
import re
import sys
import tempfile

import ours
import page
import straight_line
from measure import Failed, alternately, median, run
from peers import ancestor
from setting import Pace
from systems import HERE, SHOWN

#: The interpreter compiles the empty action to nothing, so there is nothing to compare with.
SYSTEMS = ["avl", "avl_thorough", "sorted", "append"]
#: Those in which a step names a part of what there is.
NAMING = ["avl", "avl_thorough"]
#: Those whose code is outside of the harness, so that it can be covered.
COVERED = ["avl", "avl_thorough"]
SEED = 1
PASSES = 5


class Recording:
    """The second half of the tests of a run of ours, and programs that do the same.

    The first half is there to warm up: the program is passed through several times, too, before it is at its best.
    """

    def __init__(self, setting, system):
        self.tests = 5 if setting.quick else 500
        self.setting = setting
        self.system = system
        self.harness = setting.systems.harness(system)
        self.folder = self.harness.parent
        kept = self.folder / "kept"
        self._search(2 * self.tests, ["--keep-tests", kept.name])
        numbers = range(self.tests + 1, 2 * self.tests + 1)
        files = (kept / f"test-{number}.test" for number in numbers)
        self.saved = [straight_line.steps_of(file.read_text(encoding="utf-8")) for file in files]
        self.steps = sum(len(steps) for steps in self.saved)
        self.read = straight_line.read(self.harness.read_text(encoding="utf-8"))
        self.programs = {}
        self.fastest = {}

    def ours(self, *options):
        """CPU seconds per step of the same tests, made by Testwright: of all runs so far the fastest, as it is with the
        program."""
        half, whole = self.fastest.get(options, (float("inf"), float("inf")))
        for _ in range(1 if self.setting.quick else 2):
            first, steps_before = self._search(self.tests, options)
            both, steps = self._search(2 * self.tests, options)
            same(steps["steps"] - steps_before["steps"], self.steps, "steps")
            half, whole = min(half, first.cpu), min(whole, both.cpu)
        self.fastest[options] = half, whole
        return max(whole - half, 1e-6) / self.steps

    def _search(self, tests, options):
        return ours.search(self.harness, "--tests", tests, *options, seed=SEED)

    def straight(self, only_changed=False):
        """CPU seconds per step of the program: its fastest pass, as it is the limit."""
        file = self.program(only_changed)
        done = run([sys.executable, file.name, PASSES], self.folder).or_complain()
        return min(json.loads(done.output)) / self.steps

    def program(self, only_changed):
        """The program, compiled."""
        if only_changed not in self.programs:
            written = straight_line.program(self.read, self.saved, only_changed)
            same(written.steps, self.steps, "steps")
            name = f"straight_line_{'changed' if only_changed else 'all'}"
            source = self.folder / f"{name}.py"
            source.write_text(written.text, encoding="utf-8")
            compiled = self.folder / f"{name}.pyc"
            # In a process of its own, for compiling takes memory.
            compiling = "import py_compile, sys; py_compile.compile(*sys.argv[1:], doraise=True)"
            run([sys.executable, "-c", compiling, source, compiled], self.folder).or_complain()
            self.programs[only_changed] = compiled
        return self.programs[only_changed]

    def properties(self):
        """How many properties Testwright and the program evaluate, each counted while it runs."""
        (self.folder / "tally.py").write_text(
            (HERE / "tally.py").read_text(encoding="utf-8"), encoding="utf-8"
        )
        written = straight_line.program(self.read, self.saved, tally=True)
        source = self.folder / "tallied_program.py"
        source.write_text(written.text, encoding="utf-8")
        in_program = self._tally([sys.executable, source.name, 1])
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
    recordings = {system: Recording(setting, system) for system in SYSTEMS}
    return [_against_the_limit(setting, recordings), _only_changed(setting, recordings)]


def _against_the_limit(setting, recordings):
    table = page.Table(
        "Against a program without any tool",
        "The tests that Testwright made, as one straight-line Python program: the same actions, guards, calls of the reference, comparisons and properties in the same order, slots as local variables, empty again for each test, modules not executed again. That is the limit for any tool. Both are warm, and the fastest of all passes counts: the program was passed through before, and Testwright made as many other tests before these. The numbers of steps and of evaluated properties were compared and are the same. 100 % is as fast as the program. The ancestor makes tests of its own from the same harness, of the same length, with properties and branch coverage.",
        [
            *("system", "steps", "properties", "the program, per step"),
            *("Testwright", "`--coverage`", f"{ancestor.NAME}, coverage"),
        ],
    )  # fmt: skip
    for system, recording in recordings.items():
        counted = recording.properties()
        same(*counted, "properties")
        works = {"program": recording.straight, "": recording.ours}
        if setting.ours.has_coverage:
            works["--coverage"] = lambda recording=recording: recording.ours("--coverage")
        taken = alternately(setting.repeats, works)
        limit = min(taken.pop("program"))
        # Each is of all runs up to then.
        cells = {name: _percent(limit, times[-1]) for name, times in taken.items()}
        if "--coverage" not in cells:
            cells["--coverage"] = "not available" + table.note(
                "This version of Testwright has no `--coverage`."
            )
        shown = [cells[name] for name in ("", "--coverage")]
        numbers = f"{recording.steps:,}", f"{counted[0]:,}", page.microseconds(limit)
        table.add(SHOWN[system], *numbers, *shown, _ancestor(setting, system, limit))
    return table


def _only_changed(setting, recordings):
    """The same where a step is followed only by the properties of the slots that it names."""
    can = ours.offers("run", "--checks")
    table = page.Table(
        "Checking only what a step names",
        "The straight-line program with all properties after each step, with those only of the slots that the step names, and Testwright with `--checks changed`, as a percentage of the latter program.",
        ["system", "all, per step", "named, per step", "", "Testwright"],
    )
    for system in NAMING:
        recording = recordings[system]
        works = {
            "all": recording.straight,
            "named": lambda recording=recording: recording.straight(only_changed=True),
        }
        if can:
            works["ours"] = lambda recording=recording: recording.ours("--checks", "changed")
        taken = alternately(setting.repeats, works)
        taken = {name: got[-1] if name == "ours" else min(got) for name, got in taken.items()}
        own = (
            _percent(taken["named"], taken["ours"])
            if can
            else "not available" + table.note("This version of Testwright has no `--checks`.")
        )
        shown = page.microseconds(taken["all"]), page.microseconds(taken["named"])
        table.add(SHOWN[system], *shown, page.times(taken["all"] / taken["named"]), own)
    return table


def _ancestor(setting, system, limit):
    """How near the ancestor comes to the limit of a system that has code to cover."""
    if system not in COVERED or not setting.ancestor or setting.ancestor.why_not(system, True):
        return "–"
    pace = Pace(setting, setting.ancestor, system, check=True, coverage=True)
    return _percent(limit, median(pace() for _ in range(setting.repeats)))


def _percent(limit, taken):
    share = 100 * limit / taken
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"
