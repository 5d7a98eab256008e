"""A program that is killed while it is recorded: everything up to that moment is on record, and can be read.

The program notes in a file of its own when each call begins and when it has ended. Afterwards the recording is compared with
these notes: a call that has ended is there with its result, and no call is there that had not begun.
"""

import random
import re
import subprocess
import sys
import textwrap
import time

import pytest
import testwright
from soak import often

KILLS = often(50, 12)
#: So many different functions, because of each only the first calls are sure to be kept.
FUNCTIONS = 60
CALLS = 480

PROGRAM = (
    "".join(
        f"def work{number}(number, data):\n"
        f"    data.append({number})\n"
        "    return number, sum(data)\n\n\n"
        for number in range(FUNCTIONS)
    )
    + f"""
import os
import threading


def note(notes, words):
    os.write(notes, (words + "\\n").encode())


def part(notes, numbers):
    for number in numbers:
        data = [number * n for n in range(number % 50)]
        note(notes, f"begun {{number}}")
        result = globals()[f"work{{number % {FUNCTIONS}}}"](number, data)
        note(notes, f"ended {{number}} {{result[1]}}")


def main(notes):
    other = threading.Thread(target=part, args=(notes, range(1, {CALLS}, 2)))
    other.start()
    part(notes, range(0, {CALLS}, 2))
    other.join()
    note(notes, "done")
"""
)

#: Makes a program from a copy of itself for each folder that it is told, so that none has to be started from nothing.
NURSERY = """
import os
import signal
import sys

import testwright.capture
import program

for line in sys.stdin:
    folder = line.strip()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        notes = os.open("notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        program.note(notes, "started")
        testwright.capture.start(scope="program")
        program.main(notes)
        testwright.capture.stop()
        os._exit(0)
    print("made", flush=True)
    if sys.stdin.readline() == "kill\\n":
        # However it has ended, nobody has asked yet, so the number is still its own.
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("over", flush=True)
"""


class Nursery:
    def __init__(self, folder):
        (folder / "program.py").write_text(PROGRAM)
        (folder / "nursery.py").write_text(textwrap.dedent(NURSERY))
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "nursery.py"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name, moment=None):
        """Runs the program in a new folder and kills it so many seconds after its start. Returns how long it was there."""
        folder = self.folder / name
        folder.mkdir()
        self.tell(f"{folder}")
        self.process.stdout.readline()
        started = time.monotonic()
        if moment is None:
            self.tell("wait")
        else:
            time.sleep(moment)
            self.tell("kill")
        self.process.stdout.readline()
        return folder, time.monotonic() - started

    def tell(self, words):
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()


@pytest.fixture
def nursery(tmp_path):
    nursery = Nursery(tmp_path)
    with nursery.process:
        yield nursery
        nursery.process.stdin.close()


def noted(folder):
    """The calls that the program says to have begun, and those that it says to have ended, with their results."""
    path = folder / "notes"
    lines = path.read_text().splitlines() if path.exists() else []
    words = [line.split() for line in lines]
    begun = {int(line[1]) for line in words if line[0] == "begun"}
    ended = {int(line[1]): int(line[2]) for line in words if line[0] == "ended"}
    return begun, ended


RETURNED = re.compile(r"work\d+\(number=(\d+), .*\) returned \((\d+), (\d+)\)")
UNFINISHED = re.compile(r"work(\d+)\(.*\) did not end")


def recorded(folder, monkeypatch, capfd):
    """The calls on record: those that ended, with their results, and the numbers of functions that did not end."""
    monkeypatch.chdir(folder)
    capfd.readouterr()
    status = testwright.main(["show", "program", "--limit", "100"])
    shown = capfd.readouterr()
    if status == 2 and "nothing was recorded" in shown.err:
        return {}, []
    assert (status, shown.err) == (0, ""), shown.err
    returned = {}
    for number, again, result in RETURNED.findall(shown.out):
        assert again == number, "the result of another call"
        assert int(number) not in returned, "a call that is there twice"
        returned[int(number)] = int(result)
    unfinished = [int(number) for number in UNFINISHED.findall(shown.out)]
    return returned, unfinished


def test_whenever_a_program_is_killed_everything_before_is_on_record(nursery, monkeypatch, capfd):
    whole, seconds = nursery.run("whole")
    begun, ended = noted(whole)
    assert len(ended) == len(begun) == CALLS
    assert recorded(whole, monkeypatch, capfd) == (ended, [])
    chance = random.Random(20)
    parts = []
    # The moments must be spread: if all were too early or too late, nothing was tried.
    while len(parts) < KILLS or sum(0 < part < CALLS for part in parts) < KILLS // 4:
        assert len(parts) < 10 * KILLS, parts
        folder, _ = nursery.run(f"killed{len(parts)}", chance.uniform(0, seconds))
        begun, ended = noted(folder)
        returned, unfinished = recorded(folder, monkeypatch, capfd)
        lost = ended.keys() - returned.keys()
        assert not lost, f"ended, but not on record: {sorted(lost)}"
        assert {call: returned[call] for call in ended} == ended
        # A call may have ended before the program could say so, one in each thread.
        invented = returned.keys() - begun
        assert not invented, f"on record, but not begun: {sorted(invented)}"
        open_calls = [call % FUNCTIONS for call in begun - returned.keys()]
        assert len(returned.keys() - ended.keys()) + len(open_calls) <= 2
        assert set(unfinished) <= set(open_calls)
        parts.append(len(ended))
