"""`with` blocks, with every kind of exit."""

import contextlib


@contextlib.contextmanager
def manager(swallow=False):
    try:
        yield 1
    except ValueError:
        if not swallow:
            raise
    finally:
        pass


def withs(x):
    with manager() as a:
        b = a
    with manager(True) as a, manager(
        True
    ) as c:
        if x:
            raise ValueError
        b = 2
    with manager(): b = 3
    try:
        with manager():
            raise ValueError("x")
    except ValueError:
        b = 4
    with manager():
        return b


def with_loop():
    for i in range(4):
        with manager():
            if i == 1:
                continue
            if i == 3:
                break
            i += 1
    return i


withs(0)
withs(1)
with_loop()
