"""What is tested: a stack that keeps its items in a list of fixed size, and takes a longer one when it is full."""


class Pile:
    def __init__(self):
        self.places = [None, None]
        self.used = 0

    def push(self, item):
        if self.used == len(self.places):
            # The bug: one item is left behind.
            self.places = self.places[: self.used - 1] + [None] * 3
        self.places[self.used] = item
        self.used += 1

    def pop(self):
        self.used -= 1
        return self.places[self.used]
