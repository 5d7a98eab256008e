"""Real-world modules: written for Python 2, in packages, with the names of standard modules."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from models.folder import Folder

COUNTER = """
n = 0

def Count():
    global n
    n = n + 1

def CountEnabled():
    return n < 2

state = ("n",)
actions = (Count,)
enablers = {Count: (CountEnabled,)}
"""
STEPPER = """
def TestAction(name, arguments, result):
    pass
"""


@pytest.fixture
def models(testwright):
    folder = Folder(testwright)
    folder.write(Counter=COUNTER, Stepper=STEPPER)
    return folder


def no_traceback(done):
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


# Python 2


OLDER = {
    "print": (
        'if True:\n    print "ready"\n',
        "`print` is a statement only in Python 2",
        "2:5",
        'write `print("ready")`',
    ),
    "raise": (
        "def Reset():\n    raise NotImplementedError, 'not yet'\n",
        "only Python 2 gives an exception its value with a comma",
        "2:5",
        "write `raise NotImplementedError('not yet')`",
    ),
    "a module": (
        "import urllib\nimport urllib2\n",
        "`urllib2` is a module only in Python 2",
        "2:8",
        "since Python 3 it is `urllib.request`",
    ),
    "a function": (
        "sizes = [x for x in xrange(3)]\n",
        "`xrange` is known only in Python 2",
        "1:21",
        "write `range`",
    ),
    "dictionaries": (
        "known = {}\nif known.has_key('a'):\n    pass\n",
        "dictionaries have `has_key` only in Python 2",
        "2:10",
        "write `key in it`",
    ),
}


@pytest.mark.parametrize("what", OLDER)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_python_2_code_is_reported_with_its_location(models, what, ending):
    text, message, place, way_out = OLDER[what]
    text = text.replace("\n", ending)
    (models.path / "Older.py").write_bytes(text.encode())
    models.write(Imports="import Older\n" + COUNTER)
    for arguments in (
        ["compat", "pma", "Older"],
        ["compat", "pmt", "Counter", "-i", "Older"],
        ["compat", "pmt", "Counter", "-g", "Older"],
        ["compat", "pmg", "Older"],
        # A module that the model imports.
        ["compat", "pma", "Imports"],
    ):
        told = no_traceback(models.run(*arguments, status=1))
        assert f"error[python-2]: {message}\n" in told
        assert f"--> Older.py:{place}\n" in told
        assert way_out in told
    told = no_traceback(models.run("explore", "Older", status=2))
    assert f"error[python-2]: {message}\n" in told


def test_python_2_code_is_reported_when_an_action_reaches_it(models):
    models.write(Later=COUNTER.replace("n = n + 1", "n = reduce(max, [n, n + 1])"))
    told = no_traceback(models.run("compat", "pmt", "-n", "3", "Later", status=1))
    assert "error[python-2]: `reduce` is known only in Python 2\n" in told
    assert "--> Later.py:6:9\n" in told
    assert "write `from functools import reduce` above" in told
    # The report is the same with several processes.
    told = no_traceback(models.run("explore", "Later", "--jobs", "2", status=2))
    assert "`reduce` is known only in Python 2" in told
    assert "Later.py:6" in told


def test_a_fallback_for_python_2_is_allowed(models):
    models.write(
        Both="try:\n    import urllib2\nexcept ImportError:\n    import urllib.request as urllib2\n"
        + COUNTER
    )
    assert models.analyze("Both")[0].startswith("3 states, 2 transitions")


def test_text_that_is_not_python_is_reported_with_its_location(models):
    models.write(Broken='"""Ä"""\nä = 1; 2 = 3\n')
    told = no_traceback(models.run("compat", "pma", "Broken", status=1))
    assert "error[host-syntax]: this is not Python: " in told
    assert "--> Broken.py:2:8\n" in told
    assert f"it has to be Python {sys.version_info.major}.{sys.version_info.minor}" in told


def test_exceptions_of_models_keep_their_traceback(models):
    models.write(Raises="import nowhere_to_be_found\n" + COUNTER)
    done = models.run("compat", "pma", "Raises", status=1)
    assert "Traceback" in done.stderr and "nowhere_to_be_found" in done.stderr
    models.write(Compiles="compile('print 1', 'nothing', 'exec')\n" + COUNTER)
    done = models.run("compat", "pma", "Compiles", status=1)
    assert "raised SyntaxError" in done.stderr


# Packages


@pytest.fixture
def shop(models):
    """Writes a package with a model, a module that the model imports, a suite and a configuration."""
    inner = models.path / "trade" / "shop"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent):
        (folder / "__init__.py").touch()
    (inner / "prices.py").write_text("def of(fruit):\n    return len(fruit)\n")
    (inner / "Cart.py").write_text(
        "from . import prices\nfrom ..limits import MOST\n\ncart = []\nfruits = ['apple', 'pear']\n\n"
        "def Add(fruit):\n    cart.append(fruit)\n    return prices.of(fruit)\n\n"
        "def StateFilter():\n    return len(cart) <= MOST\n\n"
        "state = ('cart',)\nactions = (Add,)\ndomains = {Add: {'fruit': fruits}}\n"
    )
    (inner.parent / "limits.py").write_text("MOST = 2\n")
    models.write(
        Bought="from trade.shop.Cart import Add\ntestSuite = [[(Add, ('pear',), 4)]]\n",
        Apples='"""PyModel configuration"""\nimport trade.shop.Cart as Cart\nCart.fruits[:] = ["apple"]\n',
    )
    return models


CART = ["trade.shop.Cart", "trade/shop/Cart", "trade/shop/Cart.py"]


@pytest.mark.parametrize("name", CART)
def test_models_in_packages_import_from_where_they_are(shop, name):
    said, fsm = shop.analyze(name)
    assert said == "7 states, 6 transitions, 7 accepting states, 0 unsafe states\n"
    assert fsm["states"][0] == {"trade.shop.Cart": {"cart": []}}
    assert shop.analyze(name, "Apples")[0].startswith("3 states, 2 transitions")
    assert shop.test("Bought", name).splitlines()[0] == "Add('pear',) / 4"
    done = shop.run("explore", name)
    assert done.stdout.startswith("Explored 7 states, 6 transitions")


def test_graphs_of_a_model_in_a_package_can_be_drawn(shop):
    shop.run("compat", "pma", "trade.shop.Cart")
    shop.run("compat", "pmg", "CartFSM")
    assert (shop.path / "CartFSM.dot").is_file()
    shop.run("compat", "pmv", "trade.shop.Cart", "-o", "Drawn")
    assert (shop.path / "Drawn.svg").is_file()
    (shop.path / "CartFSM.py").rename(shop.path / "trade" / "CartFSM.py")
    shop.run("compat", "pmg", "trade.CartFSM", "-o", "Again")
    assert "Add('pear',)/4" in (shop.path / "Again.dot").read_text()


def test_a_module_that_imports_its_neighbour_by_name_is_not_in_a_package(shop):
    """Covers old folders in which an `__init__.py` was never meant to make a package."""
    folder = shop.path / "trade" / "shop"
    (folder / "Stall.py").write_text(COUNTER)
    (folder / "Once.py").write_text("from Stall import Count\ntestSuite = [[(Count, ())]]\n")
    said, fsm = shop.analyze("trade/shop/Once.py", "trade/shop/Stall.py")
    assert said.startswith("2 states, 1 transitions")
    assert fsm["states"][0] == {"Once": (0, 0), "Stall": {"n": 0}}


@pytest.mark.parametrize("name", ["nowhere.Cart", "trade.nowhere.Cart", "trade.shop.Nothing"])
def test_a_module_that_is_missing_from_a_package_is_reported(shop, name):
    told = no_traceback(shop.run("compat", "pma", name, status=1))
    assert f"there is no module `{name}`" in told


# Names


@pytest.mark.parametrize("name", ["token", "types", "abc", "os", "time"])
def test_a_model_that_python_cannot_import_is_reported(models, name):
    models.write(**{name: COUNTER})
    # This runs the installed command: with `python -m`, Python itself would import the file.
    command = Path(sys.executable).parent / "testwright"
    done = subprocess.run(
        [command, "compat", "pma", name], cwd=models.path, capture_output=True, text=True
    )
    assert done.returncode == 1
    kind = "a module of Python itself" if sys.version_info >= (3, 10) else "another module"
    assert kind in no_traceback(done) or "a module of Python itself" in done.stderr
    assert f"`{name}.py` needs another name" in done.stderr


def test_a_package_that_shadows_a_file_is_reported(models):
    (models.path / "twice").mkdir()
    (models.path / "twice" / "__init__.py").touch()
    models.write(twice=COUNTER)
    told = no_traceback(models.run("compat", "pma", "twice", status=1))
    assert "`twice` is already the name of another module" in told
    assert os.path.join("twice", "__init__.py") in told


def test_the_singular_domain_is_reported_as_ignored(models):
    models.write(
        Singular=COUNTER.replace("def Count():", "def Count(by=1):").replace(
            "enablers", "domain = {Count: {'by': [1]}}\nenablers"
        )
    )
    done = models.run("compat", "pma", "Singular")
    assert "warning: the module `Singular` has `domain`, which is ignored" in done.stderr
    models.write(Plural=(models.path / "Singular.py").read_text() + "domains = domain\n")
    assert models.run("compat", "pma", "Plural").stderr == ""


# Models and steppers in one


@pytest.mark.parametrize("package", ["", "pymodel."])
def test_a_model_can_be_its_own_stepper(models, package):
    models.write(
        Both=f"import {package}observation_queue as observation\n"
        + COUNTER
        + "def Seen(x): pass\nactions = (Count, Seen)\nobservables = (Seen,)\n"
        "def TestAction(name, arguments, result):\n"
        "    observation.queue.append(('Seen', (name,)))\n"
    )
    said = models.test("-n", "2", "Both", "-i", "Both")
    assert said == "Count()\nSeen('Count',)\n  0. Success at step 2, reached accepting state\n"
    assert models.test("-n", "1", "Both").splitlines()[0] == "Count()"


# Randomness


def test_a_random_model_is_never_explored_completely(models):
    models.write(
        Draws="import random\n"
        + COUNTER.replace("n = n + 1", "n = random.choice([n + 1, n + 2])").replace(
            "n < 2", "n < 3"
        )
    )
    done = models.run("explore", "Draws")
    assert "There may be more states\n  not covered: a model draws random numbers" in done.stdout
    assert "These are all" not in done.stdout and "every state is safe" not in done.stdout
    assert json.loads(models.run("explore", "Draws", "--json").stdout)["complete"] is False
    done = models.run("explore", "Counter")
    assert "These are all that can be reached\n" in done.stdout
    assert json.loads(models.run("explore", "Counter", "--json").stdout)["complete"] is True


def test_the_sign_of_a_seed_does_not_matter(models):
    models.write(
        Choice=COUNTER.replace("def Count():", "def Count(by):")
        .replace("n + 1", "n + by")
        .replace("n < 2", "n < 50")
        + "domains = {Count: {'by': [1, 2, 3, 4]}}\n"
    )
    runs = [models.test("-n", "9", "-s", seed, "Choice") for seed in ("5", "-5", "6")]
    assert runs[0] == runs[1] != runs[2]
