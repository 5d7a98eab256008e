"""Counts how often properties are evaluated, over all tests of a run: for showing that two programs do the same.

Each evaluation adds a byte to the file TALLY at once, so the count neither depends on modules being reset nor on how the
program ends.
"""

import os

FILE = os.open(os.environ["TALLY"], os.O_WRONLY | os.O_APPEND)


def tally(value):
    os.write(FILE, b".")
    return value
