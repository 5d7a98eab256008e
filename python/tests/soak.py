"""Long tests: everything with `SOAK=1`, as `make soak` sets it, and otherwise a fixed small sample."""

import os
import random

SOAK = bool(os.environ.get("SOAK"))


def often(full, few):
    """How often to do something that is done at random moments."""
    return full if SOAK else few


def some(items, few, name):
    """Returns all items, or a sample of them that depends on nothing but the name, in their order."""
    kept = range(len(items)) if SOAK else random.Random(name).sample(range(len(items)), few)
    return [items[number] for number in sorted(kept)]


def sample(items):
    """Which tests run: of those marked with `soak(keep=n)`, only so many of the cases of each function.

    The choice depends on nothing but the names, so it is the same in every run and every process.
    """
    if SOAK:
        return items
    cases = {}
    for item in items:
        mark = item.get_closest_marker("soak")
        if mark:
            name = item.nodeid.split("[")[0]
            cases.setdefault(name, (mark.kwargs["keep"], []))[1].append(item)
    left_out = set()
    for name, (keep, found) in cases.items():
        kept = random.Random(name).sample(range(len(found)), min(keep, len(found)))
        left_out.update(id(item) for number, item in enumerate(found) if number not in kept)
    return [item for item in items if id(item) not in left_out]
