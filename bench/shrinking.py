"""Counts the executions to reduce and normalise a failing test: Testwright and TSTL, on the same tests."""

import os
from concurrent.futures import ThreadPoolExecutor

import ours
import page
from measure import median
from systems import seeded

#: One bug for each system: the first one that needs more than a few steps.
BUGS = [
    "btree-borrow",
    "calc-floor",
    "editor-grow",
    "files-replace",
    "groups-order",
    "intervals-join",
    "jobs-sink",
    "limiter-window",
    "lru-pin",
    "store-merge",
    "wheel-anew",
]

#: The maximal number of steps to find a bug.
STEPS = 100_000


def measure(setting):
    seeds = range(1, 2 if setting.quick else 4)
    seconds = 2 if setting.quick else 10
    table = page.Table(
        "Executions to shrink a failing test",
        f"Failing tests from uniform random testing, reduced and normalised by `testwright normalize` and by TSTL, as its `tstl_reduce` does. An execution is a run of a candidate, whole or in part; answers from a cache do not count. For TSTL only the runs of its predicate count. Medians of {len(seeds)} tests for each bug. If TSTL was stopped after {seconds} seconds of CPU time, its work until then counts.",
        ["bug", "steps found", "", "executions", "steps executed", "steps left"],
    )
    ratios, lengths = [], []
    bugs = [bug for bug in seeded.bugs() if bug.name in (BUGS[-2:] if setting.quick else BUGS)]
    # Only executions count, so the runs can be parallel.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = list(pool.map(lambda bug: shrunk(setting, bug, seeds, seconds), bugs))
    for bug, (found, results) in zip(bugs, measured):
        own = results[ours.NAME]
        for name, all_done in results.items():
            cells = [bug.words, f"{median(found):.0f}"] if all_done is own else ["", ""]
            for what in ("executions", "steps"):
                value = median(done[what] for done in all_done)
                mine = median(done[what] for done in own)
                ratio = f" ({page.times(value / mine)})" if all_done is not own else ""
                at_least = "over " if all(done["length"] is None for done in all_done) else ""
                cells.append(f"{at_least}{value:,.0f}{ratio}")
                if ratio and what == "executions":
                    ratios.append(value / mine)
            ended = [done["length"] for done in all_done if done["length"]]
            left = f"{median(ended):.0f}" if ended else "–"
            if len(ended) < len(all_done):
                left += f" (stopped {len(all_done) - len(ended)} of {len(all_done)} times)"
            lengths.append((name, median(ended) if ended else None))
            cells.insert(2, name)
            table.add(*cells, left)
    table.notes += setting.missing()[:1] if not setting.tstl else []
    if ratios:
        mine = [length for name, length in lengths if name == ours.NAME]
        theirs = [length for name, length in lengths if name != ours.NAME]
        longer = sum(bool(other) and one > other for one, other in zip(mine, theirs))
        table.notes.append(
            f"TSTL needs {page.times(min(ratios))} to {page.times(max(ratios))} as many executions, {page.times(median(ratios))} in the median. Testwright's test is longer for {longer} of {len(ratios)} bugs."
        )
    return [table]


def shrunk(setting, bug, seeds, seconds):
    """Finds and shrinks tests. Returns the lengths before, and the results of each tool."""
    found, results = [], {ours.NAME: []}
    if setting.tstl:
        results[setting.tstl.name] = []
    for seed in seeds:
        harness, test, length = find(setting, bug, seed)
        found.append(length)
        results[ours.NAME].append(ours.shrink(harness, test))
        if setting.tstl:
            translated = harness.parent / f"tstl-{seed}.test"
            ours.in_tstl_format(harness, test, translated)
            done = setting.tstl.shrink(harness, translated, seconds)
            results[setting.tstl.name].append(done)
    return found, results


def find(setting, bug, seed):
    """Finds a bug. Returns the harness, a failing test and its length."""
    harness = seeded.prepare(setting.work / "shrinking" / bug.name, bug.system, bug)
    out = f"found-{seed}"
    options = ["--steps", STEPS, "--no-reduce", "--out", out]
    _, report = ours.search(harness, *options, seed=seed, status=1)
    return harness, harness.parent / out / "failure-1.test", report["failures"][0]["steps"]
