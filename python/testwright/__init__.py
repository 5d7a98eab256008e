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

import os as _os
import sys as _sys


def _is_the_command():
    """Whether this is imported by the `testwright` command, and not by a program that uses the library."""
    program = (getattr(_sys, "argv", None) or [""])[0]
    if _os.path.basename(program) == "testwright":
        return True
    if not hasattr(_sys, "orig_argv"):  # Python 3.9
        return program == "-m" and _is_sought_as_the_program()
    words = _sys.orig_argv
    return "-m" in words and words[words.index("-m") + 1 :][:1] == ["testwright"]


def _is_sought_as_the_program():
    """Whether this is imported because `python -m testwright` looks for its `__main__`.

    While it looks, Python keeps to itself what follows `-m`; only `runpy`, which does the looking, knows.
    """
    frame = _sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "runpy":
        frame = frame.f_back
    return frame is not None and frame.f_locals.get("mod_name") == "testwright.__main__"


if _is_the_command():
    # What `signal` is made of: importing that one takes long enough for a Ctrl-C.
    import _signal

    # Ctrl-C while all of this is loaded ends the command, and nobody wants to read a traceback of that. Where it is
    # ignored, as for a job in the background, it still is.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from testwright._native import Action, HarnessError, State, __version__, main  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
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


def __getattr__(name):
    """Loads what only programs need that use the library: without it each process of the command starts in half the time."""
    if name == "Sut":
        from testwright.sut import Sut as found
    elif name == "Test":
        from testwright.test import Test as found
    else:
        raise AttributeError(f"module 'testwright' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__():
    return sorted({*globals(), *__all__})


def load(path, **options):
    """Brings a harness to life; the options are those of :class:`Sut`.

    >>> testwright.load("stack.tstl", coverage=False)
    <Sut ...stack.tstl>
    >>> testwright.load("queue.tstl")
    Traceback (most recent call last):
        ...
    FileNotFoundError: cannot read the harness `queue.tstl`: No such file or directory (os error 2)
    """
    from testwright.sut import Sut

    return Sut(path, **options)
