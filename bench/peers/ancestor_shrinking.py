"""Reduces and normalises a saved test as the ancestor's `tstl_reduce` does, and counts: run by the ancestor's Python.

It is run in the folder of a compiled harness, with the name of the test. An execution is a question to the predicate,
each of which runs a candidate; what else the ancestor may run to find out what is enabled is not counted.
"""

import json
import sys

sys.path.insert(0, ".")
import sut as compiled


def main():
    sut = compiled.sut()
    with open(sys.argv[1]) as file:
        test = [sut.playable(line.rstrip("\n")) for line in file]
    assert sut.failsCheck(test), "the test does not fail"
    failure = sut.failure()
    count = {"executions": 0, "steps": 0}

    def fails_alike(candidate):
        result = sut.failsCheck(candidate, failure=failure)
        count["executions"] += 1
        count["steps"] += len(sut.test())
        return result

    report = {"found": len(test)}
    test = sut.reduce(test, fails_alike, verbose=False)
    report["reduced"] = dict(count, length=len(test))
    test = sut.alphaConvert(test)
    test = sut.normalize(test, fails_alike, verbose=False, checkEnabled=True)
    report["normal"] = dict(count, length=len(test))
    report["test"] = [sut.prettyName(step[0]).strip() for step in test]
    # The system may have printed something.
    print("\n" + json.dumps(report))


main()
