"""Composes small systems under test and their harnesses from a seed.

A system has one to three *holders*: a kind of value (`kinds.py`) at a place (`places.py`). Its actions change the values,
share an object between two holders or make it separate again, or look at a hidden value. Its property says that a view of
the values never equals `TARGET`: a view that a random walk found, or one that probably cannot be reached. So the
property fails in exactly the states with that view, and finding them takes all that the view tells apart.
"""

import ast
import functools
import random
import re
from dataclasses import dataclass, replace

from soundness.brute_force import Step, System
from soundness.kinds import KINDS
from soundness.pinned import PINNED
from soundness.places import PLACES, RARE_PLACES

POOLS = "abc"
MODULES = ("base", "parts", "parts.inner", "system")
#: How many states a system has at most, roughly.
MAX_SIZE = 150
#: From this seed on, only the length of a view is compared instead of a value in a slot.
FIRST_ABSTRACT = 10_000
TARGETS = ("reachable",) * 3 + ("mixed",) * 2 + ("unreachable",) * 3 + ("never",) * 3 + ("first",)
IMPORTABLE = (
    "array collections contextvars dataclasses decimal enum fractions functools io itertools math random textwrap "
    "threading types weakref"
).split()


@dataclass(frozen=True)
class Holder:
    """A value at a place, and what is done with it."""

    number: int
    kind_name: str
    place_name: str
    changes: tuple  # numbers of the kind's changes
    is_hidden: bool = False  # the property sees it only after a look
    resets: bool = False  # an action puts the first value back
    raises: int = -1  # the change that raises an expected exception after it was made
    guarded: int = -1  # the change that has a guard
    is_made: bool = False  # an action fills the slot, instead of `init:`
    slots: int = 1

    @property
    def kind(self):
        return KINDS[self.kind_name]

    @property
    def place(self):
        return PLACES.get(self.place_name) or RARE_PLACES[self.place_name]

    @property
    def pool(self):
        return POOLS[self.number]

    @property
    def argument(self):
        """What a harness line passes for this holder: text with `{pool}` marks, or nothing."""
        if self.place.target and not self.place.is_slot:
            return self.place.target.format(n=self.number)
        return f"{{{self.pool}}}" if self.place.is_slot else ""

    @property
    def target(self):
        """What a harness line assigns to, if the place is a direct one."""
        return self.argument if self.place.target else ""


@dataclass(frozen=True)
class Design:
    """All decisions about a system. The rest follows from them."""

    seed: int
    holders: tuple
    shares: tuple = ()  # pairs of holders: the second gets the object of the first, or of its own other slot
    splits: bool = False  # whether sharing can be undone
    style: str = "import"  # how the harness imports the system
    detector: str = "property"
    target: str = "reachable"
    is_abstract: bool = False  # whether pools have an abstraction

    @property
    def tags(self):
        found = {tag for holder in self.holders for tag in holder.kind.tags + holder.place.tags}
        found |= {"sharing"} if self.shares else set()
        found |= {"from-import"} if self.style == "from" else set()
        found |= {"hidden"} if any(holder.is_hidden for holder in self.holders) else set()
        found |= {"exception"} if any(holder.raises >= 0 for holder in self.holders) else set()
        found |= {"guard"} if any(holder.guarded >= 0 for holder in self.holders) else set()
        return sorted(found)

    @property
    def is_capturable(self):
        return not any(
            holder.kind.uncapturable or holder.place.uncapturable for holder in self.holders
        )


# Designs


def choice(rng, table, is_preferred):
    """Chooses a name from a table of kinds or places: seldom one that cannot be captured."""
    names = [name for name in table if not table[name].uncapturable]
    if rng.random() < 0.06:
        names = [name for name in table if table[name].uncapturable]
    elif rng.random() < 0.3:
        names = [name for name in names if is_preferred(table[name])]
    return rng.choice(names)


def random_holder(rng, number):
    kind_name = choice(rng, KINDS, lambda kind: kind.in_place)
    kind = KINDS[kind_name]
    place_name = choice(rng, PLACES, lambda place: place.is_slot)
    place = PLACES[place_name]
    changes = sorted(
        rng.sample(range(len(kind.changes)), min(len(kind.changes), rng.choice((2, 2, 3))))
    )
    return Holder(
        number,
        kind_name,
        place_name,
        tuple(changes),
        is_hidden=rng.random() < 0.25,
        resets=rng.random() < 0.25,
        raises=rng.choice(changes) if rng.random() < 0.12 else -1,
        guarded=rng.choice(changes) if rng.random() < 0.15 else -1,
        is_made=place.is_slot and rng.random() < 0.4,
        slots=2 if place.is_slot and rng.random() < 0.15 else 1,
    )


