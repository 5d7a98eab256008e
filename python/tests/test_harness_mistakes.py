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


def test_a_coroutine_that_the_code_under_test_forgets_is_a_warning(testwright):
    testwright.write("account.py", ACCOUNT)
    testwright.write(
        "h.tstl", "@import account\npool: <a> 1\n<a> := account.Account()\n<a>.forgets()\n"
    )
    ran = testwright("run", "h.tstl", "--seed", "1", "--tests", "2", "--steps", "20")
    assert "account.py:15" in ran.stderr, ran.stderr


SHOP = """\
import sys

class Cart:
    size = 0

def total(cart):
    return 0

def register(name):
    setattr(sys.modules[__name__], name, 1)
"""


def test_an_attribute_that_a_module_does_not_have_is_a_mistake(testwright):
    testwright.write("shop.py", SHOP.partition("\ndef register")[0].replace("import sys\n", ""))
    testwright.write(
        "h.tstl", "@import shop\npool: <c> 1\n<c> := shop.Cart()\nx = 1; shop.totl(<c>)\n"
    )
    for command in ["check", "run"]:
        ran = testwright(command, "h.tstl", status=2)
        assert "h.tstl:4:8" in ran.stderr and "`totl`" in ran.stderr and "`total`" in ran.stderr


# Lines whose attribute may exist when they run.
UNCERTAIN = {
    "expected": ("@import plain\n", "{AttributeError} plain.nosuch()\n"),
    "asked": ("@import plain\n", "hasattr(plain, 'nosuch') and plain.nosuch()\n"),
    "made by name": ("@import shop\n", "shop.register('nosuch'); shop.nosuch\n"),
    "set by an action": ("@import plain\n", "plain.nosuch = 1\nplain.nosuch = 2; plain.nosuch\n"),
    "set by another module": ("@import plain, sets\n", "sets.go(); plain.nosuch\n"),
    "answered by the module": ("@import answers\n", "answers.nosuch\n"),
    "a submodule": ("@import pack\n", "import pack.nosuch; pack.nosuch\n"),
    "a global of a function": ("@import glob_al\n", "glob_al.go(); glob_al.nosuch\n"),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_an_attribute_that_may_exist_is_no_mistake(testwright, name):
    testwright.write("plain.py", "x = 1\n")
    testwright.write("shop.py", SHOP)
    testwright.write("sets.py", "import plain\ndef go():\n    plain.nosuch = 1\n")
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
