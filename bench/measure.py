"""Runs commands and measures their time.

Time is the CPU time of the command and its children, so other work on the machine makes little difference. Commands
to compare take turns, and the median of the repeats is used.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

LAUNCHER = Path(__file__).resolve().with_name("launcher.py")


@dataclass(frozen=True)
class Run:
    """The result of a command."""

    status: int
    output: str
    cpu: float
    #: Peak memory in MB.
    peak: float
    #: True if it was killed at the time limit.
    too_long: bool

    def checked(self, *good):
        """Returns this result. Raises `Failed` if the exit status is not one of the expected ones."""
        if self.too_long:
            raise Failed("took too long")
        if self.status not in (good or (0,)):
            raise Failed(f"exit status {self.status}:\n{self.output[-2000:]}")
        return self


class Failed(Exception):
    """An error: a command did not do what it should."""


def run(command, folder, limit=120, **variables):
    """Runs a command in a folder and measures it; kills it after `limit` seconds."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment.update({"PYTHONHASHSEED": "0", **variables})
    with tempfile.NamedTemporaryFile("r") as used, tempfile.TemporaryFile() as output:
        launch = [sys.executable, "-I", "-S", LAUNCHER, used.name, *command]
        child = subprocess.Popen(
            [str(word) for word in launch],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            child.wait(limit)
            too_long = False
        except subprocess.TimeoutExpired:
            too_long = True
        finally:
            if child.returncode is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
        numbers = used.read().split() or ["nan", "nan"]
    return Run(child.returncode, text, float(numbers[0]), float(numbers[1]), too_long)


def alternately(repeats, works):
    """Runs each work once, then each again, and so on. Returns a dictionary from name to results, in order."""
    results = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            results[name].append(work())
    return results


def busy():
    """Returns the CPU seconds of the whole machine since it started, or None if it does not report them."""
    try:
        with open("/proc/stat", encoding="utf-8") as file:
            # user, nice, system, idle, waiting, interrupts twice, stolen
            ticks = [int(word) for word in file.readline().split()[1:9]]
    except OSError:
        return None
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


class Others:
    """Measures the other work of the machine from now on."""

    def __init__(self):
        self.began, self.busy = time.monotonic(), busy()

    def in_words(self, own):
        """Returns a list with a sentence about other work, or an empty one; `own` is the CPU seconds of the benchmark."""
        if self.busy is None:
            return []
        taken = busy() - self.busy - own
        share = max(taken, 0) / (time.monotonic() - self.began) / os.cpu_count()
        return [f"Other work took {share:.0%} of the CPU time of the machine meanwhile."]


def median(values):
    return statistics.median(values)
