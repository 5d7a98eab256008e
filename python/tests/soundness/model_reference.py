"""Explores generated models in plain Python, and decides formulas about them.

Every state of a program is reached by running a list of actions from a fresh import; nothing is copied. Two states are
one if `exact` says so: it tells apart whatever code can tell apart, except for the identity of immutable values.
"""

import itertools
import re
import sys
import types
from dataclasses import dataclass
from enum import Enum

from soundness import formulas

MOST_STATES = 600


def exact(value):
    """Describes a value by types, contents, order and the sharing of mutable objects."""
    return repr(describe(value, {}))


def describe(value, met):
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        return f"{kind.__name__} {value!r}"
    if isinstance(value, (Enum, type, types.FunctionType, types.BuiltinFunctionType)):
        return f"{kind.__name__} {getattr(value, '__name__', None) or value.name}"
    if kind.__module__ in ("decimal", "fractions", "array") or kind is bytearray:
        return f"{kind.__name__} {value!r}"
    if kind is tuple or hasattr(kind, "_fields"):
        return [kind.__name__, [describe(part, met) for part in value]]
    if id(value) in met:
        return f"again {met[id(value)]}"
    met[id(value)] = len(met)
    return [kind.__name__, *contents(value, met)]


def contents(value, met):
    if isinstance(value, dict):
        yield [[describe(key, met), describe(part, met)] for key, part in value.items()]
        yield describe(getattr(value, "default_factory", None), met)
    elif not isinstance(value, str) and hasattr(value, "__iter__"):
        yield [describe(part, met) for part in value]
        yield getattr(value, "maxlen", None)
    elif isinstance(value, str):
        yield str(value)
    for name in getattr(type(value), "__slots__", ()):
        yield [name, describe(getattr(value, name), met) if hasattr(value, name) else "missing"]
    for name, part in getattr(value, "__dict__", {}).items():
        yield [name, describe(part, met)]


@dataclass
class ProgramState:
    """A state of a program: how to get there, and what holds in it."""

    path: tuple
    views: tuple
    view: str
    is_safe: bool
    is_accepting: bool
    steps: list = None  # pairs of a label and the number of a state


class Program:
    """All states of a model program. A label is `(name, arguments, result)`."""

    def __init__(self, name, text, actions, views):
        self.name = name
        self.code = compile(text, f"{name}.py", "exec")
        self.actions = {action.name: action for action in actions}
        self.views = [compile(view, "view", "eval") for view in views]
        self.numbers, self.states = {}, []
        self.number_of(())
        for state in self.states:
            state.steps = list(self.steps_from(state))
            assert len(self.states) < MOST_STATES, "a generated model has too many states"

    def fresh(self, path):
        """Imports the module again and takes some steps."""
        module = types.ModuleType(self.name)
        sys.modules[self.name] = module
        exec(self.code, module.__dict__)
        for name, arguments in path:
            getattr(module, name)(*arguments)
        return module

    def number_of(self, path):
        """Returns the number of the state at the end of a path."""
        module = self.fresh(path)
        key = "; ".join(exact(getattr(module, name)) for name in module.state)
        if key not in self.numbers:
            self.numbers[key] = len(self.states)
            views = tuple(eval(view, module.__dict__) for view in self.views)
            safe = bool(module.StateInvariant())
            accepting = bool(getattr(module, "Accepting", lambda: True)())
            self.states.append(ProgramState(path, views, module.view(), safe, accepting))
        return self.numbers[key]

    def steps_from(self, state):
        module = self.fresh(state.path)
        for name, action in self.actions.items():
            choices = [(number,) for number in range(len(action.changes))]
            for arguments in choices if action.takes_argument else [()]:
                guard = getattr(module, f"{name}Enabled", None)
                if guard and not guard(*arguments):
                    continue
                after = self.fresh(state.path)
                result = getattr(after, name)(*arguments)
                if getattr(after, "StateFilter", lambda: True)():
                    path = (*state.path, (name, arguments))
                    yield (name, arguments, result), self.number_of(path)


