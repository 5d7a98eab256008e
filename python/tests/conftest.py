"""The `testwright` fixture: a folder with a small system, and the installed command that runs in it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import soak

# A background job ignores Ctrl-C, and its child processes inherit that.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

STACK = """\
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        if not self.items:
            raise IndexError("pop from an empty stack")
        return self.items.pop()

    def top(self):
        return self.items[-1]  # The bug: an empty stack has no top.

    def __len__(self):
        return len(self.items)

    def __repr__(self):
        return f"Stack({self.items})"
"""

# `top` on an empty stack raises an exception that the harness does not expect.
BUGGY = """\
@import stack

pool: <int> 2
pool: <stack> 2

<int> := <[1..5]>
<stack> := stack.Stack()
<stack>.push(<int>)
{IndexError} <stack>.pop()
<stack>.top()

property: len(<stack>) >= 0
"""

SOUND = BUGGY.replace("<stack>.top()\n", "")


def pytest_configure(config):
    words = "soak(keep): only so many of its cases run, and all of them in `make soak`"
    config.addinivalue_line("markers", words)


def pytest_collection_modifyitems(config, items):
    kept = soak.sample(items)
    if len(kept) < len(items):
        kept_ids = set(map(id, kept))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept_ids])
        items[:] = kept


class Command:
    """Runs `testwright` in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def write(self, name, text, encoding="utf-8"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding=encoding)
        return path

    def line(self, *arguments):
        return [sys.executable, "-m", "testwright", *map(str, arguments)]

    def __call__(self, *arguments, status=0, **options):
        done = subprocess.run(
            self.line(*arguments),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            **options,
        )
        assert done.returncode == status, (
            f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        assert "Traceback (most recent call last)" not in done.stderr, done.stderr
        assert "internal error" not in done.stderr, done.stderr
        return done

    def python(self, *arguments):
        """Runs a Python program in the folder."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done

    @staticmethod
    def without_progress(text):
        """Returns the lines of an output without the progress lines of a search."""
        ends = (" left", " so far", " to be reduced")
        return [line for line in text.splitlines() if not line.endswith(ends)]

    @property
    def marker_code(self):
        """Python code that appends a byte to the marker file when it runs."""
        return f"open({str(self.folder / 'marker')!r}, 'a').write('x')"

    def wait_for_marker(self, times=1):
        """Waits until the marker code ran so many times, and the code after it has started."""
        self.wait_for("marker", times)

    def wait_for(self, name, size=0):
        """Waits until a file exists and has at least that size. The deadline is only for tests that fail."""
        path = self.folder / name
        deadline = time.monotonic() + 300
        while not (path.exists() and path.stat().st_size >= size):
            assert time.monotonic() < deadline, f"there is no {name}"
            time.sleep(0.02)
        time.sleep(0.5)

    def start(self, *arguments, **options):
        return subprocess.Popen(
            self.line(*arguments),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )


@pytest.fixture
def testwright(tmp_path, monkeypatch):
    for name in ("PYTHONHASHSEED", "NO_COLOR", "TESTWRIGHT_BACKTRACE"):
        monkeypatch.delenv(name, raising=False)
    command = Command(tmp_path)
    command.write("stack.py", STACK)
    command.write("stack.tstl", BUGGY)
    command.write("sound.tstl", SOUND)
    return command


@pytest.fixture
def environment():
    return dict(os.environ)
