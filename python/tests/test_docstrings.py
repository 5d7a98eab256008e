"""Runs the examples in the docstrings of the package.

All use the system and the harness in the docstring of `Sut`. Each runs in its own folder and continues the example of
that docstring.
"""

import doctest
import inspect
import re
import textwrap

import pytest
import testwright
from testwright.sut import TSTL_NAMES

#: A file in a docstring: its name in backquotes and a colon, then its indented text.
SHOWN_FILE = re.compile(r"`(\S+)`:\n\n((?: {4}.*\n|\n)+)")

FOR_THE_SAKE_OF_TSTL = "accepted for the sake of TSTL's scripts, does nothing"

#: Public names without an example, and why.
WITHOUT_EXAMPLE = {
    "Sut.clear_normalization_cache": FOR_THE_SAKE_OF_TSTL,
    "Sut.set_action_approximation": FOR_THE_SAKE_OF_TSTL,
    "Sut.set_enumerate_enabled": FOR_THE_SAKE_OF_TSTL,
    "Sut.set_fast_pool_states": FOR_THE_SAKE_OF_TSTL,
    "Sut.set_use_dependencies": FOR_THE_SAKE_OF_TSTL,
    "Sut.silence_coverage": FOR_THE_SAKE_OF_TSTL,
}


def docstrings():
    """Returns the docstrings by name, sorted: the order of methods in an extension module varies, and the finder of
    doctest does not look into its classes."""
    found = {"testwright": testwright.__doc__}
    for name in testwright.__all__:
        item = getattr(testwright, name)
        if not callable(item):
            continue  # the version
        found[name] = item.__doc__
        for kind in getattr(item, "__mro__", ()):
            if kind.__module__.partition(".")[0] != "testwright":
                continue  # inherited from list or Exception
            for member in vars(kind):
                if not member.startswith("_") and member not in TSTL_NAMES:
                    found[f"{name}.{member}"] = getattr(item, member).__doc__
    return dict(sorted(found.items()))


DOCSTRINGS = docstrings()


def examples(name):
    return doctest.DocTestParser().get_examples(DOCSTRINGS[name] or "")


def talk(name, text, names):
    """Runs the examples in a docstring. Returns the differences."""
    conversation = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    complaints = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(conversation, out=complaints.append, clear_globs=False)
    names.update(conversation.globs)
    return "".join(complaints)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Writes the files in the docstring of `Sut` to a folder, and returns the names that its example defines."""
    text = inspect.cleandoc(testwright.Sut.__doc__)
    files = SHOWN_FILE.findall(text)
    assert [file for file, _ in files] == ["stack.py", "stack.tstl"]
    for file, block in files:
        (tmp_path / file).write_text(textwrap.dedent(block).strip() + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {}
    assert not talk("Sut", text, names)
    assert {"rgen", "sut", "test", "testwright"} <= set(names)
    return names


@pytest.mark.parametrize("name", [name for name in DOCSTRINGS if examples(name)])
def test_examples_are_true(name, names):
    complaints = talk(name, DOCSTRINGS[name], names)
    assert not complaints, complaints


def test_a_wrong_example_is_detected(names):
    assert not talk("right", ">>> len(test)\n6\n", names)
    assert "Expected:\n    7\nGot:\n    6\n" in talk("wrong", ">>> len(test)\n7\n", names)
    assert "AttributeError" in talk("unknown", ">>> sut.no_such_method()\n", names)


def test_every_public_name_has_an_example():
    assert len(DOCSTRINGS) > 100, "the methods of the extension module are not among them"
    assert {name for name in DOCSTRINGS if not examples(name)} == set(WITHOUT_EXAMPLE)


def test_no_example_is_left_out():
    for name in DOCSTRINGS:
        assert not [each.source for each in examples(name) if doctest.SKIP in each.options], name


def test_tstl_names_have_the_same_docstrings():
    for old, new in TSTL_NAMES.items():
        assert getattr(testwright.Sut, old).__doc__ == DOCSTRINGS[f"Sut.{new}"], old
