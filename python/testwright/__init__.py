"""Testwright generates tests for Python code from small harnesses, and reduces what fails.

The command line is one way in: `testwright --help`. The other one is :func:`load`, which makes an object of a harness
whose tests are ordinary values; :class:`Sut` shows the one that all examples are about:

    >>> import random
    >>> import testwright
    >>> sut = testwright.load("stack.tstl")
    >>> test, passed = sut.make_test(100, random.Random(1))
    >>> passed
    False
    >>> print(sut.reduce(test, sut.fails))
    stack0 = stack.Stack()
    stack0.top()

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
    """Brings a harness to life; the options are those of :class:`Sut`.

    >>> testwright.load("stack.tstl", coverage=False)
    <Sut ...stack.tstl>
    >>> testwright.load("queue.tstl")
    Traceback (most recent call last):
        ...
    FileNotFoundError: cannot read the harness `queue.tstl`: No such file or directory (os error 2)
    """
    return Sut(path, **options)
