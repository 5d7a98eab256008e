"""Testwright generates tests for Python code from small harnesses, and reduces what fails.

The command line is one way in: `testwright --help`. The other one is :func:`load`, which makes an object of a harness
whose tests are ordinary values:

    >>> import testwright
    >>> sut = testwright.load("avl.tstl")          # doctest: +SKIP
    >>> test, passed = sut.make_test(100)          # doctest: +SKIP
    >>> sut.reduce(test, sut.covers_same(test))    # doctest: +SKIP

:func:`main` is the command line without a new process: it takes the arguments and returns the exit status.
"""

from testwright._native import Action, HarnessError, State, __version__, main
from testwright.sut import Sut
from testwright.test import Test

__all__ = [
    "Action",
    "HarnessError",
    "State",
    "Sut",
    "Test",
    "__version__",
    "load",
    "main",
]


def load(path, **options):
    """Brings a harness to life; the options are those of :class:`Sut`."""
    return Sut(path, **options)
