"""Helpers for the tests in this folder that Testwright wrote.

They need only the standard library.
"""

import contextvars
import functools
import math
import pathlib
import re
import socket
import types
import weakref

_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, type)
_OWNERS = (type(None), type, types.ModuleType)
#: The flag of types that were created at run time.
_WRITTEN_IN_PYTHON = 1 << 9


def assert_same(actual, expected):
    """Fails unless both values have equal types and parts, shared in the same way."""
    difference = _difference(actual, expected, "value", {}, {})
    if difference:
        raise AssertionError(difference)


def _difference(actual, expected, path, pairs, back):
    if actual is expected:
        return None
    if type(actual) is not type(expected):
        return f"{path}: {type(actual).__name__} is not {type(expected).__name__}"
    if isinstance(expected, float) and math.isnan(expected) and math.isnan(actual):
        return None
    # Paths cache computed values in their attributes.
    is_plain = type(expected) in _PLAIN or isinstance(expected, pathlib.PurePath)
    if is_plain or _is_function(expected):
        is_same = actual == expected or _is_copy(actual, expected)
        return None if is_same else f"{path}: {actual!r} != {expected!r}"
    if pairs.get(id(actual)) == id(expected):
        return None
    # The interpreter may or may not share immutable parts.
    is_changeable = not isinstance(expected, (tuple, frozenset))
    if is_changeable and (id(actual) in pairs or id(expected) in back):
        return f"{path}: shared in another way"
    pairs[id(actual)] = id(expected)
    back[id(expected)] = id(actual)
    for name, one, other in _parts(actual, expected):
        if one is _MISSING or other is _MISSING:
            which = "is missing" if one is _MISSING else "is not expected"
            return f"{path}{name}: {which}"
        difference = _difference(one, other, path + name, pairs, back)
        if difference:
            return difference
    is_compared = type(expected).__eq__ is not object.__eq__
    if is_compared and not _has_parts(expected) and actual != expected:
        return f"{path}: {actual!r} != {expected!r}"
    return None


_MISSING = object()


def _is_function(value):
    """Returns true for a function without a receiver and without enclosed variables."""
    if isinstance(value, types.BuiltinFunctionType):
        return isinstance(value.__self__, _OWNERS)
    return isinstance(value, types.FunctionType) and not value.__closure__


def _is_copy(one, other):
    """Returns true if two functions were compiled from equal text, wherever that is."""
    if not isinstance(one, types.FunctionType) or one.__closure__:
        return False
    ours, theirs = one.__code__, other.__code__
    names = ("co_code", "co_names", "co_varnames", "co_consts")
    return all(getattr(ours, name) == getattr(theirs, name) for name in names)


def _has_parts(value):
    containers = (
        list,
        tuple,
        dict,
        set,
        frozenset,
        BaseException,
        types.FunctionType,
        types.MethodType,
        types.BuiltinFunctionType,
        functools.partial,
        re.Match,
        contextvars.ContextVar,
        weakref.ref,
    )
    if type(value).__module__ == "sqlite3":
        return True
    return isinstance(value, containers) or bool(_attributes(value))


def _parts(actual, expected):
    """Yields the parts of two values of the same type, side by side."""
    if isinstance(expected, BaseException):
        yield ".args", actual.args, expected.args
    if isinstance(expected, types.MethodType):
        yield ".__func__", actual.__func__, expected.__func__
        yield ".__self__", actual.__self__, expected.__self__
        return
    if isinstance(expected, types.FunctionType):
        yield ".__code__", actual.__code__ == expected.__code__, True
        for index, (one, other) in enumerate(zip(actual.__closure__, expected.__closure__)):
            yield f".__closure__[{index}]", one.cell_contents, other.cell_contents
        return
    if isinstance(expected, types.BuiltinFunctionType):
        yield ".__name__", actual.__name__, expected.__name__
        yield ".__self__", actual.__self__, expected.__self__
        return
    if type(expected).__module__ == "sqlite3":
        yield ".iterdump()", list(actual.iterdump()), list(expected.iterdump())
        return
    if isinstance(expected, contextvars.ContextVar):
        yield ".get()", actual.get(_MISSING), expected.get(_MISSING)
        return
    if isinstance(expected, weakref.ref):
        yield "()", actual(), expected()
    if isinstance(expected, re.Match):
        for name in ("re", "string", "regs", "pos", "endpos"):
            yield f".{name}", getattr(actual, name), getattr(expected, name)
    if isinstance(expected, functools.partial):
        yield ".func", actual.func, expected.func
        yield ".args", actual.args, expected.args
        yield ".keywords", actual.keywords, expected.keywords
    if isinstance(expected, (list, tuple)):
        for index in range(max(len(actual), len(expected))):
            one = actual[index] if index < len(actual) else _MISSING
            other = expected[index] if index < len(expected) else _MISSING
            yield f"[{index}]", one, other
    if isinstance(expected, dict):
        for key in list(actual) + [key for key in expected if key not in actual]:
            yield f"[{key!r}]", actual.get(key, _MISSING), expected.get(key, _MISSING)
    if isinstance(expected, (set, frozenset)):
        left = list(expected)
        for item in actual:
            match = [other for other in left if _difference(item, other, "", {}, {}) is None]
            if match:
                left.remove(match[0])
            else:
                yield f"{{{item!r}}}", item, _MISSING
        for other in left:
            yield f"{{{other!r}}}", _MISSING, other
    ours, theirs = _attributes(actual), _attributes(expected)
    for name in list(ours) + [name for name in theirs if name not in ours]:
        # A stored hash differs in each process.
        if "hash" in name and isinstance(ours.get(name), int) and isinstance(theirs.get(name), int):
            continue
        yield f".{name}", ours.get(name, _MISSING), theirs.get(name, _MISSING)


