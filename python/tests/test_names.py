"""Every method of TSTL's generated class exists, or is missing for a stated reason."""

import ast
import inspect
import re

import pytest
import testwright
from testwright.sut import TSTL_NAMES

#: TSTL's names of methods, by chapter of its documentation.
NAMES = {
    "stepping and choosing": """
        restart actions enabled safely check randomEnabled randomEnableds randomEnabledPred randomEnabledClassProbs
        setEnumerateEnabled disable enableAll enableAllAssume relax stopRelax test failure raised refRaised warning
        annotate makeTest exploreFromHere
    """,
    "queries": """
        SUTName prettyName prettyPrintTest prettyPrintRemoved actionClass actionClasses essentialClasses dependencies
        actOrder getOkExceptions getPreCode getRefCode getPropCode pools poolUses opaque abstraction features hints
        shallowState state backtrack abstract setReplayBacktrack slowPoolStates getPoolStates uniqueVals swarmConfig
        moduleLocations
    """,
    "replaying and judging": """
        replay replayUntil allEnabled fails failsCheck failsAny eqFail P forceP trajectoryItem nondeterministic
        stepNondeterministic findProcessNondeterminism iterateFindProcessNondeterminism processNondeterministic
    """,
    "transforming": """
        reduce normalize alphaConvert generalize reductions reduceEssentials swapPools mutate crossover testCandidates
        actionReplace actionModify levDist getEnabled numReassigns powerset noReassignStep replaceAllStep
        replacePoolStep replaceSingleStep swapPoolStep swapActionOrderStep reduceLengthStep freshSimpleVariants
        clearNormalizationCache tryCompose
    """,
    "saving and loading": """
        saveTest loadTest serializable playable captureReplay replayable testToBytes bytesToTest writeProbFile
        readProbFile
    """,
    "coverage": """
        startCoverage stopCoverage allBranches allStatements currBranches currStatements newBranches newStatements
        newCurrBranches newCurrStatements cleanCov resetCov silenceCoverage internalReport report htmlReport
        coversBranches coversStatements coversAll coversMore coversSame coversMoreThan coversUnique coverDecompose
    """,
    "settings": """
        verbose verboseOpaque setLog logAll logOff setLogAction logPrint setReload setDebugSafelyMode
        setUseDependencies setActionApproximation setFastPoolStates nowUsed noLongerNone noLongerUsed
        computeInitialEnabled couldBeEnabled verboseActionCould
    """,
    "swarm and probabilities": """
        standardSwarm highLowSwarm highLowClassProbs codeLOCs objCodeLOCs codeLOCProbs
    """,
}

TRACKING = "bookkeeping of a table of actions that might be enabled, which is not needed here"
DELIBERATELY_ABSENT = {
    "tryCompose": "in TSTL it is no method and cannot be called",
    "nowUsed": TRACKING,
    "noLongerNone": TRACKING,
    "noLongerUsed": TRACKING,
    "computeInitialEnabled": TRACKING,
    "couldBeEnabled": TRACKING,
    "verboseActionCould": TRACKING,
}

