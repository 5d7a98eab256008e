"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "groups-shorter": (
        "ways that became shorter stay so after going back",
        "                self._point(thing, above)\n",
        "                self.parents[thing] = above\n",
    ),
    "groups-order": (
        "sizes go back in the wrong order",
        "            one, other = self.joins.pop()\n",
        "            one, other = self.joins.pop(joins)\n",
    ),
    "groups-swap": (
        "the sizes of two groups of the same size are not added up",
        "        self.sizes[one] += self.sizes[other]\n",
        "        self.sizes[one] += self.sizes[other] if self.sizes[one] > self.sizes[other] else 1\n",
    ),
}
