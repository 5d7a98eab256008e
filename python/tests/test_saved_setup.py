"""A saved test names its models, stepper, scenarios and options, and every command restores them."""

import os
import subprocess
import sys

import pytest
from small_models import MODULES

# An implementation of `Pile` that forgets what is below its top.
STEPPER = """\
items = []

def TestAction(name, arguments, expected):
    if name == "Push":
        items[:] = list(arguments)
        return None
    found = items.pop() if items else None
    return None if found == expected else f"{found} instead of {expected}"

def Reset():
    items.clear()
"""
RUN = ("run", "Pile", "--seed", "1", "--tests", "20", "--no-store")


@pytest.fixture
def pile(testwright):
    testwright.write("Pile.py", MODULES["Pile"])
    testwright.write("PileStepper.py", STEPPER)
    testwright(*RUN, "--stepper", "PileStepper", status=1)
    kept = testwright.folder / "testwright-out/Pile/failure-1.test"
    testwright.write("kept.test", kept.read_text())
    return testwright


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "kept.test"),
        ("regress", "kept.test"),
        ("triage", "kept.test"),
        ("localize", "kept.test", "--tests", "3"),
        ("reduce", "kept.test"),
        ("normalize", "kept.test"),
        ("generalize", "kept.test"),
        ("feature", "kept.test"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_restores_the_stepper(pile, command):
    assert "# stepper: PileStepper\n" in (pile.folder / "kept.test").read_text()
    pile(*command, status=1)
    (pile.folder / "PileStepper.py").rename(pile.folder / "Gone.py")
    done = pile(*command, status=2)
    assert "no stepper `PileStepper` beside the test `kept.test`" in done.stderr
    assert "`--stepper MODULE`" in done.stderr
    # What is named on the command line wins.
    if command[0] in ("replay", "regress"):
        pile(*command, "--stepper", "Gone", status=1)


def test_quick_restores_the_stepper_and_notes_it(pile):
    quick = ("quick", "Pile", "--from", "kept.test", "--out", "suite")
    pile(*quick)
    assert "# stepper: PileStepper.py\n" in (pile.folder / "suite/quick-1.test").read_text()
    pile("replay", "suite/quick-1.test")
    (pile.folder / "PileStepper.py").unlink()
    assert "no stepper `PileStepper`" in pile(*quick, status=2).stderr
    assert "no stepper `PileStepper.py`" in pile("replay", "suite/quick-1.test", status=2).stderr


def test_pytest_restores_the_stepper(pile):
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--testwright", "kept.test"]  # fmt: skip
    done = subprocess.run(line, cwd=pile.folder, capture_output=True, text=True)
    assert done.returncode == 1 and "kept.test: fails at step" in done.stdout
    (pile.folder / "PileStepper.py").unlink()
    done = subprocess.run(line, cwd=pile.folder, capture_output=True, text=True)
    assert done.returncode == 1 and "there is no stepper" in done.stdout


def test_a_stepper_is_looked_for_beside_the_test_and_above_it_only(pile):
    # A stepper that everything else can import is not the one that the test means.
    kept = (pile.folder / "kept.test").read_text()
    pile.write("elsewhere/PileStepper.py", "def TestAction(*_): open('marker', 'w')\n")
    pile.write("deep/below/kept.test", kept)
    pile("replay", "deep/below/kept.test", status=1)
    (pile.folder / "PileStepper.py").unlink()
    environment = {**os.environ, "PYTHONPATH": str(pile.folder / "elsewhere")}
    pile("replay", "deep/below/kept.test", status=2, env=environment)
    for noted in ("PileStepper", "../elsewhere/PileStepper.py", "/etc/PileStepper.py", "os"):
        pile.write("kept.test", kept.replace("stepper: PileStepper", f"stepper: {noted}"))
        pile("replay", "kept.test", status=2, env=environment)
    assert not (pile.folder / "marker").exists()


def test_tests_of_one_call_have_one_stepper(pile):
    kept = (pile.folder / "kept.test").read_text()
    pile.write("other.test", kept.replace("# stepper: PileStepper\n", ""))
    for command in ("replay", "regress", "triage"):
        done = pile(command, "kept.test", "other.test", status=2)
        assert "made with different steppers: `PileStepper.py` in `kept.test`, none in `other.test`" in done.stderr  # fmt: skip
    pile("replay", "kept.test", "other.test", "--stepper", "PileStepper", status=1)


def test_run_writes_a_pytest_file_beside_that_of_model_test(pile):
    out = pile.folder / "testwright-out/Pile"
    assert (out / "test_failure_1.py").is_file()
    pile("model", "test", "Pile", "--stepper", "PileStepper", "--seed", "1", status=1)
    pile(*RUN, "--stepper", "PileStepper", status=1)
    files = sorted(file.name for file in out.glob("test_*.py"))
    assert files == ["test_failure_1.py", "test_model_failure_1.py"]
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, out.glob("test_*.py"))]  # fmt: skip
    done = subprocess.run(line, cwd=pile.folder, capture_output=True, text=True)
    assert "2 failed" in done.stdout and "instead of" in done.stdout, done.stdout


