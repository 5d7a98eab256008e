"""Coverage: by step, by test, in total, and as reports."""

import random

import sut as SUT

sut = SUT.sut()
R = random.Random(1)
for _ in range(5):
    sut.makeTest(40, R, checkProp=True)
    assert sut.newCurrBranches() <= sut.currBranches() <= sut.allBranches()
    assert sut.newCurrStatements() <= sut.currStatements() <= sut.allStatements()
    assert sut.newBranches() <= sut.newCurrBranches()
sut.internalReport()
percent = sut.report("coverage.out")
sut.htmlReport("htmlcov")
print("COVERAGE:", percent)
print("FILES:", sorted({name.rsplit("/", 1)[-1] for name, _ in sut.allStatements()}))
print(sut.SUTName(), sut.moduleLocations() != [])
before = len(sut.allBranches())
sut.stopCoverage()
sut.makeTest(40, R)
assert len(sut.allBranches()) == before and not sut.currBranches()
sut.startCoverage()
sut.resetCov()
(test, ok) = sut.makeTest(40, R)
assert len(sut.allBranches()) == len(sut.currBranches()) > 0
parts = sut.coverDecompose(test)
print("PARTS:", sorted(map(len, parts)))
