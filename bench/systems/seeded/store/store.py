"""A key-value store with nested transactions. Each transaction logs the old values of the keys that it changes."""

MISSING = object()


class Store:
    def __init__(self):
        self.values = {}
        self.counts = {}
        self.logs = []

    def set(self, key, value):
        self._log(key)
        self._put(key, value)

    def delete(self, key):
        if key in self.values:
            self._log(key)
            self._put(key, MISSING)

    def get(self, key):
        return self.values.get(key)

    def count(self, value):
        """Returns the number of keys with a value."""
        return self.counts.get(value, 0)

    def begin(self):
        self.logs.append({})

    def depth(self):
        return len(self.logs)

    def commit(self):
        """Commits the innermost transaction into the one around it."""
        if not self.logs:
            raise LookupError("no transaction")
        log = self.logs.pop()
        if self.logs:
            around = self.logs[-1]
            for key, before in log.items():
                around.setdefault(key, before)

    def rollback(self):
        """Rolls the innermost transaction back."""
        if not self.logs:
            raise LookupError("no transaction")
        for key, before in self.logs.pop().items():
            self._put(key, before)

    def _log(self, key):
        if self.logs:
            self.logs[-1].setdefault(key, self.values.get(key, MISSING))

    def _put(self, key, value):
        before = self.values.pop(key, MISSING)
        if before is not MISSING:
            self.counts[before] -= 1
        if value is not MISSING:
            self.values[key] = value
            self.counts[value] = self.counts.get(value, 0) + 1
