"""Models, composed and explored: the graphs must be those of the definitions, whatever the numbers of their states.

`models/reference.py` computes what is expected, slowly; `models/modules` has the models. Here is what comes of sound
models; what was decided about odd ones is in `test_models_quirks.py`, and what comes of bad ones in
`test_models_trouble.py`.
"""

import ast
import itertools
import json
import re
import runpy
import shutil
from pathlib import Path

import pytest
from models import reference

MODELS = Path(reference.__file__).parent
#: What stands in a written module, as states.
MARKS = ("accepting", "unsafe", "finished", "deadend", "runstarts")


@pytest.fixture
def models(testwright):
    """A folder with all models."""
    for file in (MODELS / "modules").glob("*.py"):
        shutil.copy(file, testwright.folder)
    return testwright


def analyze(command, *arguments, most=100_000, output="Found"):
    """Explores models, and reads what was written."""
    done = command("compat", "pma", *arguments, "-m", most, "-o", output)
    return done.stdout, runpy.run_path(str(command.folder / f"{output}.py"))


def graph_of(fsm):
    """A written module, as the reference shows graphs."""
    states = fsm["states"]
    graph = {mark: [states[number] for number in fsm[mark]] for mark in MARKS}
    transitions = [
        (states[before], action.__name__, arguments, result, states[after])
        for before, (action, arguments, result), after in fsm["graph"]
    ]
    assert len(transitions) == len({reference.canonical(one) for one in transitions}), "once each"
    initial = [states[fsm["initial"]]]
    return reference.comparable(
        {"states": states.values(), "transitions": transitions, "initial": initial, **graph}
    )


def expected(command, *arguments):
    return json.loads(command.python(MODELS / "reference.py", *arguments).stdout)


# Complete explorations: the modules, and how many states and transitions there are, so that none of them is empty

COMPLETE = {
    "a switch": ("Switch", 2, 2),
    "a scenario with texts for states": ("PowerTwice", 5, 4),
    "a program follows a scenario": ("Switch PowerTwice", 5, 4),
    "a scenario may come first": ("PowerTwice Switch", 5, 4),
    "an action that is known and never done is forbidden": ("Switch NeverOff", 2, 1),
    "two programs share a name, and the rest interleaves": ("Switch Speed", 6, 12),
    "two programs and a scenario": ("Speed Switch PowerTwice", 15, 27),
    "a stack, limited by what comes after it": ("Stack Depth", 15, 28),
    "a stack, limited by what comes before it": ("Depth Stack", 15, 28),
    "two configurations, one of them changes a list": ("Letters Depth Stack", 40, 78),
    "nothing said stands for anything": ("Stack PushPop", 7, 12),
    "a suite alone": ("PushSuite", 20, 14),
    "a suite and its model": ("PushSuite Stack", 17, 11),
    "sets, computed arguments, actions as a set": ("Populations", 8, 36),
    "arguments from an object that is the state no more": ("Populations LiveDomain", 8, 16),
    "the same, configured first": ("LiveDomain Populations", 8, 16),
    "a protocol": ("AlternatingBit", 32, 70),
    "a protocol and a scenario": ("AlternatingBit OneMessage", 12, 16),
    "two users": ("Login", 5, 13),
    "some values together, configured": ("Login OneUser", 3, 4),
    "results in a scenario": ("Login LoginFirst", 4, 5),
    "nothing is observed where nobody says so": ("Timer", 4, 3),
    "what is observed is what a scenario offers": ("TimerEvents Timer", 6, 8),
    "a log of what was observed": ("TimerLog Timer TimerReset", 10, 7),
    "messages in pieces": ("Wire", 55, 118),
    "all forms of arguments and guards": ("Forms", 78, 780),
    "state variables of all kinds": ("Shapes", 640, 7360),
    "several edges fit": ("Fork", 5, 7),
    "several edges fit in a product": ("Fork ForkUser", 5, 8),
    "nothing said meets nothing said": ("Fork Open", 5, 5),
    "three of them": ("Open Fork ForkUser", 5, 5),
    "unsafe states and dead ends": ("Counter", 6, 10),
    "the same twice counts once": ("Counter Counter", 6, 10),
    "include some": ("-a Push Stack Depth", 15, 14),
    "exclude one": ("-e Pop -e Unknown Stack Depth PushPop", 7, 6),
    "include and exclude": ("-a Push -a Pop -e Pop PushSuite Stack", 12, 6),
    "exclude from a scenario": ("-e Lose -e Ack AlternatingBit OneMessage", 5, 4),
}


@pytest.mark.parametrize("case", COMPLETE)
def test_complete_explorations_are_those_of_the_definitions(models, case):
    line, states, transitions = COMPLETE[case]
    said, fsm = analyze(models, *line.split())
    assert fsm["frontier"] == []
    found = graph_of(fsm)
    wanted = expected(models, *line.split())
    for part in wanted:
        assert found[part] == wanted[part], part
    counts = [len(wanted[part]) for part in ("states", "transitions", "accepting", "unsafe")]
    assert said == "{} states, {} transitions, {} accepting states, {} unsafe states\n".format(*counts)
    assert counts[:2] == [states, transitions]
