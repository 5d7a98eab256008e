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


# What a tool wants to know: which variables make up the state, which functions change it, and when they may.
state = ("items",)
actions = (Push, Pop)
enablers = {Pop: (CanPop,)}

# Stacks have no end. With two values, and three places for them, there are few enough to try them all.
domains = {Push: {"item": ["a", "b"]}}


def StateFilter():
    return len(items) <= 3


# A test should leave an empty stack, and may pop what is left to get there.
cleanup = (Pop,)


def Accepting():
    return not items