#: The arguments that users write, in their order. A method may take more, but not fewer.
ARGUMENTS = """
    safely(action)
    randomEnabled(rgen, actFilter=None, enabledActs=None)
    randomEnableds(rgen, n)
    randomEnabledPred(rgen, n, pred)
    randomEnabledClassProbs(rgen, probs)
    setEnumerateEnabled(b)
    disable(regex)
    annotate(text)
    makeTest(size, rgen=None, generator=None, sgenerator=None, stopFail=True, checkProp=True, initial=None, timeout=None, stopWhen=None)
    exploreFromHere(depth, checkProp=True, stopFail=True, stopCover=False, gatherFail=None, gatherCover=None, verbose=False, reverse=False, visited=None)
    prettyName(text)
    prettyPrintTest(test, columns=80)
    prettyPrintRemoved(t1, t2, columns=80)
    replay(test, catchUncaught=False, extend=False, checkProp=False, verbose=False, stopFail=True, returnCov=False, delay=None)
    replayUntil(test, pred, catchUncaught=False, checkProp=False, stopFail=True)
    fails(test, verbose=False, failure=None)
    failsCheck(test, verbose=False, failure=None)
    failsAny(test, verbose=False, failure=None)
    P(test, pred, samples=10)
    forceP(test, pred, P=0.5, samples=10, replications=1)
    trajectoryItem(pools=None)
    nondeterministic(test, delay=1.0, delay0=None, tries=1, reportEqualFail=False, pools=None)
    stepNondeterministic(test, delay=1.0, delay0=None, tries=1, reportEqualFail=False, pools=None)
    findProcessNondeterminism(test, ignoreExceptions=True, verbose=False, delay=None, tries=1)
    reduce(test, pred, pruneGuards=True, keepLast=False, verbose=False, rgen=None, amplify=False, amplifyReplications=1, stopFound=False, tryFast=True, testHandler=None, findLocations=False, noResetSplit=False, safeReduce=False, saveIntermediate=None)
    normalize(test, pred, pruneGuards=True, keepLast=False, verbose=False, speed="FAST", checkEnabled=False, distLimit=None, reorder=True, noReassigns=False, useCache=True, tryFast=True)
    alphaConvert(test, verbose=False)
    generalize(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None, returnCollect=False, collected=None, depth=0, silent=False, targets=None, fresh=True)
    reductions(test, pred, pruneGuards=True, tryFast=True, keepLast=False, verbose=False, recursive=1, useClasses=True, limit=None)
    reduceEssentials(test, original, pred, pruneGuards=True, keepLast=False, tryFast=True)
    swapPools(test, one, other, after=0)
    mutate(test, rgen=None, Pinsert=0.2)
    crossover(t1, t2, rgen=None, twoPoint=False)
    testCandidates(test, n)
    actionReplace(action, old, new)
    actionModify(action, old, new)
    levDist(s1, s2)
    getEnabled(test, checkEnabled)
    noReassignStep(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None)
    replaceAllStep(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None)
    replacePoolStep(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None)
    replaceSingleStep(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None)
    swapPoolStep(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None)
    swapActionOrderStep(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None)
    reduceLengthStep(test, pred, pruneGuards=True, keepLast=False, verbose=False, checkEnabled=False, distLimit=None, tryFast=True)
    freshSimpleVariants(name, previous, replacements)
    saveTest(test, filename, afl=False)
    loadTest(filename, afl=False, swarm=False)
    bytesToTest(data, swarm=False)
    writeProbFile(file, probs)
    readProbFile(file, returnList=False)
    coversBranches(branches, catchUncaught=False, checkProp=False)
    coversStatements(statements, catchUncaught=False, checkProp=False)
    coversAll(statements, branches, catchUncaught=False, checkProp=False)
    coversMore(statements, branches, catchUncaught=False, checkProp=False)
    coversSame(test, catchUncaught=False, checkProp=False)
    coversMoreThan(test, catchUncaught=False, checkProp=False)
    coversUnique(val, catchUncaught=False, checkProp=False)
    coverDecompose(test, verbose=False, catchUncaught=False, checkProp=False)
    logPrint(name, code, value, after)
    standardSwarm(rgen, P=0.5, file=None, classProb=None, noDependencies=False, forceParent=True)
    highLowSwarm(rgen, P=0.5, file=None, highProb=0.9, noDependencies=False, forceParent=True)
    highLowClassProbs(rgen, P=0.5, file=None, highProb=0.9)
    objCodeLOCs(obj, context)
    codeLOCProbs(baseline=0.2, codeLOCs=None)
"""

ALL = [name for names in NAMES.values() for name in names.split()]


@pytest.mark.parametrize("name", ALL)
def test_a_name_exists_or_is_missing_for_a_reason(name):
    assert hasattr(testwright.Sut, name) != (name in DELIBERATELY_ABSENT)


def test_only_names_of_tstl_are_listed_as_absent():
    assert set(DELIBERATELY_ABSENT) <= set(ALL)
    assert all(DELIBERATELY_ABSENT.values())


def test_every_tstl_name_has_a_method():
    for old, new in TSTL_NAMES.items():
        assert hasattr(testwright.Sut, new), f"{old} is to be {new}"
        assert old != new


def test_every_method_has_a_docstring():
    for name in set(ALL) - set(DELIBERATELY_ABSENT):
        assert inspect.getdoc(getattr(testwright.Sut, name)), name


@pytest.mark.parametrize(
    "line", ARGUMENTS.strip().splitlines(), ids=lambda line: line.split("(")[0].strip()
)
def test_arguments_are_those_that_users_write(line):
    name, arguments = re.fullmatch(r"\s*(\w+)\((.*)\)", line).groups()
    wanted = [part.strip().partition("=")[::2] for part in arguments.split(", ")]
    method = getattr(testwright.Sut, name)
    given = list(inspect.signature(method).parameters.values())
    if not isinstance(inspect.getattr_static(testwright.Sut, name), staticmethod):
        given = given[1:]
    for (argument, default), found in zip(wanted, given):
        assert found.name == argument
        # An argument that TSTL requires may be optional here.
        assert not default or found.default == ast.literal_eval(default), argument
    assert len(given) >= len(wanted)


def test_pools_are_attributes(tmp_path):
    harness = tmp_path / "a.tstl"
    harness.write_text(
        "pool: <x> 2 REF\nreference: collections.deque ==> list\n<x> := [1]\n<x>.append(2)\n"
    )
    sut = testwright.load(harness)
    sut.safely(sut.playable("x1 = [1]"))
    assert (sut.p_x[1], sut.p_x_REF[0], sut.p_x_used) == ([1], None, {0: True, 1: False})
    assert dict(sut.p_x.items()) == {0: None, 1: [1]} and sut.p_x_REF_used[1] is False
