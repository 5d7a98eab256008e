"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "lru-put": (
        "a new value for an old key does not count as use",
        "            entry.value = value\n            self._use(entry)\n",
        "            entry.value = value\n",
    ),
    "lru-pin": (
        "what is discarded stays pinned",
        "            self.pinned.discard(key)\n            self._unlink(entry)",
        "            self._unlink(entry)",
    ),
    "lru-pinned-end": (
        "eviction gives up at the first pinned entry",
        "            if entry.key not in self.pinned:\n                self.discard(entry.key)\n",
        "            if entry.key in self.pinned:\n                break\n            self.discard(entry.key)\n",
    ),
}
