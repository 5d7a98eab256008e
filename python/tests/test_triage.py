"""`testwright triage`: groups failures by bug."""

import json

import pytest

SHOP = """\
def key(number):
    return {}[number]

def name(text):
    raise ValueError(f"nobody is called {text!r}")

def fine():
    pass
"""

HARNESS = """\
@import shop
pool: <int> 2
pool: <str> 2
<int> := <[1..9]>
<str> := <['ä','日本']>
shop.key(<int>)
shop.name(<str>)
shop.fine()
"""

TESTS = {
    "1": "int0 = 3\nshop.fine()\nshop.key(int0)\n",
    "2": "int1 = 7\nshop.key(int1)\nshop.fine()\n",
    "3": "int0 = 7\nstr0 = 'ä'\nshop.key(int0)\n",
    "deep/4": "str0 = 'ä'\nshop.name(str0)\n",
    "deep/5": "str1 = '日本'\nshop.name(str1)\n",
    "6": "shop.fine()\n",
    "7": "shop.gone()\nshop.gone()\nshop.gone()\n",
}


@pytest.fixture
def shop(testwright):
    testwright.write("shop.py", SHOP)
    testwright.write("shop.tstl", HARNESS)
    for name, text in TESTS.items():
        testwright.write(f"saved/{name}.test", text)
    return testwright


def groups(shop, *arguments, status=1):
    done = shop("triage", "saved", "--harness", "shop.tstl", "--json", *arguments, status=status)
    return json.loads(done.stdout)["groups"]


def test_similar_failures_are_one_group(shop):
    done = shop("triage", "saved", "--harness", "shop.tstl", status=1)
    assert "Group 1: 3 tests: uncaught exception: KeyError: …\n" in done.stdout
    assert "    fails in shop.key(int)\n    shortest: saved/2.test (2 steps)\n" in done.stdout
    assert "Group 2: 2 tests: uncaught exception: ValueError: nobody is called 'ä'" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last == "7 tests: 5 failing in 2 groups, 1 passing, 1 broken"
    assert done.stderr.count("unknown-step") == 1
    assert (
        "and 2 more steps that the harness does not know\n3 errors in saved/7.test\n" in done.stderr
    )


def test_string_values_can_be_ignored(shop):
    # The message is written where it is raised, so the place says all.
    found = groups(shop)
    assert [group["count"] for group in found] == [3, 2]
    assert found[1]["failure"] == "ValueError: nobody is called 'ä'"
    found = groups(shop, "--strings")
    assert [group["count"] for group in found] == [3, 2]
    assert found[1]["failure"] == "ValueError: nobody is called '…'"
    assert found[1]["tests"] == ["saved/deep/4.test", "saved/deep/5.test"]


def test_actions_can_be_compared(shop):
    found = groups(shop, "--strings", "--classes")
    # The first takes a passing action before it fails, the third makes a string.
    assert sorted(group["tests"] for group in found) == [
        ["saved/1.test"],
        ["saved/2.test"],
        ["saved/3.test"],
        ["saved/deep/4.test", "saved/deep/5.test"],
    ]
    (third,) = (group for group in found if group["tests"] == ["saved/3.test"])
    assert third["classes"] == ["<int> := <[1..9]>", "<str> := <['ä','日本']>", "shop.key(<int>)"]


def test_some_failures_are_known_already(shop):
    found = groups(shop, "--ignore", "KeyError", "--ignore", "日本")
    assert [group["tests"] for group in found] == [["saved/deep/4.test"]]
    done = shop("triage", "saved", "--harness", "shop.tstl", "--ignore", "Error", status=2)
    assert done.stdout == "7 tests: none to look at, 1 passing, 5 ignored, 1 broken\n"


def test_the_most_different_failures_come_first(shop):
    by_count = [group["step"] for group in groups(shop, "--strings")]
    assert by_count == ["shop.key(int)", "shop.name(str)"]
    # There are more of one kind, but the first test is of the other.
    shop.write("saved/0.test", TESTS["deep/4"])
    ranked = groups(shop, "--strings", "--ranking", "furthest")
    assert [group["step"] for group in ranked] == ["shop.name(str)", "shop.key(int)"]
    assert ranked[0]["tests"][0] == "saved/0.test"


def test_the_details_of_a_group(shop):
    done = shop("triage", "saved", "--harness", "shop.tstl", "--verbose", status=1)
    assert "  1  int1 = 7\n  2  shop.key(int1)\n" in done.stdout
    assert "    also: saved/1.test\n    also: saved/3.test\n" in done.stdout


def test_nothing_fails(shop):
    done = shop("triage", "saved/6.test", "--harness", "shop.tstl")
    assert done.stdout == "1 test: none to look at, 1 passing\n"


def test_no_tests_to_triage(shop):
    (shop.folder / "empty").mkdir()
    done = shop("triage", "empty", "--harness", "shop.tstl", status=2)
    assert "there are no tests to replay" in done.stderr
    done = shop("triage", "saved/7.test", "--harness", "shop.tstl", status=2)
    assert "does not understand any of the tests" in done.stderr
    assert done.stdout == ""