def size(holders):
    """Returns about how many states some holders have together."""
    product = 1
    for holder in holders:
        own = (
            holder.kind.size * (1 + holder.is_hidden * holder.kind.size / 2) * (1 + holder.is_made)
        )
        product *= own**holder.slots
    return product


def design(seed):
    """Makes the decisions about one system. Of ten systems, one has a rare place."""
    if seed in PINNED:
        holders, others = PINNED[seed]
        return Design(seed, tuple(Holder(n, **one) for n, one in enumerate(holders)), **others)
    made = usual_design(seed)
    if seed % 10 != 6 or seed >= FIRST_ABSTRACT:
        return made
    place = random.Random(-seed).choice(list(RARE_PLACES))
    first = replace(made.holders[0], place_name=place, is_made=False, slots=1)
    return replace(made, holders=(first, *made.holders[1:]), shares=(), splits=False)


def usual_design(seed):
    """Makes the decisions about a system without rare places."""
    rng = random.Random(seed)
    if seed >= FIRST_ABSTRACT:
        return replace(drawn(rng, seed), is_abstract=True, target="reachable")
    return drawn(rng, seed)


def drawn(rng, seed):
    """Draws the decisions about a system."""
    if rng.random() < 0.3:
        return focused(rng, seed)
    wanted = rng.choice((1, 2, 2, 2, 3))
    holders = []
    for number in range(wanted):
        for _ in range(20):
            holder = random_holder(rng, number)
            if size([*holders, holder]) <= MAX_SIZE:
                holders.append(holder)
                break
        else:
            break
    shares = ()
    if len(holders) > 1 and rng.random() < 0.4:
        holders, shares = shared(rng, holders)
    return designed(rng, seed, holders, shares, rng.choice(("import", "import", "from", "as")))


def designed(rng, seed, holders, shares, style):
    """Makes the remaining decisions."""
    return Design(
        seed,
        tuple(holders),
        shares or tuple((one.number,) * 2 for one in holders if can_share_within(one)),
        splits=rng.random() < 0.6,
        style=style,
        detector=rng.choice(("property", "property", "property", "assert", "raise")),
        target=rng.choice(TARGETS),
    )


def focused(rng, seed):
    """Designs a system with only one thing that is special: the kind of a value in a slot, or the place of a plain one."""
    holder = random_holder(rng, 0)
    if rng.random() < 0.5:
        slots = rng.choice((1, 2)) if holder.kind.size <= 6 else 1
        holder = replace(holder, place_name=rng.choice(("slot", "list in a slot")), slots=slots)
    else:
        kind_name = rng.choice(("count", "list", "nested"))
        holder = replace(
            holder, kind_name=kind_name, changes=(0, 1), raises=-1, guarded=-1, slots=1
        )
    return designed(rng, seed, [holder], (), "import")


def can_share_within(holder):
    return holder.slots == 2 and holder.kind.in_place and holder.number == 0


def shared(rng, holders):
    """Gives two holders the same kind of object, so that one of them can get the object of the other."""
    first, second = holders[0], holders[1]
    kind_name = first.kind_name if first.kind.in_place else rng.choice(
        ["list", "dict", "shared inside", "slotted", "number in a list", "missing attribute", "set"]
    )  # fmt: skip
    changes = tuple(range(min(2, len(KINDS[kind_name].changes))))

    def with_kind(holder):
        return replace(
            holder, kind_name=kind_name, changes=changes, raises=-1, guarded=-1, is_hidden=False
        )

    pair = [with_kind(first), with_kind(second)]
    return (pair, ((0, 1),)) if size(pair) <= MAX_SIZE else (holders, ())


# Texts


