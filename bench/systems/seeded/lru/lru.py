"""An LRU cache. Entries form a ring, from the newest to the oldest; pinned ones stay."""


class Entry:
    def __init__(self, key, value):
        self.key = key
        self.value = value
        self.newer = self
        self.older = self


class Cache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = {}
        self.pinned = set()
        # The head of the ring is a sentinel between the oldest and the newest entry.
        self.head = Entry(None, None)

    def get(self, key):
        """Returns the value of a key, or None, and makes it the most recently used."""
        entry = self.entries.get(key)
        if entry is None:
            return None
        self._use(entry)
        return entry.value

    def peek(self, key):
        """Returns the value of a key without changing the order."""
        entry = self.entries.get(key)
        return None if entry is None else entry.value

    def put(self, key, value):
        entry = self.entries.get(key)
        if entry is not None:
            entry.value = value
            self._use(entry)
            return
        entry = self.entries[key] = Entry(key, value)
        self._link(entry)
        self._shrink()

    def discard(self, key):
        entry = self.entries.pop(key, None)
        if entry is not None:
            self.pinned.discard(key)
            self._unlink(entry)

    def pin(self, key):
        """Pins an existing entry, so that it is never evicted."""
        if key in self.entries:
            self.pinned.add(key)

    def unpin(self, key):
        self.pinned.discard(key)
        self._shrink()

    def resize(self, capacity):
        self.capacity = capacity
        self._shrink()

    def keys(self):
        """Returns all keys, the most recently used first."""
        keys, entry = [], self.head.older
        while entry is not self.head:
            keys.append(entry.key)
            entry = entry.older
        return keys

    def _shrink(self):
        """Evicts the oldest entries that are not pinned, while there are too many."""
        entry = self.head.newer
        while len(self.entries) > self.capacity and entry is not self.head:
            newer = entry.newer
            if entry.key not in self.pinned:
                self.discard(entry.key)
            entry = newer

    def _use(self, entry):
        self._unlink(entry)
        self._link(entry)

    def _link(self, entry):
        entry.newer = self.head
        entry.older = self.head.older
        self.head.older.newer = entry
        self.head.older = entry

    def _unlink(self, entry):
        entry.newer.older = entry.older
        entry.older.newer = entry.newer