def _attributes(value):
    """Returns the attributes in an object's dictionary and slots, without running its code."""
    found = {}
    for kind in reversed(type(value).__mro__):
        slots = kind.__dict__.get("__slots__", ())
        for slot in [slots] if isinstance(slots, str) else slots:
            if slot in ("__dict__", "__weakref__"):
                continue
            name = (
                f"_{kind.__name__.lstrip('_')}{slot}"
                if slot.startswith("__") and not slot.endswith("__")
                else slot
            )
            try:
                found[name] = object.__getattribute__(value, name)
            except AttributeError:
                pass
    try:
        found.update(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        pass
    return found


def rebuilt(kind, content=_MISSING, /, **attributes):
    """Creates an object with this state, without running its constructor."""
    # The first base written in C knows how to create such objects.
    base = next(base for base in kind.__mro__ if not base.__flags__ & _WRITTEN_IN_PYTHON)
    if content is _MISSING or base in (list, dict, set, bytearray):
        value = base.__new__(kind)
    else:
        value = base.__new__(kind, content)
    if content is not _MISSING and base in (list, dict, set, bytearray):
        base.__init__(value, content)
    for name, part in attributes.items():
        object.__setattr__(value, name, part)
    return value


def without_addresses(text):
    """Replaces the addresses of objects in a text, which differ each time, by `0x...`."""
    return re.sub(r" at 0x[0-9a-fA-F]+", " at 0x...", text)


class Answers:
    """A function that returns these values in turn, and raises those that are exceptions."""

    def __init__(self, *answers):
        self._answers = iter(answers)

    def __call__(self, *args, **kwargs):
        for answer in self._answers:
            if isinstance(answer, BaseException):
                raise answer
            return answer
        raise AssertionError("called more often than when this was recorded")


def answering(kind, **answers):
    """Creates a class like `kind` whose class methods of these names call these functions."""
    methods = {name: staticmethod(answer) for name, answer in answers.items()}
    return type(kind.__name__, (kind,), methods)


def shuffling(*orders):
    """Creates a replacement of `random.shuffle` that puts lists into these orders in turn."""
    left = list(orders)

    def shuffle(items):
        items[:] = left.pop(0)

    return shuffle


class ScriptedSocket:
    """A socket that replays its side of a conversation, and fails if the other side differs."""

    def __init__(self, *turns):
        self._turns = list(turns)
        self._io_refs = 0

    def assert_finished(self):
        """Fails unless the conversation is finished."""
        if self._turns:
            raise AssertionError(f"the conversation is not finished: {self._turns}")

    def _turn(self, kind):
        if not self._turns or self._turns[0][0] != kind:
            raise AssertionError(f"{kind!r} was not expected, but: {self._turns[:1]}")
        said = self._turns.pop(0)[1]
        if isinstance(said, BaseException):
            raise said
        return said

    def sendall(self, data, flags=0):
        data = _without_version(bytes(data))
        while data:
            expected = _without_version(self._turn("sent"))
            length = min(len(data), len(expected))
            if data[:length] != expected[:length]:
                raise AssertionError(f"{data!r} was sent instead of {expected!r}")
            data = data[length:]
            if expected[length:]:
                self._turns.insert(0, ("sent", expected[length:]))

    def send(self, data, flags=0):
        self.sendall(data)
        return len(data)

    def recv(self, size, flags=0):
        data = self._turn("received")
        if data[size:]:
            self._turns.insert(0, ("received", data[size:]))
        return data[:size]

    def recv_into(self, buffer, size=0, flags=0):
        data = self.recv(size or len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def connect(self, address):
        self._same("connect", address)

    def connect_ex(self, address):
        self._same("connect_ex", address)
        return 0

    def bind(self, address):
        self._same("bind", address)

    def _same(self, kind, address):
        expected = self._turn(kind)
        if address != expected:
            raise AssertionError(f"{kind} to {address!r} instead of {expected!r}")

    def accept(self):
        return self._turn("accept")

    def recvfrom(self, size, flags=0):
        return self._turn("recvfrom")

    def sendto(self, data, *address):
        return self._turn("sendto")

    def _nothing(self, *args, **kwargs):
        return None

    close = detach = listen = setblocking = setsockopt = settimeout = shutdown = _nothing
    gettimeout = _decref_socketios = _nothing
    makefile = socket.socket.makefile

    def fileno(self):
        return -1

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


def _without_version(data):
    """Removes the version of Python, which some modules send."""
    return re.sub(rb"Python-urllib/[0-9.]+", b"Python-urllib/3", data)


class ScriptedProcess:
    """A replacement of a `subprocess.Popen`, with the recorded replies."""

    def __init__(self, returncode=None, **answers):
        self.returncode = None
        self._code = returncode
        self._answers = {name: Answers(*given) for name, given in answers.items()}

    def _ask(self, name):
        answer = self._answers[name]() if name in self._answers else None
        self.returncode = self._code
        return answer

    def communicate(self, input=None, timeout=None):
        return self._ask("communicate")

    def wait(self, timeout=None):
        return self._ask("wait")

    def poll(self):
        return self._ask("poll")

    def kill(self):
        return None

    terminate = kill

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.returncode = self._code


def database(script, row_factory=None):
    """Creates a database in memory, filled by an SQL script."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    connection.row_factory = row_factory
    return connection
