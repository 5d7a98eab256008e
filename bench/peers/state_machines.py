"""The systems as state machines of Hypothesis: the same actions and the same checks as in the harnesses.

A rule that uses a slot takes the one that was drawn or, if that is empty, the next one that is not, so that no step is
wasted. Run in the environment of the peers; prints how many steps were taken and whether something was found.
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


def taken(slots, number):
    """A slot that has something in it, the one with this number if possible."""
    size = len(slots)
    return next(
        (number + further) % size
        for further in range(size)
        if slots[(number + further) % size] is not None
    )


def some(name):
    """Only if a slot of this name has something in it."""
    return precondition(lambda self: any(value is not None for value in getattr(self, name)))


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


class WithNumbers(RuleBasedStateMachine):
    """Three slots of integers."""

    def __init__(self):
        super().__init__()
        self.numbers = [None] * 3

    def number(self, slot):
        return self.numbers[taken(self.numbers, slot)]


def avl(check, module):
    avl = importlib.import_module(module)

    class Avl(WithNumbers):
        def __init__(self):
            super().__init__()
            self.trees = [None] * 3
            self.sets = [None] * 3

        @rule(slot=SLOT, value=st.integers(1, 20))
        def new_number(self, slot, value):
            counted["steps"] += 1
            self.numbers[slot] = value

        @rule(slot=SLOT)
        def new_tree(self, slot):
            counted["steps"] += 1
            self.trees[slot] = avl.AVLTree()
            self.sets[slot] = set()

        @some("trees")
        @some("numbers")
        @rule(slot=SLOT, number=SLOT)
        def insert(self, slot, number):
            counted["steps"] += 1
            slot, value = taken(self.trees, slot), self.number(number)
            self.trees[slot].insert(value)
            self.sets[slot].add(value)

        @some("trees")
        @some("numbers")
        @rule(slot=SLOT, number=SLOT)
        def delete(self, slot, number):
            counted["steps"] += 1
            slot, value = taken(self.trees, slot), self.number(number)
            self.trees[slot].delete(value)
            self.sets[slot].discard(value)

        @some("trees")
        @some("numbers")
        @rule(slot=SLOT, number=SLOT)
        def find(self, slot, number):
            counted["steps"] += 1
            slot, value = taken(self.trees, slot), self.number(number)
            assert self.trees[slot].find(value) == (value in self.sets[slot])

        @some("trees")
        @rule(slot=SLOT)
        def inorder(self, slot):
            counted["steps"] += 1
            slot = taken(self.trees, slot)
            assert self.trees[slot].inorder() == sorted(self.sets[slot])

        if check:

            @invariant()
            def balanced(self):
                for tree in self.trees:
                    assert tree is None or tree.check_balanced()

            @invariant()
            def in_order(self):
                for tree in self.trees:
                    if tree is not None:
                        values = tree.inorder()
                        assert values == sorted(values)

    return Avl


RAISED = object()


def answer(function, *arguments):
    """What a call returns, or that it raised."""
    try:
        return function(*arguments)
    except (IndexError, ValueError):
        return RAISED


def sorted_(check):
    from sortedcontainers import SortedDict, SortedList

    two = st.integers(0, 1)

    class Sorted(WithNumbers):
        def __init__(self):
            super().__init__()
            self.sls, self.lists = [None] * 2, [None] * 2
            self.sds, self.dicts = [None] * 2, [None] * 2

        def sl(self, slot):
            slot = taken(self.sls, slot)
            return self.sls[slot], self.lists[slot]

        def sd(self, slot):
            slot = taken(self.sds, slot)
            return self.sds[slot], self.dicts[slot]

        @rule(slot=SLOT, value=st.integers(1, 12))
        def new_number(self, slot, value):
            counted["steps"] += 1
            self.numbers[slot] = value

        @rule(slot=two)
        def new_list(self, slot):
            counted["steps"] += 1
            self.sls[slot], self.lists[slot] = SortedList(), []

        @some("sls")
        @some("numbers")
        @rule(slot=two, number=SLOT)
        def add(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.sl(slot), self.number(number)
            ours.add(value)
            bisect.insort(theirs, value)

        @some("sls")
        @some("numbers")
        @rule(slot=two, number=SLOT)
        def discard(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.sl(slot), self.number(number)
            ours.discard(value)
            if value in theirs:
                theirs.remove(value)

        @some("sls")
        @rule(slot=two, index=st.integers(-2, 2))
        def pop(self, slot, index):
            counted["steps"] += 1
            ours, theirs = self.sl(slot)
            assert answer(ours.pop, index) == answer(theirs.pop, index)

        @some("sls")
        @some("numbers")
        @rule(slot=two, number=SLOT)
        def index(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.sl(slot), self.number(number)
            assert answer(ours.index, value) == answer(theirs.index, value)

        @some("sls")
        @some("numbers")
        @rule(slot=two, number=SLOT)
        def bisect_left(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.sl(slot), self.number(number)
            assert ours.bisect_left(value) == bisect.bisect_left(theirs, value)

        @some("numbers")
        @precondition(lambda self: any(len(sl or ()) > 5 for sl in self.sls))
        @rule(slot=two, number=SLOT)
        def count(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), value = self.sl(slot), self.number(number)
            assert ours.count(value) == theirs.count(value)

        @rule(slot=two)
        def new_dict(self, slot):
            counted["steps"] += 1
            self.sds[slot], self.dicts[slot] = SortedDict(), {}

        @some("sds")
        @some("numbers")
        @rule(slot=two, number=SLOT, other=SLOT)
        def put(self, slot, number, other):
            counted["steps"] += 1
            ours, theirs = self.sd(slot)
            key, value = self.number(number), self.number(other)
            ours[key] = value
            theirs[key] = value

        @some("sds")
        @some("numbers")
        @rule(slot=two, number=SLOT)
        def take(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), key = self.sd(slot), self.number(number)
            assert ours.pop(key, None) == theirs.pop(key, None)

        @some("sds")
        @some("numbers")
        @rule(slot=two, number=SLOT)
        def get(self, slot, number):
            counted["steps"] += 1
            (ours, theirs), key = self.sd(slot), self.number(number)
            assert ours.get(key) == theirs.get(key)

        @some("sds")
        @rule(slot=two)
        def first(self, slot):
            counted["steps"] += 1
            ours, theirs = self.sd(slot)
            assert (ours.peekitem(0) if ours else None) == (min(theirs.items()) if theirs else None)

        if check:

            @invariant()
            def ascending(self):
                for values in self.sls:
                    if values is not None:
                        assert all(one <= two for one, two in zip(values, values[1:]))

            @invariant()
            def keys_ascend(self):
                for mapping in self.sds:
                    if mapping is not None:
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
