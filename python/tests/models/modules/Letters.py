"""PyModel configuration: other values, changed in place."""

import Stack

Stack.domains[Stack.Push]["x"][:] = ["a", "it's", ()]
