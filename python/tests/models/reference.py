"""Computes the product of models slowly and plainly: the test oracle for models.

It follows the definitions one by one, keeps states in lists and compares them with `==`, and shares no code with the
program under test. As a program, in the folder of the models, it prints the complete graph of a product as JSON:

    reference.py [-a ACTION] [-e ACTION] MODULE...
"""

import argparse
import copy
import importlib
import inspect
import itertools
import json
import os
import sys


def canonical(value):
    """Returns a text that is the same for equal values and differs for others.

    For an object of a class, it is its `repr`, which is also what a written module contains.
    """
    if isinstance(value, (bool, int, float)) and not hasattr(value, "name"):
        return repr(int(value)) if value == int(value) else repr(float(value))
    if type(value) is tuple:
        return f"({' '.join(map(canonical, value))})"
    if type(value) is list:
        return f"[{' '.join(map(canonical, value))}]"
    if type(value) in (set, frozenset):
        return f"<{' '.join(sorted(map(canonical, value)))}>"
    if type(value) is dict:
        items = (f"{canonical(key)}={canonical(item)}" for key, item in value.items())
        return f"{{{' '.join(sorted(items))}}}"
    if value is None or type(value) in (str, bytes):
        return repr(value)
    return repr(repr(value))


def unique(values):
    """Removes duplicates, using only `==`."""
    found = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def last_of(module, *spellings):
    """Returns the value of the last of several names that a module defines."""
    found = [getattr(module, name) for name in spellings if hasattr(module, name)]
    return found[-1] if found else None


class Program:
    """A module whose variables are the state."""

    is_scenario = is_suite = False

    def __init__(self, module, keeps):
        self.module = module
        self.actions = [action for action in module.actions if keeps(action.__name__)]
        self.observables = [
            action for action in getattr(module, "observables", ()) if action in self.actions
        ]
        self.vocabulary = {action.__name__ for action in self.actions}
        self.reset = last_of(module, "Reset", "reset")
        self.accepting = last_of(module, "Accepting", "accepting")
        self.filter = last_of(module, "StateFilter", "statefilter", "state_filter")
        self.invariant = last_of(module, "StateInvariant", "stateinvariant", "state_invariant")

    def start(self, run):
        if run > 0:
            self.reset()
        return self.state()

    def state(self):
        # Each variable is copied separately.
        return {name: copy.deepcopy(getattr(self.module, name)) for name in self.module.state}

    def restore(self, state):
        for name, value in copy.deepcopy(state).items():
            setattr(self.module, name, value)

    def is_accepting(self, state):
        self.restore(state)
        return self.accepting is None or bool(self.accepting())

    def is_safe(self, state):
        self.restore(state)
        return self.invariant is None or bool(self.invariant())

    def parameters(self, function):
        kinds = inspect.signature(function).parameters.values()
        given = [
            one for one in kinds if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]
        return given or [one for one in kinds if one.kind is one.VAR_POSITIONAL]

    def arguments(self, action):
        if action not in getattr(self.module, "domains", {}):
            return [()]
        domains = []
        for parameter in self.parameters(action):
            domain = self.module.domains[action][parameter.name]
            domains.append(list(domain() if callable(domain) else domain))
        if getattr(self.module, "combinations", {}).get(action) == "cases" and domains:
            tuples = list(zip(*domains))
        else:
            tuples = list(itertools.product(*domains))
        return [() if arguments == (None,) else arguments for arguments in tuples]

    def observed(self, action, offers):
        for name, arguments, _ in offers:
            if name == action.__name__:
                try:
                    inspect.signature(action).bind(*arguments)
                except TypeError:
                    continue  # The action cannot be called with these arguments.
                yield arguments

    def allows(self, action, arguments):
        guards = getattr(self.module, "enablers", {}).get(action, ())
        for guard in guards:
            kinds = inspect.signature(guard).parameters.values()
            takes_some = any(one.kind is one.POSITIONAL_OR_KEYWORD for one in kinds)
            if not (guard(*arguments) if takes_some else guard()):
                return False
        return True

    def moves(self, offers):
        chosen = [action for action in self.actions if action not in self.observables]
        choices = [(action, arguments) for action in chosen for arguments in self.arguments(action)]
        for action in self.observables:
            choices += [(action, arguments) for arguments in self.observed(action, offers)]
        for action, arguments in choices:
            if self.allows(action, arguments):
                saved = self.state()
                result = action(*arguments)
                after = self.state()
                kept = self.filter is None or self.filter()
                for name, value in saved.items():
                    setattr(self.module, name, value)
                if kept:
                    yield (action.__name__, arguments, result), after


class Scenario:
    """A model that is not a program: its state is a value."""

    is_scenario = True
    is_suite = False

    def restore(self, state):
        self.now = state

    def is_safe(self, state):
        return True


