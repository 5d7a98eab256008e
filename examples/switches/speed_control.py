"""A knob with three positions. It knows nothing of the power. A run may end when the speed is 0."""

speed = 0


def Turn():
    global speed
    speed = (speed + 1) % 3


def Accepting():
    return speed == 0


state = ("speed",)
actions = (Turn,)
