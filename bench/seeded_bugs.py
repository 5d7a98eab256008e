"""Measures the time to find the seeded bugs of the AVL example: Testwright, TSTL, Hypothesis."""

import os
from concurrent.futures import ThreadPoolExecutor

import page
from measure import median
from systems import BUGS


def measure(setting):
    seeds = range(1, 3 if setting.quick else 21)
    seconds = 5 if setting.quick else 10
    tools = setting.searchers()
    table = page.Table(
        "Time to find a bug",
        f"CPU time of the whole command without reduction, and steps until the failure. For bugs that are found at once, this is mostly start-up; for Testwright it includes the confirmation in a separate process. TSTL's harness was compiled beforehand. Medians of {len(seeds)} seeds. If some seeds did not find the bug within {seconds} seconds of real time, the cell says how many did; the others count as the slowest.",
        ["bug", *(tool.name for tool in tools)],
    )
    table.notes += setting.missing()
    # Only CPU time counts, so searches can run in parallel; the slowest come first.
    works = [(tool, bug) for tool in reversed(tools) for bug in BUGS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda work: all_found(*work, seeds, seconds), works)
        found_by = {(tool.name, bug): found for (tool, bug), found in zip(works, done)}
    for bug, words in BUGS.items():
        results = {tool.name: found_by[tool.name, bug] for tool in tools}
        own = median_of(results[setting.ours.name], 0)
        cells = []
        for tool in tools:
            found = [result for result in results[tool.name] if result]
            time, steps = median_of(results[tool.name], 0), median_of(results[tool.name], 1)
            if time == NEVER:
                cells.append(f"found with {len(found)} of {len(seeds)} seeds")
                continue
            ratio = f" ({page.times(time / own)})" if tool is not setting.ours else ""
            cell = f"{time:.2f} s{ratio}, {steps:,.0f} steps"
            if len(found) < len(seeds):
                cell += f", found with {len(found)} of {len(seeds)}"
            cells.append(cell)
        table.add(words, *cells)
    return [table]


def all_found(tool, bug, seeds, seconds):
    """Searches for a bug with each seed. Returns the results."""
    return [tool.find(bug, seed, seconds) for seed in seeds]


NEVER = float("inf")


def median_of(results, part):
    """Returns the median of one part of the results; a bug that was not found counts as the slowest."""
    return median(result[part] if result else NEVER for result in results)
