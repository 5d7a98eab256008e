"""A text editor without a screen: a gap buffer with a cursor, undo and redo."""


class Editor:
    def __init__(self, room=8, memory=10):
        self.cells = [""] * room
        # The cursor is at the gap, which is cells[left:right].
        self.left = 0
        self.right = room
        self.memory = memory
        self.done = []
        self.undone = []

    def text(self):
        return "".join(self.cells[: self.left] + self.cells[self.right :])

    def cursor(self):
        return self.left

    def type(self, text):
        self._remember(("typed", self.left, text))
        self._insert(text)

    def backspace(self):
        if self.left > 0:
            text = self.cells[self.left - 1]
            self._remember(("erased", self.left - 1, text))
            self._erase(1)

    def move(self, place):
        """Moves the cursor, at most to the end."""
        while self.left > place:
            self.left -= 1
            self.right -= 1
            self.cells[self.right] = self.cells[self.left]
        while self.left < place and self.right < len(self.cells):
            self.cells[self.left] = self.cells[self.right]
            self.left += 1
            self.right += 1

    def undo(self):
        """Reverts the last change, and moves the cursor there."""
        if not self.done:
            return
        what, place, text = change = self.done.pop()
        self.undone.append(change)
        if what == "typed":
            self.move(place + len(text))
            self._erase(len(text))
        else:
            self.move(place)
            self._insert(text)

    def redo(self):
        if not self.undone:
            return
        what, place, text = change = self.undone.pop()
        self.done.append(change)
        if what == "typed":
            self.move(place)
            self._insert(text)
        else:
            self.move(place + len(text))
            self._erase(len(text))

    def _remember(self, change):
        self.done.append(change)
        self.undone.clear()
        if len(self.done) > self.memory:
            self.done.pop(0)

    def _insert(self, text):
        while self.right - self.left < len(text):
            self._grow()
        for character in text:
            self.cells[self.left] = character
            self.left += 1

    def _erase(self, count):
        self.left -= count

    def _grow(self):
        more = len(self.cells)
        self.cells[self.right : self.right] = [""] * more
        self.right += more
