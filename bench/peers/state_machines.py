"""The systems as state machines of Hypothesis: the same actions and the same checks as in the harnesses.

A rule that uses a slot takes the drawn one or, if that is empty, the next one that is filled, so that no step is
wasted. As in a harness, the value of a slot is replaced only after it was used.

This program runs in the environment of the peers. It prints the number of steps and whether it found a failure.
"""

import argparse
import bisect
import importlib
import json

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

SLOT = st.integers(0, 2)
counted = {"steps": 0}


class Slots:
    """The slots of a pool."""

    def __init__(self, size):
        self.values = [None] * size
        self.used = [True] * size
        self.is_filled = False

    def free(self):
        return any(self.used)

    def put(self, slot, value):
        """Fills a slot whose value has been used."""
        slot = self._next(slot, self.used)
        self.values[slot], self.used[slot] = value, False
        self.is_filled = True

    def take(self, slot, use=True):
        """Returns the value of a filled slot."""
        slot = self._next(slot, [value is not None for value in self.values])
        self.used[slot] |= use
        return self.values[slot]

    @staticmethod
    def _next(slot, fits):
        size = len(fits)
        return next(n % size for n in range(slot, slot + size) if fits[n % size])

    def __iter__(self):
        return (value for value in self.values if value is not None)


def some(*names):
    """Makes a precondition: each of these pools has a filled slot."""
    return precondition(lambda self: all(getattr(self, name).is_filled for name in names))


def free(name):
    """Makes a precondition: a slot of this pool may be filled."""
    return precondition(lambda self: getattr(self, name).free())


def empty(check):
    class Empty(RuleBasedStateMachine):
        @rule()
        def nothing(self):
            counted["steps"] += 1

        if check:

            @invariant()
            def holds(self):
                assert True

    return Empty


