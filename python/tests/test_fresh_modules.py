"""Each test starts with the modules of the project as they were, however they were imported."""

import json

import pytest

COUNTER = """\
seen = []

class Full(Exception):
    pass

def use(x):
    seen.append(x)
    if x == 3 and len(seen) == 2:
        raise ValueError("the second use must not be 3")
    if len(seen) > 6:
        raise Full()
"""

# The imports of a harness, what it calls `use` and what it calls `Full`.
IMPORTS = {
    "whole": ("@import uses\n", "uses.use", "uses.Full"),
    "star": ("@from uses import *\n", "use", "Full"),
    "names": ("@from uses import use, Full\n", "use", "Full"),
    "other names": ("@from uses import use as f, Full as E\n", "f", "E"),
    "assignment": ("@from uses import use\n@import uses\n@E = uses.Full\n", "use", "E"),
    "nested": ("@from pkg.uses import use, Full\n", "use", "Full"),
    "through the package": ("@from pkg import use, Full\n", "use", "Full"),
    "module of a package": ("@from pkg import uses as u\n", "u.use", "u.Full"),
    "in a function": (
        "<@\nfrom uses import Full\ndef go(x):\n    from uses import use\n    use(x)\n@>\n",
        "go",
        "Full",
    ),
    "by the code under test": ("@from user import go, Full\n", "go", "Full"),
    "when it is needed": ("@import late\n", "late.go", "late.full()"),
    "by name": ("@import byname\n", "byname.go", "Exception"),
}


@pytest.fixture
def project(testwright):
    """A folder with the same module in several places, and modules that use it."""
    testwright.write("uses.py", COUNTER)
    testwright.write("pkg/uses.py", COUNTER)
    testwright.write("pkg/__init__.py", "from .uses import *\nfrom . import uses\n")
    testwright.write("user.py", "from uses import Full\nimport uses\ndef go(x): uses.use(x)\n")
    testwright.write(
        "late.py",
        "def go(x):\n    from pkg.uses import use\n    use(x)\n"
        "def full():\n    from pkg.uses import Full\n    return Full\n",
    )
    testwright.write(
        "byname.py",
        "import importlib\ndef go(x):\n    uses = importlib.import_module('uses')\n"
        "    try: uses.use(x)\n    except uses.Full: pass\n",
    )
    return testwright


@pytest.mark.parametrize("name", IMPORTS)
def test_a_bug_that_needs_a_fresh_module_is_found(project, name):
    imports, use, full = IMPORTS[name]
    project.write(
        "h.tstl",
        f"{imports}pool: <x> 1\n<x> := <[1..3]>\n{{{full}}} {use}(<x>)\n".replace(
            "{Exception}", "{KeyError}"
        ),
    )
    ran = project("run", "h.tstl", "--seed", "1", "--time", "20s", "--json", status=1)
    failures = json.loads(ran.stdout)["failures"]
    # The expected exception is never taken for a failure: its class is the one that is raised.
    assert [failure["message"] for failure in failures] == [
        "ValueError: the second use must not be 3"
    ]
    assert failures[0]["steps"] <= 5
    project("replay", failures[0]["file"], "--harness", "h.tstl", status=1)


def test_modules_that_import_each_other_hold_the_new_objects(project):
    project.write("a.py", "LIST = []\nimport b\n\ndef same(): return b.LIST is LIST\n")
    project.write("b.py", "from a import LIST\n\ndef use(): LIST.append(1)\n")
    project.write(
        "h.tstl", "@from a import *\n@import b\nb.use()\nassert same() and len(LIST) < 900\n"
    )
    project("run", "h.tstl", "--seed", "1", "--tests", "30")


def test_a_library_user_keeps_the_modules_of_the_program(project):
    project.write("h.tstl", "@from uses import *\nuse(<[1..2]>)\n")
    project.write("helper.py", "kept = []\n")
    project.write(
        "program.py",
        "import testwright, helper, uses\n"
        "sut = testwright.load('h.tstl')\n"
        "helper.kept.append(1); uses.seen.append(1)\n"
        "sut.restart()\n"
        "print(helper.kept, uses.seen)\n",
    )
    assert project.python("program.py").stdout == "[1] []\n"


def test_what_raw_code_makes_of_a_module_is_new_too(project):
    project.write(
        "money.py",
        "count = []\nready = False\n\nclass Amount:\n    def __init__(self, n): self.n = n\n"
        "    def plus(self, other):\n        count.append(1)\n        assert isinstance(other, Amount)\n"
        "        assert ready\n        return Amount(self.n + other.n)\n\n"
        "def configure():\n    global ready\n    ready = True\n",
    )
    project.write(
        "h.tstl",
        "<@\nfrom money import Amount, configure\nZERO = Amount(0)\n"
        "class Special(Amount): pass\n"
        "def made(n): return Special(n)\nONE = made(1)\nonce = [1]\nconfigure()\n@>\n"
        "pool: <a> 1\n<a> := Amount(1)\n<a> = <a>.plus(ZERO)\n<a> = <a>.plus(ONE)\n"
        "<a> = <a>.plus(made(2))\nonce.append(1)\n",
    )
    project("run", "h.tstl", "--seed", "1", "--tests", "20")


def test_without_reset_nothing_is_new(project):
    project.write("h.tstl", "@from uses import *\nuse(<[1..2]>)\n")
    ran = project("run", "h.tstl", "--seed", "1", "--tests", "5", "--no-reset", status=1)
    assert "Full" in ran.stdout


HARNESS_MODULE = '''\
<@
import pickle, sys, linecache
class Point:
    """A point."""
    def __init__(self, x): self.x = x
def check():
    me = sys.modules[Point.__module__]
    assert type(me.__file__) is str and me.__file__ == __file__ and os.path.isabs(__file__)
    assert me.__spec__.name == __name__ and me.__spec__.origin == __file__
    assert me.__loader__ is me.__spec__.loader and me.__package__ == "" and me.__cached__ is None
    assert inspect.stack()[0].function == "check"
    assert "A point" in inspect.getsource(Point) and inspect.getsource(check).startswith("def check")
    assert inspect.getmodule(check) is me and inspect.getsourcefile(check) == __file__
    assert pickle.loads(pickle.dumps(Point(3))).x == 3
    assert linecache.getline(__file__, 1) == "<@\\n"
    traceback.format_stack()
@>
check()
'''


def test_the_module_of_a_harness_looks_like_an_ordinary_one(testwright):
    testwright.write("h.tstl", HARNESS_MODULE)
    testwright("run", "h.tstl", "--seed", "1", "--tests", "3", "--steps", "10")


def test_hypothesis_works_inside_a_harness(testwright):
    pytest.importorskip("hypothesis")
    testwright.write(
        "h.tstl",
        "<@\nfrom hypothesis import given, settings, strategies as st\n"
        "@settings(max_examples=5, database=None)\n@given(st.integers())\n"
        "def check(n): assert n * 0 == 0\n@>\ncheck()\n",
    )
    testwright("run", "h.tstl", "--seed", "1", "--tests", "1", "--steps", "3")
