"""Testwright generates tests for Python code from small harnesses, and reduces what fails.

Use it from the command line (`testwright --help`) or as a library: :func:`load` returns a harness as an object, and
tests are ordinary values. :class:`Sut` shows the harness that all examples use:

    >>> import random
    >>> import testwright
    >>> sut = testwright.load("stack.tstl")
    >>> test, passed = sut.make_test(100, random.Random(1))
    >>> passed
    False
    >>> print(sut.reduce(test, sut.fails))
    stack0 = stack.Stack()
    stack0.top()

:func:`main` runs the command line without a new process: it takes the arguments and returns the exit status.
"""

import os as _os
import sys as _sys


def _is_the_command():
    """Returns true if the `testwright` command imports this module, and not a program that uses the library."""
    program = (getattr(_sys, "argv", None) or [""])[0]
    if _os.path.basename(program) == "testwright":
        return True
    if not hasattr(_sys, "orig_argv"):  # Python 3.9
        return program == "-m" and _runpy_looks_for_main()
    words = _sys.orig_argv
    return "-m" in words and words[words.index("-m") + 1 :][:1] == ["testwright"]


def _runpy_looks_for_main():
    """Returns true if this module is imported because `python -m testwright` looks for its `__main__`.

    During that import `sys.argv` does not contain the name after `-m`; only the frame of `runpy` has it.
    """
    frame = _sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "runpy":
        frame = frame.f_back
    return frame is not None and frame.f_locals.get("mod_name") == "testwright.__main__"


if _is_the_command():
    # The C module behind `signal`: importing `signal` itself takes long enough for a Ctrl-C to arrive.
    import _signal

    # Ctrl-C while the package is loading ends the command without a traceback. If SIGINT is ignored, as in a background
    # job, it stays ignored.
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
    """Imports `Sut` and `Test` on first use: without them each process of the command starts in half the time."""
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
    """Loads a harness; the options are those of :class:`Sut`.

    >>> testwright.load("stack.tstl", coverage=False)
    <Sut ...stack.tstl>
    >>> testwright.load("queue.tstl")
    Traceback (most recent call last):
        ...
    FileNotFoundError: cannot read the harness `queue.tstl`: no such file or directory
    """
    from testwright.sut import Sut

    return Sut(path, **options)
