"""Composes small models in PyModel's form from a seed: programs, a scenario, and a temporal formula.

A program has one or two state variables with values of `kinds.py`. Its actions change them, some with arguments from
domains and some observed. Its invariant, filter, guards and accepting states depend on a view of the variables, so a
reference must tell the same states apart. A scenario is a machine that shares some of the actions.
"""

import random
import re
from dataclasses import dataclass, replace

from soundness.kinds import KINDS
from soundness.systems import function, with_imports

NAMES = ("Add", "Bend", "Cut", "Drop", "End")
#: All kinds of values, apart from those of which an exploration says that it cannot see the state. The order of a set is
#: no part of a model's state, random numbers are drawn anew in each step, and an object that is its own copy cannot
#: be restored: these are caveats or errors.
USABLE = [
    name
    for name, kind in KINDS.items()
    if not kind.uncapturable and not set(kind.tags) & {"set-order", "random", "own-copy"}
]
MAX_SIZE = 150

#: Functions that change what is no state variable.
HIDDEN = {
    "list": "hidden = []\n\n\ndef touch():\n    hidden.append(1)",
    "toggle": "hidden = False\n\n\ndef touch():\n    global hidden\n    hidden = not hidden",
    "class attribute": "class Hidden:\n    total = 0\n\n\ndef touch():\n    Hidden.total += 1",
    "function attribute": "def touch():\n    touch.calls = getattr(touch, 'calls', 0) + 1",
    "default argument": "def touch(seen=[]):\n    seen.append(1)",
    "closure": (
        "def counter():\n    n = 0\n\n    def touch():\n        nonlocal n\n        n += 1\n\n"
        "    return touch\n\n\ntouch = counter()"
    ),
}


@dataclass(frozen=True)
class Action:
    """An action of a model program."""

    name: str
    variable: int
    changes: tuple  # what each argument does; one without arguments has one
    takes_argument: bool
    is_observed: bool = False
    guard: str = ""
    result: str = ""


@dataclass(frozen=True)
class ModelSystem:
    """Models as text for Testwright, and as parts for the reference."""

    texts: dict
    programs: dict  # lists of actions, by module
    machine: object  # edges, start, accepting states and vocabulary of the scenario, or None
    tags: tuple
    has_filter: bool
    has_observed: bool
    views: dict  # expressions over the variables, by module
    hidden: str = ""  # the action that changes what is no state variable

    @property
    def modules(self):
        return list(self.texts)

    def hiding(self, rng):
        """Returns the models with an action of the first that changes what is no state variable, too."""
        module, actions = next(iter(self.programs.items()))
        name, shape = rng.choice(actions).name, rng.choice(sorted(HIDDEN))
        text = re.sub(rf"(?m)^(def {name}\(.*\):\n)", r"\1    touch()\n", self.texts[module])
        text = text.replace("def view():", f"{HIDDEN[shape]}\n\n\ndef view():")
        tags = tuple(sorted({*self.tags, "hidden state"}))
        return replace(self, texts={**self.texts, module: text}, tags=tags, hidden=name)

    def without(self, name):
        """Returns the models as they are if an action is left out."""
        programs = {
            module: [action for action in actions if action.name != name]
            for module, actions in self.programs.items()
        }
        machine = self.machine
        if machine:
            edges = tuple(edge for edge in machine.edges if edge[1] != name)
            vocabulary = tuple(one for one in machine.vocabulary if one != name)
            machine = replace(machine, edges=edges, vocabulary=vocabulary)
        return replace(self, programs=programs, machine=machine)

    def forbidding(self, views):
        """Returns the models with invariants that forbid a view each, by module."""
        texts = dict(self.texts)
        for name, view in views.items():
            texts[name] = texts[name].replace("FORBIDDEN = None", f"FORBIDDEN = {view!r}")
        return replace(self, texts=texts)

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.texts.items():
            (folder / f"{name}.py").write_text(text)


@dataclass(frozen=True)
class Machine:
    """A finite state machine that is a scenario. An edge is `(state, name, arguments, result, next state)`."""

    edges: tuple
    start: object
    accepting: tuple
    vocabulary: tuple

    @property
    def text(self):
        stubs = [f"def {name}():\n    pass\n" for name in self.vocabulary]
        edges = [
            f"    ({before!r}, ({name}, {arguments!r}, {result!r}), {after!r}),"
            for before, name, arguments, result, after in self.edges
        ]
        listed = f"actions = ({', '.join(self.vocabulary)},)"
        return "\n\n".join(
            [
                *stubs,
                "\n".join(["graph = (", *edges, ")"]),
                f"initial = {self.start!r}\naccepting = {list(self.accepting)!r}\n{listed}\n",
            ]
        )


