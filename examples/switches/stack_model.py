"""A stack of up to two items."""

items = []


def Push(item):
    items.append(item)


def Pop():
    return items.pop()


state = ("items",)
actions = (Push, Pop)
enablers = {Push: (lambda item: len(items) < 2,), Pop: (lambda: items,)}
domains = {Push: {"item": [0, 1]}}
