"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "store-commit": (
        "what an inner transaction committed is not rolled back by the outer one",
        "        if self.logs:\n            around",
        "        if len(self.logs) > 1:\n            around",
    ),
    "store-merge": (
        "an inner transaction overwrites what the outer one would go back to",
        "                around.setdefault(key, before)\n",
        "                around[key] = before\n",
    ),
    "store-log": (
        "a key that was missing when the transaction began is not removed again",
        "        if self.logs:\n            self.logs[-1].setdefault(key, self.values.get(key, MISSING))\n",
        "        if self.logs and key in self.values:\n            self.logs[-1].setdefault(key, self.values[key])\n",
    ),
}