class Machine(Scenario):
    """A module with a graph."""

    def __init__(self, module, keeps):
        self.module = module
        listed = getattr(module, "actions", [step[0] for _, step, _ in module.graph])
        self.vocabulary = {action.__name__ for action in listed if keeps(action.__name__)}

    def start(self, run):
        return self.module.initial

    def is_accepting(self, state):
        return not hasattr(self.module, "accepting") or state in self.module.accepting

    def moves(self, offers):
        for state, (action, arguments, result), after in self.module.graph:
            if state == self.now and action.__name__ in self.vocabulary:
                yield (action.__name__, arguments, result), after


class Suite(Scenario):
    """A module with runs."""

    is_suite = True

    def __init__(self, module, keeps):
        self.module = module
        runs = last_of(module, "testSuite", "testsuite", "test_suite")
        occurring = [step[0] for run in runs for step in run]
        listed = getattr(module, "actions", occurring)
        self.vocabulary = {action.__name__ for action in listed if keeps(action.__name__)}
        self.runs = [
            list(itertools.takewhile(lambda step: step[0].__name__ in self.vocabulary, run))
            for run in runs
        ]

    def start(self, run):
        return (run, 0)

    def is_accepting(self, state):
        return state[1] == len(self.runs[state[0]])

    def moves(self, offers):
        run, position = self.now
        for action, arguments, *result in self.runs[run][position : position + 1]:
            label = (action.__name__, arguments, result[0] if result else None)
            yield label, (run, position + 1)


def load(names, include, exclude):
    """Loads models in order. Configuration modules only change other modules, so they are not in the result."""
    sys.path.insert(0, os.getcwd())
    modules = [importlib.import_module(name) for name in dict.fromkeys(names)]
    models = {}
    for module in modules:

        def keeps(name):
            return name not in exclude and (not include or name in include)

        if hasattr(module, "graph"):
            models[module.__name__] = Machine(module, keeps)
        elif last_of(module, "testSuite", "testsuite", "test_suite") is not None:
            models[module.__name__] = Suite(module, keeps)
        elif not (module.__doc__ or "").strip().upper().startswith("PYMODEL CONFIG"):
            models[module.__name__] = Program(module, keeps)
    return models


def steps(models, state):
    """Returns the steps that are possible in a product, and the states they lead to."""
    for name, model in models.items():
        model.restore(copy.deepcopy(state[name]))
    offers, possible = [], {}
    for name, model in sorted(models.items(), key=lambda one: not one[1].is_scenario):
        possible[name] = list(model.moves(offers))
        if model.is_scenario:
            offers += [label for label, _ in possible[name]]
    for label in unique(label for moves in possible.values() for label, _ in moves):
        ways = [state]
        for name, model in models.items():
            if label[0] in model.vocabulary:
                # In a product, a scenario's label without arguments matches all arguments of other models.
                open_label = (label[0], (), None) if len(models) > 1 else label
                targets = unique(
                    after
                    for one, after in possible[name]
                    if one == label or (model.is_scenario and one == open_label)
                )
                ways = [{**way, name: target} for way in ways for target in targets]
        for way in ways:
            yield label, way


def explore(models):
    """Explores all states and steps of a product."""
    states, transitions, starts, finished, deadend = [], [], [], [], []
    for run in itertools.count():
        suites_first = sorted(models.items(), key=lambda one: not one[1].is_scenario)
        if any(model.is_suite and run >= len(model.runs) for model in models.values()):
            break
        start = {name: model.start(run) for name, model in suites_first}
        starts.append(start)
        waiting = [start] if start not in states else []
        states += waiting
        while waiting:
            state = waiting.pop(0)
            found = list(steps(models, state))
            if not found:
                is_end = all(model.is_accepting(state[name]) for name, model in models.items())
                (finished if is_end else deadend).append(state)
            for label, after in found:
                if after not in states:
                    states.append(after)
                    waiting.append(after)
                transitions.append((state, *label, after))
        if not any(model.is_suite for model in models.values()):
            break

    def everywhere(predicate):
        return [s for s in states if all(predicate(m, s[name]) for name, m in models.items())]

    safe = everywhere(lambda model, state: model.is_safe(state))
    return {
        "states": states,
        "transitions": transitions,
        "initial": states[:1],
        "accepting": everywhere(lambda model, state: model.is_accepting(state)),
        "unsafe": [state for state in states if state not in safe],
        "finished": finished,
        "deadend": deadend,
        "runstarts": starts,
    }


def comparable(graph):
    """Converts a graph to sorted texts that do not depend on the numbers of its states."""
    return {name: sorted({canonical(value) for value in values}) for name, values in graph.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-a", action="append", default=[])
    parser.add_argument("-e", action="append", default=[])
    parser.add_argument("modules", nargs="+")
    given = parser.parse_args()
    print(json.dumps(comparable(explore(load(given.modules, given.a, given.e)))))


if __name__ == "__main__":
    main()
