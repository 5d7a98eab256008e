"""Tests written as files fail alone, for the same reason as in the harness."""

import subprocess
import sys

import pytest

# A harness, and the message of the written test when it fails.
CASES = {
    "expected exception before the property": (
        "pool: <x> 1\n<x> := []\n{ValueError} <x,1>.append(1); <x>.index(2)\nproperty: len(<x>) < 3\n",
        "assert 3 < 3",
    ),
    "expected exception before the type": (
        "pool: <x> 1 : list\n<x> := []\n{ValueError} <x> = (1,); <x,1>.index(2)\n",
        "assert type(x) == list",
    ),
    "local of the name of a global": (
        "@K = 3\npool: <x> 1\ninit: <x> = []\nK = 4; ~<x>.append(K)\n~<x>.append(K + 10)\n"
        "property: 13 not in <x> or 4 not in <x,1>\n",
        "assert 13 not in x or 4 not in x",
    ),
    "local of the name of a builtin": (
        "pool: <x> 1\ninit: <x> = []\nlen = 3; ~<x>.append(len)\nproperty: len(<x>) < 2\n",
        "assert 2 < 2",
    ),
    "swallowed post-condition": (
        "pool: <x> 1\ninit: <x> = []\n{AssertionError} ~<x>.append(1) => len(<x,1>) < 2\n"
        "property: len(<x>) < 4\n",
        "assert 4 < 4",
    ),
    "value from before that raises": (
        "pool: <x> 1\ninit: <x> = []\n"
        "{ZeroDivisionError} ~<x>.append(1) => pre<(1/len(<x,1>))> > 0\n~<x>.append(2)\n"
        "property: len(<x>) < 3\n",
        "assert 3 < 3",
    ),
    "chance": (
        "pool: <x> 1\n<x> := random.randint(1, 30)\nrepr(<x>)\nproperty: <x> != 17\n",
        "assert 17 != 17",
    ),
    "expectation": (
        "<@\ndef size_before(x): return len(x)\ndef size_after(x): return len(x)\n"
        "def size_check(before, after, x): return 2 if after > 2 else True\n@>\n"
        "pool: <x> 1\ninit: <x> = []\nexpect: ~<x>.append(1) ==> size(<x,1>)\n",
        "== True",
    ),
    "name of a slot in a string": (
        'pool: <x> 1\n<x> := "c"\n<x> = "<x,1>" + <x>\nproperty: len(<x>) < 8\n',
        "assert 9 < 8",
    ),
    "bare assertion": ("pool: <x> 1\n<x> := <[1..9]>\nassert <x> != 4\n", "assert 4 != 4"),
    "exit": ("pool: <x> 1\n<x> := <[1..9]>\nsys.exit(<x>)\n", "SystemExit"),
    "odd message": (
        '<@\nclass Odd(Exception): pass\ndef f(): raise Odd(\'a\\x00\\x1b[31m"""\\\\\')\n@>\nf()\n',
        "Odd",
    ),
    "wrong result": (
        "pool: <x> 1 REF\n<x> := 2\n<x> = <x> * 2\nvalue(<x>)\n"
        "<@\ndef value(x): return x % 8\ndef right(x): return x\n@>\n"
        "reference: value ==> right\ncompare: value\n",
        "assert 0 == 8",
    ),
    "reference raises": (
        "pool: <x> 1 REF\n<x> := list()\n{KeyError} <x>.remove(3)\n"
        "<@\nclass list(list):\n    def remove(self, item): pass\n@>\n"
        "reference: list ==> set\ncompare: remove\n",
        "DID NOT RAISE",
    ),
}


