"""A scenario: first a successful login, given as a plain function of the same name."""


def Initialize():
    pass


def Login():
    pass


initial = 0
accepting = [2]
graph = [
    [0, (Initialize, (), None), 1],
    [1, (Login, ("VinniPuhh", "Correct"), "Success"), 2],
    [2, (Login, ("OleBrumm", "Correct"), None), 2],
    [2, (Login, ("OleBrumm", "Incorrect"), "Failure"), 2],
]