class Graph:
    """All states of the models together. A state is a tuple of the numbers of the programs' states, and the state of
    the scenario."""

    def __init__(self, system):
        self.system = system
        self.programs = [
            Program(name, system.texts[name], actions, system.views[name])
            for name, actions in system.programs.items()
        ]
        self.machine = system.machine
        self.start = (*(0 for _ in self.programs), self.machine.start if self.machine else None)
        self.edges, self.distance = {}, {self.start: 0}
        waiting = [self.start]
        for state in waiting:
            self.edges[state] = list(dict.fromkeys(self.steps_from(state)))
            for _, after in self.edges[state]:
                if after not in self.distance:
                    self.distance[after] = self.distance[state] + 1
                    waiting.append(after)

    def steps_from(self, state):
        offered = [program.states[number].steps for program, number in zip(self.programs, state)]
        labels = dict.fromkeys(label for steps in offered for label, _ in steps)
        for label in labels:
            ways = []
            for program, number, steps in zip(self.programs, state, offered):
                owns = label[0] in program.actions
                ways.append([after for one, after in steps if one == label] if owns else [number])
            ways.append(self.machine_ways(state[-1], label))
            for after in itertools.product(*ways):
                yield label, after

    def machine_ways(self, now, label):
        """Returns the states into which a step takes the scenario."""
        if self.machine is None or label[0] not in self.machine.vocabulary:
            return [now]
        return [
            after
            for before, name, arguments, result, after in self.machine.edges
            if before == now and (name, arguments, result) in (label, (label[0], (), None))
        ]

    def parts(self, state):
        return [program.states[number] for program, number in zip(self.programs, state)]

    def is_safe(self, state):
        return all(part.is_safe for part in self.parts(state))

    def is_accepting(self, state):
        accepts = self.machine is None or state[-1] in self.machine.accepting
        return accepts and all(part.is_accepting for part in self.parts(state))

    @property
    def unsafe(self):
        return [state for state in self.edges if not self.is_safe(state)]

    @property
    def dead(self):
        """The states from which no accepting state can be reached."""
        alive = {state for state in self.edges if self.is_accepting(state)}
        while True:
            more = {
                state
                for state, steps in self.edges.items()
                if state not in alive and any(after in alive for _, after in steps)
            }
            if not more:
                return [state for state in self.edges if state not in alive]
            alive |= more

    @property
    def transitions(self):
        return sum(map(len, self.edges.values()))

    def follow(self, texts):
        """Returns the states that the steps of a printed run can lead to."""
        states = {self.start}
        for text in texts:
            states = {
                after for state in states for label, after in self.edges[state] if fits(text, label)
            }
        return states

    # Formulas

    def atoms(self):
        """Returns predicates for formulas: their texts, and functions of a state and the label of the last step."""
        found = [("accepting", lambda state, label: self.is_accepting(state))]
        for place, views in enumerate(self.system.views.values()):
            for number, view in enumerate(views):
                values = {
                    self.programs[place].states[state[place]].views[number] for state in self.edges
                }
                for value in sorted(values):
                    found.append((f"{{({view}) == {value!r}}}", self.shows(place, number, value)))
        labels = sorted({label[:2] for steps in self.edges.values() for label, _ in steps})
        found += [
            (f'took "{name}{arguments!r}"', took((name, arguments))) for name, arguments in labels
        ]
        return found

    def shows(self, place, number, value):
        return lambda state, label: self.programs[place].states[state[place]].views[number] == value

    def holds(self, formula, atoms):
        """Decides a formula on all runs. Where nothing is possible, a run stays for ever."""
        edges, letters, waiting = {}, {}, [(self.start, None)]
        for node in waiting:
            if node in edges:
                continue
            state, _ = node
            edges[node] = [(after, label[:2]) for label, after in self.edges[state]] or [
                (state, None)
            ]
            letters[node] = frozenset(
                number for number, (_, is_true) in enumerate(atoms) if is_true(*node)
            )
            waiting += edges[node]
        return formulas.holds(formula, (self.start, None), edges, letters)

    def is_violated_by(self, formula, atoms, run):
        """Returns true if a printed run exists and violates a formula."""
        start = (self.start, None)
        for path in self.readings(start, run["prefix"]):
            if run["then"] == "lap":
                laps = [path + lap[1:] for lap in self.readings(path[-1], run["lap"] * 4)]
            elif run["then"] == "deadlock":
                is_end = not self.edges[path[-1][0]]
                laps = [[*path, (path[-1][0], None), (path[-1][0], None)]] if is_end else []
            else:
                # Any continuation violates it, so one that the graph has does.
                laps = list(self.some_lassos(path))
            for nodes in laps:
                if self.lasso_violates(formula, atoms, nodes):
                    return True
        return False

    def readings(self, start, texts):
        """Returns the paths of nodes that a printed run can mean."""
        found = [[start]]
        for text in texts:
            found = [
                [*path, (after, label[:2])]
                for path in found
                for label, after in self.edges[path[-1][0]]
                if fits(text, label)
            ][:200]
        return found

    def some_lassos(self, path):
        """Continues a path until a node comes again, always with the first step."""
        nodes = list(path)
        while len(nodes) < 2 or nodes[-1] not in nodes[:-1]:
            state = nodes[-1][0]
            steps = self.edges[state]
            nodes.append((steps[0][1], steps[0][0][:2]) if steps else (state, None))
        yield nodes

    def lasso_violates(self, formula, atoms, nodes):
        """Decides a formula on a run whose last node was met before and is where the loop closes."""
        last = nodes[-1]
        if last not in nodes[:-1]:
            return False
        begin = nodes.index(last)
        letters = [
            frozenset(number for number, (_, is_true) in enumerate(atoms) if is_true(*node))
            for node in nodes[:-1]
        ]
        return not formulas.holds_on_lasso(formula, letters[:begin], letters[begin:])


def took(action):
    return lambda state, label: label == action


STEP = re.compile(r"(\w+)(\((?:\d+,)?\))(?: / (\d+))?")


def fits(text, label):
    """Whether a printed step is a step with this label. Marks around it are ignored."""
    found = STEP.search(text)
    assert found, f"a step that cannot be read: {text}"
    name, arguments, result = found.groups()
    return (name, arguments) == (label[0], repr(label[1])) and (
        result is None or result == repr(label[2])
    )
