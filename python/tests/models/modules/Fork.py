"""A nondeterministic machine: a step leads to several states, and has several results."""


def go():
    pass


def stay():
    pass


initial = 0
graph = (
    (0, (go, (1,), None), 1),
    (0, (go, (1,), None), 2),
    (0, (go, (), None), 3),
    (0, (stay, (), "here"), 0),
    (0, (stay, (), "there"), 4),
    (1, (stay, (), None), 1),
    (4, (go, (2,), "x"), 0),
)
