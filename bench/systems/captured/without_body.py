"""A pytest plugin that replaces the body of each test's unit with an exception: a test that still passes checks nothing.

The variable UNITS names a JSON file with the units of each test: several if modules have tests of the same name.
"""

import importlib
import inspect
import json
import os
from pathlib import Path

import pytest

UNITS = json.loads(Path(os.environ["UNITS"]).read_text(encoding="utf-8"))


class NoBody(BaseException):
    """An exception that no test expects."""


def raising(enclosed):
    """Makes code that raises, with as many free variables as the original, which a function requires."""
    names = [f"variable_{number}" for number in range(enclosed)]
    text = "\n    ".join(
        [
            "def around():",
            *(f"{name} = None" for name in names),
            "def raising(*arguments, **keywords):",
            f"    [{', '.join(names)}]",
            "    raise __import__('without_body').NoBody",
            "return raising",
        ]
    )
    made = {}
    exec(text, made)
    return made["around"]().__code__


def functions(unit):
    """Returns the functions of a unit: one, or those of a property."""
    *path, last = unit.split(".")
    for length in range(len(path), 0, -1):
        try:
            owner = importlib.import_module(".".join(path[:length]))
        except ImportError:
            continue
        for name in path[length:]:
            owner = getattr(owner, name)
        found = inspect.getattr_static(owner, last)
        parts = [found, *(getattr(found, name, None) for name in ("fget", "fset", "fdel", "func", "__func__"))]  # fmt: skip
        return [inspect.unwrap(part) for part in parts if callable(part)]
    raise LookupError(unit)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    test = f"{pyfuncitem.cls.__name__}::{pyfuncitem.originalname}"
    file = pyfuncitem.module.__name__.removeprefix("test_")
    named = [name for name in UNITS[test] if name.replace(".", "_").startswith(f"{file}_")]
    unit = min(named or UNITS[test], key=len)
    units = [part for part in functions(unit) if inspect.isfunction(part)]
    bodies = [unit.__code__ for unit in units]
    for unit, body in zip(units, bodies):
        unit.__code__ = raising(len(body.co_freevars))
    try:
        return (yield)
    finally:
        for unit, body in zip(units, bodies):
            unit.__code__ = body
