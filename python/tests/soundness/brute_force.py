"""Runs tests of generated systems in plain Python, each from fresh modules, and compares no states.

This is the reference for `testwright explore`: it tries all tests up to a length, one by one.
"""

import random
import sys
import types
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """An action of a harness."""

    text: str
    guard: str = ""
    uses: tuple = ()  # slots that must have a value
    defines: tuple = ()  # slots that must be empty or used
    expected: str = ""  # the name of an exception that is no failure


@dataclass(frozen=True)
class System:
    """A system under test and its harness, as text for Testwright and as parts for the reference."""

    texts: dict  # of the modules, in the order in which they import each other
    harness: str
    raw: str  # the harness's own Python code
    sizes: dict  # of the pools
    initial: list  # statements of `init:` lines
    steps: list
    check: str  # the property, with `{a}` for a slot of the pool `a`
    view: str
    fresh: str = ""

    def write(self, folder):
        """Writes the files into a folder."""
        for name, text in self.texts.items():
            path = folder / (
                name.replace(".", "/") + ("/__init__.py" if name == "parts" else ".py")
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (folder / "system.tstl").write_text(self.harness)

    def fresh_runtime(self):
        return Runtime(self)


def combinations(sizes, text):
    """Returns a text for all choices of slots, with the slots."""
    found = [(text, ())]
    for pool, count in sizes.items():
        if f"{{{pool}}}" in text:
            found = [
                (one.replace(f"{{{pool}}}", f"{pool}{slot}"), (*slots, f"{pool}{slot}"))
                for one, slots in found
                for slot in range(count)
            ]
    return found


@dataclass
class Failed:
    """A step failed."""

    reason: str


@dataclass
class Runtime:
    """Runs tests of one system."""

    system: System
    modules: dict = field(init=False)

    def __post_init__(self):
        system = self.system
        self.modules = {
            name: compile(text, f"{name}.py", "exec") for name, text in system.texts.items()
        }
        self.slots = [
            f"{pool}{slot}" for pool, count in system.sizes.items() for slot in range(count)
        ]
        begin = [text for line in system.initial for text, _ in combinations(system.sizes, line)]
        self.raw = compile(system.raw, "raw", "exec")
        self.begin = compile("\n".join(begin), "init", "exec")
        self.fresh = compile(system.fresh, "fresh", "exec")
        self.steps = [
            (
                compile(step.text, "step", "exec"),
                compile(step.guard, "guard", "eval") if step.guard else None,
                step,
            )
            for step in system.steps
        ]
        self.checks = self.compiled(system.check)
        self.views = self.compiled(system.view)
        self.started = 0

    def compiled(self, text):
        if not text:
            return []
        found = combinations(self.system.sizes, text)
        return [(compile(one, "check", "eval"), slots) for one, slots in found]

    def start(self):
        """Begins a test: imports everything again, and empties the slots."""
        self.started += 1
        for name in self.modules:
            module = types.ModuleType(name)
            sys.modules[name] = module
            package, _, last = name.rpartition(".")
            if package:
                setattr(sys.modules[package], last, module)
            if name == "parts":
                module.__path__ = []
        exec(self.fresh, {})
        random.seed(0)
        for name, code in self.modules.items():
            exec(code, sys.modules[name].__dict__)
        self.names = {slot: None for slot in self.slots}
        self.is_used = {slot: True for slot in self.slots}
        exec(self.raw, self.names)
        exec(self.begin, self.names)

    def enabled(self):
        return [number for number in range(len(self.steps)) if self.is_enabled(number)]

    def is_enabled(self, number):
        _, guard, step = self.steps[number]
        names, is_used = self.names, self.is_used
        if any(names[slot] is None for slot in step.uses):
            return False
        if any(names[slot] is not None and not is_used[slot] for slot in step.defines):
            return False
        return guard is None or bool(eval(guard, names))

    def take(self, number):
        """Takes a step. Returns a failure or nothing."""
        code, _, step = self.steps[number]
        try:
            exec(code, self.names)
        except Exception as error:
            if type(error).__name__ != step.expected:
                return Failed(f"raised {error!r}")
        finally:
            self.is_used.update(dict.fromkeys(step.uses, True))
            self.is_used.update(dict.fromkeys(step.defines, False))
        for check, slots in self.checks:
            if all(self.names[slot] is not None for slot in slots) and not eval(check, self.names):
                return Failed("property")
        return None

    def view(self):
        """Returns what the property looks at, or an empty text if a slot is empty."""
        for view, slots in self.views:
            if all(self.names[slot] is not None for slot in slots):
                return eval(view, self.names)
        return ""

    def random_walk(self, rng, length):
        """Returns the views along a random test that ignores failures."""
        self.start()
        views = [self.view()]
        for _ in range(length):
            possible = self.enabled()
            if not possible:
                break
            self.take(rng.choice(possible))
            views.append(self.view())
        return views

    def run(self, texts):
        """Runs a test given by the texts of its steps. Returns how many steps it took until it failed, or None."""
        numbers = {step.text: number for number, (_, _, step) in enumerate(self.steps)}
        self.start()
        for length, text in enumerate(texts, 1):
            number = numbers.get(text)
            if number is None or not self.is_enabled(number):
                return None
            if self.take(number):
                return length
        return None

    def failing_walk(self, rng, walks, length):
        """Tries some long random tests. Returns the steps of the shortest failing one, or None."""
        best = None
        for _ in range(walks):
            self.start()
            taken = []
            while len(taken) < (len(best) - 1 if best else length) and (possible := self.enabled()):
                taken.append(rng.choice(possible))
                if self.take(taken[-1]):
                    best = taken
                    break
        return best and [self.system.steps[number].text for number in best]


def shortest_failure(runtime, depth):
    """Runs all tests of up to `depth` steps. Returns the steps of the shortest failing one, or None.

    A test is run together with its first continuations, so each run begins with a fresh import and ends with a test
    that has no continuation.
    """
    best = None
    waiting = [()]
    while waiting:
        prefix = waiting.pop()
        limit = depth if best is None else len(best) - 1
        if len(prefix) > limit:
            continue
        runtime.start()
        # Only the last step of a prefix is new: the ones before it passed.
        failed = [runtime.take(number) for number in prefix][-1:]
        taken = list(prefix)
        while not any(failed) and len(taken) < limit:
            possible = runtime.enabled()
            if not possible:
                break
            waiting.extend((*taken, number) for number in possible[1:])
            taken.append(possible[0])
            failed = [runtime.take(possible[0])]
        if any(failed):
            best = taken
    return best and [runtime.system.steps[number].text for number in best]


def affordable_depth(actions, runs):
    """Returns the length up to which all tests can be run with about so many runs."""
    depth = 1
    while depth < 12 and max(actions, 2) ** (depth + 1) <= runs:
        depth += 1
    return depth
