"""Makes the pile do what the model does, and compares the results."""

from pile import Pile

pile = Pile()


def TestAction(name, arguments, expected):
    """Takes an action. Returns None if the pile does what the model says, else the difference."""
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
