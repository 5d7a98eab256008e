"""Finds where a failure comes from, which is most of its identity."""

import ast
import functools
import linecache
import os
import re
import sys
import sysconfig

STANDARD_LIBRARY = os.path.normcase(sysconfig.get_path("stdlib")) + os.sep


def place_of_failure(traceback):
    """Returns where an exception was raised, and whether its message says more than that.

    Code of the standard library fails because of its caller. A function that raises with a message
    that it was given fails where the message was written. A message that is written at the place
    says no more than the place: only its values differ.
    """
    frames = []
    while traceback is not None:
        frames.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    own = [number for number, (code, _) in enumerate(frames) if not is_of_python(code.co_filename)]
    number, last = own[-1] if own else len(frames) - 1, len(frames) - 1
    places = [frames[number]] if number == last else [frames[number], frames[last]]
    origin = origin_of_message(*frames[number], number == last)
    while origin == "parameter" and number > 0:
        number -= 1
        places.append(frames[number])
        origin = origin_of_message(*frames[number], False)
    names = [f"{os.path.basename(code.co_filename)}:{line}" for code, line in places]
    return " of ".join(names), origin != "here"


def is_of_python(path):
    """Returns true if a file belongs to the standard library."""
    return os.path.normcase(path).startswith(STANDARD_LIBRARY) and "-packages" not in path


@functools.lru_cache(maxsize=256)
def origin_of_message(code, line, is_raised):
    """Returns whether a message is written "here", is given as a "parameter", or "unknown".

    Looks at the statement that raises, or else at the call in that line.
    """
    kinds = (ast.Raise, ast.Assert) if is_raised else ast.Call
    nodes = [
        node
        for node in nodes_of(code.co_filename)
        if isinstance(node, kinds) and node.lineno <= line <= node.end_lineno
    ]
    if not nodes:
        return "unknown"
    node = min(nodes, key=lambda node: node.end_lineno - node.lineno)
    if isinstance(node, ast.Assert):
        parts = [node.msg] if node.msg else []
    elif isinstance(node, ast.Call) or isinstance(node.exc, ast.Call):
        call = node if isinstance(node, ast.Call) else node.exc
        parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    else:
        return "unknown"
    written = [inner for part in parts for inner in ast.walk(part)]
    texts = [inner.value for inner in written if isinstance(inner, ast.Constant)]
    if not parts or any(isinstance(text, str) and text.strip() for text in texts):
        return "here"
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = {inner.id for inner in written if isinstance(inner, ast.Name)}
    return "parameter" if names.intersection(parameters) else "unknown"


@functools.lru_cache(maxsize=64)
def nodes_of(path):
    """Returns the parts of a file that may say why something failed."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    kinds = (ast.Raise, ast.Assert, ast.Call, ast.Constant)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def written_words(path, text):
    """Returns those words of a text that are written in a file. The others are values."""
    texts = texts_of(path)
    if text.strip() in texts:
        return text.strip()
    sentences = [one for one in texts if not one.isidentifier()]
    known = {word for one in sentences for word in words_of(one)}
    return " ".join(dict.fromkeys(word for word in words_of(text) if word in known))


def words_of(text):
    """Returns the words of a text, without the conversions of a format."""
    return re.findall(r"[^\W\d_]+", re.sub(r"%[-+ #0-9.]*[a-zA-Z]|\{[^{}]*\}", " ", text))


@functools.lru_cache(maxsize=16)
def texts_of(path):
    """Returns the texts that are written in a file."""
    constants = [node.value for node in nodes_of(path) if isinstance(node, ast.Constant)]
    return frozenset(text for text in constants if isinstance(text, str))


class LineRecorder:
    """Records the lines of functions that a harness or a stepper calls directly.

    What those call in turn depends too much on values. The standard library does not count, and the
    lines of the file itself only for a stepper.
    """

    def __init__(self, path, is_stepper=False):
        self.path, self.is_stepper, self.lines = path, is_stepper, set()

    def start(self):
        """Begins to record, unless another tool traces already."""
        if sys.gettrace() is None:
            sys.settrace(self.enter)

    def stop(self):
        """Stops recording and returns the lines."""
        if sys.gettrace() == self.enter:
            sys.settrace(None)
        return sorted(self.lines)

    def enter(self, frame, event, argument):
        """Decides for a frame whether its lines are recorded."""
        path = frame.f_code.co_filename
        if path == self.path:
            return self.record if self.is_stepper else None
        caller = frame.f_back.f_code.co_filename if frame.f_back else self.path
        is_outer = caller == self.path
        return self.record if is_outer and not is_of_python(path) else None

    def record(self, frame, event, argument):
        """Records a line."""
        if event == "line":
            name = os.path.basename(frame.f_code.co_filename)
            self.lines.add(f"{name}:{frame.f_lineno}")
        return self.record
