"""Records a program from inside it.

``testwright capture -- python app.py`` needs no change to the program. To record only a part of it, or a program that
another tool starts, use this module in the program:

    >>> import testwright.capture
    >>> with testwright.capture.recording(scope=["stack"]):
    ...     import stack
    ...     stack.Stack().push(1)

The recording is in the folder ``.testwright/capture``, for ``testwright show`` and the commands that write tests. Other
tools read it with :func:`recorded`.
"""

import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass, field

from testwright import _native

__all__ = ["Argument", "Call", "Step", "Unit", "Value", "recorded", "recording", "start", "stop"]

#: The folder of recordings, relative to the current folder.
FOLDER = os.path.join(".testwright", "capture")


def start(scope=(), folder=FOLDER):
    """Starts to record the calls of this process's own code, in all its threads.

    `scope` names modules and packages. Without it, all modules below the current folder are recorded, except for tests
    and installed packages. `folder` is the folder for recordings.

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
    """Stops recording. Returns the path of the recording, or `None` if nothing was recorded.

    >>> testwright.capture.stop() is None
    True
    """
    return _native.stop_capture()


class recording(contextlib.ContextDecorator):
    """Records while a `with` block or a decorated function runs. The arguments are those of :func:`start`.

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


@dataclass(frozen=True)
class Value:
    """A value as it was at one moment. Reading it needs no code of the program."""

    #: The qualified name of its type, with the module; only the name for built-in types.
    type: str
    #: Its `repr`, shortened if it is long.
    text: str
    #: The value itself if it is a number, a string or a bool.
    value: object = None
    #: The elements of a list, tuple or set.
    items: tuple = ()
    #: The keys and values of a dictionary.
    entries: tuple = ()
    #: The attributes of an object.
    attributes: dict = field(default_factory=dict)
    #: The constructor arguments of an exception or of an object of a library type.
    arguments: tuple = ()

    @classmethod
    def _of(cls, data):
        if data is None:
            return None

        def all_of(parts):
            return tuple(cls._of(part) for part in parts)

        return cls(
            data["type"],
            data["text"],
            data.get("value"),
            all_of(data.get("items", ())),
            tuple(all_of(entry) for entry in data.get("entries", ())),
            {name: cls._of(part) for name, part in data.get("attributes", {}).items()},
            all_of(data.get("arguments", ())),
        )


@dataclass(frozen=True)
class Argument:
    """The value of a parameter in one call."""

    name: str
    #: The value when the call began.
    before: Value
    #: The value when the call ended, or `None` if it did not end.
    after: Value
    #: True if it is the object that the parameter has as its default.
    is_default: bool


@dataclass(frozen=True)
class Step:
    """A step of a generator: an action (`next`, `send`, `throw` or `close`) and its outcome (`yielded`, `returned` or `raised`)."""

    action: str
    given: Value
    outcome: str
    value: Value


@dataclass(frozen=True)
class Call:
    """A recorded call."""

    #: The call in one line.
    text: str
    arguments: tuple
    #: `returned`, `raised` or `unfinished`.
    outcome: str
    #: The value that it returned, or the exception.
    value: Value
    #: The steps of a generator.
    steps: tuple
    #: What it changed and its input and output, in words.
    notes: tuple
    #: The lines of the unit that it ran.
    lines: tuple
    microseconds: int
    #: The number of the thread, in order of first appearance.
    thread: int
    #: The version of Python.
    python: str
    #: The command line, as a list of words.
    command: tuple

    @classmethod
    def _of(cls, data):
        arguments = (
            Argument(
                item["name"],
                Value._of(item["before"]),
                Value._of(item["after"]),
                item["is_default"],
            )
            for item in data["arguments"]
        )
        steps = (
            Step(
                item["action"], Value._of(item["given"]), item["outcome"], Value._of(item["value"])
            )
            for item in data["steps"]
        )
        return cls(
            data["text"],
            tuple(arguments),
            data["outcome"],
            Value._of(data["value"]),
            tuple(steps),
            tuple(data["notes"]),
            tuple(data["lines"]),
            data["microseconds"],
            data["thread"],
            data["python"],
            tuple(data["command"] or ()),
        )


@dataclass(frozen=True)
class Unit:
    """A function or method that was called."""

    name: str
    file: str
    line: int
    #: `function`, `generator`, `coroutine` or `async generator`.
    kind: str
    #: The names of its parameters.
    parameters: tuple
    #: How often it was called. Most calls are only counted.
    called: int
    #: The calls that were recorded in full.
    calls: tuple


def recorded(name=None, folder=FOLDER, limit=1_000):
    """Returns the recorded units, with at most `limit` calls of each.

    `name` is the name of a unit, or of a class or module that contains units. Without it, all units are returned.
    No code of the program is run or imported.

        for unit in testwright.capture.recorded("stack"):
            for call in unit.calls:
                print(call.text, [argument.before.type for argument in call.arguments])
    """
    return [
        Unit(
            data["name"],
            data["file"],
            data["line"],
            data["kind"],
            tuple(data["parameters"]),
            data["called"],
            tuple(Call._of(call) for call in data["calls"]),
        )
        for data in json.loads(_native.recorded_units(os.path.abspath(folder), name, limit))
    ]
