"""Up and down; a run may end on the ground only."""

height = 0


def Up():
    global height
    height += 1


def Down():
    global height
    height -= 1


def can_climb():
    return height < 9


def can_descend():
    return height > 0


def Accepting():
    return height == 0


def Reset():
    global height
    height = 0


state = ("height",)
actions = (Up, Down)
cleanup = (Down,)
enablers = {Up: (can_climb,), Down: (can_descend,)}
