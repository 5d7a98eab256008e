"""A fan with a speed, which another model switches: only the name `PowerOff` is shared."""

speed = 0


def Faster():
    global speed
    speed = (speed + 1) % 3


def PowerOff():
    global speed
    speed = 0


state = ("speed",)
actions = [Faster, PowerOff]
