"""`testwright feature`: properties as features, with steps that run."""

import ast
import os
import random
import re
import signal
import time
from pathlib import Path

import pytest
from feature_runners import read_by_all, run_behave, run_pytest_bdd

LISTS = '''
"""Simple properties of lists."""

from typing import List, Literal, Optional


def remove_all(n, xs):
    return [x for x in xs if x != n]


def remove_first(n, xs):
    ys = list(xs)
    if n in ys:
        ys.remove(n)
    return ys


def prop_clear(n: int, xs: List[int]):
    """Removing a number everywhere leaves a list without that number."""
    assert n not in remove_all(n, xs)


def prop_shorter(n: int, xs: List[int]):
    ys = remove_first(n, xs)
    if n in xs:
        assert len(ys) == len(xs) - 1
    else:
        assert ys == xs
'''.lstrip()

WRONG = (
    LISTS
    + '''

def prop_delete(n: int, xs: List[int]):
    """Deleting a number from a list leaves a list without that number."""
    assert n not in remove_first(n, xs)
'''
)


def names(results):
    return {name: error is None for name, error in results.items()}


@pytest.fixture
def lists(testwright):
    testwright.write("test_lists.py", LISTS)
    return testwright


MACHINE = """\
class Shelf(RuleBasedStateMachine):
    'Things on a shelf.'

    @invariant()
    def has_room(self): ...
"""

PRINTED = """\
    assert len(self.items) < 2
AssertionError
Falsifying example:
state = Shelf()
state.has_room()
state.put(thing='a')
state.has_room()
state.put(thing='b')
state.has_room()
state.teardown()
"""


def test_a_failed_run_of_a_state_machine(testwright):
    testwright.write("machine.py", MACHINE)
    testwright.write("printed.log", PRINTED)
    done = testwright("feature", "machine.py", "--case-from", "printed.log", status=1)
    assert "Shelf.counterexample.feature" in done.stdout
    feature = (testwright.folder / "Shelf.counterexample.feature").read_text(encoding="utf-8")
    assert 'It is "has room" that fails.' in feature
    assert "Counterexample with 2 steps" in feature
    assert "Then the items have fewer than 2 elements" in feature
    assert (testwright.folder / "Shelf.counterexample.mmd").exists()
    named = ("feature", "machine.py::Shelf", "--case-from")
    testwright(*named, "printed.log", "--document", "html", status=1)
    assert "<svg" in (testwright.folder / "Shelf.counterexample.html").read_text(encoding="utf-8")
    testwright.write("empty.log", "")
    done = testwright(*named, "empty.log", status=2)
    assert "`empty.log` has no failing run of `Shelf`" in done.stderr


def test_examples_exercise_both_branches(lists):
    done = lists("feature", "test_lists.py")
    assert "prop_clear: " in done.stdout and "lists.feature" in done.stdout
    text = (lists.folder / "lists.feature").read_text(encoding="utf-8")
    assert text.startswith(
        "@property\nFeature: Lists\n  Simple properties of lists.\n\n  Rule: Removing a number everywhere"
    )
    assert "    This must hold for any whole number n and any list xs of whole numbers.\n" in text
    # One sample takes each branch of `if n in xs`, and the scenario has the condition in words.
    assert "    Given n is in xs\n" in text and "    Given n is not in xs\n" in text


def test_the_same_seed_gives_the_same_bytes(lists):
    written = []
    for folder in ["one", "two", "three"]:
        seed = "7" if folder == "three" else "0"
        lists("feature", "test_lists.py", "--out", folder, "--steps", "behave", "--seed", seed)
        files = sorted((lists.folder / folder).rglob("*.*"))
        written.append([file.read_bytes() for file in files])
    assert written[0] == written[1]


@pytest.mark.parametrize("values", ["named", "inline"])
@pytest.mark.parametrize("layout", ["scenarios", "outline"])
def test_features_run_with_behave(lists, values, layout):
    options = ["--values", values, "--layout", layout]
    lists("feature", "test_lists.py", "--out", "features", "--steps", "behave", *options)
    folder = lists.folder / "features"
    results = run_behave(folder, "lists.feature")
    assert results and all(names(results).values()), results
    # A number that is edited in the feature is the number that the steps use.
    if (values, layout) == ("named", "scenarios"):
        file = folder / "lists.feature"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("Given n is in xs", "Given n is not in xs"), encoding="utf-8")
        assert not all(names(run_behave(folder, "lists.feature")).values())