def append(check):
    class Append(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.list = None

        @rule()
        def step(self):
            counted["steps"] += 1
            if self.list is None:
                self.list = [1]
            else:
                self.list.append(len(self.list) + 1)

        if check:

            @invariant()
            def last(self):
                assert self.list is None or self.list[-1] == len(self.list)

    return Append


def avl(check, module):
    avl = importlib.import_module(module)

    class Avl(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.numbers = Slots(3)
            self.trees = Slots(3)

        @free("numbers")
        @rule(slot=SLOT, value=st.integers(1, 20))
        def new_number(self, slot, value):
            counted["steps"] += 1
            self.numbers.put(slot, value)

        @free("trees")
        @rule(slot=SLOT)
        def new_tree(self, slot):
            counted["steps"] += 1
            self.trees.put(slot, (avl.AVLTree(), set()))

        @some("trees", "numbers")
        @rule(slot=SLOT, number=SLOT)
        def insert(self, slot, number):
            counted["steps"] += 1
            (tree, reference), value = self.trees.take(slot, use=False), self.numbers.take(number)
            tree.insert(value)
            reference.add(value)

        @some("trees", "numbers")
        @rule(slot=SLOT, number=SLOT)
        def delete(self, slot, number):
            counted["steps"] += 1
            (tree, reference), value = self.trees.take(slot, use=False), self.numbers.take(number)
            tree.delete(value)
            reference.discard(value)

        @some("trees", "numbers")
        @rule(slot=SLOT, number=SLOT)
        def find(self, slot, number):
            counted["steps"] += 1
            (tree, reference), value = self.trees.take(slot, use=False), self.numbers.take(number)
            assert tree.find(value) == (value in reference)

        @some("trees")
        @rule(slot=SLOT)
        def inorder(self, slot):
            counted["steps"] += 1
            tree, reference = self.trees.take(slot)
            assert tree.inorder() == sorted(reference)

        if check:

            @invariant()
            def balanced(self):
                for tree, _ in self.trees:
                    assert tree.check_balanced()

            @invariant()
            def in_order(self):
                for tree, _ in self.trees:
                    values = tree.inorder()
                    assert values == sorted(values)

    return Avl


RAISED = object()


def answer(function, *arguments):
    """Returns the result of a call, or the type of its exception."""
    try:
        return function(*arguments)
    except (IndexError, ValueError):
        return RAISED


def sorted_(check):
    from sortedcontainers import SortedDict, SortedList

    two = st.integers(0, 1)

    class Sorted(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.numbers = Slots(3)
            self.lists = Slots(2)
            self.dicts = Slots(2)

        @free("numbers")
        @rule(slot=SLOT, value=st.integers(1, 12))
        def new_number(self, slot, value):
            counted["steps"] += 1
            self.numbers.put(slot, value)

        @free("lists")
        @rule(slot=two)
        def new_list(self, slot):
            counted["steps"] += 1
            self.lists.put(slot, (SortedList(), []))

        @some("lists", "numbers")
        @rule(slot=two, number=SLOT)
        def add(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.lists.take(slot, use=False), self.numbers.take(number)
            ours.add(value)
            bisect.insort(theirs, value)

        @some("lists", "numbers")
        @rule(slot=two, number=SLOT)
        def discard(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.lists.take(slot, use=False), self.numbers.take(number)
            ours.discard(value)
            if value in theirs:
                theirs.remove(value)

        @some("lists")
        @rule(slot=two, index=st.integers(-2, 2))
        def pop(self, slot, index):
            counted["steps"] += 1
            ours, theirs = self.lists.take(slot, use=False)
            assert answer(ours.pop, index) == answer(theirs.pop, index)

        @some("lists", "numbers")
        @rule(slot=two, number=SLOT)
        def index(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.lists.take(slot, use=False), self.numbers.take(number)
            assert answer(ours.index, value) == answer(theirs.index, value)

        @some("lists", "numbers")
        @rule(slot=two, number=SLOT)
        def bisect_left(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.lists.take(slot, use=False), self.numbers.take(number)
            assert ours.bisect_left(value) == bisect.bisect_left(theirs, value)

        @some("numbers")
        @precondition(lambda self: any(len(ours) > 5 for ours, _ in self.lists))
        @rule(slot=two, number=SLOT)
        def count(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.lists.take(slot), self.numbers.take(number)
            assert ours.count(value) == theirs.count(value)

        @free("dicts")
        @rule(slot=two)
        def new_dict(self, slot):
            counted["steps"] += 1
            self.dicts.put(slot, (SortedDict(), {}))

        @some("dicts", "numbers")
        @rule(slot=two, number=SLOT, other=SLOT)
        def put(self, slot, number, other):
            counted["steps"] += 1
            ours, theirs = self.dicts.take(slot, use=False)
            key, value = self.numbers.take(number), self.numbers.take(other)
            ours[key] = value
            theirs[key] = value

        @some("dicts", "numbers")
        @rule(slot=two, number=SLOT)
        def take(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), key = self.dicts.take(slot, use=False), self.numbers.take(number)
            assert ours.pop(key, None) == theirs.pop(key, None)

        @some("dicts", "numbers")
        @rule(slot=two, number=SLOT)
        def get(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), key = self.dicts.take(slot, use=False), self.numbers.take(number)
            assert ours.get(key) == theirs.get(key)

        @some("dicts")
        @rule(slot=two)
        def first(self, slot):
            counted["steps"] += 1
            ours, theirs = self.dicts.take(slot)
            assert (ours.peekitem(0) if ours else None) == (min(theirs.items()) if theirs else None)

        if check:

            @invariant()
            def ascending(self):
                for values, _ in self.lists:
                    assert all(one <= two for one, two in zip(values, values[1:]))

            @invariant()
            def keys_ascend(self):
                for mapping, _ in self.dicts:
                    keys = list(mapping)
                    assert all(one <= two for one, two in zip(keys, keys[1:]))

    return Sorted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=["avl", "append", "empty", "sorted"])
    parser.add_argument("--tests", type=int, default=100)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--module", default="avl")
    parser.add_argument("--no-check", action="store_true")
    arguments = parser.parse_args()
    check = not arguments.no_check
    machine = {
        "avl": lambda: avl(check, arguments.module),
        "append": lambda: append(check),
        "empty": lambda: empty(check),
        "sorted": lambda: sorted_(check),
    }[arguments.system]()
    if arguments.seed is not None:
        machine = seed(arguments.seed)(machine)
    found = False
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=arguments.tests,
                stateful_step_count=arguments.length,
                derandomize=arguments.seed is None,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                print_blob=False,
            ),
        )
    except AssertionError:
        found = True
    print(json.dumps({"steps": counted["steps"], "found": found}))


if __name__ == "__main__":
    main()
