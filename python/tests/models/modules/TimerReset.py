"""PyModel Configuration: how to begin anew, and everything is observed."""

import Timer


def reset():
    Timer.running, Timer.left = False, 0


Timer.reset = reset
Timer.observables = Timer.actions
