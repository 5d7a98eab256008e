"""Runs PyModel's analyzer and prints the cost of the exploration. Runs on Python 2, or on Python 3 after translation.

Its arguments are those of `pma`. Models are in the current folder, and PyModel is on the PYTHONPATH.
"""

import inspect
import json
import sys
import time

# Python 3.11 has only its successor, whose result starts with the same fields.
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec

# The folder of this program has modules that must not be imported.
sys.path[0] = "."

#: The function for CPU time, in both versions of Python.
now = getattr(time, "process_time", None) or time.clock


def main():
    import pma

    analyzer = pma.Analyzer
    explore = analyzer.explore
    taken = []

    def timed(*arguments):
        began = now()
        explore(*arguments)
        taken.append(now() - began)

    analyzer.explore = timed
    pma.main()
    report = {
        "states": len(analyzer.states),
        "transitions": len(analyzer.graph),
        "seconds": sum(taken),
    }
    sys.stdout.write(json.dumps(report) + "\n")


main()
