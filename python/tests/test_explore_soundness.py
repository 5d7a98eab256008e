"""`testwright explore` against references in plain Python: generated systems, and generated models.

Everything is in the folder `soundness`. For a system, the reference runs all tests up to a length, one by one, each from
a fresh import (`systems.py`, `brute_force.py`, `agreement.py`). For models, it explores all states by running actions
from a fresh import, and decides formulas from their definitions (`model_systems.py`, `model_reference.py`,
`formulas.py`, `model_agreement.py`). A fixed sample runs here: with `SOAK=1` it is 1,000 systems and 300 models.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import soak
from soundness import formulas
from soundness.systems import FIRST_ABSTRACT

HERE = Path(__file__).resolve().parent
SIZE = 50 if soak.SOAK else 20
SYSTEMS = range(0, 1000 if soak.SOAK else 40, SIZE)
MODELS = range(0, 300 if soak.SOAK else 20, SIZE)


def survey(first, *options, cases=SIZE):
    """Surveys a group of cases in a process of its own, with the hash seed that the command uses."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(HERE)}
    program = [sys.executable, str(HERE / "soundness" / "survey.py"), "--as-json"]
    line = [*program, "--from", first, "--to", first + SIZE, *options]
    done = subprocess.run(
        list(map(str, line)), env=environment, capture_output=True, text=True, timeout=3600
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    found = json.loads(done.stdout)
    assert not found["wrong"], "\n".join(found["wrong"])
    assert found["cases"] == cases
    return found


@pytest.mark.parametrize("first", SYSTEMS)
def test_verdicts_and_shortest_failures_of_systems_equal_those_of_brute_force(first):
    found = survey(
        first, "--thorough", 5 if soak.SOAK else 10, "--runs", 30000 if soak.SOAK else 4000
    )
    assert found["proved"] >= 0.9 * found["due"], found["table"]


JUDGED_WRONGLY_ONCE = [7, 31, 83, 173, 197, 207, 223, 264, 299, 330, 369]


def test_systems_that_were_judged_wrongly_once_are_judged_right():
    seeds = JUDGED_WRONGLY_ONCE
    survey(0, "--seeds", *seeds, "--thorough", 0, cases=len(seeds))


#: Systems that are judged wrongly if one thing is left out. Their designs are in `pinned.py`.
NEEDED = {
    "the order of a dict": 64,
    "the order of an OrderedDict": 663,
    "the order of a deque": 1103,
    "the length of a deque": 2207,
    "the order of a set": 30,
    "the types of numbers": 70,
    "negative zero": 136,
    "what is in an object": 7,
    "the class of an object": 161,
    "the pattern of sharing": 1003,
    "that a NaN is a NaN": 74,
    "globals of modules": 10,
    "globals of the harness": 9,
    "class attributes": 65,
    "function attributes": 789,
    "default arguments": 13,
    "closures": 94,
    "what lru_cache keeps": 10,
    "caches": 87,
    "modules that others import from": 27,
    "bound methods in slots": 131,
    "partials in slots": 70,
    "built-in methods in slots": 50,
    "the state of random": 36,
    "submodules": 118,
    "what a reset restores": 96,
    "that a failure is confirmed": 207,
    "that states which count as one are compared": FIRST_ABSTRACT + 106,
    "that an abstraction is told": FIRST_ABSTRACT + 106,
    "that what cannot be seen is told": 369,
}


def test_systems_that_need_one_thing_are_judged_right():
    tried = {*range(40), *JUDGED_WRONGLY_ONCE}
    seeds = sorted(set(NEEDED.values()) - tried)
    survey(0, "--seeds", *seeds, "--thorough", 0, cases=len(seeds))


def test_every_way_to_go_back_knows_the_same_states():
    # The state of `random` after a copy, and modules after a copy and after a replay.
    survey(0, "--seeds", 167, 195, "--thorough", 1, cases=2)


@pytest.mark.parametrize("first", MODELS)
def test_states_and_formulas_of_models_equal_those_of_the_reference(first):
    survey(first, "--models", "--thorough", 2 if soak.SOAK else 5)


def test_the_reference_decides_formulas_as_their_definition_does():
    # On graphs that are so small that all their lassos can be listed.
    assert all(formulas.check_against_lassos(seed) for seed in range(100))
