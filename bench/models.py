"""How fast models are explored as the graph grows, and what a state takes in memory. `beside_pymodel.py` compares."""

import json
import sys
from dataclasses import dataclass
from functools import partial

import ours
import page
from measure import Others, alternately, median, run

#: A stack of three values; how deep it may get decides how many states there are. PyModel wants a docstring.
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

#: Deep enough for all the numbers of transitions below.
DEPTH = 12
#: Stacks of which all is explored: about 10,000, 100,000 and 800,000 states.
DEPTHS = [8, 10, DEPTH]
MODEL = "stack"

#: Up to how many transitions Testwright explores to show that it does not get slower.
GROWING = [10_000, 100_000, 800_000]

#: What is said of each exploration.
GROWTH = [
    "transitions",
    "states",
    "per second",
    "",
    "two processes",
    "memory of a state",
    "measured",
]

#: How often a single transition is explored, to know what start-up takes.
START_UPS = 15
#: What takes little more than start-up is explored this often.
OFTEN = 15

#: Runs a command with one argument after the other, in one process, and tells the CPU seconds of each. Those of other
#: processes count, too: the command explores in a copy of its own.
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
    """What one exploration of ours came to."""

    states: int
    transitions: int
    #: Of the exploration itself, by the clock on the wall.
    seconds: float
    #: As it says itself.
    bytes_per_state: int
    cpu: float
    #: The most memory that the process ever had, in MB.
    peak: float


def measure(setting):
    folder = prepare(setting.work, DEPTH)
    return [_growing(setting, folder), _whole(setting)]


def prepare(work, depth):
    """A new folder with the model."""
    folder = work / f"models-{depth}"
    folder.mkdir(parents=True)
    (folder / f"{MODEL}.py").write_text(STACK.format(depth=depth), encoding="utf-8")
    return folder


def explore(folder, most=None, jobs=1):
    """Explores the model with Testwright, up to a number of transitions."""
    limit = [] if most is None else ["--max", most]
    command = [*ours.COMMAND, "explore", MODEL, "--json", "--jobs", jobs, *limit]
    done = run(command, folder).or_complain()
    report = json.loads(done.output)
    named = {name: report[name] for name in ("states", "transitions", "seconds", "bytes_per_state")}
    return Explored(**named, cpu=done.cpu, peak=done.peak)


def pace(folder, done, times):
    """Transitions per CPU second with one process, of an exploration that was done before; start-up is taken off."""
    times = times if done.transitions > 100_000 else max(times, OFTEN)
    line = f"explore {MODEL} --json --jobs 1 --max"
    words = [*[1] * START_UPS, *[done.transitions] * times]
    output = run([sys.executable, "-c", REPEATEDLY, line, *words], folder, 600).or_complain().output
    taken = json.loads(output.splitlines()[-1])
    # Other work on the machine only ever adds to them, and their difference is small.
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
    """The table with a row for each folder, explored up to a number of transitions."""
    others, own = Others(), 0
    paces = []
    for folder, most in works[:1] if setting.quick else works:
        least = explore(folder, 1)
        tried = {jobs: partial(explore, folder, most, jobs) for jobs in (1, 2)}
        # The largest takes long enough to be measured once.
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
    table.note(f"The lowest speed is {slower(paces):.0%} below the fastest.")
    table.notes += others.in_words(own)
    return table


def bytes_per_state(done, least):
    """What a state takes, by how much memory two explorations had at most."""
    return max(done.peak - least.peak, 0) * 1024 * 1024 / done.states


def slower(paces):
    """By what part of the fastest pace the slowest one is slower."""
    return 1 - min(paces) / max(paces)
