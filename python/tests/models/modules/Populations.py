"""Sets as states, and arguments that depend on them."""

import itertools

people = {"ann"}
everybody = ("ann", "bob", "cid")


def add(person):
    people.add(person)


def add_enabled(person):
    return person not in people


def remove(person):
    people.remove(person)


def move(group, to):
    people.difference_update(group)
    people.update(to)
    return frozenset(people)


def inside():
    return people


def groups():
    members = sorted(people)
    return [frozenset(pair) for pair in itertools.combinations(members, 2)]


state = ["people"]
actions = {add, remove, move}
enablers = {add: [add_enabled]}
domains = {
    add: {"person": everybody},
    remove: {"person": inside},
    move: {"group": groups, "to": {frozenset(), frozenset({"cid"})}},
}
