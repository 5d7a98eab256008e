"""Saves a failing test as text, judges it, reduces it in several ways, and explains it."""

import random
import sys

import sut as SUT

sut = SUT.sut()
R = random.Random(int(sys.argv[1]))
while True:
    (test, ok) = sut.makeTest(60, R, checkProp=True, stopFail=True)
    if ok is False:
        break
text = sut.captureReplay(test)
assert sut.replayable(text) == test
sut.replay(test, catchUncaught=True, checkProp=True)
failure = sut.failure()
assert sut.failsCheck(test) and sut.failsAny(test, failure=failure)
assert sut.eqFail(sut.failure(), failure)
assert sut.replay(test[:-1], catchUncaught=True, checkProp=True, extend=False) is True
assert sut.replay(test[-1:], catchUncaught=True, extend=True, checkProp=True) is False
beginning = sut.replayUntil(test, lambda: sut.p_tree[0] is not None, catchUncaught=True)
assert not beginning or len(beginning) <= len(test)

pred = lambda t: sut.failsAny(t, failure=failure)  # noqa: E731
short = sut.reduce(test, pred, pruneGuards=True, keepLast=False, verbose=False, tryFast=True)
others = sut.reductions(test, pred, verbose=False, recursive=1, useClasses=True, limit=20)
assert short in others
normal = sut.normalize(short, pred, True, False, False, "VERYFAST", noReassigns=True)
(working, failed) = sut.reduceEssentials(short, test, pred, True, False, tryFast=True, limit=20)
print("SHORT:", len(short), "REDUCTIONS:", len(others), "ESSENTIAL:", len(failed))
found, which, cloud = sut.generalize(normal, pred, returnCollect=True, silent=True, targets={})
print("AS GOOD:", len(cloud))
sut.prettyPrintRemoved(test, short)

sut.restart()
everything = len(sut.actions())
sut.disable(".*delete")
assert 0 < len(sut.actions()) < everything
assert not any("delete" in sut.randomEnabled(R)[0] for _ in range(50))
sut.enableAll()
assert len(sut.actions()) == everything
print("DONE")
