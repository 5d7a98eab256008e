"""Makes the pile do what the model does, and compares what comes of it."""

from pile import Pile

pile = Pile()


def TestAction(name, arguments, expected):
    """Nothing returned means that all is well; a text says what is wrong."""
    if name == "Push":
        pile.push(*arguments)
    elif name == "Pop":
        item = pile.pop()
        if item != expected:
            return f"popped {item!r}, expected {expected!r}"
    return None


def Reset():
    global pile
    pile = Pile()
