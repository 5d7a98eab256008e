"""Turns recorded tests into one Python program that does the same without any tool: the limit for any tool.

Each test becomes a function, its steps plain statements: the guard, the action, the same action on the reference, the
comparison, then the properties of every filled slot. Slots are local variables, the fastest kind in Python. It is known
beforehand which slots are filled, so the program does not check that. A new test starts with empty slots and does not
reload modules.

This understands only the parts of the harness language that the systems of the benchmarks use.
"""

import re
from dataclasses import dataclass, field

PLACEHOLDER = re.compile(r"(~?)<(?:\[(-?\d+)\.\.(-?\d+)\]|(\w+)(?:,(\d+))?)>")
SECTIONS = {
    "pools:": "pool",
    "properties:": "property",
    "actions:": "action",
    "references:": "reference",
    "compares:": "compare",
}


@dataclass
class Action:
    """An action line."""

    guard: str
    expected: str
    pattern: re.Pattern


@dataclass
class Harness:
    """The parts of a harness that the program needs."""

    code: list = field(default_factory=list)
    #: From pool to whether it has a reference.
    pools: dict = field(default_factory=dict)
    properties: list = field(default_factory=list)
    actions: list = field(default_factory=list)
    references: list = field(default_factory=list)
    compares: list = field(default_factory=list)


@dataclass
class Program:
    """A program, and the numbers of its steps and properties."""

    text: str
    steps: int
    properties: int


def read(text):
    """Parses a harness."""
    harness = Harness()
    blocks = re.findall(r"^<@\n(.*?)^@>\n", text, re.MULTILINE | re.DOTALL)
    text = re.sub(r"^<@\n.*?^@>\n", "", text, flags=re.MULTILINE | re.DOTALL)
    section = "action"
    for line in text.splitlines():
        line = line.strip()
        word = line.split(" ")[0]
        if not line or line.startswith(("#", "source:")):
            continue
        if line.startswith("@"):
            harness.code.append(line[1:])
        elif line in SECTIONS:
            section = SECTIONS[line]
        elif f"{word[:-1]}" in SECTIONS.values() and word.endswith(":"):
            _add(harness, word[:-1], line[len(word) :].strip())
        else:
            _add(harness, section, line)
    harness.code += blocks
    return harness


def _add(harness, kind, line):
    if kind == "pool":
        name, *flags = line.split()
        harness.pools[name.strip("<>")] = "REF" in flags
    elif kind == "property":
        harness.properties.append(line)
    elif kind == "reference":
        harness.references.append(line.split(" ==> "))
    elif kind == "compare":
        harness.compares.append(line)
    else:
        harness.actions.append(_action(line))


def _action(line):
    guard, arrow, action = line.rpartition(" -> ")
    expected = re.match(r"\{(.*?)\} ", action)
    if expected:
        action = action[expected.end() :]
    return Action(guard, expected[1] if expected else "", re.compile(_pattern(action)))


def _pattern(action):
    """Returns a regular expression for the actions of a line; the n-th slot of a pool is the group `pool_n`."""
    parts, end, seen = [], 0, {}
    for place in PLACEHOLDER.finditer(action):
        parts.append(re.escape(action[end : place.start()].replace(":=", "=")))
        end = place.end()
        _, low, _, pool, back = place.groups()
        if low is not None:
            parts.append(r"-?\d+")
        elif back:
            parts.append(f"(?P={pool}_{back})")
        else:
            seen[pool] = seen.get(pool, 0) + 1
            parts.append(f"(?P<{pool}_{seen[pool]}>{pool}\\d+)")
    parts.append(re.escape(action[end:].replace(":=", "=")))
    return "".join(parts)


def program(harness, tests, only_changed=False, tally=False):
    """Writes the program for some tests, each a list of the steps of a saved test.

    `only_changed`: after a step only the properties of the slots that it names are checked.
    `tally`: the program counts the properties it evaluates.
    """
    writer = _Writer(harness, only_changed, tally)
    functions = [writer.test(number, steps) for number, steps in enumerate(tests)]
    names = ", ".join(f"test_{number}" for number in range(len(tests)))
    head = ["import tally"] if tally else []
    text = "\n".join([*head, *harness.code, "RAISED = object()", *functions, f"TESTS = [{names}]"])
    return Program(text + "\n" + RUNNER, writer.steps, writer.properties)


#: Runs the whole program once.
RUNNER = """
if __name__ == "__main__":
    for test in TESTS:
        test()
"""


class _Writer:
    def __init__(self, harness, only_changed, tally):
        self.harness = harness
        self.only_changed = only_changed
        self.tally = tally
        self.steps = 0
        self.properties = 0
        slots = "|".join(harness.pools) or "(?!)"
        self.slot = re.compile(rf"\b({slots})(\d+)\b")
        referenced = "|".join(pool for pool, is_ref in harness.pools.items() if is_ref) or "(?!)"
        self.twin = re.compile(rf"\b({referenced})(\d+)\b")

    def test(self, number, steps):
        """Writes one test as a function."""
        self.filled = set()
        lines = [f"def test_{number}():"]
        for step in steps:
            self.steps += 1
            lines += self.step(step)
        return "\n    ".join(lines)

    def step(self, step):
        action, match = self.action(step)
        lines = []
        if action.guard:
            guard = _filled_in(action.guard, match)
            lines.append(f"if not ({guard}): raise AssertionError({guard!r})")
        twin = self.twin_of(step)
        compared = twin and any(re.search(pattern, step) for pattern in self.harness.compares)
        lines += self.call(step, "result" if compared else None, action.expected)
        if twin:
            expected = action.expected and "Exception"
            lines += self.call(twin, "other" if compared else None, expected)
        if compared:
            lines.append(f"if result != other: raise AssertionError({step!r})")
        defined = re.match(r"(\w+) = ", step)
        if defined and self.slot.fullmatch(defined[1]):
            self.filled.add(defined[1])
        return lines + self.checks(step)

    def action(self, step):
        for action in self.harness.actions:
            match = action.pattern.fullmatch(step)
            if match:
                return action, match
        raise ValueError(f"no action line stands for `{step}`")

    def twin_of(self, step):
        """Returns the step for the reference, if the pool has one."""
        twin = self.twin.sub(r"\1\2_twin", step)
        for pattern, replacement in self.harness.references:
            twin = re.sub(pattern, replacement, twin)
        return twin if twin != step else None

    @staticmethod
    def call(statement, result, expected):
        statement = f"{result} = {statement}" if result else statement
        if not expected:
            return [statement]
        raised = f"{result} = RAISED" if result else "pass"
        return ["try:", f"    {statement}", f"except {expected}:", f"    {raised}"]

    def checks(self, step):
        lines = []
        named = {match[0] for match in self.slot.finditer(step)}
        for text in self.harness.properties:
            pool = next((match[4] for match in PLACEHOLDER.finditer(text)), None)
            slots = sorted(slot for slot in self.filled if slot.rstrip("0123456789") == pool)
            if self.only_changed:
                slots = [slot for slot in slots if slot in named]
            for slot in slots if pool else [""]:
                condition = PLACEHOLDER.sub(slot, text)
                self.properties += 1
                if self.tally:
                    condition = f"tally.tally({condition})"
                lines.append(f"if not {condition}: raise AssertionError({condition!r})")
        return lines


def _filled_in(guard, match):
    """Returns a guard with the slots of an action."""
    return PLACEHOLDER.sub(lambda place: match[f"{place[4]}_{place[5]}"], guard)


def steps_of(saved):
    """Returns the steps of a saved test."""
    return [line for line in saved.splitlines() if line and not line.startswith("#")]
