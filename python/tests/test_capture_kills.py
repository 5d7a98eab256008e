"""A program that is killed while it is recorded: the recording can be read, and has everything up to that moment.

The program logs the beginning and the end of each call in its own file. Afterwards the recording is compared with this
log: it has every call that ended, with its result, and no call that had not begun.
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
#: The number of functions. There are many, since only the first calls of each are sure to be recorded.
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

#: A fork server: forks a recorded program for each folder that it reads, so that no program needs its own start-up.
FORK_SERVER = """
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
        # Even if it has ended, it was not reaped yet, so the process id is still valid.
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("over", flush=True)
"""


class ForkServer:
    """Runs programs in forked processes, and kills them."""

    def __init__(self, folder):
        (folder / "program.py").write_text(PROGRAM)
        (folder / "fork_server.py").write_text(textwrap.dedent(FORK_SERVER))
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "fork_server.py"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name, moment=None):
        """Runs the program in a new folder and kills it after `moment` seconds. Returns the folder and the run time."""
        folder = self.folder / name
        folder.mkdir()
        self.send(f"{folder}")
        self.process.stdout.readline()
        started = time.monotonic()
        if moment is None:
            self.send("wait")
        else:
            time.sleep(moment)
            self.send("kill")
        self.process.stdout.readline()
        return folder, time.monotonic() - started

    def send(self, words):
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()


@pytest.fixture
def server(tmp_path):
    server = ForkServer(tmp_path)
    with server.process:
        yield server
        server.process.stdin.close()


def noted(folder):
    """Returns the calls that began according to the log, and those that ended, with their results."""
    path = folder / "notes"
    lines = path.read_text().splitlines() if path.exists() else []
    words = [line.split() for line in lines]
    begun = {int(line[1]) for line in words if line[0] == "begun"}
    ended = {int(line[1]): int(line[2]) for line in words if line[0] == "ended"}
    return begun, ended


RETURNED = re.compile(r"work\d+\(number=(\d+), .*\) returned \((\d+), (\d+)\)")
UNFINISHED = re.compile(r"work(\d+)\(.*\) did not end")


def recorded(folder, monkeypatch, capfd):
    """Returns the recorded calls that ended, with their results, and the functions whose calls did not end."""
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


def test_a_killed_program_has_a_complete_recording(server, monkeypatch, capfd):
    whole, seconds = server.run("whole")
    begun, ended = noted(whole)
    assert len(ended) == len(begun) == CALLS
    assert recorded(whole, monkeypatch, capfd) == (ended, [])
    rng = random.Random(20)
    parts = []
    # The moments must be spread: if all were too early or too late, the test would show nothing.
    while len(parts) < KILLS or sum(0 < part < CALLS for part in parts) < KILLS // 4:
        assert len(parts) < 10 * KILLS, parts
        folder, _ = server.run(f"killed{len(parts)}", rng.uniform(0, seconds))
        begun, ended = noted(folder)
        returned, unfinished = recorded(folder, monkeypatch, capfd)
        lost = ended.keys() - returned.keys()
        assert not lost, f"ended, but not on record: {sorted(lost)}"
        assert {call: returned[call] for call in ended} == ended
        # In each thread, one call may have ended before the program could log that.
        invented = returned.keys() - begun
        assert not invented, f"on record, but not begun: {sorted(invented)}"
        open_calls = [call % FUNCTIONS for call in begun - returned.keys()]
        assert len(returned.keys() - ended.keys()) + len(open_calls) <= 2
        assert set(unfinished) <= set(open_calls)
        parts.append(len(ended))
