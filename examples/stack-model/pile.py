"""The system under test: a stack with its items in a list of fixed size, which it replaces by a longer one when full."""


class Pile:
    def __init__(self):
        self.places = [None, None]
        self.used = 0

    def push(self, item):
        if self.used == len(self.places):
            # The bug: one item is not copied.
            self.places = self.places[: self.used - 1] + [None] * 3
        self.places[self.used] = item
        self.used += 1

    def pop(self):
        self.used -= 1
        return self.places[self.used]
