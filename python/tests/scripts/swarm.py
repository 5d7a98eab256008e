"""A swarm tester: a new configuration for each test, and coverage statistics for each configuration."""

import random
import sys
from collections import defaultdict

import sut as SUT

sut = SUT.sut()
rgen = random.Random(int(sys.argv[1]))
hits = defaultdict(set)
for _ in range(12):
    sut.standardSwarm(rgen, P=0.5, noDependencies=False)
    config = sut.swarmConfig()
    sut.restart()
    for _ in range(30):
        action = sut.randomEnabled(rgen)
        if action is None:
            break
        assert sut.actionClass(action) in config
        if not sut.safely(action):
            break
    for name in config:
        hits[name] |= sut.currBranches()
    sut.enableAll()
assert sut.swarmConfig() is None
for name in sut.actionClasses():
    print(len(hits[name]), name.strip())
assert len(hits) > 5

probs = sut.highLowSwarm(rgen, P=0.3, highProb=0.95)
sut.writeProbFile("probs.txt", {name: p for p, name in probs})
assert sorted(sut.readProbFile("probs.txt", returnList=True)) == sorted(probs)
for table in (probs, sut.codeLOCProbs(baseline=0.4), sut.highLowClassProbs(rgen)):
    counts = defaultdict(int)
    (t, ok) = sut.makeTest(
        60, generator=lambda i, table=table: sut.randomEnabledClassProbs(rgen, table)
    )
    for step in t:
        counts[sut.actionClass(step)] += 1
    print(sorted(counts.values(), reverse=True))