def module_texts(design):
    """Returns the texts of the modules, without the constant `TARGET`."""
    parts = {name: [] for name in MODULES}
    for holder in design.holders:
        add_holder(parts, holder)
    for holder in design.holders:
        add_actions(parts["system"], design, holder)
        if design.is_abstract and holder.place.is_slot:
            text = f"return len(repr({seen(holder)}))"
            parts["system"].append(function(f"abstract_{holder.number}", slot_of(holder), text))
    for first, second in design.shares:
        add_sharing(parts["system"], design, design.holders[first], design.holders[second])
    parts["system"].append(view_text(design))
    texts = {name: "\n\n\n".join(dict.fromkeys(part)) + "\n" for name, part in parts.items()}
    if not parts["base"]:
        del texts["base"]
    if not parts["parts.inner"]:
        del texts["parts"], texts["parts.inner"]
    else:
        texts["parts"] = ""
    return {name: with_imports(text) for name, text in texts.items()}


def with_imports(text):
    words = set(re.findall(r"\b(\w+)\.", text))
    words.discard("textwrap")  # Its place imports it.
    lines = [f"import {name}" for name in IMPORTABLE if name in words]
    return "\n".join([*lines, *([""] if lines else []), text])


def function(name, parameters, *body):
    lines = [f"    {line}" for part in body for line in part.split("; ") if line]
    return "\n".join([f"def {name}({', '.join(parameters)}):", *lines])


def slot_of(holder):
    """Returns the parameter of a function that needs what a harness line passes for a holder."""
    return [f"slot_{holder.number}"] if holder.argument else []


def add_holder(parts, holder):
    """Adds the definitions of a holder to the module of its place."""
    number, kind, place = holder.number, holder.kind, holder.place
    parameter = ["slot"] if holder.argument else []
    here = parts[place.module]
    here.append(kind.code.rstrip()) if kind.code else None
    here.append(f"def start_{number}():\n    return {kind.start}")
    for change in range(len(kind.changes)):
        here.append(
            function(f"change_{number}_{change}", ["it"], kind.changes[change], "return it")
        )
    here.append(f"def view_{number}(it):\n    return {kind.view}")
    if place.code:
        here.append(place.code.format(n=number).rstrip())
    is_store = place.module == "base" and place.tags == ("from-import",)
    access = parts["system"] if is_store else here
    if holder.target:
        access.append(f"def get_{number}(slot):\n    return slot")
    else:
        access.append(
            f"def get_{number}({', '.join(parameter)}):\n    return {place.get.format(n=number)}"
        )
        access.append(function(f"put_{number}", ["new", *parameter], place.put.format(n=number)))
    if place.is_slot:
        here.append(f"def make_slot_{number}():\n    return {place.slot.format(n=number)}")
    if place.module != "system":
        names = [f"start_{number}", f"view_{number}"]
        names += [f"change_{number}_{change}" for change in range(len(kind.changes))]
        names += [f"store_{number}"] if is_store else [f"get_{number}", f"put_{number}"]
        parts["system"].insert(0, f"from {place.module} import {', '.join(names)}")


def stored(holder, value):
    """Returns the statements by which a function of the system stores a value."""
    if holder.target:
        return f"new = {value}"
    return f"new = {value}; put_{holder.number}({', '.join(['new', *slot_of(holder)])})"


def got(holder):
    return f"get_{holder.number}({', '.join(slot_of(holder))})"


def seen(holder):
    return f"view_{holder.number}({got(holder)})"


def checked(design):
    """Returns a statement that raises in the states to find, if that is how they are found."""
    return "check()" if design.detector == "raise" and not arguments(design) else ""


def add_actions(here, design, holder):
    number = holder.number
    for change in holder.changes:
        raised = 'raise ValueError("expected")' if change == holder.raises else ""
        value = f"change_{number}_{change}({got(holder)})"
        body = (
            stored(holder, value),
            checked(design),
            raised,
            "return new" if holder.target else "",
        )
        here.append(function(f"do_{number}_{change}", slot_of(holder), *body))
        if change == holder.guarded:
            text = f"return sum(map(ord, repr({seen(holder)}))) % 3 != 0"
            here.append(function(f"may_{number}_{change}", slot_of(holder), text))
    if holder.resets:
        body = (
            stored(holder, f"start_{number}()"),
            checked(design),
            "return new" if holder.target else "",
        )
        here.append(function(f"reset_{number}", slot_of(holder), *body))
    if holder.is_hidden:
        here.append(f"seen_{number} = None")
        body = (f"global seen_{number}", f"seen_{number} = {seen(holder)}", checked(design))
        here.append(function(f"look_{number}", slot_of(holder), *body))


