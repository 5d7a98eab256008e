"""Counts how often properties are evaluated in a run, to show that two programs do the same.

Each evaluation appends a byte to the file TALLY, so the count does not depend on module resets or on how the program
ends.
"""

import os

FILE = os.open(os.environ["TALLY"], os.O_WRONLY | os.O_APPEND)


def tally(value):
    os.write(FILE, b".")
    return value
