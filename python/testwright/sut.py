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
    """A living harness: its actions, its state, and everything that can be done with them.

    Every method has two names, `random_enabled` and TSTL's `randomEnabled`, and so have its arguments.
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
    step.__doc__ = f"Lets the rule {rule} of normalization rewrite a test: whether it could, and the test then."
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