def test_options_that_change_a_test_are_noted_and_restored(testwright):
    testwright.write("sides.tstl", "pool: <x> 1\nproperty: <x> < 3\n<x> := <1..5>\n")
    run = ("run", "sides.tstl", "--seed", "1", "--tests", "50", "--no-store", "--keep-tests", "all")
    testwright(*run, "--no-check", "--no-reset")
    kept = (testwright.folder / "all/test-1.test").read_text()
    assert "# options: --no-check --no-reset\n" in kept
    testwright.write("kept.test", kept)
    for command in ("replay", "regress", "triage"):
        testwright(command, "kept.test")
        testwright(command, "kept.test", "--checks", "all", status=1)
    testwright.write("kept.test", kept.replace("--no-reset", "--exec rm"))
    done = testwright("replay", "kept.test", status=2)
    assert "`kept.test` notes an unknown option `--exec`" in done.stderr


def test_a_scenario_is_noted_and_restored(testwright):
    testwright.write("letters.tstl", "pool: <text> 1\n<text> := []\n~<text>.append(<['a'..'c']>)\n~<text>.clear()\n")  # fmt: skip
    testwright.write("One.py", 'def append():\n    """.append("""\n\ndef clear():\n    pass\n\ngraph = ((0, (append, (), None), 1), (1, (clear, (), None), 0))\ninitial = 0\n')  # fmt: skip
    run = ("run", "letters.tstl", "--seed", "1", "--tests", "3", "--no-store", "--keep-tests", "all")  # fmt: skip
    testwright(*run, "--scenario", "One")
    kept = (testwright.folder / "all/test-1.test").read_text()
    assert "# scenario: One\n" in kept
    test = "text0 = []\ntext0.append('a')\ntext0.append('b')\n"
    testwright.write("kept.test", "".join(kept.splitlines(True)[:3]) + test)
    done = testwright("replay", "kept.test")
    assert "step 3 skipped, not enabled: text0.append('b')" in done.stdout
    (testwright.folder / "One.py").unlink()
    done = testwright("replay", "kept.test", status=2)
    assert "there is no scenario `One` beside the test `kept.test`" in done.stderr


PLAIN = "@import system\npool: <x> 1\n<x> := <[1..3]>\nsystem.use(<x>)\n"


def test_limits_and_variables_are_noted_and_restored(testwright):
    testwright.write(
        "system.py",
        "import os\ndef use(x):\n    if x == 2 and os.environ.get('MODE') == 'strict': bytearray(1 << 28)\n",
    )
    testwright.write("h.tstl", PLAIN)
    run = ("run", "h.tstl", "--seed", "1", "--no-store", "--memory", "128MB", "--env", "MODE=strict", "--step-timeout", "3s")  # fmt: skip
    testwright(*run, status=1)
    kept = (testwright.folder / "testwright-out/h/failure-1.test").read_text()
    assert "# limits: --memory 134217728 --step-timeout 3s\n# env: MODE=strict\n" in kept
    testwright.write("kept.test", kept)
    for command in ("replay", "regress", "triage", "reduce"):
        assert "MemoryError" in testwright(command, "kept.test", status=1).stdout
    # A file for pytest would need the variable, too.
    assert not (testwright.folder / "testwright-out/h/test_failure_1.py").exists()
    done = testwright("standalone", "kept.test", status=2)
    assert "run by itself, it passes" in done.stderr
    # What is given wins, and a test from a stranger cannot choose programs.
    testwright("replay", "kept.test", "--memory", "2GB")
    testwright("replay", "kept.test", "--env", "MODE=lax")
    for variable in ("PATH=/tmp", "LD_PRELOAD=x.so", "PYTHONPATH=/tmp"):
        testwright.write("kept.test", kept.replace("MODE=strict", variable))
        done = testwright("replay", "kept.test", status=2)
        assert f"was made with `{variable}`, which a test cannot set" in done.stderr


