"""Reduces and normalises a saved test as `tstl_reduce` does, and counts executions. TSTL's Python runs this program.

It runs in the folder of a compiled harness. Its arguments are the name of the test and the limit in CPU seconds. An
execution is a call of the predicate, which runs a candidate. Runs of TSTL that only find enabled actions do not count.
"""

import json
import signal
import sys

sys.path.insert(0, ".")
import sut as compiled


class TooLong(BaseException):
    """The time is up. Not an `Exception`, which TSTL would report as a failure of the system."""


def main():
    name, seconds = sys.argv[1:]
    sut = compiled.sut()
    with open(name) as file:
        test = [sut.playable(line.rstrip("\n")) for line in file]
    assert sut.failsCheck(test), "the test does not fail"
    failure = sut.failure()
    count = {"executions": 0, "steps": 0}
    late = []

    def fails_the_same_way(candidate):
        # Raised here and not by the signal handler, since TSTL catches everything while it runs a test.
        if late:
            raise TooLong
        result = sut.failsCheck(candidate, failure=failure)
        count["executions"] += 1
        count["steps"] += len(sut.test())
        return result

    # CPU time, since there may be other work on the machine.
    signal.signal(signal.SIGPROF, lambda *_: late.append(True))
    signal.setitimer(signal.ITIMER_PROF, int(seconds))
    try:
        test = sut.reduce(test, fails_the_same_way, verbose=False)
        test = sut.alphaConvert(test)
        test = sut.normalize(test, fails_the_same_way, verbose=False, checkEnabled=True)
    except TooLong:
        test = None
    # The system may have printed without a line break.
    print("\n" + json.dumps(dict(count, length=test and len(test))))


main()