@pytest.mark.parametrize("values", ["named", "inline"])
@pytest.mark.parametrize("layout", ["scenarios", "outline"])
def test_features_run_with_pytest_bdd(lists, values, layout):
    options = ["--values", values, "--layout", layout]
    done = lists("feature", "test_lists.py", "--out", "features", "--steps", "pytest-bdd", *options)
    assert "[pytest]\nmarkers =\n    property: " in done.stdout
    results = run_pytest_bdd(lists.folder / "features", "test_lists_feature.py")
    assert results and all(names(results).values()), results


def test_s6_a_line_that_disagrees_with_what_is_given_fails(lists):
    lists(
        "feature",
        "test_lists.py::prop_clear",
        "--case",
        "n=3, xs=[3, 4]",
        "--values",
        "inline",
        "--steps",
        "behave",
        "--out",
        "f",
    )
    file = lists.folder / "f/lists.feature"
    text = file.read_text(encoding="utf-8")
    assert 'When I call "remove all" with 3 and [3, 4]\n' in text
    file.write_text(text.replace("with 3 and [3, 4]", "with 3 and [3, 5]"), encoding="utf-8")
    (error,) = run_behave(file.parent, "lists.feature").values()
    assert "[3, 4] above" in str(error)


def test_a_failing_property_gets_a_counterexample(testwright):
    testwright.write("test_lists.py", WRONG)
    done = testwright(
        "feature", "test_lists.py::prop_delete", "--out", "out", "--steps", "behave", status=1
    )
    assert "prop_delete: fails" in done.stdout
    folder = testwright.folder / "out"
    text = (folder / "delete.counterexample.feature").read_text(encoding="utf-8")
    assert (
        "    @counterexample\n    Scenario: Delete - counterexample\n      Expected: n is not in the result.\n"
        in text
    )
    assert "      Observed: n is in the result.\n      The result is the list [0].\n" in text
    assert "      And I have the list [0, 0], called xs\n" in text
    assert (
        "      It does not happen when n is the number 1.\n      It does not happen when xs is the list [0].\n"
        in text
    )
    diagram = (folder / "delete.counterexample.mmd").read_text(encoding="utf-8")
    assert "    P0->>P1: remove first with n = 0 and xs = [0, 0]\n    P1-->>P0: [0]\n" in diagram
    # The passing examples and the counterexample share texts, and each is run by its own steps.
    wrong = run_behave(folder, "delete.counterexample.feature")
    assert names(wrong) == {"Delete - counterexample": False}
    assert all(names(run_behave(folder, "lists.feature")).values())


def test_x4_the_bug_as_it_is(testwright):
    testwright.write("test_lists.py", WRONG)
    arguments = [
        "--case",
        "n=7, xs=[7, 7]",
        "--style",
        "observed",
        "--steps",
        "pytest-bdd",
        "--no-diagram",
    ]
    testwright("feature", "test_lists.py::prop_delete", *arguments, status=1)
    text = (testwright.folder / "delete.counterexample.feature").read_text(encoding="utf-8")
    assert text.endswith("      Then n is in the result\n")
    assert not (testwright.folder / "delete.counterexample.mmd").exists()
    results = run_pytest_bdd(testwright.folder, "test_delete_counterexample_feature.py")
    assert names(results) == {"Delete - counterexample": True}


