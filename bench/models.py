"""How fast models are explored, whether that changes as the graph grows, and what a state takes in memory."""

import json

import ours
import page
from measure import alternately, median, run

#: A stack of three values; how deep it may get decides how many states there are.
STACK = """\
stack = []


def Push(value):
    stack.insert(0, value)


def Pop():
    return stack.pop(0)


def PopEnabled():
    return stack


def StateFilter():
    return len(stack) <= {depth}


state = ("stack",)
actions = (Push, Pop)
enablers = {{Pop: (PopEnabled,)}}
domains = {{Push: {{"value": [1, 2, 3]}}}}
"""

DEPTHS = [8, 10, 12]


def measure(setting):
    folder = setting.work / "models"
    folder.mkdir()
    depths = DEPTHS[:1] if setting.quick else DEPTHS
    for depth in depths:
        (folder / f"stack_{depth}.py").write_text(STACK.format(depth=depth), encoding="utf-8")
    table = page.Table(
        "Exploring a model",
        "A stack of three values, up to some depth: all states, with one process and with two. Time in the exploration itself, by the clock on the wall.",
        [
            "depth",
            "states",
            "transitions",
            "transitions per second",
            "two processes",
            "",
            "memory of a state",
        ],
    )
    for depth in depths:
        works = {
            jobs: lambda jobs=jobs, depth=depth: _explore(folder, f"stack_{depth}", jobs)
            for jobs in (1, 2)
        }
        one, two = alternately(setting.repeats, works).values()
        report = one[0]
        paces = [
            [report["transitions"] / report["seconds"] for report in reports]
            for reports in (one, two)
        ]
        table.add(
            str(depth),
            f"{report['states']:,}",
            f"{report['transitions']:,}",
            page.rate(median(paces[0])),
            page.rate(median(paces[1])),
            page.times(median(two / one for one, two in zip(*paces))),
            f"{report['bytes_per_state']} B",
        )
    return [table]


def _explore(folder, model, jobs):
    command = [*ours.COMMAND, "explore", model, "--json", "--jobs", str(jobs)]
    return json.loads(run(command, folder).or_complain().output)