def generate(seed):
    """Returns the models of a seed. Their invariants forbid nothing yet."""
    rng = random.Random(seed)
    programs, texts, views, tags = {}, {}, {}, set()
    count = rng.choice((1, 1, 1, 2))
    flags = {name: rng.random() < 0.3 for name in ("filter", "accepting", "observed")}
    for number in range(count):
        name = f"Model{number}"
        kinds = choose_kinds(rng, MAX_SIZE if count == 1 else MAX_SIZE // 8)
        actions = choose_actions(rng, kinds, flags["observed"])
        programs[name] = actions
        texts[name] = program_text(rng, kinds, actions, flags, number)
        views[name] = [
            re.sub(r"\bit\b", f"v{number}{place}", f"repr({kind.view})")
            for place, kind in enumerate(kinds)
        ]
        tags |= {tag for kind in kinds for tag in kind.tags}
    machine = choose_machine(rng, programs) if rng.random() < 0.5 else None
    if machine:
        texts["Scenario"] = machine.text
    observed = any(action.is_observed for actions in programs.values() for action in actions)
    tags |= {
        name
        for name, is_there in (("filter", flags["filter"]), ("observables", observed))
        if is_there
    }
    tags |= {"scenario"} if machine else set()
    tags |= {"product"} if count > 1 else set()
    system = ModelSystem(
        texts, programs, machine, tuple(sorted(tags)), flags["filter"], observed, views
    )
    hiding = random.Random(f"hidden state of {seed}")
    return system.hiding(hiding) if hiding.random() < 0.1 else system


def choose_kinds(rng, limit):
    found, size = [], 1
    for _ in range(rng.choice((1, 2))):
        kind = KINDS[rng.choice(USABLE)]
        if size * kind.size <= limit:
            found.append(kind)
            size *= kind.size
    return found or [KINDS["number"]]


def choose_actions(rng, kinds, some_observed):
    actions = []
    names = rng.sample(NAMES, rng.randint(2, 5))
    for place, name in enumerate(names):
        variable = place % len(kinds)
        changes = range(len(kinds[variable].changes))
        takes_argument = rng.random() < 0.5
        chosen = tuple(rng.sample(changes, rng.randint(1, len(changes)) if takes_argument else 1))
        actions.append(
            Action(
                name,
                variable,
                chosen,
                takes_argument,
                is_observed=some_observed and rng.random() < 0.4,
                guard=f"weigh() % 3 != {rng.randrange(3)}" if rng.random() < 0.2 else "",
                result=rng.choice(("", "", "weigh() % 2")),
            )
        )
    if all(action.is_observed for action in actions):
        return [Action(**{**vars(actions[0]), "is_observed": False}), *actions[1:]]
    return actions


def program_text(rng, kinds, actions, flags, number):
    parts = [
        '"""A generated model."""',
        *dict.fromkeys(kind.code.rstrip() for kind in kinds if kind.code),
    ]
    for variable, kind in enumerate(kinds):
        for change, text in enumerate(kind.changes):
            parts.append(function(f"change_{variable}_{change}", ["it"], text, "return it"))
        parts.append(f"def view_{variable}(it):\n    return {kind.view}")
        parts.append(f"v{number}{variable} = {kind.start}")
    views = ", ".join(f"view_{variable}(v{number}{variable})" for variable in range(len(kinds)))
    parts.append(f"def view():\n    return repr(({views},))")
    parts.append("def weigh():\n    return sum(map(ord, view()))")
    parts += [action_text(action, number) for action in actions]
    names = [f"v{number}{variable}" for variable in range(len(kinds))]
    resets = [f"{name} = {kind.start}" for name, kind in zip(names, kinds)]
    parts.append(function("Reset", [], f"global {', '.join(names)}", *resets))
    parts.append("FORBIDDEN = None")
    parts.append("def StateInvariant():\n    return view() != FORBIDDEN")
    if flags["filter"]:
        parts.append(f"def StateFilter():\n    return weigh() % 4 != {rng.randrange(4)}")
    if flags["accepting"]:
        parts.append(f"def Accepting():\n    return weigh() % 3 == {rng.randrange(3)}")
    parts.append(metadata(names, actions))
    return with_imports("\n\n\n".join(parts) + "\n")


def action_text(action, number):
    parameters = ["choice"] if action.takes_argument else []
    name = f"v{number}{action.variable}"
    body = [f"global {name}"]
    if action.takes_argument:
        choices = ", ".join(f"change_{action.variable}_{change}" for change in action.changes)
        body.append(f"{name} = ({choices},)[choice]({name})")
    else:
        body.append(f"{name} = change_{action.variable}_{action.changes[0]}({name})")
    body.append(f"return {action.result}" if action.result else "")
    text = function(action.name, parameters, *body)
    if action.guard:
        text += "\n\n\n" + function(f"{action.name}Enabled", parameters, f"return {action.guard}")
    return text


def metadata(names, actions):
    lines = [
        f"state = ({', '.join(map(repr, names))},)",
        f"actions = ({', '.join(action.name for action in actions)},)",
    ]
    guards = [f"{one.name}: ({one.name}Enabled,)" for one in actions if one.guard]
    domains = [
        f'{one.name}: {{"choice": {list(range(len(one.changes)))}}}'
        for one in actions
        if one.takes_argument
    ]
    observed = [one.name for one in actions if one.is_observed]
    lines.append(f"enablers = {{{', '.join(guards)}}}")
    lines.append(f"domains = {{{', '.join(domains)}}}")
    lines += [f"observables = ({', '.join(observed)},)"] if observed else []
    return "\n".join(lines)


def choose_machine(rng, programs):
    known = {action.name: action for actions in programs.values() for action in actions}
    vocabulary = rng.sample(sorted(known), rng.randint(1, min(3, len(known))))
    states = ["red", "green", "blue"][: rng.randint(1, 3)]
    edges = []
    for _ in range(rng.randint(2, 6)):
        name = rng.choice(vocabulary)
        action = known[name]
        is_open = rng.random() < 0.6
        if action.takes_argument and not is_open:
            arguments = (rng.randrange(len(action.changes)),)
        else:
            arguments = ()
        result = rng.randrange(2) if action.result and arguments and rng.random() < 0.5 else None
        before = rng.choice(states) if edges else states[0]
        edges.append((before, name, arguments, result, rng.choice(states)))
    accepting = tuple(rng.sample(states, rng.randint(1, len(states))))
    used = {name for _, name, *_ in edges}
    vocabulary = [name for name in vocabulary if name in used or rng.random() < 0.3]
    return Machine(tuple(dict.fromkeys(edges)), states[0], accepting, tuple(vocabulary))