def test_an_exception_is_a_counterexample(testwright):
    testwright.write(
        "test_sums.py",
        "def share(n, m):\n    return n // m\n\n\ndef prop_share(n: int, m: int):\n    assert share(n, m) <= n\n",
    )
    arguments = [
        "feature",
        "test_sums.py::prop_share",
        "--case",
        "n=1, m=0",
        "--steps",
        "behave",
        "--out",
        "o",
    ]
    testwright(*arguments, status=1)
    text = (testwright.folder / "o/share.counterexample.feature").read_text(encoding="utf-8")
    assert 'Observed: the last step fails with the error "zero division error".\n' in text
    assert text.endswith('      When I call "share" with n and m\n')
    (error,) = run_behave(testwright.folder / "o", "share.counterexample.feature").values()
    assert error.startswith('error: I call "share" with n and m')
    testwright(*arguments, "--style", "observed", status=1)
    (error,) = run_behave(testwright.folder / "o", "share.counterexample.feature").values()
    assert error is None


def test_what_hypothesis_printed_is_understood(testwright):
    testwright.write("test_lists.py", WRONG)
    testwright.write(
        "log.txt", "E   Falsifying example: prop_delete(\nE       n=7,\nE       xs=[7, 7],\nE   )\n"
    )
    testwright("feature", "test_lists.py::prop_delete", "--case-from", "log.txt", status=1)
    text = (testwright.folder / "delete.counterexample.feature").read_text(encoding="utf-8")
    assert "And I have the list [7, 7], called xs\n" in text


BANK = '''
"""Rules that every account follows."""

import pytest


class InsufficientFunds(Exception):
    pass


class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds
        self.balance -= amount
        return self.balance


def prop_withdraw(v: int, amount: int):
    balance = abs(v) + abs(amount)
    account = Account(balance)
    before = account.balance
    account.withdraw(abs(amount))
    assert account.balance == before - abs(amount) and account.balance >= 0


def prop_no_overdraft(v: int):
    account = Account(v)
    with pytest.raises(InsufficientFunds):
        account.withdraw(v + 1)
    assert account.balance == v


def prop_many(amounts: list):
    account = Account(10_000_000)
    for amount in amounts:
        account.withdraw(amount)
    assert account.balance == 10_000_000 - sum(amounts)
    for amount in amounts:
        assert f"{amount:>3}".strip() == str(amount)
'''.lstrip()


@pytest.mark.parametrize("runner", ["behave", "pytest-bdd"])
def test_objects_errors_loops_and_earlier_values_run(testwright, runner):
    testwright.write("bank/test_bank.py", BANK)
    testwright("feature", "bank/test_bank.py", "--out", "out", "--steps", runner)
    folder = testwright.folder / "out"
    if runner == "behave":
        results = run_behave(folder, "bank.feature")
    else:
        results = run_pytest_bdd(folder, "test_bank_feature.py")
    assert len(results) >= 3 and all(names(results).values()), results
    text = (folder / "bank.feature").read_text(encoding="utf-8")
    assert 'Then it fails with the error "insufficient funds"\n' in text
    assert 'When for every amount in amounts, I call "withdraw" on account with amount\n' in text
    assert "Then the balance of account goes down by the absolute value of amount\n" in text
    assert "Python" not in text


GATHERING = """
from typing import List


def evens_of(xs):
    return [x for x in xs if x % 2 == 0]


def price(x):
    return x * x


def prop_evens(xs: List[int], n: int):
    evens = []
    total = 0
    for x in xs:
        if x % 2 == 0:
            evens.append(x)
    for x in evens:
        total += x * n
    assert evens_of(xs) == evens
    assert total == n * sum(evens_of(xs))


def prop_prices(xs: List[int]):
    prices = {}
    for x in xs:
        prices[x] = price(x)
    seen = set()
    for x in xs:
        for y in [x, -x]:
            seen.add(y)
    assert len(prices) <= len(xs)
    assert all(price(y) in prices.values() for y in seen)
""".lstrip()


@pytest.mark.parametrize("runner", ["behave", "pytest-bdd"])
def test_f7_values_collected_in_loops_have_words_and_run(testwright, runner):
    testwright.write("test_gathering.py", GATHERING)
    testwright("feature", "test_gathering.py", "--out", "out", "--steps", runner)
    folder = testwright.folder / "out"
    if runner == "behave":
        results = run_behave(folder, "gathering.feature")
    else:
        results = run_pytest_bdd(folder, "test_gathering_feature.py")
    assert len(results) >= 2 and all(names(results).values()), results
    text = (folder / "gathering.feature").read_text(encoding="utf-8")
    assert "Then the result equals the elements x of xs such that x is even\n" in text
    assert (
        'I have a dictionary in which x is the result of "price" with x for each x in xs, called prices\n'
        in text
    )
    assert "Python" not in text


