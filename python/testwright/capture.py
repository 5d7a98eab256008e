"""Watching a program from inside it.

``testwright capture -- python app.py`` needs no change to the program. Where only a part is of interest, or the program
is started by something else, the part can be watched from inside:

    >>> import testwright.capture
    >>> with testwright.capture.recording(scope=["stack"]):
    ...     import stack
    ...     stack.Stack().push(1)

What was recorded is in the folder ``.testwright/capture``, for ``testwright show`` and the commands that write tests. Other
tools read it by :func:`recorded`.
"""

import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass, field

from testwright import _native

__all__ = ["Argument", "Call", "Step", "Unit", "Value", "recorded", "recording", "start", "stop"]

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


@dataclass(frozen=True)
class Value:
    """A value as it was at some moment. Nothing of the program is needed to look at it."""

    #: Where an importer finds its type; built-in types by their name alone.
    type: str
    #: As Python would show it, cut short where it is long.
    text: str
    #: The value itself, of numbers, texts and truth values.
    value: object = None
    #: The parts of lists, tuples and sets.
    items: tuple = ()
    #: The keys and values of dictionaries.
    entries: tuple = ()
    #: The attributes of objects.
    attributes: dict = field(default_factory=dict)
    #: What exceptions, and objects of library types, are made with.
    arguments: tuple = ()

    @classmethod
    def _of(cls, told):
        if told is None:
            return None

        def all_of(parts):
            return tuple(cls._of(part) for part in parts)

        return cls(
            told["type"],
            told["text"],
            told.get("value"),
            all_of(told.get("items", ())),
            tuple(all_of(entry) for entry in told.get("entries", ())),
            {name: cls._of(part) for name, part in told.get("attributes", {}).items()},
            all_of(told.get("arguments", ())),
        )


@dataclass(frozen=True)
class Argument:
    """What a parameter was bound to."""

    name: str
    #: When the call began.
    before: Value
    #: When it ended, or `None` if it did not.
    after: Value
    #: Whether it is the very object that the parameter has as its default.
    is_default: bool


@dataclass(frozen=True)
class Step:
    """What a generator was told (`next`, `send`, `throw` or `close`) and what came of it (`yielded`, `returned` or `raised`)."""

    action: str
    given: Value
    outcome: str
    value: Value


@dataclass(frozen=True)
class Call:
    """A call that was kept."""

    #: The call in one line.
    text: str
    arguments: tuple
    #: `returned`, `raised` or `unfinished`.
    outcome: str
    #: What it returned, or the exception.
    value: Value
    #: The steps of a generator.
    steps: tuple
    #: What it changed, what came from outside and went there, in words.
    notes: tuple
    #: The lines of the unit that it reached.
    lines: tuple
    microseconds: int
    #: The number of the thread, in the order in which they were seen.
    thread: int
    #: The version of Python.
    python: str
    #: The words of the command.
    command: tuple

    @classmethod
    def _of(cls, told):
        arguments = (
            Argument(
                one["name"], Value._of(one["before"]), Value._of(one["after"]), one["is_default"]
            )
            for one in told["arguments"]
        )
        steps = (
            Step(one["action"], Value._of(one["given"]), one["outcome"], Value._of(one["value"]))
            for one in told["steps"]
        )
        return cls(
            told["text"],
            tuple(arguments),
            told["outcome"],
            Value._of(told["value"]),
            tuple(steps),
            tuple(told["notes"]),
            tuple(told["lines"]),
            told["microseconds"],
            told["thread"],
            told["python"],
            tuple(told["command"] or ()),
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
    #: How often it was called. Of most calls no more than that is known.
    called: int
    #: Those that were kept.
    calls: tuple


def recorded(name=None, folder=FOLDER, limit=1_000):
    """The units that were recorded, with at most `limit` calls of each.

    `name` is that of a unit, or of a class or module around it; without it, all are told. Nothing is run or imported for that.

        for unit in testwright.capture.recorded("stack"):
            for call in unit.calls:
                print(call.text, [argument.before.type for argument in call.arguments])
    """
    return [
        Unit(
            told["name"],
            told["file"],
            told["line"],
            told["kind"],
            tuple(told["parameters"]),
            told["called"],
            tuple(Call._of(call) for call in told["calls"]),
        )
        for told in json.loads(_native.recorded_units(os.path.abspath(folder), name, limit))
    ]
