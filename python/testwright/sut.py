"""A harness as an object, under the names that TSTL gave its methods as well."""

from __future__ import annotations

import re

from testwright import _native

#: Arguments that TSTL spells in a way of its own.
ODD_ARGUMENTS = {"Pinsert": "p_insert"}


def _snake(name: str) -> str:
    """`randomEnabled` -> `random_enabled`."""
    return ODD_ARGUMENTS.get(name) or re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


class Sut(_native.Sut):
    """A living harness: its actions, its state, and everything that can be done with them.

    Every method has two names, `random_enabled` and TSTL's `randomEnabled`, and so have its arguments.
    """


#: TSTL's name for each method; where it is not simply the other way of writing it, what it is called here.
ANCESTOR_NAMES = {
    "SUTName": "sut_name",
    "P": "probability",
    "error": "failure",
    # Failures are the same or not by kind and text here, whatever the line.
    "failsAny": "fails_check",
    "fails_any": "fails_check",
    "slowPoolStates": "get_pool_states",
    **{
        name: _snake(name)
        for name in """
            actionClass actionClasses actOrder allBranches allEnabled allStatements alphaConvert coversAll coversBranches coversSame
            coversStatements currBranches currStatements enableAll eqFail essentialClasses failsCheck
            getOkExceptions getPoolStates getPropCode getRefCode captureReplay loadTest makeTest moduleLocations
            newBranches newCurrBranches newCurrStatements newStatements poolUses prettyName prettyPrintRemoved
            prettyPrintTest randomEnabled randomEnabledClassProbs randomEnabledPred randomEnableds reduceEssentials refRaised replayUntil
            saveTest setLog setReplayBacktrack shallowState stepNondeterministic stopRelax swapPools trajectoryItem uniqueVals
        """.split()
    },
}


def _with_ancestor_arguments(name):
    """The method of that name, whose arguments may be called as in TSTL, too."""
    method = getattr(_native.Sut, name)

    def call(self, *arguments, **named):
        return method(self, *arguments, **{_snake(key): value for key, value in named.items()})

    call.__name__ = name
    call.__doc__ = method.__doc__
    return call


for _old, _new in ANCESTOR_NAMES.items():
    setattr(Sut, _old, _with_ancestor_arguments(_new))
for _name in (
    "crossover fails generalize mutate nondeterministic normalize reduce reductions replay".split()
):
    setattr(Sut, _name, _with_ancestor_arguments(_name))
