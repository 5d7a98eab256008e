"""A harness as an object, under the names that TSTL gave its methods as well."""

from __future__ import annotations

import functools
import inspect
import re

from testwright import _native

#: Arguments that TSTL spells in a way of its own.
ODD_ARGUMENTS = {"Pinsert": "p_insert"}


def _snake(name: str) -> str:
    """`randomEnabled` -> `random_enabled`."""
    return ODD_ARGUMENTS.get(name) or re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


#: The rules of normalization that TSTL has methods for.
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
    r"""A living harness: its actions, its state, and everything that can be done with them.

    Every method has two names, `random_enabled` and TSTL's `randomEnabled`, and so have its arguments.

    The examples of all methods are about a stack, `stack.py`:

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

    And each of them begins after these lines, with a test that fails:

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
    """The method that lets a single rule work; those of its arguments that make no difference are TSTL's."""

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
    step.__doc__ = f"""Lets the rule {rule} of normalization rewrite a test: whether it could, and the test then.

    >>> changed, other = sut.{name}(test, sut.fails)
    >>> sut.fails(other), changed == (other != test)
    (True, True)
    """
    return step


for _name, _kind in RULES.items():
    setattr(Sut, _name, _rule(_name, _kind))


#: TSTL's name for each method; where it is not simply the other way of writing it, what it is called here.
ANCESTOR_NAMES = {
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
    """`check_prop` -> `checkProp`, or however TSTL spells it."""
    odd = {**{new: old for old, new in ODD_ARGUMENTS.items()}, "p": "P", "code_locs": "codeLOCs"}
    return odd.get(name) or re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name)


def _with_ancestor_arguments(name):
    """The method of that name, whose arguments may be called as in TSTL, too."""
    method = inspect.getattr_static(Sut, name)
    plain = getattr(Sut, name)
    signature = inspect.signature(plain)
    spelled = [
        each.replace(name=_camel(each.name)) if each.kind is not each.POSITIONAL_ONLY else each
        for each in signature.parameters.values()
    ]
    if spelled == list(signature.parameters.values()):
        return method  # nothing to translate, so no call in between

    @functools.wraps(plain)
    def call(*arguments, **named):
        return plain(*arguments, **{_snake(key): value for key, value in named.items()})

    call.__signature__ = signature.replace(parameters=spelled)
    return staticmethod(call) if isinstance(method, staticmethod) else call


# The names that are the same in both worlds come last, so that the others lead to the methods themselves.
for _old, _new in ANCESTOR_NAMES.items():
    setattr(Sut, _old, _with_ancestor_arguments(_new))
for _name in (
    "crossover fails generalize mutate nondeterministic normalize reduce reductions replay".split()
):
    setattr(Sut, _name, _with_ancestor_arguments(_name))
