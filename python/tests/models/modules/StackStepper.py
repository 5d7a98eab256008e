"""Makes a list do what the model does; the variable STEPPER chooses its behaviour."""

import os
import sys
import time

HOW = os.environ.get("STEPPER", "right")
items = []
print("stepper loaded")


def act(name, arguments, expected):
    if name == "Push":
        items.append(arguments[0])
        return None
    popped = items.pop()
    if HOW == "text":
        return f"popped {popped}, expected {expected}"
    if HOW == "number":
        return 42
    if HOW == "false":
        return False
    if HOW == "empty":
        return ""
    if HOW == "raise":
        raise ValueError(f"cannot pop {popped}")
    if HOW == "exit":
        sys.exit("enough")
    if HOW == "slow":
        time.sleep(60)
    if HOW == "alarm":
        # An exception before the time limit: the limit must not strike afterwards.
        raise ValueError("early")
    return None if popped == expected else "wrong"


def TestAction(name, arguments, expected):
    raise AssertionError("the later spelling counts")


def test_action(name, arguments, expected):
    assert isinstance(name, str) and isinstance(arguments, tuple)
    return act(name, arguments, expected)


if HOW != "no reset":

    def reset():
        items.clear()
        if HOW == "alarm":
            time.sleep(1.2)
