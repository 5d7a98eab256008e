"""Temporal formulas on finite graphs, decided from their definitions.

A formula is a tuple: an operator and its parts, or `("atom", number)`. A violating run is found in the product of the
graph with all assignments of truth values to what has to hold next: a run satisfies a formula if the values are
consistent along it, and every `until` that is pending for ever is fulfilled again and again.
"""

import itertools
import random

UNARY = ("not", "always", "eventually", "next")
BINARY = ("and", "or", "implies", "until", "weak until", "release")


def random_formula(rng, atoms, depth=3):
    """Returns a random formula about some of the atoms."""
    if depth == 0 or rng.random() < 0.15:
        return ("atom", rng.randrange(atoms))
    if rng.random() < 0.6:
        return (rng.choice(UNARY), random_formula(rng, atoms, depth - 1))
    return (
        rng.choice(BINARY),
        random_formula(rng, atoms, depth - 1),
        random_formula(rng, atoms, depth - 1),
    )


def usual_formula(rng, atoms):
    """Returns a formula of a shape that people write."""
    a, b = (("atom", rng.randrange(atoms)) for _ in range(2))
    return rng.choice(
        [
            ("always", ("not", a)),
            ("eventually", a),
            ("always", ("eventually", a)),
            ("eventually", ("always", ("not", a))),
            ("always", ("implies", a, ("eventually", b))),
            ("always", ("implies", a, ("next", ("not", b)))),
            ("until", ("not", a), b),
            ("weak until", ("not", a), b),
            ("implies", ("always", ("eventually", a)), ("always", ("eventually", b))),
        ]
    )


def text(formula, atoms):
    """Writes a formula in the syntax of `--formula`."""
    operator, *parts = formula
    if operator == "atom":
        return atoms[parts[0]]
    inner = [text(part, atoms) for part in parts]
    if operator in UNARY:
        return f"{operator} ({inner[0]})"
    return f"(({inner[0]}) {operator} ({inner[1]}))"


def core(formula):
    """Rewrites a formula with atoms, `true`, `not`, `and`, `next` and `until` only."""
    operator, *parts = formula
    if operator in ("atom", "true"):
        return formula
    first, *rest = map(core, parts)
    second = rest[0] if rest else None
    if operator in ("not", "and", "next", "until"):
        return (operator, first, *rest)
    if operator == "or":
        return negated(("and", negated(first), negated(second)))
    if operator == "implies":
        return negated(("and", first, negated(second)))
    if operator == "eventually":
        return ("until", ("true",), first)
    if operator == "always":
        return negated(("until", ("true",), negated(first)))
    if operator == "release":
        return negated(("until", negated(first), negated(second)))
    assert operator == "weak until"
    return negated(("until", negated(second), ("and", negated(first), negated(second))))


def negated(formula):
    return formula[1] if formula[0] == "not" else ("not", formula)


def subformulas(formula):
    yield formula
    for part in formula[1:]:
        if isinstance(part, tuple):
            yield from subformulas(part)


def holds_on_lasso(formula, prefix, lap):
    """Decides a formula on one run: `prefix` and then `lap` for ever, as sets of true atoms."""
    letters = [*prefix, *lap]
    after = [*range(1, len(letters)), len(prefix)]

    def values(formula):
        operator, *parts = formula
        if operator == "true":
            return [True] * len(letters)
        if operator == "atom":
            return [parts[0] in letter for letter in letters]
        first, *rest = map(values, parts)
        if operator == "not":
            return [not value for value in first]
        if operator == "and":
            return [one and other for one, other in zip(first, rest[0])]
        if operator == "next":
            return [first[place] for place in after]
        # The least solution, from below.
        found = list(rest[0])
        for _ in letters:
            found = [
                found[place] or (first[place] and found[after[place]])
                for place in range(len(letters))
            ]
        return found

    return values(core(formula))[0]


def holds(formula, start, edges, letters):
    """Decides a formula on all runs of a graph. `edges` maps each node to its successors, of which there is at least
    one; `letters` maps it to the set of atoms that are true there."""
    wanted = negated(core(formula))
    parts = sorted(set(subformulas(wanted)), key=lambda part: (len(str(part)), str(part)))
    later = [part for part in parts if part[0] in ("next", "until")]
    untils = [part for part in parts if part[0] == "until"]

    def evaluate(letter, assumed):
        """Returns the true subformulas, if those of `later` in `assumed` hold at the next node."""
        true = set()
        for part in parts:  # The parts of a formula are shorter, so they come before it.
            operator, *inner = part
            if (
                operator == "true"
                or (operator == "atom" and inner[0] in letter)
                or (operator == "not" and inner[0] not in true)
                or (operator == "and" and inner[0] in true and inner[1] in true)
                or (operator == "next" and part in assumed)
                or (
                    operator == "until"
                    and (inner[1] in true or (inner[0] in true and part in assumed))
                )
            ):
                true.add(part)
        return true

    choices = [
        frozenset(part for part, chosen in zip(later, bits) if chosen)
        for bits in itertools.product((False, True), repeat=len(later))
    ]
    known = {}

    def true_at(node, assumed):
        key = (letters[node], assumed)
        if key not in known:
            known[key] = evaluate(*key)
        return known[key]

    def required(part, true):
        """Whether what a formula says of the next node holds there."""
        return (part[1] if part[0] == "next" else part) in true

    def following(pair):
        node, assumed = pair
        for after in edges[node]:
            for choice in choices:
                true = true_at(after, choice)
                if all((part in assumed) == required(part, true) for part in later):
                    yield (after, choice)

    begin = [(start, choice) for choice in choices if wanted in true_at(start, choice)]
    for component in components(begin, following):
        fulfilled = all(
            any(part not in true_at(*pair) or part[2] in true_at(*pair) for pair in component)
            for part in untils
        )
        if fulfilled:
            return False
    return True


def components(begin, following):
    """Yields the strongly connected components with at least one edge (Tarjan's algorithm, without recursion)."""
    number, low, active, stack = {}, {}, set(), []
    for root in begin:
        if root in number:
            continue
        work = [(root, None)]
        while work:
            node, successors = work[-1]
            if successors is None:
                number[node] = low[node] = len(number)
                stack.append(node)
                active.add(node)
                successors = iter(list(following(node)))
                work[-1] = (node, successors)
            for after in successors:
                if after not in number:
                    work.append((after, None))
                    break
                if after in active:
                    low[node] = min(low[node], number[after])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    component = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        active.discard(component[-1])
                    if len(component) > 1 or node in list(following(node)):
                        yield component


def check_against_lassos(seed):
    """Compares `holds` with all short lassos of a random graph: a check of this file itself."""
    rng = random.Random(seed)
    nodes = range(rng.randint(1, 4))
    edges = {node: rng.sample(list(nodes), rng.randint(1, min(2, len(nodes)))) for node in nodes}
    letters = {node: frozenset(atom for atom in range(2) if rng.random() < 0.5) for node in nodes}
    formula = random_formula(rng, 2, 2)
    violated = False
    for path in paths(edges, 0, 8):
        for place, node in enumerate(path[:-1]):
            if node == path[-1]:
                prefix, lap = path[:place], path[place:-1]
                word = [[letters[node] for node in part] for part in (prefix, lap)]
                violated |= not holds_on_lasso(formula, *word)
    return violated != holds(formula, 0, edges, letters)


def paths(edges, start, length):
    waiting = [(start,)]
    while waiting:
        path = waiting.pop()
        yield path
        if len(path) < length:
            waiting += [(*path, after) for after in edges[path[-1]]]