# The second of two calls with 2 fails.
COUNTER = "seen = []\ndef use(x):\n    seen.append(x)\n    if seen.count(2) == 2: raise ValueError('twice')\n"


def test_without_reset_no_run_changes_the_next(testwright):
    testwright.write("system.py", COUNTER)
    testwright.write("h.tstl", PLAIN)
    calls = "x0 = 1\nsystem.use(x0)\nx0 = 2\nsystem.use(x0)\n" * 2
    head = "# testwright test 1\n# harness: h.tstl\n# options: --no-reset\n"
    testwright.write("kept.test", head + calls)
    testwright("reduce", "kept.test", status=1)
    reduced = (testwright.folder / "kept.reduced.test").read_text()
    assert reduced.endswith("x0 = 2\nsystem.use(x0)\nsystem.use(x0)\n"), reduced
    testwright("normalize", "kept.test", status=1)
    normal = (testwright.folder / "kept.normal.test").read_text()
    assert normal.count("system.use(x0)") == 2 and "# options: --no-reset\n" in normal
    for test in ("kept.reduced.test", "kept.normal.test"):
        testwright("replay", test, status=1)
    # Each test starts in a new process.
    testwright.write("once.test", head + "x0 = 2\nsystem.use(x0)\n")
    testwright("regress", "once.test", "once.test")
    testwright("replay", "once.test", "once.test")


def test_the_library_restores_what_commands_restore(testwright):
    testwright.write("system.py", COUNTER)
    testwright.write("h.tstl", PLAIN)
    testwright.write(
        "library.py",
        "import testwright\n"
        "sut = testwright.load('h.tstl', reset_modules=False, reference_exceptions='type')\n"
        "sut.save_test([sut.playable('x0 = 2')], 'kept.test')\n"
        "print(sut.load_test('kept.test'))\n"
        "other = testwright.load('h.tstl')\n"
        "try: other.load_test('kept.test')\n"
        "except ValueError as error: print(error)\n"
        "sut.set_reload(True)\n"
        "try: sut.load_test('kept.test')\n"
        "except ValueError as error: print(error)\n",
    )
    done = testwright.python("library.py")
    lines = done.stdout.splitlines()
    assert lines[0] == "x0 = 2", done.stdout + done.stderr
    noted = "kept.test was made with options `--reference-exceptions type --no-reset`"
    assert lines[1].startswith(f"{noted}, but this harness was loaded with no options")
    assert lines[2].startswith(noted)
    assert "# options: --reference-exceptions type --no-reset\n" in (testwright.folder / "kept.test").read_text()  # fmt: skip
    testwright("replay", "kept.test")


def test_reduction_does_not_believe_runs_that_influenced_each_other(testwright):
    # The state is where no reset finds it.
    testwright.write("system.py", COUNTER.replace("seen = []", "import sys\nseen = vars(sys).setdefault('seen', [])"))  # fmt: skip
    testwright.write("h.tstl", PLAIN)
    calls = "x0 = 1\nsystem.use(x0)\nx0 = 2\nsystem.use(x0)\n" * 2
    testwright.write("kept.test", "# testwright test 1\n# harness: h.tstl\n" + calls)
    testwright("reduce", "kept.test", status=1)
    reduced = (testwright.folder / "kept.reduced.test").read_text()
    assert reduced.endswith("x0 = 2\nsystem.use(x0)\nsystem.use(x0)\n"), reduced