@pytest.mark.parametrize("harness, reason", CASES.values(), ids=CASES)
def test_the_written_test_fails_alone_for_the_same_reason(testwright, harness, reason):
    testwright.write("case.tstl", harness)
    testwright("run", "case.tstl", "--seed", "1", status=1)
    folder = testwright.folder / "testwright-out" / "case"
    (testwright.folder / "case.tstl").rename(testwright.folder / "gone.tstl")
    alone = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_failure_1.py"]
    done = subprocess.run(alone, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert reason in done.stdout, done.stdout


@pytest.mark.parametrize("style", ["unittest", "script"])
@pytest.mark.parametrize("harness", [case[0] for case in CASES.values()], ids=CASES)
def test_every_style_fails_alone(testwright, harness, style):
    testwright.write("case.tstl", harness)
    testwright("run", "case.tstl", "--seed", "1", status=1)
    test = "testwright-out/case/failure-1.test"
    testwright("standalone", test, "--harness", "case.tstl", "--style", style, "--out", "alone.py")
    done = subprocess.run(
        [sys.executable, "alone.py"], cwd=testwright.folder, capture_output=True, text=True
    )
    assert done.returncode not in (0, 2), done.stderr
    assert "SyntaxError" not in done.stderr, done.stderr
    assert "NameError" not in done.stderr, done.stderr


# Harnesses whose failing file has to fail in a process of its own, and what it says.
PROCESSES = {
    "property that changes the state": (
        "<@\nclass Ticket:\n    def __init__(self): self.looks = self.stamps = 0\n"
        "    def stamp(self): self.stamps += 1\n"
        "    def valid(self):\n        self.looks += 1\n"
        "        return self.looks < 6 or self.stamps < 2\n@>\n"
        "pool: <t> 1\n<t> := Ticket()\n<t>.stamp()\nproperty: <t>.valid()\n",
        "assert t.valid()",
    ),
    "two properties of which one changes the state": (
        "pool: <x> 1\n<x> := []\n<x>.append(1)\n"
        "property: <x>.append(2) is None\nproperty: len(<x>) < 5\n",
        "< 5",
    ),
    "crash": (
        "@import os\npool: <x> 1\n<x> := <[1..9]>\n<x> == 4 and os.abort()\n",
        "with status -6",
    ),
    "crash of a property": (
        "@import os\npool: <x> 1\n<x> := []\n<x>.append(1)\nproperty: len(<x>) < 3 or os.abort()\n",
        "with status -6",
    ),
    "hang": (
        "pool: <x> 1\n<x> := <[1..9]>\nspin(<x>)\n<@\ndef spin(x):\n    while x == 4: pass\n@>\n",
        "TimeoutExpired",
    ),
}


@pytest.mark.parametrize("harness, reason", PROCESSES.values(), ids=PROCESSES)
def test_the_file_of_every_kind_of_failure_fails_in_a_fresh_process(testwright, harness, reason):
    testwright.write("case.tstl", harness)
    testwright("run", "case.tstl", "--seed", "1", "--step-timeout", "1s", status=1)
    folder = testwright.folder / "testwright-out" / "case"
    (testwright.folder / "case.tstl").rename(testwright.folder / "gone.tstl")
    alone = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_failure_1.py"]
    done = subprocess.run(alone, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert reason in done.stdout, done.stdout


# Systems that do something else when pytest runs them, and how the report says so.
OTHERWISE = {
    "message": ('raise ValueError("late" if known else "early")', "raises ValueError: late"),
    "class": ("raise (KeyError if known else ValueError)('no')", "raises KeyError: 'no'"),
    "line": (
        "if known: raise ValueError('no')\n        raise ValueError('no')",
        "raises ValueError at another place: no",
    ),
    "assertion": (
        "assert not known, 'no'\n        raise ValueError('no')",
        "raises AssertionError",
    ),
    "nothing": ("if not known: raise ValueError('no')", "passes"),
}


@pytest.mark.parametrize("code, words", OTHERWISE.values(), ids=OTHERWISE)
@pytest.mark.parametrize("jobs", ["0", "1"])
def test_a_file_that_fails_otherwise_is_not_called_failing(testwright, code, words, jobs):
    testwright.write(
        "system.py",
        f"import sys\nknown = 'pytest' in sys.modules\n\ndef use(x):\n    if x == 2:\n        {code}\n",
    )
    testwright.write("case.tstl", "@import system\npool: <x> 1\n<x> := <[1..3]>\nsystem.use(<x>)\n")
    done = testwright("run", "case.tstl", "--seed", "1", "--jobs", jobs, status=1)
    assert f"run by itself, it {words}" in done.stdout + done.stderr
    assert not (testwright.folder / "testwright-out/case/test_failure_1.py").exists()


@pytest.mark.parametrize("style", ["pytest", "unittest", "script"])
def test_a_file_that_fails_in_another_step_is_not_called_failing(testwright, style):
    # In a file with two calls the first one fails.
    testwright.write(
        "system.py",
        "import sys\nlimit = 1 if 'trial' in sys.argv[0] else 2\ncalls = []\n\n"
        "def use():\n    calls.append(1)\n    if len(calls) >= limit:\n        raise ValueError('no')\n",
    )
    testwright.write("case.tstl", "@import system\nsystem.use()\n")
    testwright.write("case.test", "system.use()\nsystem.use()\n")
    done = testwright(
        "standalone", "case.test", "--harness", "case.tstl", "--style", style, status=2
    )
    assert "run by itself, it raises ValueError in another step: no" in done.stderr


def test_a_file_whose_process_ends_before_the_last_step_is_not_called_failing(testwright):
    testwright.write(
        "system.py",
        "import os, sys\nlimit = 1 if 'trial' in sys.argv[0] else 2\ncalls = []\n\n"
        "def use():\n    calls.append(1)\n    if len(calls) >= limit:\n        os.abort()\n",
    )
    testwright.write("case.tstl", "@import system\nsystem.use()\n")
    testwright.write("case.test", "system.use()\nsystem.use()\n")
    done = testwright("standalone", "case.test", "--harness", "case.tstl", status=2)
    assert "run by itself, it fails before its last step" in done.stderr


COUNTER = "seen = []\nclass Full(Exception): pass\ndef use(x):\n    seen.append(x)\n    if len(seen) > 2: raise Full()\n"
# The modules of a project, the raw code of a harness, and its actions. Without new modules for each
# test, or with old names, the first action raises earlier, or something else.
PROJECTS = {
    "star": ({"uses": COUNTER}, "from uses import *", "use(1)", "Full"),
    "names": ({"uses": COUNTER}, "from uses import use as f, Full as E", "f(1)", "E"),
    "submodule": (
        {"pkg/__init__": "", "pkg/uses": COUNTER},
        "import pkg.uses",
        "pkg.uses.use(1)",
        "pkg.uses.Full",
    ),  # fmt: skip
    "other name": (
        {"pkg/__init__": "", "pkg/uses": COUNTER},
        "import pkg.uses as u",
        "u.use(1)",
        "u.Full",
    ),  # fmt: skip
    "relative": (
        {
            "pkg/__init__": "from .facade import *",
            "pkg/facade": "from .uses import use, Full",
            "pkg/uses": COUNTER,
        },  # fmt: skip
        "from pkg import use, Full",
        "use(1)",
        "Full",
    ),  # fmt: skip
    "circle": (
        {
            "a": "LIST = []\nimport b\nclass Full(b.Base): pass\n"
            "def use():\n    b.use()\n    if len(LIST) > 2: raise Full()\n",
            "b": "from a import LIST\nclass Base(Exception): pass\ndef use(): LIST.append(1)\n",
        },
        "import a",
        "a.use()",
        "a.Full",
    ),  # fmt: skip
    "lazy": (
        {
            "late": "def go():\n    from pkg.uses import use\n    use(1)\n"
            "class Base(Exception): pass\n",
            "pkg/__init__": "",
            "pkg/uses": COUNTER.replace("Exception", "late.Base").replace(
                "seen =", "import late\nseen =", 1
            ),
        },
        "import late",
        "late.go()",
        "late.Base",
    ),  # fmt: skip
    "order": (
        {
            "settings": "early = False\n",
            "main": "import settings\nsettings.early = True\nimport part\n",
            "part": "import settings\nassert settings.early\n" + COUNTER,
        },
        "import main, part",
        "part.use(1)",
        "part.Full",
    ),  # fmt: skip
    "made at once": (
        {"uses": COUNTER},
        "from uses import *\nclass Mine(Full): pass\nERRORS = (Full, Mine)\ndef once():\n    use(1)",
        "once()",
        "Mine, Full",
    ),  # fmt: skip
}


@pytest.mark.parametrize("modules, raw, call, error", PROJECTS.values(), ids=PROJECTS)
def test_a_reset_within_a_file_imports_the_modules_again(testwright, modules, raw, call, error):
    for name, text in modules.items():
        testwright.write(f"{name}.py", text)
    testwright.write("case.tstl", f"<@\n{raw}\n@>\n{call}\n{{{error}}} {call}; 0\n")
    failing, expected = f"{call}\n", f"{call}; 0\n"
    steps = [expected * 3, f"{failing * 2}{expected}", failing * 3]
    testwright.write("case.test", "<<RESTART>>\n".join(steps))
    # In the harness and in the file, the third call in each test raises, and no other.
    done = testwright("replay", "case.test", "--harness", "case.tstl", status=1)
    assert "fails at step 11 of 11" in done.stdout, done.stdout
    for style in ("pytest", "unittest", "script") if error == "E" else ("pytest",):
        done = testwright("standalone", "case.test", "--harness", "case.tstl", "--style", style)
        assert done.stdout.count("    reset_modules()\n") == 2
