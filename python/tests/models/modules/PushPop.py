"""Pushes and pops with open values."""


def Push():
    pass


def Pop():
    pass


initial, accepting = 0, [2]
graph = (
    (0, (Push, (), None), 1),
    (1, (Push, (), None), 2),
    (1, (Pop, (), None), 0),
    (2, (Pop, (), None), 1),
)
