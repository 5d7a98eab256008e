"""Takes one or two steps of `go`."""


def go(steps):
    return "x" if steps == 2 else None


state = ()
actions = (go,)
domains = {go: {"steps": (1, 2)}}
