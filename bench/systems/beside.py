"""Runs straight-line programs beside a search: a few tests of the search, the same tests in each program, and so on in turn.

A machine that others use is now fast, now slow. What is done in turns, thousands of times a second in one process, meets
the same machine, so that its ratio stays the same when the times do not.

The harness calls `turn` before each test. The first tests of the search are there to warm up, and the programs are passed
through some times before they are measured, since they have their tests only once.
"""

import gc
import importlib.machinery
import importlib.util
import json
import os
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: So many tests come first, and as many are measured.
TESTS = int(os.environ["BESIDE_TESTS"])
#: So many are measured at a time.
BLOCK = int(os.environ["BESIDE_BLOCK"])
NAMES = os.environ["BESIDE_PROGRAMS"].split()
#: The interpreter has specialised its instructions by then.
WARMING_PASSES = 6


def load(name):
    """The tests of a compiled program."""
    loader = importlib.machinery.SourcelessFileLoader(name, str(HERE / f"{name}.pyc"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module.TESTS


def taken(work):
    start = time.process_time_ns()
    for test in work:
        test()
    return time.process_time_ns() - start


class Beside:
    def __init__(self):
        self.programs = {name: load(name) for name in NAMES}
        #: From what was measured to the nanoseconds of each block.
        self.times = {name: [] for name in ["search", *NAMES]}
        self.finished = -1
        self.resumed = 0

    def turn(self):
        stopped = time.process_time_ns()
        self.finished += 1
        measured = self.finished - TESTS
        if measured < 0 or measured % BLOCK:
            return
        if measured == 0:
            self.warm_up()
        else:
            self.times["search"].append(stopped - self.resumed)
            for name, tests in self.programs.items():
                self.times[name].append(taken(tests[measured - BLOCK : measured]))
        if measured == TESTS:
            Path(os.environ["BESIDE_RESULT"]).write_text(json.dumps(self.times), encoding="utf-8")
        self.resumed = time.process_time_ns()

    def warm_up(self):
        for tests in self.programs.values():
            for _ in range(WARMING_PASSES):
                taken(tests)
        gc.collect()
        gc.freeze()


turn = Beside().turn
