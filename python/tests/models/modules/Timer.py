"""A timer: the tester starts it, and it elapses by itself."""

running = False
left = 0


def Start(seconds):
    global running, left
    running, left = True, seconds


def Tick():
    global left
    left -= 1


def Elapsed(late=0):
    global running
    running = False
    return late


def is_stopped(seconds):
    return not running


def has_time():
    return running and left


def is_over():
    return running and not left


def Accepting():
    return not running


state = ("running", "left")
actions = (Start, Tick, Elapsed)
observables = [Tick, Elapsed]
enablers = {Start: [is_stopped], Tick: [has_time], Elapsed: [is_over]}
domains = {Start: {"seconds": [0, 1, 2]}, Elapsed: {"late": [0, 5]}}
