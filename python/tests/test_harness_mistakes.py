"""Mistakes of a harness are told as such: neither as failures nor as success of the code under test."""

import pytest

ACCOUNT = """\
import asyncio

class Account:
    def __init__(self):
        self.balance = 0

    async def add(self, n):
        await asyncio.sleep(0)
        raise ValueError("never seen")

    def later(self, n):
        return self.add(n)

    def forgets(self):
        self.add(1)

def open_account():
    return Account()

async def fetch():
    return 1
"""

# A harness, and what is said about it.
UNAWAITED = {
    "method": ("<a> := account.Account()\n<a>.add(<[1..3]>)\n", "coroutine"),
    "function": ("<a> := account.Account()\naccount.fetch()\n", "coroutine"),
    "kept in a slot": ("<a> := account.fetch()\n", "coroutine"),
    "object from a function": ("<a> := account.open_account()\n<a>.add(1)\n", "line 4"),
    "coroutine from a function": ("<a> := account.Account()\n<a>.later(1)\n", "line 4"),
    "slot from a function": ("<a> := account.open_account().add(1)\n", "line 3"),
}


@pytest.mark.parametrize("jobs", ["0", "2"])
@pytest.mark.parametrize("name", UNAWAITED)
def test_a_coroutine_that_is_not_awaited_is_not_green(testwright, name, jobs):
    lines, told = UNAWAITED[name]
    testwright.write("account.py", ACCOUNT)
    testwright.write("h.tstl", "@import account\npool: <a> 2\n" + lines)
    ran = testwright("run", "h.tstl", "--seed", "1", "--time", "20s", "--jobs", jobs, status=2)
    assert told in ran.stderr and "asyncio.run" in ran.stderr, ran.stderr
    explored = testwright("explore", "h.tstl", "--depth", "3", status=2)
    assert told in explored.stderr, explored.stderr
    testwright("check", "h.tstl", status=2 if told == "coroutine" else 0)


def test_a_replay_tells_of_a_coroutine(testwright):
    testwright.write("account.py", ACCOUNT)
    testwright.write(
        "h.tstl", "@import account\npool: <a> 1\n<a> := account.open_account()\n<a>.add(1)\n"
    )
    testwright.write("t.test", "a0 = account.open_account()\na0.add(1)\n")
    ran = testwright("replay", "t.test", "--harness", "h.tstl", status=2)
    assert "line 4" in ran.stderr, ran.stderr


def test_coroutines_that_are_awaited_are_fine(testwright):
    testwright.write("account.py", ACCOUNT)
    testwright.write(
        "h.tstl",
        "@import account, asyncio\npool: <a> 1\npool: <c> 1\n<a> := account.Account()\n"
        "<c> := account.fetch()\n{RuntimeError} asyncio.run(<c>)\n"
        "{ValueError} asyncio.run(<a>.add(<[1..3]>))\n",
    )
    testwright("run", "h.tstl", "--seed", "1", "--tests", "5", "--steps", "20")


def test_a_coroutine_that_the_code_under_test_drops_is_an_error(testwright):
    testwright.write("account.py", ACCOUNT)
    testwright.write(
        "h.tstl", "@import account\npool: <a> 1\n<a> := account.Account()\n<a>.forgets()\n"
    )
    ran = testwright("run", "h.tstl", "--seed", "1", "--tests", "2", "--steps", "20", status=2)
    assert "account.py:15" in ran.stderr and "line 4" in ran.stderr, ran.stderr


# Lines that drop coroutines, in a harness that awaits others.
DROPPED = {
    "guard": "account.later() -> x = 1\n",
    "property": "property: account.fetch()\n",
    "property of two": "property: account.later() and True\n",
    "assumption": "assume: account.later()\n",
    "local variable": "c = account.later(); x = 1\n",
    "argument": "str(account.fetch())\n",
    "slot that is never read": "<d> := account.fetch()\n",
    "function of the harness": "helper()\n",
}


