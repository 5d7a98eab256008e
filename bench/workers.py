"""Measures the cost of running tests in a worker process, and the gain from a second one."""

import json

import ours
import page
from measure import Others, alternately, median, run
from systems import SHOWN

SYSTEMS = ["empty", "avl"]
NO_PROGRAM = "The program that measures the log was not built."


def measure(setting):
    return [_paces(setting), _costs(setting)]


def _paces(setting):
    table = page.Table(
        "Worker processes",
        "Steps per second in real time, with all tests in the process of the command (`--jobs 0`), in one worker process, and in two. The time is from the first worker's start to the last worker's end, so other work on the machine changes these numbers. Each ratio is relative to the number before it.",
        ["system", "`--jobs 0`", "`--jobs 1`", "", "`--jobs 2`", ""],
    )
    others, own = Others(), 0
    for system in SYSTEMS:
        works = {
            jobs: lambda jobs=jobs, system=system: _pace(setting, system, jobs)
            for jobs in (0, 1, 2)
        }
        measured = alternately(setting.repeats, works).values()
        own += sum(cpu for runs in measured for _, cpu in runs)
        none, one, two = ([pace for pace, _ in runs] for runs in measured)
        table.add(
            SHOWN[system],
            page.rate(median(none)),
            page.rate(median(one)),
            page.times(_ratio(one, none)),
            page.rate(median(two)),
            page.times(_ratio(two, one)),
        )
    table.notes += others.in_words(own)
    return table


def _pace(setting, system, jobs):
    """Returns the steps per second of real time, and the total CPU seconds."""
    seconds = 0.1 if setting.quick else 1
    harness = setting.systems.harness(system)
    done, report = ours.search(harness, "--jobs", jobs, "--time", f"{seconds}s")
    return report["steps"] / report["seconds"], done.cpu


def _ratio(values, others):
    """Returns the median of the ratios of consecutive measurements, so that a slow moment affects both."""
    return median(value / other for value, other in zip(values, others))


def _costs(setting):
    table = page.Table(
        "The cost of a worker process",
        "CPU time of a step that does nothing: the empty action with its property. Start-up is subtracted, and the supervisor's time is included. Each step is logged in shared memory that outlives the worker. The last row is this part alone, measured by a program that runs tests of a toy system with and without the log.",
        ["", "per step", ""],
    )
    works = {jobs: lambda jobs=jobs: _seconds_per_step(setting, jobs) for jobs in (0, 1)}
    none, one = alternately(setting.repeats, works).values()
    step = median(none)
    table.add("`--jobs 0`", _nanoseconds(step), page.times(1))
    table.add("`--jobs 1`", _nanoseconds(median(one)), page.times(_ratio(one, none)))
    if setting.log:
        written = _seconds_to_write(setting)
        table.add("logging a step", _nanoseconds(written), f"{written / step:.1%}")
    else:
        table.add("logging a step", "not measured" + table.note(NO_PROGRAM), "")
    return table


def _seconds_per_step(setting, jobs):
    """Returns the CPU seconds per step, without start-up."""
    tests = 1_000 if setting.quick else 60_000
    harness = setting.systems.harness("empty")
    start, _ = ours.search(harness, "--jobs", jobs, "--tests", 1)
    done, report = ours.search(harness, "--jobs", jobs, "--tests", tests)
    return max(done.cpu - start.cpu, 1e-9) / report["steps"]


def _seconds_to_write(setting):
    """Returns the additional seconds of a step that is logged."""
    rounds = 5 if setting.quick else 501
    done = run([setting.log, rounds, 2_000], setting.work).checked()
    rounds = json.loads(done.output)
    return median(one - other for one, other in zip(rounds["with"], rounds["without"])) * 1e-9


def _nanoseconds(seconds):
    return f"{seconds * 1e9:.3g} ns"
