"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "calc-floor": (
        "division rounds towards zero",
        "                value = value // other\n",
        "                value = abs(value) // abs(other) * (1 if (value < 0) == (other < 0) else -1)\n",
    ),
    "calc-sign": (
        "a second sign in a row is lost",
        "            return -self.sign()\n",
        '            return -self.atom() if self.peek() != "-" else self.sign()\n',
    ),
    "calc-bracket": (
        "a bracket after a minus takes the rest of the sum with it",
        "            else:\n                value -= self.product()\n        return value\n\n    def product",
        '            elif self.peek() == "(":\n                value -= self.sum()\n            else:\n                value -= self.product()\n        return value\n\n    def product',
    ),
}
