"""Random testing: reports new coverage, keeps quick tests for it, and reduces and explains the first failure."""

import functools
import random
import sys

import sut as SUT

sut = SUT.sut()
rgen = random.Random(int(sys.argv[1]))
quick = 0
for number in range(30):
    sut.restart()
    new_statements, new_branches = set(), set()
    for _ in range(60):
        action = sut.randomEnabled(rgen)
        if action is None:
            break
        ok = sut.safely(action)
        if len(sut.newBranches()) > 0:
            print("ACTION:", sut.prettyName(action[0]), len(sut.allBranches()), "BRANCHES")
        new_branches |= sut.newBranches()
        new_statements |= sut.newStatements()
        propok = ok and sut.check()
        if not ok or not propok:
            test, failure = list(sut.test()), sut.failure()
            pred = sut.fails if not ok else sut.failsCheck
            print(
                "FOUND A FAILURE IN TEST", number, "AFTER", len(test), "STEPS:", failure[0].__name__
            )
            same = functools.partial(pred, failure=failure)
            R = sut.reduce(test, same, True, False, verbose=False)
            R = sut.alphaConvert(R)
            N = sut.normalize(
                R, same, pruneGuards=True, keepLast=False, verbose=False, speed="FAST"
            )
            sut.generalize(N, same, silent=False)
            sut.prettyPrintTest(N)
            sut.saveTest(N, "failure.test")
            assert sut.failsCheck(sut.loadTest("failure.test"), failure=failure)
            assert len(N) <= len(R) < len(test)
            sys.exit(0)
    if new_branches or new_statements:
        pred = sut.coversAll(new_statements, new_branches, checkProp=True)
        Q = sut.reduce(sut.test(), pred, verbose=False)
        sut.saveTest(Q, f"quick.{quick}.test")
        quick += 1
print("QUICK TESTS:", quick)
for number in range(quick):
    sut.replay(sut.loadTest(f"quick.{number}.test"), checkProp=True)
    assert sut.currBranches()
