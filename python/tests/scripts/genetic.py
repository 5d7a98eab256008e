"""A genetic algorithm: tests are mutated and crossed, and those with the most coverage survive."""

import random
import sys

import sut as SUT

sut = SUT.sut()
R = random.Random(int(sys.argv[1]))


def fitness(test):
    ok = sut.replay(test, catchUncaught=True, checkProp=True, stopFail=True)
    if not ok:
        failing.append(list(sut.test()))
    return len(sut.currBranches()), len(sut.currStatements())


failing, population = [], []
for _ in range(8):
    (t, ok) = sut.makeTest(25, R, stopFail=True)
    assert ok in (True, False, "DEADLOCK")
    population.append((fitness(t), t))
best = max(score for score, _ in population)
for _ in range(15):
    population.sort(key=lambda each: each[0], reverse=True)
    population = population[:6]
    (_, mother), (_, father) = R.sample(population, 2)
    children = [
        sut.mutate(mother, R, Pinsert=0.5),
        sut.crossover(mother, father, R),
        sut.crossover(mother, father, R, twoPoint=True),
        list(mother[:10]) + [s for s in father[10:] if s in mother],
    ]
    for child in children:
        if child:
            population.append((fitness(child), child))
    assert max(score for score, _ in population) >= best
    best = max(score for score, _ in population)
print("BEST:", best, "FAILURES:", len(failing))
for test in failing[:1]:
    short = sut.reduce(test, sut.failsCheck, True, True, False)
    assert sut.failsCheck(short) and short[-1] == test[-1]