STATEFUL = """
calls = []


def tick(n):
    calls.append(n)
    return len(calls)


def prop_moves_on(n: int):
    assert tick(n) != tick(n)
"""


def test_hoisting_is_undone_where_it_would_change_the_verdict(testwright):
    testwright.write("test_clock.py", STATEFUL)
    done = testwright("feature", "test_clock.py")
    assert "stay inside of its checks" in done.stdout
    text = (testwright.folder / "clock.feature").read_text(encoding="utf-8")
    assert "When" not in text and "not verified" not in text


def test_what_cannot_be_verified_is_marked(testwright):
    testwright.write(
        "test_odd.py",
        "seen = []\n\n\ndef prop_first_time(n: int):\n    seen.append(n)\n    assert len(seen) < 60\n",
    )
    done = testwright("feature", "test_odd.py", "--tries", "59", status=2)
    assert "do not agree" in done.stderr
    assert "    # not verified\n" in (testwright.folder / "odd.feature").read_text(encoding="utf-8")


def values(source, depth=0):
    """Returns a random value of the kinds that steps can read back."""
    kinds = ["None", "bool", "int", "float", "str", "bytes"] + ["list", "tuple", "dict", "set"] * (
        depth < 3
    )
    kind = source.choice(kinds)
    if kind == "None":
        return None
    if kind == "bool":
        return source.random() < 0.5
    if kind == "int":
        return source.choice([0, -1, 7, 10**30, -(10**18)])
    if kind == "float":
        return source.choice([0.0, -0.5, 1e100, 1.5e-7, float("inf"), float("-inf")])
    if kind == "str":
        return "".join(
            source.choice("ab \"\\\n\t,:[]{}()'é\x07\u2028") for _ in range(source.randrange(6))
        )
    if kind == "bytes":
        return bytes(source.randrange(256) for _ in range(source.randrange(4)))
    items = [values(source, depth + 1) for _ in range(source.randrange(4))]
    if kind == "list":
        return items
    if kind == "tuple":
        return tuple(items)
    keys = [str(key) for key in range(len(items))]
    return set(keys) if kind == "set" else dict(zip(keys, items))


def test_phrases_are_read_back_by_the_steps(testwright):
    testwright.write("test_same.py", "def prop_same(x):\n    assert x is x\n")
    source = random.Random(0)
    wanted = [values(source) for _ in range(150)]
    cases = [part for value in wanted for part in ("--case", f"x={write(value)}")]
    testwright("feature", "test_same.py::prop_same", *cases, "--steps", "behave", "--out", "out")
    results = run_behave(testwright.folder / "out", "same.feature")
    assert len(results) == len(wanted) and all(names(results).values())
    text = (testwright.folder / "out/steps/same_steps.py").read_text(encoding="utf-8")
    reader = {"re": re}
    support = text.split("FEATURE = ")[1].split("\n", 1)[1].split("\nuse_step_matcher")[0]
    exec("import datetime, decimal, fractions\n" + support, reader)
    scenarios = read_by_all(testwright.folder / "out/same.feature")
    texts = [steps[0][1] for _, _, steps, _ in scenarios]
    phrases = [re.fullmatch(r"I have (.*), called x", text)[1] for text in texts]
    assert len(phrases) == len(wanted)
    for phrase, value in zip(phrases, wanted):
        again = reader["read_phrase"](phrase)
        assert type(again) is type(value) and again == value, phrase


def write(value):
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f"float('{value}')"
    if isinstance(value, (list, tuple)):
        items = "".join(write(item) + ", " for item in value)
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {write(item)}" for key, item in value.items()) + "}"
    return repr(value)


