"""Two jugs without marks, one for three litres and one for five, and all the water in the world."""

CAPACITY = {"small": 3, "large": 5}


class Jugs:
    def __init__(self):
        self.litres = {"small": 0, "large": 0}

    def fill(self, jug):
        self.litres[jug] = CAPACITY[jug]

    def empty(self, jug):
        self.litres[jug] = 0

    def pour(self, jug, other):
        """Pours from one jug into the other, until the first is empty or the other is full."""
        moved = min(self.litres[jug], CAPACITY[other] - self.litres[other])
        self.litres[jug] -= moved
        self.litres[other] += moved

    def __repr__(self):
        return (
            "<" + ", ".join(f"{litres} in the {jug}" for jug, litres in self.litres.items()) + ">"
        )
