"""How many executions it takes to make a failing test short and simple: ours and the ancestor, on the same tests."""

import os
from concurrent.futures import ThreadPoolExecutor

import ours
import page
from measure import median
from systems import seeded

#: One bug for each system, the first one that takes more than a handful of steps.
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

#: To find a bug with.
STEPS = 100_000


def measure(setting):
    seeds = range(1, 2 if setting.quick else 4)
    seconds = 2 if setting.quick else 10
    table = page.Table(
        "Executions to shrink a failing test",
        f"Tests that uniform random testing found, reduced and normalised by `testwright normalize` and, as its `tstl_reduce` does it, by the ancestor. An execution is a candidate that was run, whole or in part; what was answered from memory is none. For the ancestor only those count that its predicate was asked about. Medians of {len(seeds)} tests for each bug. Where the ancestor was stopped after {seconds} seconds of CPU time, what it had done until then counts.",
        ["bug", "steps found", "", "executions", "steps executed", "steps left"],
    )
    ratios, lengths = [], []
    bugs = [bug for bug in seeded.bugs() if bug.name in (BUGS[-2:] if setting.quick else BUGS)]
    # What counts is executions, so it does no harm that several run at a time.
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
    table.notes += setting.missing()[:1] if not setting.ancestor else []
    if ratios:
        mine = [length for name, length in lengths if name == ours.NAME]
        theirs = [length for name, length in lengths if name != ours.NAME]
        longer = sum(bool(other) and one > other for one, other in zip(mine, theirs))
        table.notes.append(
            f"The ancestor needs {page.times(min(ratios))} to {page.times(max(ratios))} as many executions, {page.times(median(ratios))} in the median. Our test is the longer one for {longer} of {len(ratios)} bugs."
        )
    return [table]


def shrunk(setting, bug, seeds, seconds):
    """How long the tests were that were found, and what each tool made of them."""
    found, results = [], {ours.NAME: []}
    if setting.ancestor:
        results[setting.ancestor.name] = []
    for seed in seeds:
        harness, test, length = find(setting, bug, seed)
        found.append(length)
        results[ours.NAME].append(ours.shrink(harness, test))
        if setting.ancestor:
            translated = harness.parent / f"tstl-{seed}.test"
            ours.in_tstl_format(harness, test, translated)
            done = setting.ancestor.shrink(harness, translated, seconds)
            results[setting.ancestor.name].append(done)
    return found, results


def find(setting, bug, seed):
    """The harness, a failing test and its length."""
    harness = seeded.prepare(setting.work / "shrinking" / bug.name, bug.system, bug)
    out = f"found-{seed}"
    options = ["--steps", STEPS, "--no-reduce", "--out", out]
    _, report = ours.search(harness, *options, seed=seed, status=1)
    return harness, harness.parent / out / "failure-1.test", report["failures"][0]["steps"]
