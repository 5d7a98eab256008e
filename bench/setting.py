"""What all benchmarks share: how thorough to be, where to work, what to compare with."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import measure
import ours
import peers
from peers import pymodel
from peers.tstl_tools import Tstl
from peers.stateful import Hypothesis
from systems import Systems


@dataclass
class Setting:
    """How to measure."""

    quick: bool
    #: Whether a single chapter is measured, which may take its time.
    is_alone: bool
    work: Path
    #: How often everything is measured.
    repeats: int
    #: How many CPU seconds a measured search should take.
    seconds: float
    systems: Systems
    ours: ours.Searcher
    #: None where it could not be installed.
    tstl: Tstl
    hypothesis: Hypothesis
    #: None where it could not be installed, and then why.
    pymodel: pymodel.PyModel
    why_no_pymodel: str
    #: The folder with the programs of coverage.py and SlipCover, if it is there.
    programs: Path
    #: The folder with the programs of an interpreter that has packages to record, if it is there.
    captured: Path
    #: The same for MonkeyType.
    monkeytype: Path
    #: The program that measures what it takes to write a step down, if it was built.
    log: Path
    #: CPU seconds of a search of one test, by tool, system and whether coverage is measured; as far as they are known.
    start_ups: dict = field(default_factory=dict)

    @classmethod
    def prepare(cls, work, environments, quick, install, is_alone=False):
        systems = Systems(work)
        # Installing is mostly waiting.
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
        """Ours first."""
        return [tool for tool in (self.ours, self.tstl, self.hypothesis) if tool]

    def missing(self):
        """A sentence for each peer that is not there."""
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
        """Seconds per step."""
        done, steps = self.search(self.tests)
        return max(done.cpu - self.start_up, 1e-6) / steps
