"""Generated tests import objects of modules, rebuild weak references and partial functions, and do not rely on filled caches."""

import json
import sys

import pytest
from terminal import run

DESK = """\
import functools
import weakref

MISSING = object()


class Command:
    def __init__(self, function):
        self.function = function

    def invoke(self, text):
        return self.function(text) + "!"


def command(function):
    return Command(function)


@command
def shout(text):
    return __name__ + text.upper()


def told(value):
    return "nothing" if value is MISSING else "something"


def called(commands, text):
    return [command.invoke(text) for command in commands]


class Node:
    def __init__(self, name, parent=None):
        self.name = name
        self.parent = weakref.ref(parent) if parent else None

    def path(self):
        above = self.parent() if self.parent else None
        return (above.path() if above else "") + "/" + self.name


def planned(function, *arguments):
    return functools.update_wrapper(functools.partial(function, *arguments), function)


def described(partial):
    return partial.__name__ + str(partial())


@functools.lru_cache
def squared(number):
    return number * number


MADE = {}


def remembered(name):
    if name not in MADE:
        MADE[name] = made(name)
    return MADE[name]


@functools.lru_cache(maxsize=None)
def made(name):
    return _spelled(name)


def _spelled(name):
    return name.upper()
"""

USE = """\
import desk


def three():
    return 3


if __name__ == "__main__":
    desk.told(desk.MISSING)
    desk.told(3)
    desk.called([desk.shout], "hello")
    desk.shout.invoke("hello")
    root = desk.Node("root")
    desk.Node("leaf", root).path()
    desk.described(desk.planned(three))
    desk.squared(7)
    desk.remembered("ann")
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    (folder / "desk.py").write_text(DESK)
    (folder / "use.py").write_text(USE)
    words = ["capture", "--quiet", "--scope", "desk", "--", sys.executable, "use.py"]
    told = run([sys.executable, "-m", "testwright", *words], folder)
    assert told.returncode == 0, told.stdout
    words = ["generate", "--style", "pytest", "--json"]
    told = run([sys.executable, "-m", "testwright", *words], folder)
    report = json.loads(told.stdout.splitlines()[-1])
    return folder, report, (folder / "tests" / "test_desk.py").read_text()


def outcomes(report, unit):
    return [test["outcome"] for test in report["tests"] if test["unit"] == unit]


def test_objects_of_modules_are_imported(written):
    _, report, text = written
    assert "told(MISSING) == " in text, text
    # The function has the same name as the object that was made from it, so it cannot be imported.
    assert 'called([shout], "hello") == ["deskHELLO!"]' in text, text
    assert 'shout.invoke("hello") == "deskHELLO!"' in text, text
    assert outcomes(report, "desk.called") == ["full"]


def test_references_are_rebuilt(written):
    _, report, text = written
    assert set(outcomes(report, "desk.Node.path")) == {"full"}, text
    assert "update_wrapper(functools.partial(three), three)" in text, text
    assert set(outcomes(report, "desk.described")) == {"full"}, text


def test_a_cache_is_cleared_before_it_is_used(written):
    folder, _, text = written
    assert "squared.cache_clear()" in text, text
    broken = DESK.replace("number * number", "number + number")
    (folder / "desk.py").write_text(broken)
    ran = run([sys.executable, "-m", "pytest", "-q", "tests"], folder)
    (folder / "desk.py").write_text(DESK)
    assert ran.returncode == 1 and "1 failed" in ran.stdout, ran.stdout
    ran = run([sys.executable, "-m", "pytest", "-q", "tests"], folder)
    assert ran.returncode == 0, ran.stdout
