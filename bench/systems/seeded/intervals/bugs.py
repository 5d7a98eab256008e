"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "intervals-split": (
        "erasing within one span loses what is after it",
        "            if self.ends[last - 1] > end:\n",
        "            elif self.ends[last - 1] > end:\n",
    ),
    "intervals-join": (
        "a span is joined with the one before it, but not with the one after it",
        "        self._join(place)\n        if place > 0:\n",
        "        if place > 0:\n",
    ),
    "intervals-shift": (
        "a shift does not cut the last number off a span",
        "self.starts[place] < start < self.ends[place]",
        "self.starts[place] < start < self.ends[place] - 1",
    ),
}
