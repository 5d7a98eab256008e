"""Code runs at full speed once it is covered, and other tools still get all events. The tests measure no time: they look
at the instructions that the interpreter runs."""

import subprocess
import sys

import pytest

PARTLY = """\
class Box:
    size = 3

def partly(x, y, box):
    total = x + y if x > 1 else len("abc") or y
    for number in range(3):
        total += number if number % 2 else x or y
        if total < 0:
            raise ValueError(f"{total!r} of {x if x else y}")
    least = min(total if total < 9 else y, x)
    try:
        least = {1: 5}[x]
    except KeyError:
        least += 1 if x and y else 2
    word = str(f"{x}{'!' if x else '?'}")
    return total, least, word, box.size if x else 0
"""


def compare(testwright, program):
    """Checks that a program prints the same with and without coverage."""
    testwright.write("partly.py", PARTLY)
    testwright.write("program.py", program)
    command = [sys.executable, "program.py"]
    alone = subprocess.run(command, cwd=testwright.folder, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr
    assert testwright("cover", "program.py").stdout == alone.stdout


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before, nothing waits in the code")
def test_covered_code_runs_without_instrumentation(testwright):
    program = """
import dis, partly
for _ in range(100):
    for x in (0, 1, 2):
        partly.partly(x, 3, partly.Box)
for one in dis.get_instructions(partly.partly, adaptive=True):
    unseen = one.positions.lineno == 9
    mark = one.opname in ("JUMP_FORWARD", "NOP")
    if not unseen and not mark and one.opname not in ("CACHE", "RESERVED"):
        print(one.positions.lineno, one.opname)
"""
    compare(testwright, program)


LISTEN = """
import sys, partly
seen = []
def listen(frame, event, argument):
    if frame.f_code.co_filename.endswith("partly.py"):
        seen.append((event, frame.f_lineno, getattr(argument, "__name__", "")))
    return listen
def work():
    for x in (0, 1, 2):
        partly.partly(x, 3, partly.Box)
"""


@pytest.mark.parametrize("function", ["settrace", "setprofile"])
def test_a_tool_that_started_before_gets_all_events(testwright, function):
    compare(testwright, f"{LISTEN}sys.{function}(listen)\nwork()\nprint(seen)\n")


@pytest.mark.parametrize("function", ["settrace", "setprofile"])
def test_a_tool_that_starts_later_gets_all_events(testwright, function):
    warm = "for _ in range(100): work()\n"
    compare(testwright, f"{LISTEN}{warm}sys.{function}(listen)\nwork()\nprint(seen)\n")
