"""A stack: whatever was pushed last is popped first.

A model program is a Python module that says what may happen. Its variables are the state, its functions the actions.
"""

items = []


def Push(item):
    items.append(item)


def Pop():
    return items.pop()


def CanPop():
    return items


def Reset():
    items.clear()


# These tell a tool which variables are the state, which functions are actions, and when they are enabled.
state = ("items",)
actions = (Push, Pop)
enablers = {Pop: (CanPop,)}

# Stacks are unbounded. With two values and at most three items, there are few enough to try them all.
domains = {Push: {"item": ["a", "b"]}}


def StateFilter():
    return len(items) <= 3


# A test should end with an empty stack, and may pop the remaining items to get there.
cleanup = (Pop,)


def Accepting():
    return not items