def add_sharing(here, design, first, second):
    parameters = list(dict.fromkeys(slot_of(first) + slot_of(second)))
    other = got(first)
    if first is second:
        parameters, other = ["slot_0", "other"], "get_0(other)"
    end = (checked(design), "return new" if second.target else "")
    here.append(function("share", parameters, stored(second, other), *end))
    if design.splits:
        here.insert(0, "import copy")
        body = stored(second, f"copy.deepcopy({got(second)})")
        here.append(function("split", slot_of(second), body, *end))


def view_text(design):
    parameters = [
        name for holder in design.holders if not holder.is_hidden for name in slot_of(holder)
    ]
    parts = [f"seen_{one.number}" if one.is_hidden else seen(one) for one in design.holders]
    view = function("view", parameters, f"return repr(({', '.join(parts)},))")
    condition = f"view({', '.join(parameters)}) != TARGET"
    check = function("check", parameters, f'assert {condition}, "the target"')
    return f"{view}\n\n\n{check}"


def arguments(design):
    """Returns what the harness passes to `view`."""
    return [one.argument for one in design.holders if one.argument and not one.is_hidden]


# Harness lines


class Lines:
    """Writes the lines of a harness, with names as it imports them."""

    def __init__(self, design):
        self.design = design
        self.names = []

    def name(self, name):
        """Returns a name of the system as the harness writes it."""
        if self.design.style == "from":
            self.names.append(name)
            return name
        return f"{'sut' if self.design.style == 'as' else 'system'}.{name}"

    def call(self, name, *holders):
        given = list(dict.fromkeys(holder.argument for holder in holders if holder.argument))
        if len(holders) == 2 and holders[0] is holders[1]:
            given.append(given[0].upper())  # another slot of the same pool
        return f"{self.name(name)}({', '.join(given)})"

    def writing(self, name, holder, *others):
        call = self.call(name, *(others or [holder]))
        return f"{holder.target} = {call}" if holder.target else call

    def actions(self):
        """Yields `(guard, statement, expected exception)`."""
        for holder in self.design.holders:
            number = holder.number
            if holder.is_made:
                yield "", f"{{{holder.pool}}} := {self.name(f'make_slot_{number}')}()", ""
            for change in holder.changes:
                guard = (
                    self.call(f"may_{number}_{change}", holder) if change == holder.guarded else ""
                )
                expected = "ValueError" if change == holder.raises else ""
                yield guard, self.writing(f"do_{number}_{change}", holder), expected
            if holder.resets:
                yield "", self.writing(f"reset_{number}", holder), ""
            if holder.is_hidden:
                yield "", self.call(f"look_{number}", holder), ""
        for first, second in self.design.shares:
            first, second = self.design.holders[first], self.design.holders[second]
            yield "", self.writing("share", second, first, second), ""
            if self.design.splits:
                yield "", self.writing("split", second), ""
        if self.design.detector == "assert":
            visible = [one for one in self.design.holders if not one.is_hidden]
            yield "", self.call("check", *visible), ""

    def check(self):
        """Returns the property."""
        view = f"{self.name('view')}({', '.join(arguments(self.design))})"
        return f"{view} != {self.name('TARGET')}"

    def initial(self):
        """Yields the statements of `init:` lines."""
        for holder in self.design.holders:
            if holder.place.is_slot and not holder.is_made:
                yield f"{{{holder.pool}}} = {self.name(f'make_slot_{holder.number}')}()"

    def flags(self):
        """Yields `(pool, flags of its declaration)` for the pools that have any."""
        for holder in self.design.holders:
            if self.design.is_abstract and holder.place.is_slot:
                yield holder.pool, f" ABSTRACT {self.name(f'abstract_{holder.number}')}"

    def raw(self):
        """Yields the lines of Python code that a harness begins with; to be asked last, when all names are known."""
        direct = [holder for holder in self.design.holders if holder.target]
        needs_module = any(
            "system." in holder.target + str(holder.place.imports) for holder in direct
        )
        if self.design.style == "from":
            yield f"from system import {', '.join(dict.fromkeys(self.names))}"
        elif self.design.style == "as":
            yield "import system as sut"
        if self.design.style == "import" or needs_module:
            yield "import system"
        for holder in direct:
            names = [name.format(n=holder.number) for name in holder.place.imports]
            if names[:1] == ["harness"]:
                yield names[1]
            elif names:
                yield f"from {holder.place.module} import {', '.join(names)}"


