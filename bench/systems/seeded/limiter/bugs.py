"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "limiter-window": (
        "what happened exactly one window ago still counts",
        "        while times and times[0] <= self.now - self.window:\n",
        "        while times and times[0] < self.now - self.window:\n",
    ),
    "limiter-sweep": (
        "a sweep lets clients go that have to wait",
        "            if is_idle and self.blocked.get(client, 0) <= self.now:\n",
        "            if is_idle:\n",
    ),
    "limiter-patience": (
        "refusals add up over all windows",
        "            times.append(self.now)\n            self.refused[client] = 0\n",
        "            times.append(self.now)\n",
    ),
}
