"""Groups of things: union-find with sizes and rollback to earlier marks."""


class Groups:
    def __init__(self, count):
        self.parents = list(range(count))
        self.sizes = [1] * count
        self.count = count
        #: Things and their earlier parents, and joined groups, newest last.
        self.changes = []
        self.joins = []
        #: The lengths of both lists at each mark.
        self.marks = []

    def find(self, thing):
        """Returns the representative of a group, and compresses the path to it."""
        while self.parents[thing] != thing:
            above = self.parents[self.parents[thing]]
            if above != self.parents[thing]:
                self._point(thing, above)
            thing = above
        return thing

    def join(self, one, other):
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        if self.sizes[one] < self.sizes[other]:
            one, other = other, one
        self._point(other, one)
        self.sizes[one] += self.sizes[other]
        self.count -= 1
        self.joins.append((one, other))

    def same(self, one, other):
        return self.find(one) == self.find(other)

    def size(self, thing):
        return self.sizes[self.find(thing)]

    def groups(self):
        return self.count

    def mark(self):
        self.marks.append((len(self.changes), len(self.joins)))

    def back(self):
        """Rolls back to the last mark, and removes it."""
        if not self.marks:
            raise IndexError("no mark")
        changes, joins = self.marks.pop()
        while len(self.joins) > joins:
            one, other = self.joins.pop()
            self.sizes[one] -= self.sizes[other]
            self.count += 1
        while len(self.changes) > changes:
            thing, parent = self.changes.pop()
            self.parents[thing] = parent

    def _point(self, thing, parent):
        self.changes.append((thing, self.parents[thing]))
        self.parents[thing] = parent
