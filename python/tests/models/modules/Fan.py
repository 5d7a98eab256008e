"""Five transitions away from the start, and one back."""


def Go():
    pass


def Back():
    pass


initial = 0
accepting = [0]
graph = [(0, (Go, (way,), None), way) for way in range(1, 6)]
graph += [(way, (Back, (), None), 0) for way in range(1, 6)]
