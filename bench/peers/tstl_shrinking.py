"""Reduces and normalises a saved test as TSTL's `tstl_reduce` does, and counts: run by TSTL's Python.

It is run in the folder of a compiled harness, with the name of the test and the CPU seconds that it may take. An execution
is a question to the predicate, each of which runs a candidate; what else TSTL runs to find out what is enabled
is not counted.
"""

import json
import signal
import sys

sys.path.insert(0, ".")
import sut as compiled


class TooLong(BaseException):
    """Not an exception that TSTL would take for a failure of the system."""


def main():
    name, seconds = sys.argv[1:]
    sut = compiled.sut()
    with open(name) as file:
        test = [sut.playable(line.rstrip("\n")) for line in file]
    assert sut.failsCheck(test), "the test does not fail"
    failure = sut.failure()
    count = {"executions": 0, "steps": 0}
    late = []

    def fails_alike(candidate):
        # Asked here and not raised by the signal, for TSTL catches everything while it runs a test.
        if late:
            raise TooLong
        result = sut.failsCheck(candidate, failure=failure)
        count["executions"] += 1
        count["steps"] += len(sut.test())
        return result

    # By its own time, as other work may be going on.
    signal.signal(signal.SIGPROF, lambda *_: late.append(True))
    signal.setitimer(signal.ITIMER_PROF, int(seconds))
    try:
        test = sut.reduce(test, fails_alike, verbose=False)
        test = sut.alphaConvert(test)
        test = sut.normalize(test, fails_alike, verbose=False, checkEnabled=True)
    except TooLong:
        test = None
    # The system may have printed something.
    print("\n" + json.dumps(dict(count, length=test and len(test))))


main()
