"""The setting of all benchmarks: how thorough to be, where to work, which tools to compare with."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import measure
import ours
import peers
from peers import pymodel
from peers.stateful import Hypothesis
from peers.tstl_tools import Tstl
from systems import Systems


@dataclass
class Setting:
    """The options and tools of a run of the benchmarks."""

    quick: bool
    #: True if a single chapter is measured, which may then take longer.
    is_alone: bool
    work: Path
    #: How often everything is measured.
    repeats: int
    #: The CPU seconds that a measured search should take.
    seconds: float
    systems: Systems
    ours: ours.Searcher
    #: None if it could not be installed.
    tstl: Tstl
    hypothesis: Hypothesis
    #: None if it could not be installed; the next field has the reason.
    pymodel: pymodel.PyModel
    why_no_pymodel: str
    #: The folder with the programs of coverage.py and SlipCover, or None.
    programs: Path
    #: The folder with the programs of an interpreter that has the packages to record, or None.
    captured: Path
    #: The folder with the programs of MonkeyType, or None.
    monkeytype: Path
    #: The program that measures the cost of the step log, or None.
    log: Path
    #: A cache of the CPU seconds of a search of one test, by tool, system and whether coverage is measured.
    start_ups: dict = field(default_factory=dict)

    @classmethod
    def prepare(cls, work, environments, quick, install, is_alone=False):
        systems = Systems(work)
        # In threads, since installing is mostly waiting.
        with ThreadPoolExecutor() as pool:
            names = ["tstl", "others", "captured", "types"]
            waiting = [
                pool.submit(peers.environment, environments, name, install) for name in names
            ]
            log = pool.submit(ours.cost_of_the_log, install)
            models, reason = pymodel.prepare(environments, install)
            old, new, captured, types = (environment.result() for environment in waiting)
        return cls(
            quick=quick,
            is_alone=is_alone,
            work=work,
            repeats=1 if quick else 3,
            seconds=0.05 if quick else 0.5,
            systems=systems,
            ours=ours.Searcher(systems),
            tstl=old and Tstl(systems, old),
            hypothesis=new and Hypothesis(systems, new),
            pymodel=models,
            why_no_pymodel=reason,
            programs=new,
            captured=captured,
            monkeytype=types,
            log=log.result(),
        )

    def searchers(self):
        """Returns the tools that make tests, Testwright first."""
        return [tool for tool in (self.ours, self.tstl, self.hypothesis) if tool]

    def missing(self):
        """Returns a sentence for each peer that is not installed."""
        named = {"TSTL": self.tstl, "Hypothesis": self.hypothesis}
        return [f"{name} is not installed." for name, tool in named.items() if not tool]


class Pace:
    """Steps per second of one tool on one system: a long search minus a search of one test, in CPU time."""

    def __init__(self, setting, tool, system, **options):
        self.search = lambda tests: tool.search(system, tests, **options)
        some = 5
        key = tool.name, system, options.get("coverage", False)
        if key not in setting.start_ups:
            times = [self.search(1)[0].cpu for _ in range(setting.repeats)]
            setting.start_ups[key] = measure.median(times)
        self.start_up = setting.start_ups[key]
        while True:
            done, steps = self.search(some)
            taken = done.cpu - self.start_up
            if taken > setting.seconds / 3 or setting.quick:
                break
            some *= 8 if taken < setting.seconds / 20 else 3
        wanted = setting.seconds / max(taken, 0.001)
        self.tests = some if setting.quick else max(2, round(some * wanted))

    def __call__(self):
        """Runs the search. Returns the CPU seconds per step."""
        done, steps = self.search(self.tests)
        return max(done.cpu - self.start_up, 1e-6) / steps
