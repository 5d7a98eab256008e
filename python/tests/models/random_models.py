"""Generates small random models as source text. They share a few names, so that they can be composed."""

NAMES = "ABCD"
STUBS = "".join(f"def {name}(): pass\n" for name in NAMES)

VALUES = [0, 1, True, 1.0, "x", (1,), frozenset({1, 2}), 2.5]
ARGUMENTS = [(), (), (1,), (True,), ("x",), (1, 2), (0,), (None,)]
RESULTS = [None, None, None, "r", 1, True]

#: How a state is initialized, how an action changes it, and how it is reset.
STATES = [
    ("s = 0", "global s; s = (s + (1 if {} else 2)) % 4", "global s; s = 0"),
    ("s = set()", "s.symmetric_difference_update({{str({})}})", "s.clear()"),
    ("s = []", "s.append({}) if len(s) < 2 else s.clear()", "s.clear()"),
    ("s = {}", "s.update({{str({}): 1}}) if len(s) < 3 else s.clear()", "s.clear()"),
]


def step(rng, is_short=False):
    result = "" if is_short else f", {rng.choice(RESULTS)!r}"
    return f"({rng.choice(NAMES)}, {rng.choice(ARGUMENTS)!r}{result})"


def machine(rng):
    states = rng.choice([[0, 1, 2], ["a", "b"], [(0, 0), (0, 1)], [None, 1, 0]])
    edges = [
        f"({rng.choice(states)!r}, {step(rng)}, {rng.choice(states)!r})"
        for _ in range(rng.randint(1, 7))
    ]
    lines = [f"{STUBS}initial = {states[0]!r}", f"graph = ({', '.join(edges)},)"]
    if rng.random() < 0.8:
        lines.append(f"accepting = {rng.sample(states, rng.randint(0, len(states)))!r}")
    if rng.random() < 0.3:
        lines.append(f"actions = ({', '.join(rng.sample(NAMES, 3))})")
    return "\n".join(lines) + "\n"


def suite(rng):
    runs = []
    for _ in range(rng.randint(1, 3)):
        steps = [step(rng, rng.random() < 0.5) for _ in range(rng.randint(0, 4))]
        runs.append(f"[{', '.join(steps)}]")
    # The vocabulary has all names, also those that no run uses.
    return f"{STUBS}actions = (A, B, C)\ntestSuite = [{', '.join(runs)}]\n"


def program(rng):
    begin, change, begin_anew = rng.choice(STATES)
    lines, domains, guards, together, observables = [begin], [], [], [], []
    actions = rng.sample(NAMES, rng.randint(1, 3))
    for name in actions:
        parameters = rng.choice(["", "", "x", "x", "x=7", "*x", "x, y"])
        used = "1" if not parameters else "len(x)" if "*" in parameters else "x"
        result = rng.choice(["None", "None", "'r'", "len(str(s)) % 2"])
        change_by = change.format(used).replace("; ", "\n    ")
        lines.append(f"def {name}({parameters}):\n    {change_by}\n    return {result}")
        if parameters:
            domains.append(f"{name}: {{{', '.join(domain(rng, parameters))}}}")
        if rng.random() < 0.3:
            together.append(f"{name}: 'cases'")
        if rng.random() < 0.4:
            takes = parameters if parameters in ("x", "x, y") and rng.random() < 0.5 else ""
            answer = rng.choice(["len(str(s)) % 3", "True", "not s"])
            lines.append(f"def may_{name}({takes}): return {answer}")
            guards.append(f"{name}: (may_{name},)")
        if rng.random() < 0.25:
            observables.append(name)
    if rng.random() < 0.5:
        lines.append("def Accepting(): return not s")
    if rng.random() < 0.4:
        lines.append("def StateInvariant(): return len(str(s)) < 6")
    begin_anew = begin_anew.replace("; ", "\n    ")
    lines += [
        f"def Reset():\n    {begin_anew}",
        "state = ('s',)",
        f"actions = [{', '.join(actions)}]",
        f"observables = [{', '.join(observables)}]",
        f"domains = {{{', '.join(domains)}}}",
        f"enablers = {{{', '.join(guards)}}}",
        f"combinations = {{{', '.join(together)}}}",
    ]
    return "\n".join(lines) + "\n"


def domain(rng, parameters):
    """Generates values for each parameter. For a parameter with a default, they include None: a call without it."""
    for parameter in parameters.replace("*", "").split(", "):
        values = rng.sample(VALUES, rng.randint(1, 3))
        if parameters in ("x=7", "*x"):
            values.append(None)
        text = repr(values) if rng.random() < 0.7 else f"lambda: {values!r}"
        yield f"'{parameter[0]}': {text}"
