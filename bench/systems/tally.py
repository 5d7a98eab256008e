"""Counts how often properties are evaluated, over all tests of a run: for showing that two programs do the same.

The count is kept where no reset of modules reaches it, and is written to the file TALLY when the program ends.
"""

import atexit
import builtins
import os


def tally(value):
    builtins.tally_of_properties += 1
    return value


def write():
    with open(os.environ["TALLY"], "w", encoding="utf-8") as file:
        file.write(str(builtins.tally_of_properties))


if not hasattr(builtins, "tally_of_properties"):
    builtins.tally_of_properties = 0
    atexit.register(write)
