"""A counter that is unsafe at 3, and ends at 4 where no run may end; a global outside of its state leaks."""

value = 0
calls = 0


def Step(by):
    global value, calls
    value += by
    calls += 1
    return value


def Stop():
    global value
    value = -1


def can_step(by):
    return value + by <= 4


def can_stop():
    return value == 1


def StateInvariant():
    return value != 3


def Accepting():
    return value in (0, -1, 2)


def Reset():
    global value
    value = 0


state = ("value",)
actions = (Step, Stop)
enablers = {Step: (can_step,), Stop: (can_stop,)}
domains = {Step: {"by": range(1, 3)}}
observables = cleanup = ()


def StateFilter():
    return calls >= 0
