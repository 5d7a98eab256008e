"""Measures how fast models are explored as the graph grows, and the memory of a state. `beside_pymodel.py` compares."""

import json
import sys
from dataclasses import dataclass
from functools import partial

import ours
import page
from measure import Others, alternately, median, run

#: A stack of three values; its maximal depth determines the number of states. PyModel requires a docstring.
STACK = '''\
"""A stack."""

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
'''

#: Deep enough for all numbers of transitions below.
DEPTH = 12
#: Depths of the stacks that are explored completely: about 10,000, 100,000 and 800,000 states.
DEPTHS = [8, 10, DEPTH]
MODEL = "stack"

#: The numbers of transitions that show that Testwright does not get slower.
GROWING = [10_000, 100_000, 800_000]

#: The columns of the tables.
GROWTH = [
    "transitions",
    "states",
    "per second",
    "",
    "two processes",
    "memory of a state",
    "measured",
]

#: How often a single transition is explored, to measure start-up.
START_UPS = 15
#: How often short explorations are repeated.
OFTEN = 15

#: Runs a command with one argument after the other, in one process, and prints the CPU seconds of each. Child processes
#: count, since the command explores in a fork.
REPEATEDLY = """
import json, resource, sys, testwright
def cpu():
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)
line, *last = sys.argv[1:]
taken = []
for word in last:
    began = cpu()
    testwright.main([*line.split(), word])
    taken.append(cpu() - began)
print(json.dumps(taken))
"""


@dataclass(frozen=True)
class Explored:
    """The result of an exploration with Testwright."""

    states: int
    transitions: int
    #: The real time of the exploration itself.
    seconds: float
    #: As reported by Testwright.
    bytes_per_state: int
    cpu: float
    #: Peak memory of the process, in MB.
    peak: float


def measure(setting):
    folder = prepare(setting.work, DEPTH)
    return [_growing(setting, folder), _whole(setting)]


def prepare(work, depth):
    """Makes a new folder with the model."""
    folder = work / f"models-{depth}"
    folder.mkdir(parents=True)
    (folder / f"{MODEL}.py").write_text(STACK.format(depth=depth), encoding="utf-8")
    return folder


def explore(folder, most=None, jobs=1):
    """Explores the model with Testwright, up to a number of transitions."""
    limit = [] if most is None else ["--max", most]
    command = [*ours.COMMAND, "explore", MODEL, "--json", "--jobs", jobs, *limit]
    done = run(command, folder).checked()
    report = json.loads(done.output)
    named = {name: report[name] for name in ("states", "transitions", "seconds", "bytes_per_state")}
    return Explored(**named, cpu=done.cpu, peak=done.peak)


def pace(folder, done, times):
    """Repeats an exploration with one process. Returns the transitions per CPU second, without start-up."""
    times = times if done.transitions > 100_000 else max(times, OFTEN)
    line = f"explore {MODEL} --json --jobs 1 --max"
    words = [*[1] * START_UPS, *[done.transitions] * times]
    output = run([sys.executable, "-c", REPEATEDLY, line, *words], folder, 600).checked().output
    taken = json.loads(output.splitlines()[-1])
    # The minimum, since other work only ever adds time and the difference is small.
    start_up, all_of_it = min(taken[:START_UPS]), min(taken[START_UPS:])
    return done.transitions / max(all_of_it - start_up, 1e-9)


def _growing(setting, folder):
    table = page.Table(
        "Exploring more and more of a model",
        "The same stack with Testwright, up to some number of transitions: transitions per second with one process, and as a ratio to the first row. Later states are deeper stacks, so each of them is larger. The speed-up of two processes is in real time, so other work on the machine changes it. The memory of a state is Testwright's own report, then a measurement: the peak memory of the process, minus the peak for a single transition, divided by the number of states.",
        GROWTH,
    )  # fmt: skip
    return _filled(setting, table, [(folder, most) for most in GROWING])


def _whole(setting):
    depths = f"{DEPTHS[0]}, {DEPTHS[1]} and {DEPTHS[2]}"
    table = page.Table(
        "Exploring larger and larger models",
        f"Stacks of three values that are at most {depths} values deep, each explored completely; measured as in the table above. Two of three states are full stacks, and trying a push is the only way to find that out.",
        GROWTH,
    )  # fmt: skip
    folders = [prepare(setting.work / "whole", depth) for depth in DEPTHS]
    return _filled(setting, table, [(folder, None) for folder in folders])


def _filled(setting, table, works):
    """Fills a table with a row for each folder, explored up to a number of transitions."""
    others, own = Others(), 0
    paces = []
    for folder, most in works[:1] if setting.quick else works:
        least = explore(folder, 1)
        tried = {jobs: partial(explore, folder, most, jobs) for jobs in (1, 2)}
        # The largest takes long enough that one measurement is precise.
        repeats = 1 if (folder, most) == works[-1] and most is None else setting.repeats
        one, two = alternately(repeats, tried).values()
        own += sum(done.cpu for done in one + two)
        paces.append(pace(folder, one[0], repeats))
        own += one[0].transitions / paces[-1] * repeats
        table.add(
            f"{one[0].transitions:,}",
            f"{one[0].states:,}",
            page.rate(paces[-1]),
            page.times(paces[-1] / paces[0]),
            page.times(median(slow.seconds / fast.seconds for slow, fast in zip(one, two))),
            f"{one[0].bytes_per_state} B",
            f"{median(bytes_per_state(done, least) for done in one):.0f} B",
        )
    table.note(f"The lowest speed is {slower(paces):.0%} below the highest.")
    table.notes += others.in_words(own)
    return table


def bytes_per_state(done, least):
    """Returns the memory of a state, from the peak memory of two explorations."""
    return max(done.peak - least.peak, 0) * 1024 * 1024 / done.states


def slower(paces):
    """Returns how much lower the lowest speed is than the highest, as a share."""
    return 1 - min(paces) / max(paces)