def test_generated_files_are_python_and_clean(lists):
    lists("feature", "test_lists.py", "--steps", "behave", "--out", "a")
    lists("feature", "test_lists.py", "--steps", "pytest-bdd", "--out", "a", "--per-property")
    files = sorted((lists.folder / "a").rglob("*.py"))
    assert [file.name for file in files] == [
        "environment.py",
        "lists_steps.py",
        "test_clear_feature.py",
        "test_shorter_feature.py",
    ]
    for file in files:
        text = file.read_text(encoding="utf-8")
        ast.parse(text)
        assert str(lists.folder) not in text


def test_documents(testwright):
    testwright.write("test_lists.py", WRONG)
    arguments = ["--document", "markdown", "--document", "html", "--case", "n=7, xs=[7, 7]"]
    testwright("feature", "test_lists.py::prop_delete", *arguments, status=1)
    text = (testwright.folder / "delete.counterexample.md").read_text(encoding="utf-8")
    assert "## Rule: Deleting a number" in text and "```mermaid\nsequenceDiagram\n" in text
    page = (testwright.folder / "delete.counterexample.html").read_text(encoding="utf-8")
    assert "<li><strong>Then</strong> n is not in the result</li>" in page
    # The SVG namespace is a name, not an address that is fetched.
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    testwright(
        "feature", "test_lists.py::prop_clear", "--document", "markdown", "--case", "n=7, xs=[7]"
    )
    text = (testwright.folder / "lists.md").read_text(encoding="utf-8")
    assert re.search(r"\nThis example exercises \d+ of \d+ branches of test_lists\.\n", text), text


def test_impossible_requests_are_reported(lists):
    assert "there is no file" in lists("feature", "nothing.py", status=2).stderr
    assert "no function `f`" in lists("feature", "test_lists.py::f", status=2).stderr
    assert (
        "its properties are `prop_clear`, `prop_shorter`"
        in lists("feature", "test_lists.py::f", status=2).stderr
    )
    assert (
        "no value for `xs`"
        in lists("feature", "test_lists.py::prop_clear", "--case", "n=1", status=2).stderr
    )
    assert (
        "cannot be understood"
        in lists("feature", "test_lists.py::prop_clear", "--case", "n=(", status=2).stderr
    )
    assert (
        "one property only" in lists("feature", "test_lists.py", "--case", "n=1", status=2).stderr
    )
    lists.write("bad.py", "def prop_a(n: int):\n    assert n >\n")
    complaint = lists("feature", "bad.py", status=2).stderr
    assert "bad.py:2:" in complaint and "python-syntax" in complaint
    lists.write("empty.py", "x = 1\n")
    assert "has no properties" in lists("feature", "empty.py", status=2).stderr
    lists.write("pile.tstl", "pool: <x> 1\n<x> := <[1..2]>\n")
    assert "`testwright run pile.tstl --explain`" in lists("feature", "pile.tstl", status=2).stderr
    lists.write("broken.py", "import nowhere_to_be_found\n\n\ndef prop_a(n: int):\n    assert n\n")
    assert "nowhere_to_be_found" in lists("feature", "broken.py", status=2).stderr
    lists.write("plain.py", "def prop_a(n):\n    assert n\n")
    assert "no way to make values for `n`" in lists("feature", "plain.py", status=2).stderr


def test_code_that_exits_or_hangs_does_not_stop_the_command(testwright):
    testwright.write("test_end.py", "import os\n\n\ndef prop_end(n: int):\n    os._exit(3)\n")
    assert "come to an end" in testwright("feature", "test_end.py", status=2).stderr
    testwright.write("test_hang.py", "def prop_hang(n: int):\n    while True:\n        pass\n")
    done = testwright("feature", "test_hang.py", "--tries", "1", status=2)
    assert "every case took too long" in done.stdout


