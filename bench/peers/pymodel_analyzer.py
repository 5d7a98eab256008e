"""Runs PyModel's analyzer and tells what its exploration took: run by Python 2, or by Python 3 if it was translated.

Its arguments are those of `pma`, models are in the current folder, and PyModel is where the variable PYTHONPATH says.
"""

import inspect
import json
import sys
import time

# Python 3.11 has only its successor, whose answer begins with the same fields.
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec

# The folder of this program has modules that are not meant.
sys.path[0] = "."

#: CPU time, by its name in either version of Python.
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
