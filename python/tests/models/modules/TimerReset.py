"""PyModel Configuration: how to reset, and all actions are observable."""

import Timer


def reset():
    Timer.running, Timer.left = False, 0


Timer.reset = reset
Timer.observables = Timer.actions