def test_properties_with_hypothesis(testwright):
    testwright.write(
        "tests/__init__.py",
        "",
    )
    testwright.write(
        "tests/test_given.py",
        '''
from hypothesis import assume, example, given, strategies as st


def half(n):
    if n > 100:
        return n // 2
    return n / 2


@given(n=st.integers(0, 1000))
@example(500)
def test_half(n):
    """Half of a number is less."""
    assume(n > 0)
    assert half(n) < n


class TestText:
    @given(st.text(), st.sampled_from(["a", "b"]))
    def test_ends(self, text, ending):
        assert (text + ending).endswith(ending)


@given(st.lists(st.integers()))
def test_wrong(xs):
    assert sorted(xs) == xs
''',
    )
    done = testwright(
        "feature", "tests/test_given.py", "--out", "out", "--steps", "behave", status=1
    )
    assert "test_wrong: fails" in done.stdout
    folder = testwright.folder / "out"
    text = (folder / "given.feature").read_text(encoding="utf-8")
    assert "any whole number n from 0 to 1000, provided that n is greater than 0." in text
    assert "    Given I have the number 1, called n\n" in text
    assert "    Given I have the number 101, called n\n" in text
    assert "Scenario: Test text ends - example 1\n" in text
    assert all(names(run_behave(folder, "given.feature")).values())
    wrong = (folder / "wrong.counterexample.feature").read_text(encoding="utf-8")
    assert re.search(r"Given I have the list \[(0, -1|1, 0)\], called xs\n", wrong), wrong


SHOPPING = """
from hypothesis import example, given, settings, strategies as st


class Basket:
    def __init__(self, *prices):
        self.prices = list(prices)

    def add(self, price):
        self.prices.append(price)
        return self

    def total(self):
        return sum(self.prices)


@settings(max_examples=7, deadline=None)
@example(Basket(3), 4)
@given(st.builds(Basket, st.integers(0, 9)), st.integers(0, 9))
def test_add(basket, price):
    before = basket.total()
    assert basket.add(price).total() == before + price


@given(baskets=st.lists(st.builds(Basket), min_size=1, max_size=2))
def test_empty(baskets):
    assert all(basket.total() == 0 for basket in baskets)
"""


@pytest.mark.parametrize("runner", ["behave", "pytest-bdd"])
def test_s2_values_from_strategies_are_rebuilt(testwright, runner):
    """Covers tests with their own settings, and values that need a constructor call."""
    pytest.importorskip("hypothesis")
    testwright.write("test_shopping.py", SHOPPING)
    done = testwright("feature", "test_shopping.py", "--steps", runner, "--out", "features")
    assert "no example" not in done.stdout, done.stdout
    folder = testwright.folder / "features"
    text = (folder / "shopping.feature").read_text(encoding="utf-8")
    assert "# not verified" not in text and done.stderr == ""
    assert "      Given I have a basket, called basket\n" in text
    if runner == "behave":
        results = run_behave(folder, "shopping.feature")
    else:
        results = run_pytest_bdd(folder, "test_shopping_feature.py")
    assert set(names(results).values()) == {True}
    # Values from `--case` keep their expressions.
    given = ("--case", "basket=Basket(1, 2), price=3", "--steps", runner, "--out", "given")
    done = testwright("feature", "test_shopping.py::test_add", *given)
    steps = "".join(file.read_text() for file in (testwright.folder / "given").rglob("*.py"))
    assert 'made("Basket(1, 2)")' in steps


def test_failing_tests_of_a_harness_in_english(testwright):
    testwright.write(
        "counter.py",
        "class Counter:\n    def __init__(self):\n        self.value = 0\n\n    def add(self, n):\n        self.value += n\n",
    )
    testwright.write(
        "counting.tstl",
        "# A counter that must stay small.\n@import counter\npool: <counter> 1\npool: <int> 1 CONST\n<int> := <[4..5]>\n"
        "<counter> := counter.Counter()\n<counter>.add(<int>)\nproperty: <counter>.value < 8\n",
    )
    done = testwright("run", "counting.tstl", "--seed", "1", "--explain", "--no-store", status=1)
    assert "  Feature: Counting\n    A counter that must stay small.\n" in done.stdout
    assert "      Then the value of counter0 is less than 8\n" in done.stdout
    text = (testwright.folder / "testwright-out/counting/failure-1.feature").read_text(
        encoding="utf-8"
    )
    assert "    Scenario: Counterexample with 3 steps\n" not in text
    assert (
        "  Scenario: Counterexample with 3 steps\n    Given I have a new counter, called counter0\n"
        in text
    )
    assert (
        '    When I call "add" on counter0 with 4\n    And I call "add" on counter0 with 4\n'
        in text
    )
    diagram = (testwright.folder / "testwright-out/counting/failure-1.mmd").read_text(
        encoding="utf-8"
    )
    assert "participant P1 as counter0 (counter)\n    P0->>P1: add 4\n" in diagram
    # A saved test has the same words, and so has the longer one that it was reduced from.
    saved = "testwright-out/counting/failure-1.test"
    told = testwright("replay", saved, "--explain", status=1).stdout
    assert 'And I call "add" on counter0 with 4\n' in told
    assert "Then the value of counter0 is less than 8\n" in told
    assert "Scenario" not in testwright("replay", saved, status=1).stdout


