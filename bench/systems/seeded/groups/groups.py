"""Which things belong together: union-find with sizes, and going back to earlier marks."""


class Groups:
    def __init__(self, count):
        self.parents = list(range(count))
        self.sizes = [1] * count
        self.count = count
        #: Things and what they pointed to before, and groups that were joined, newest last.
        self.changes = []
        self.joins = []
        #: How many there were of both.
        self.marks = []

    def find(self, thing):
        """The one that stands for all of its group; the way there becomes shorter."""
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
        """Back to the last mark, which is gone then."""
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
