"""Runs straight-line programs beside a search: a few tests of the search, the same tests in each program, and so on in turn.

The speed of a shared machine varies. Search and programs take turns many times a second in one process, so they run at
the same speed of the machine, and their ratio is stable.

The harness calls `turn` before each test. The first tests of the search warm up. The programs run several times before
they are measured, since they have each test only once.
"""

import gc
import importlib.machinery
import importlib.util
import json
import os
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The number of tests to warm up, and to measure afterwards.
TESTS = int(os.environ["BESIDE_TESTS"])
#: The number of tests that are measured in one turn.
BLOCK = int(os.environ["BESIDE_BLOCK"])
NAMES = os.environ["BESIDE_PROGRAMS"].split()
#: The number of runs after which the interpreter has specialized its instructions.
WARMING_PASSES = 6


def load(name):
    """Loads the tests of a compiled program."""
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
        #: From `search` and each program to the nanoseconds of each block.
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