SUITE = """
'''Two visits.'''
from website import Login, Logout

testSuite = [
    [(Login, ("ann", "right"), "welcome"), (Logout, ("ann",))],
    [(Login, ("ann", "wrong"), "wrong password")],
]
""".lstrip()


def test_runs_of_a_suite_are_scenarios(testwright):
    testwright.write("visits.py", SUITE)
    testwright("feature", "visits.py", "--document", "markdown")
    run, other = read_by_all(testwright.folder / "visits.feature")
    assert run == (
        "Run 1 with 2 steps",
        [],
        [
            ("when", 'I call "login" with "ann" and "right"'),
            ("then", 'the answer is "welcome"'),
            ("when", 'I call "logout" with "ann"'),
        ],
        [],
    )
    assert other[0] == "Run 2 with 1 step"
    assert (testwright.folder / "visits.md").exists()
    told = testwright("explain", "visits.py").stdout
    assert '\nRun 2:\n  - "login" with "ann" and "wrong" is carried out, returning "wrong' in told


@pytest.mark.parametrize("name", ["lists", "bank_account", "delete.counterexample"])
def test_q10_the_worked_examples_are_read_alike_by_all_parsers(name):
    folder = Path(__file__).resolve().parents[2] / "crates/readable/tests/features"
    read_by_all(folder / f"{name}.feature")


def test_trap_3_steps_of_several_features_do_not_mix(testwright):
    """Covers behave, which loads all steps of a folder at once and takes the first match."""
    module = "def twice(n):\n    return n * {0}\n\n\ndef prop_twice(n: int):\n    assert twice(n) == {0} * n\n"
    testwright.write("test_two.py", module.format(2))
    testwright.write("test_three.py", module.format(3))
    for name in ["two", "three"]:
        testwright("feature", f"test_{name}.py", "--out", "out", "--steps", "behave")
    for name in ["two", "three"]:
        results = run_behave(testwright.folder / "out", f"{name}.feature")
        assert results and all(names(results).values()), results


def test_a_property_that_leaves_the_program_is_red_and_behave_goes_on(testwright):
    testwright.write(
        "test_leaving.py", "import sys\n\n\ndef prop_leaves(n: int):\n    sys.exit(n)\n"
    )
    testwright(
        *("feature", "test_leaving.py", "--case", "n=3", "--steps", "behave", "--out", "features"),
        status=1,
    )
    (error,) = run_behave(testwright.folder / "features", "leaves.counterexample.feature").values()
    assert "the program was to be left, with 3" in error


def test_ctrl_c_leaves_nothing_behind_that_runs(testwright):
    testwright.write(
        "test_slow.py",
        "import os, time\n\n"
        "with open('running', 'w') as file:\n"
        "    file.write(str(os.getpid()))\n\n\n"
        "def prop_slow(n: int):\n"
        "    while True:\n"
        "        time.sleep(0.01)\n",
    )
    command = testwright.start("feature", "test_slow.py", start_new_session=True)
    testwright.wait_for("running", size=1)
    running = (testwright.folder / "running").read_text(encoding="utf-8")
    # Like a terminal: to the whole process group.
    os.killpg(command.pid, signal.SIGINT)
    command.communicate(timeout=30)
    assert command.returncode == -signal.SIGINT
    deadline = time.monotonic() + 30
    while Path(f"/proc/{running}").exists():
        assert time.monotonic() < deadline, "the property still runs"
        time.sleep(0.02)
