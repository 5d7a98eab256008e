"""A harness as an object. Its methods also have the names that TSTL gives them."""

from __future__ import annotations

import functools
import inspect
import re

from testwright import _native

#: Arguments whose TSTL spelling does not follow the rule.
ODD_ARGUMENTS = {"Pinsert": "p_insert"}


def _snake(name: str) -> str:
    """Converts TSTL's spelling: `randomEnabled` -> `random_enabled`."""
    return ODD_ARGUMENTS.get(name) or re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


#: The normalization rules that have methods in TSTL.
RULES = {
    "no_reassign_step": "NoReassigns",
    "replace_all_step": "SimplifyAll",
    "replace_pool_step": "ReplacePool",
    "replace_single_step": "SimplifySingle",
    "swap_pool_step": "SwapPool",
    "swap_action_order_step": "SwapAction",
    "reduce_length_step": "ReduceAction",
}


class Sut(_native.Sut):
    r"""A loaded harness: its actions, its state, and the operations on them.

    Every method has two names, `random_enabled` and TSTL's `randomEnabled`. So has every argument.

    The examples of all methods use a stack, `stack.py`:

        class Stack:
            def __init__(self):
                self.items = []

            def push(self, item):
                self.items.append(item)

            def pop(self):
                return self.items.pop()

            def remove(self, item):
                self.items.remove(item)

            def top(self):
                return self.items[-1]  # The bug: an empty stack has no top.

            def __len__(self):
                return len(self.items)

            def __eq__(self, other):
                return self.items == other.items

            def __repr__(self):
                return f"Stack({self.items})"

    They use its harness, `stack.tstl`:

        @import stack

        pool: <int> 2
        pool: <stack> 1 REF OPAQUEREF ABSTRACT len

        <int> := <[1..3]>
        <stack> := stack.Stack()  #ESSENTIAL
        <stack>.push(<int>) => len(<stack,1>) > pre<(len(<stack,1>))>
        {IndexError} <stack>.pop()
        {!ValueError} <stack>.remove(<int>)
        <stack>.top()

        reference: stack\.Stack\(\) ==> []
        reference: push ==> append
        reference: METHOD(top) ==> \1[-1]
        compare: top

        property: len(<stack>) < 4
        assume: <int> < 9
        log: len(<stack>)
        hint: len(<stack>)
        feature: top

    Each example begins after these lines, which make a failing test:

    >>> import random
    >>> from pathlib import Path
    >>> import testwright
    >>> rgen = random.Random(1)
    >>> sut = testwright.load("stack.tstl")
    >>> lines = ["stack0 = stack.Stack()", "int0 = 3", "stack0.push(int0)", "int1 = 2"]
    >>> lines += ["stack0.pop()", "stack0.top()"]
    >>> test = testwright.Test(map(sut.playable, lines))
    """


def _rule(name, rule):
    """Makes the method that applies a single rule. Arguments without effect are there for TSTL's scripts."""

    def step(
        self,
        test,
        pred,
        prune_guards=True,
        keep_last=False,
        verbose=False,
        check_enabled=False,
        dist_limit=None,
        try_fast=True,
    ):
        return self.apply_rule(rule, test, pred, keep_last, dist_limit)

    step.__name__ = name
    step.__doc__ = f"""Applies the normalisation rule {rule} to a test. Returns whether it changed the test, and the result.

    >>> changed, other = sut.{name}(test, sut.fails)
    >>> sut.fails(other), changed == (other != test)
    (True, True)
    """
    return step


for _name, _kind in RULES.items():
    setattr(Sut, _name, _rule(_name, _kind))


#: TSTL's name for each method, and the method. The first ones differ in more than the spelling.
TSTL_NAMES = {
    "SUTName": "sut_name",
    "P": "probability",
    "error": "failure",
    "slowPoolStates": "get_pool_states",
    "codeLOCProbs": "code_loc_probs",
    **{
        name: _snake(name)
        for name in """
            actionClass actionClasses actionModify actionReplace actOrder allBranches allEnabled allStatements
            alphaConvert bytesToTest captureReplay cleanCov clearNormalizationCache codeLOCs coverDecompose coversAll
            coversBranches coversMore coversMoreThan coversSame coversStatements coversUnique currBranches
            currStatements enableAll enableAllAssume eqFail essentialClasses exploreFromHere failsAny failsCheck
            findProcessNondeterminism forceP freshSimpleVariants getEnabled getOkExceptions getPoolStates getPreCode
            getPropCode getRefCode highLowClassProbs highLowSwarm htmlReport internalReport
            iterateFindProcessNondeterminism levDist loadTest logAll logOff logPrint makeTest moduleLocations
            newBranches newCurrBranches newCurrStatements newStatements noReassignStep numReassigns objCodeLOCs
            poolUses prettyName prettyPrintRemoved prettyPrintTest processNondeterministic randomEnabled
            randomEnabledClassProbs randomEnabledPred randomEnableds readProbFile reduceEssentials reduceLengthStep
            refRaised replaceAllStep replacePoolStep replaceSingleStep replayUntil resetCov saveTest
            setActionApproximation setDebugSafelyMode setEnumerateEnabled setFastPoolStates setLog setLogAction
            setReload setReplayBacktrack setUseDependencies shallowState silenceCoverage standardSwarm startCoverage
            stepNondeterministic stopCoverage stopRelax swapActionOrderStep swapPools swapPoolStep swarmConfig
            testCandidates testToBytes trajectoryItem uniqueVals verboseOpaque writeProbFile
        """.split()
    },
}


def _camel(name):
    """Converts to TSTL's spelling: `check_prop` -> `checkProp`."""
    odd = {**{new: old for old, new in ODD_ARGUMENTS.items()}, "p": "P", "code_locs": "codeLOCs"}
    return odd.get(name) or re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name)


def _with_tstl_arguments(name):
    """Returns the method of that name, which also accepts TSTL's names for its arguments."""
    method = inspect.getattr_static(Sut, name)
    plain = getattr(Sut, name)
    signature = inspect.signature(plain)
    spelled = [
        each.replace(name=_camel(each.name)) if each.kind is not each.POSITIONAL_ONLY else each
        for each in signature.parameters.values()
    ]
    if spelled == list(signature.parameters.values()):
        return method  # nothing to translate, so no wrapper

    @functools.wraps(plain)
    def call(*arguments, **named):
        return plain(*arguments, **{_snake(key): value for key, value in named.items()})

    call.__signature__ = signature.replace(parameters=spelled)
    return staticmethod(call) if isinstance(method, staticmethod) else call


# Names that TSTL shares come last, so that the others are set to the methods and not to wrappers.
for _old, _new in TSTL_NAMES.items():
    setattr(Sut, _old, _with_tstl_arguments(_new))
for _name in (
    "crossover fails generalize mutate nondeterministic normalize reduce reductions replay".split()
):
    setattr(Sut, _name, _with_tstl_arguments(_name))
