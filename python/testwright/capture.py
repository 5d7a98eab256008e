"""Watching a program from inside it.

``testwright capture -- python app.py`` needs no change to the program. Where only a part is of interest, or the program
is started by something else, the part can be watched from inside:

    >>> import testwright.capture
    >>> with testwright.capture.recording(scope=["stack"]):
    ...     import stack
    ...     stack.Stack().push(1)

What was recorded is in the folder ``.testwright/capture``, for ``testwright show`` and the commands that write tests.
"""

import contextlib
import os
import sys
import time

from testwright import _native

__all__ = ["recording", "start", "stop"]

#: Where recordings are kept, and looked for.
FOLDER = os.path.join(".testwright", "capture")


def start(scope=(), folder=FOLDER):
    """Starts to record the calls of this process's own code, in all its threads.

    `scope` names modules and packages; without it, what is in the current folder and below counts, except for tests and
    installed packages. `folder` is where recordings are kept.

        >>> testwright.capture.start()
        >>> testwright.capture.start()
        Traceback (most recent call last):
            ...
        RuntimeError: this process is being captured already
        >>> path = testwright.capture.stop()
    """
    modules = [scope] if isinstance(scope, str) else list(scope)
    name = f"{time.time_ns() // 1_000_000}-{os.getpid()}"
    _native.start_capture(os.path.abspath(folder), name, modules, [os.getcwd()], list(sys.argv))


def stop():
    """Stops recording. Returns the file with what was recorded, or `None` if nothing was.

    >>> testwright.capture.stop() is None
    True
    """
    return _native.stop_capture()


class recording(contextlib.ContextDecorator):
    """Records while a block runs, or a function that it decorates. The arguments are those of :func:`start`.

    >>> @testwright.capture.recording(scope="stack")
    ... def main():
    ...     import stack
    ...     stack.Stack().push(2)
    >>> main()
    """

    def __init__(self, scope=(), folder=FOLDER):
        self.scope = scope
        self.folder = folder

    def __enter__(self):
        start(self.scope, self.folder)
        return self

    def __exit__(self, *exception):
        stop()
        return False
