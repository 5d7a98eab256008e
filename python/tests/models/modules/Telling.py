"""A strategy that prints its input, ends a run after two steps, and keeps its state between runs."""

steps = 0


def SelectAction(possible):
    raise AssertionError("the later spelling counts")


def select_action(possible):
    global steps
    steps += 1
    print(steps, possible)
    return possible[-1][:2] if steps % 3 else ("", None)
