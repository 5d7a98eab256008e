"""Running commands and taking their time.

Time is the CPU time of the command and its children, so that other work on the machine does little harm. What is to
be compared is run alternately, and the median of the repeats is taken.
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
    """What one command came to."""

    status: int
    output: str
    cpu: float
    #: The most memory it ever had, in MB.
    peak: float
    #: It was ended because it took too long.
    too_long: bool

    def or_complain(self, *good):
        """The same again, if its exit status is a good one."""
        if self.too_long:
            raise Failed("took too long")
        if self.status not in (good or (0,)):
            raise Failed(f"exit status {self.status}:\n{self.output[-2000:]}")
        return self


class Failed(Exception):
    """A command did not do what it was to do."""


def run(command, folder, limit=120, **variables):
    """Runs a command in a folder and takes its time; ends it after `limit` seconds."""
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
    """Does each work once, then each again, and so on. From name to the results of its work, in order."""
    results = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            results[name].append(work())
    return results


def busy():
    """CPU seconds that the whole machine has worked so far, or None where it does not tell."""
    try:
        with open("/proc/stat", encoding="utf-8") as file:
            # user, nice, system, idle, waiting, interrupts twice, stolen
            ticks = [int(word) for word in file.readline().split()[1:9]]
    except OSError:
        return None
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


class Others:
    """What else the machine does, from now on."""

    def __init__(self):
        self.began, self.busy = time.monotonic(), busy()

    def in_words(self, own):
        """A sentence, or none where the machine does not tell; own work took so many CPU seconds."""
        if self.busy is None:
            return []
        taken = busy() - self.busy - own
        share = max(taken, 0) / (time.monotonic() - self.began) / os.cpu_count()
        return [f"Other work took {share:.0%} of the CPU time of the machine meanwhile."]


def median(values):
    return statistics.median(values)
