"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "wheel-turns": (
        "a timer of exactly one turn waits for two",
        "        turns = (delay - 1) // len(self.slots)\n",
        "        turns = delay // len(self.slots)\n",
    ),
    "wheel-anew": (
        "a timer that is set anew in another slot rings twice",
        "        self.cancel(name)\n        slot = (self.now",
        "        if self.where.get(name) == (self.now + delay) % len(self.slots):\n            self.cancel(name)\n        slot = (self.now",
    ),
    "wheel-later": (
        "a timer that waits for more than one turn waits for two only",
        "                timer[0] -= 1\n                later.append(timer)\n",
        "                timer[0] = 0\n                later.append(timer)\n",
    ),
}