def with_slots(text):
    """Writes a line in the language of harnesses. `{a}` is always the same slot of the pool `a`, and `{A}` is one that
    is chosen independently."""
    met = []

    def mention(found):
        mark = found.group(1)
        pool = mark.lower()
        if mark in met:
            number = [one for one in met if one.lower() == pool].index(mark) + 1
            return f"<{pool},{number}>"
        met.append(mark)
        return f"<{pool}>"

    return re.sub(r"\{(\w)\}", mention, text)


def pools(text):
    return list(dict.fromkeys(re.findall(r"\{(\w)\}", text)))


def line(guard, statement, expected):
    """Writes an action line. The statement comes first in the numbering if it defines a slot."""
    text = f"{guard} -> {statement}" if guard else statement
    return (f"{{{expected}}} " if expected else "") + with_slots(text)


# Systems


def build(design, target=None):
    """Returns the system of a design, with a target as the text of a view."""
    lines = Lines(design)
    actions = list(lines.actions())
    check = lines.check()
    view = check.rpartition(" != ")[0]
    initial = list(lines.initial())
    flags = dict(lines.flags())
    raw = list(lines.raw())
    sizes = {one.pool: one.slots for one in design.holders if one.place.is_slot}
    texts = module_texts(design)
    texts["system"] = f"TARGET = {target!r}\n\n" + texts["system"]
    harness = [f"@{text}" for text in raw]
    harness += [f"pool: <{pool}> {count}{flags.get(pool, '')}" for pool, count in sizes.items()]
    harness += [f"init: {with_slots(text)}" for text in initial]
    harness += [line(*action) for action in actions]
    check = check if design.detector == "property" else ""
    harness += [f"property: {with_slots(check)}"] if check else []
    return System(
        texts=texts,
        harness="\n".join(harness) + "\n",
        raw="\n".join(raw),
        sizes=sizes,
        initial=initial,
        steps=[step for action in actions for step in steps(sizes, *action)],
        check=check,
        view=view,
        fresh="\n".join(one.place.fresh.format(n=one.number) for one in design.holders),
    )


def steps(sizes, guard, statement, expected):
    """Returns the actions that a line stands for."""
    used = pools(guard + statement)
    choices = [{}]
    for pool in used:
        choices = [
            {**one, pool: f"{pool.lower()}{slot}"}
            for one in choices
            for slot in range(sizes[pool.lower()])
        ]
    for choice in choices:
        target, defines, value = statement.partition(" := ")
        text = (f"{target} = {value}" if defines else statement).format(**choice)
        defined = [choice[target[1:-1]]] if defines else []
        yield Step(
            text=text,
            guard=guard.format(**choice),
            uses=tuple(slot for slot in dict.fromkeys(choice.values()) if slot not in defined),
            defines=tuple(defined),
            expected=expected,
        )


def generate(seed):
    """Returns the design and the system of a seed, with a target."""
    chosen = design(seed)
    return chosen, build(chosen, choose_target(chosen))


@functools.cache
def choose_target(design):
    """Chooses the view that the property forbids."""
    rng = random.Random(design.seed + 1)
    runtime = build(design).fresh_runtime()
    walks = [runtime.random_walk(rng, 12) for _ in range(12)]
    if design.target == "never":
        return "never"
    first = walks[0][0]
    known = list(dict.fromkeys(view for walk in walks for view in walk if view))
    if design.target == "first" or len(known) < 2:
        return first or (known[0] if known else "nothing")
    # The later a view is first met, the more has to be told apart to find it.
    steps = {view: min(walk.index(view) for walk in walks if view in walk) for view in known}
    late = [view for view in sorted(known, key=steps.get) if steps[view] > 1] or known
    if design.target == "reachable":
        return rng.choice(late[len(late) // 2 :])
    return mixed(rng, known, late, design.target == "unreachable")


def mixed(rng, known, late, is_new):
    """Combines the parts of known views, to one that was not met, or late."""
    split = [ast.literal_eval(view) if is_literal(view) else None for view in known]
    split = [parts for parts in split if parts]
    for _ in range(20 if split else 0):
        parts = tuple(rng.choice(split)[place] for place in range(len(split[0])))
        view = repr(parts)
        if view not in known or (view in late and not is_new):
            return view
    return "never" if is_new else rng.choice(late)


def is_literal(text):
    try:
        ast.literal_eval(text)
    except ValueError:
        return False
    return True
