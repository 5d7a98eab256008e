"""Strategy that chooses the action whose name was chosen least often so far."""

import random

taken = {}


def SelectAction(enabled):
    if not enabled:
        return None, None
    least = min(taken.get(step[0], 0) for step in enabled)
    rare = [step for step in enabled if taken.get(step[0], 0) == least]
    name, arguments = random.choice(rare)[:2]
    taken[name] = least + 1
    return name, arguments


selectaction = select_action = SelectAction
