"""Counts the steps until each strategy finds each seeded bug: `auto` compared with `random` and `swarm`."""

import os
from concurrent.futures import ThreadPoolExecutor

import ours
import page
from measure import median
from systems import BUGS, seeded

STRATEGIES = ["auto", "random", "swarm"]
NEVER = float("inf")


def measure(setting):
    seeds = range(1, 2 if setting.quick else 21)
    budget = 500 if setting.quick else 10_000
    table = page.Table(
        "Steps to find a bug, by strategy",
        f"Steps until the failure, the same on every machine; {budget:,} at most. `random` and `swarm` make tests of 100 steps, the default of `--length`; `auto` varies the length. Medians of {len(seeds)} seeds. If some seeds did not find the bug, the cell says how many did; the others count as the slowest.",
        ["bug", *(f"`{strategy}`" for strategy in STRATEGIES)],
    )
    bugs = list(harnesses(setting))
    work = [(harness, strategy) for _, harness in bugs for strategy in STRATEGIES]
    # Only steps count, so the searches can run in parallel.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda one: ours.steps_to_failure(*one, seeds, budget), work)
        steps = dict(zip(work, found))
    rows = []
    for words, harness in bugs:
        medians, cells = {}, []
        for strategy in STRATEGIES:
            taken = steps[harness, strategy]
            value = median(NEVER if one is None else one for one in taken)
            count = len(taken) - taken.count(None)
            medians[strategy] = value
            cell = f"{value:,.0f}" if value < NEVER else f"over {budget:,}"
            if count < len(taken):
                cell += f", found with {count} of {len(taken)}"
            cells.append(cell)
        table.add(words, *cells)
        rows.append(medians)
    table.notes += summary(rows)
    return [table]


def summary(rows):
    """Returns sentences that compare `auto` with the others; a difference of up to 10 % does not count."""
    sentences = []
    both = "the better of both"
    for other in [*STRATEGIES[1:], both]:
        counts = {"fewer": 0, "as many": 0, "more": 0}
        for row in rows:
            theirs = min(row[name] for name in STRATEGIES[1:]) if other == both else row[other]
            if row["auto"] < 0.9 * theirs:
                counts["fewer"] += 1
            elif row["auto"] > 1.1 * theirs:
                counts["more"] += 1
            else:
                counts["as many"] += 1
        named = other if other == both else f"`{other}`"
        counted = ", ".join(f"{word} for {count}" for word, count in counts.items())
        sentences.append(f"`auto` compared with {named}, steps for {len(rows)} bugs: {counted}.")
    return sentences


def harnesses(setting):
    """Yields (words, harness) for each bug."""
    bugs = seeded.bugs("lru") if setting.quick else seeded.bugs()
    for bug in bugs:
        folder = setting.work / "strategies" / bug.name
        yield f"{bug.words} (`{bug.system}`)", seeded.prepare(folder, bug.system, bug)
    for bug, words in BUGS.items():
        yield f"{words} (`avl`)", setting.systems.harness("avl", bug)
