"""A stack, unbounded unless a configuration limits it."""

stack = []


def Push(x):
    stack.insert(0, x)


def Pop():
    return stack.pop(0)


def PopEnabled():
    return stack


def Reset():
    del stack[:]


state = ("stack",)
actions = (Push, Pop)
cleanup = (Pop,)
enablers = {Pop: (PopEnabled,)}
domains = {Push: {"x": [1, 2]}}


def Accepting():
    return not stack