@pytest.mark.parametrize("name", DROPPED)
def test_a_harness_that_awaits_may_not_drop_other_coroutines(testwright, name):
    later = "\ndef later():\n    return fetch()\n"
    testwright.write("account.py", ACCOUNT + later)
    testwright.write(
        "h.tstl",
        "@import account, asyncio\n<@\ndef helper():\n    c = account.fetch()\n@>\npool: <c> 1\n"
        "pool: <d> 1\n<c> := account.fetch()\n{RuntimeError} asyncio.run(<c>)\n" + DROPPED[name],
    )
    ran = testwright("run", "h.tstl", "--seed", "1", "--tests", "3", "--steps", "20", status=2)
    line = 4 if name == "function of the harness" else 10
    assert f"line {line} of the harness" in ran.stderr, ran.stderr


COUNTER = """\
import asyncio

n = 0
state = ("n",)

async def fetch():
    return 0

def Inc():
    global n
    n = (n + 1) % 3

actions = (Inc,)

def Reset():
    global n
    n = 0
"""

# What a model says about its coroutine, and the line of the model that it names.
MODELS = {
    "async action": (COUNTER.replace("def Inc", "async def Inc"), "counter.py:9"),
    "async guard": (COUNTER + "enablers = {Inc: (fetch,)}\n", "counter.py:6"),
    "guard": (COUNTER + "enablers = {Inc: (lambda: fetch(),)}\n", "counter.py:6"),
    "invariant": (COUNTER + "def StateInvariant(): return fetch()\n", "counter.py:6"),
    "result": (COUNTER.replace("% 3\n", "% 3\n    return fetch()\n"), "counter.py:6"),
    "dropped": (COUNTER.replace("% 3\n", "% 3\n    fetch()\n"), "counter.py:12"),
    "local": (COUNTER.replace("% 3\n", "% 3\n    c = fetch()\n"), "counter.py:12"),
}
STEPPERS = {
    "async step": ("async def TestAction(name, arguments, result): pass\n", "stepper.py:1"),
    "async reset": (
        "def TestAction(*step): pass\nasync def Reset(): pass\n",
        "stepper.py:2",
    ),
    "step": (
        "from counter import fetch\ndef TestAction(*step): return fetch()\n",
        "counter.py:6",
    ),
    "dropped": ("from counter import fetch\ndef TestAction(*step): fetch()\n", "stepper.py:2"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_coroutine_of_a_model_is_an_error(testwright, name):
    text, place = MODELS[name]
    testwright.write("counter.py", text)
    for command in [
        ["explore", "counter"],
        ["run", "counter", "--seed", "1", "--tests", "1", "--steps", "9"],
        ["model", "test", "counter", "--runs", "2"],
    ]:
        done = testwright(*command, status=2)
        assert place in done.stderr and "asyncio.run" in done.stderr, done.stderr
        assert "RuntimeWarning" not in done.stderr


@pytest.mark.parametrize("name", STEPPERS)
def test_a_coroutine_of_a_stepper_is_an_error(testwright, name):
    text, place = STEPPERS[name]
    testwright.write("counter.py", COUNTER)
    testwright.write("stepper.py", text if "Reset" in text else text + "def Reset(): pass\n")
    testwright.write("t.test", "Inc()\n")
    for command in [
        ["run", "counter", "--stepper", "stepper", "--seed", "1", "--tests", "1", "--jobs", "1"],
        ["model", "test", "counter", "--stepper", "stepper", "--runs", "2"],
        ["replay", "t.test", "--harness", "counter", "--stepper", "stepper"],
    ]:
        done = testwright(*command, status=2)
        assert place in done.stderr and "asyncio.run" in done.stderr, done.stderr


def test_models_and_steppers_may_run_coroutines(testwright):
    testwright.write("counter.py", COUNTER.replace("% 3\n", "% 3\n    asyncio.run(fetch())\n"))
    testwright.write(
        "stepper.py",
        "import asyncio\nfrom counter import fetch\n"
        "def TestAction(*step): asyncio.run(fetch())\ndef Reset(): pass\n",
    )
    testwright("explore", "counter")
    testwright("run", "counter", "--stepper", "stepper", "--seed", "1", "--steps", "5")


SHOP = """\
import sys

class Cart:
    size = 0

def total(cart):
    return 0

def register(name):
    setattr(sys.modules[__name__], name, 1)

def grow(cls):
    setattr(cls, "nosuch", 1)

class Meta(type):
    def __getattr__(cls, name): return 1

class Any(metaclass=Meta): pass
"""


def test_an_attribute_that_a_module_does_not_have_is_a_mistake(testwright):
    testwright.write("shop.py", SHOP.partition("\ndef register")[0].replace("import sys\n", ""))
    testwright.write(
        "h.tstl", "@import shop\npool: <c> 1\n<c> := shop.Cart()\nx = 1; shop.totl(<c>)\n"
    )
    for command in ["check", "run"]:
        ran = testwright(command, "h.tstl", status=2)
        assert "h.tstl:4:8" in ran.stderr and "`totl`" in ran.stderr and "`total`" in ran.stderr


# Lines that name what does not exist, and the name nearest to it.
MISSING = {
    "library": ("@import os\n", "os.getcwdd()\n", "getcwd"),
    "module of the library": ("@import os\n", "os.path.jion('a')\n", "join"),
    "module of a package": ("@import pack.sub\n", "pack.sub.totl()\n", "total"),
    "class": ("@import pack.sub\n", "pack.sub.Cart.bigg()\n", "big"),
    "class from a module": ("@from pack.sub import Cart\n", "Cart.bigg\n", "big"),
    "import in a line": ("@import pack\n", "from pack.sub import totl\n", "total"),
    "guard": ("@import pack.sub\n", "pack.sub.totl() -> x = 1\n", "total"),
}


@pytest.mark.parametrize("name", MISSING)
def test_other_names_that_do_not_exist_are_mistakes(testwright, name):
    imports, line, near = MISSING[name]
    testwright.write("pack/__init__.py", "")
    testwright.write(
        "pack/sub.py",
        "class Cart:\n    def __getattr__(self, name): return 1\n    def big(self):\n"
        "        setattr(self, 'x', 1)\n\ndef total():\n    return 0\n",
    )
    testwright.write("h.tstl", imports + line)
    ran = testwright("run", "h.tstl", "--seed", "1", "--tests", "2", "--steps", "5", status=2)
    assert "h.tstl:2:" in ran.stderr and f"`{near}`" in ran.stderr, ran.stderr


# Lines whose attribute may exist when they run.
UNCERTAIN = {
    "expected": ("@import plain\n", "{AttributeError} plain.nosuch()\n"),
    "asked": ("@import plain\n", "hasattr(plain, 'nosuch') and plain.nosuch()\n"),
    "made by name": ("@import shop\n", "shop.register('nosuch'); shop.nosuch\n"),
    "set by an action": ("@import plain\n", "plain.nosuch = 1\nplain.nosuch = 2; plain.nosuch\n"),
    "set by another module": ("@import plain, sets\n", "sets.go(); plain.nosuch\n"),
    "answered by the module": ("@import answers\n", "answers.nosuch\n"),
    "a submodule": ("@import pack\n", "import pack.nosuch; pack.nosuch\n"),
    "set by name from elsewhere": ("@import plain, adds\n", "adds.add(plain); plain.nosuch\n"),
    "class set by name": ("@import shop\n", "shop.grow(shop.Cart); shop.Cart.nosuch\n"),
    "metaclass": ("@import shop\n", "shop.Any.nosuch\n"),
    "lazy module": ("@import answers\n", "answers.nosuch\n"),
    "imported by name": (
        "@import pack, importlib\n",
        "importlib.import_module('pack.nosuch'); pack.nosuch\n",
    ),
    "a global of a function": ("@import glob_al\n", "glob_al.go(); glob_al.nosuch\n"),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_an_attribute_that_may_exist_is_no_mistake(testwright, name):
    testwright.write("plain.py", "x = 1\n")
    testwright.write("shop.py", SHOP)
    testwright.write("sets.py", "import plain\ndef go():\n    plain.nosuch = 1\n")
    testwright.write("adds.py", "def add(module):\n    setattr(module, 'no' + 'such', 1)\n")
    testwright.write("answers.py", "def __getattr__(name): return 1\n")
    testwright.write("glob_al.py", "def go():\n    global nosuch\n    nosuch = 1\n")
    testwright.write("pack/__init__.py", "")
    testwright.write("pack/nosuch.py", "")
    imports, lines = UNCERTAIN[name]
    testwright.write("h.tstl", imports + lines)
    testwright("check", "h.tstl")
    testwright("run", "h.tstl", "--seed", "1", "--tests", "2", "--steps", "5")


def test_twins_without_a_reference_are_a_mistake(testwright):
    testwright.write(
        "h.tstl", "pool: <x> 1 REF\n<x> := []\n<x>.append(1)\nproperty: <x> == REF:<x>\n"
    )
    ran = testwright("run", "h.tstl", status=2)
    assert "h.tstl:1:7" in ran.stderr and "reference:" in ran.stderr


def test_a_reference_that_leaves_out_a_pool_is_told(testwright):
    lines = "pool: <x> 1 REF\npool: <y> 1 REF\n<x> := []\n<x>.append(1)\n<y> := set()\n<y>.add(1)\n"
    testwright.write("h.tstl", lines + "reference: set\\(\\) ==> list()\n")
    done = testwright("check", "h.tstl")
    said = done.stdout + done.stderr
    assert "warning[no-reference]: the pool `<x>`" in said and "h.tstl:1:" in said, said
    assert "`<y>`" not in said
    # The twin of a copy is a copy of the twin.
    testwright.write(
        "h.tstl",
        lines.replace("<x> := []", "<x> := list(<y>)")
        + "reference: set\\(\\) ==> list()\nreference: add ==> append\n",
    )
    testwright("check", "h.tstl")


def test_lines_are_told_that_no_test_reaches_before_it_ends(testwright):
    testwright.write("h.tstl", "pool: <x> 1\n<x> := []\nFalse -> <x>.append(1)\n")
    done = testwright("run", "h.tstl", "--seed", "1", "--tests", "3", "--jobs", "1")
    assert "line 3" in done.stdout and "never taken" in done.stdout, done.stdout


def test_misspelled_modules_have_a_near_name(testwright):
    testwright.write("counter.py", COUNTER)
    for line in ["run cuonter", "model test counter --stepper cuonter --runs 1"]:
        done = testwright(*line.split(), status=2)
        assert "did you mean `counter`?" in done.stderr, done.stderr


def test_a_coroutine_is_an_error_of_the_library_too(testwright):
    later = "\ndef later():\n    return fetch()\n"
    testwright.write("account.py", ACCOUNT + later)
    testwright.write("h.tstl", "@import account\naccount.later()\n")
    testwright.write("counter.py", COUNTER)
    testwright.write("stepper.py", STEPPERS["dropped"][0] + "def Reset(): pass\n")
    program = testwright.write(
        "program.py",
        """\
import testwright, warnings
from testwright.models import replay

async def own(): pass

sut = testwright.load("h.tstl")
sut.safely(sut.enabled()[0])
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    own()
assert [(str(one.message), one.lineno) for one in warned] == [
    ("coroutine 'own' was never awaited", 10)
], warned
for call in [sut.restart, lambda: replay(["counter"], "stepper", [("Inc", ())])]:
    try:
        call()
    except RuntimeError as error:
        print(error)
""",
    )
    told = testwright.python(program).stdout
    assert "line 2 of the harness: the coroutine `fetch`" in told and "stepper.py:2" in told, told
