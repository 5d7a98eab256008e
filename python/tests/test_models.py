"""Composition and exploration of models: the graphs must equal those of the definitions, up to the numbers of states.

`models/reference.py` computes the expected graphs, slowly; `models/modules` has the models. This file tests ordinary
models; special cases are in `test_models_quirks.py`, steppers and bad input in `models`.
"""

import json
import random
import re

import pytest
from models import random_models
from models.folder import HERE, Folder, follow, graph_of


@pytest.fixture
def models(testwright):
    """Copies all models to a folder."""
    return Folder(testwright)


def expected(models, *arguments):
    return json.loads(models.command.python(HERE / "reference.py", *arguments).stdout)


# Complete explorations: the modules, and the numbers of states and transitions, so that no graph is empty by mistake

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
    "arguments from an object that is no longer the state": ("Populations LiveDomain", 8, 16),
    "the same, configured first": ("LiveDomain Populations", 8, 16),
    "a protocol": ("AlternatingBit", 32, 70),
    "a protocol and a scenario": ("AlternatingBit OneMessage", 12, 16),
    "two users": ("Login", 5, 13),
    "some values together, configured": ("Login OneUser", 3, 4),
    "results in a scenario": ("Login LoginFirst", 4, 5),
    "nothing is observable by default": ("Timer", 4, 3),
    "what is observed is what a scenario offers": ("TimerEvents Timer", 6, 8),
    "a log of what was observed": ("TimerLog Timer TimerReset", 10, 7),
    "messages in pieces": ("Wire", 55, 118),
    "all forms of arguments and guards": ("Forms", 78, 780),
    "state variables of all kinds": ("Shapes", 640, 7360),
    "several edges fit": ("Fork", 5, 7),
    "several edges fit in a product": ("Fork ForkUser", 5, 8),
    "open arguments in both": ("Fork Open", 5, 5),
    "three of them": ("Open Fork ForkUser", 5, 5),
    "unsafe states and dead ends": ("Counter", 6, 10),
    "the same twice counts once": ("Counter Counter", 6, 10),
    "include some": ("-a Push Stack Depth", 15, 14),
    "exclude one": ("-e Pop -e Unknown Stack Depth PushPop", 7, 6),
    "include and exclude": ("-a Push -a Pop -e Pop PushSuite Stack", 12, 6),
    "exclude from a scenario": ("-e Lose -e Ack AlternatingBit OneMessage", 5, 4),
}


@pytest.mark.parametrize("case", COMPLETE)
def test_complete_explorations_equal_the_definitions(models, case):
    line, states, transitions = COMPLETE[case]
    said, fsm = models.analyze(*line.split())
    assert fsm["frontier"] == []
    found = graph_of(fsm)
    wanted = expected(models, *line.split())
    for part in wanted:
        assert found[part] == wanted[part], part
    counts = [len(wanted[part]) for part in ("states", "transitions", "accepting", "unsafe")]
    assert said == "{} states, {} transitions, {} accepting states, {} unsafe states\n".format(
        *counts
    )
    assert counts[:2] == [states, transitions]


@pytest.mark.parametrize("seed", range(12))
def test_random_models_equal_the_definitions(models, seed):
    chance = random.Random(seed)
    names = []
    for number in range(chance.choice([1, 2, 2, 3])):
        kind = chance.choice([random_models.program, random_models.machine, random_models.suite])
        names.append(f"{kind.__name__.title()}{number}")
        models.write(**{names[-1]: kind(chance)})
    _, fsm = models.analyze(*names)
    assert graph_of(fsm) == expected(models, *names)


def test_exploring_finds_the_same(models):
    _, fsm = models.analyze("Stack", "Depth")
    done = models.command("explore", "Stack", "Depth", "--out", "Explored.py")
    assert "These are all that can be reached\n" in done.stdout
    found = models.read("Explored")
    assert graph_of(found) == graph_of(fsm)
    report = models.command("explore", "Counter", "--keep-going", "--json", status=1)
    report = json.loads(report.stdout)
    _, fsm = models.analyze("Counter")
    assert [one["state"] for one in report["unsafe"]] == fsm["unsafe"]
    assert report["dead_ends"] == fsm["deadend"]
    assert not report["frontier"] and report["states"] == len(fsm["states"])
    told = [one["text"] for one in report["caveats"]]
    assert told == ["`calls` in `Counter` is not part of a state"] and not report["complete"]


# Explorations that end early


@pytest.mark.parametrize("line", ["Stack Depth", "Forms", "PushSuite Stack", "AlternatingBit"])
def test_truncated_explorations_are_part_of_the_whole(models, line):
    _, whole = models.analyze(*line.split())
    wholly = graph_of(whole)
    # The first limit that is large enough gives the whole graph.
    total = len(whole["graph"])
    for most in (0, 1, 7, total - 1, total):
        said, fsm = models.analyze(*line.split(), most=most)
        part = graph_of(fsm)
        assert len(fsm["graph"]) == most
        assert said.startswith(f"{len(fsm['states'])} states, {most} transitions, ")
        for name in ("states", "transitions", "accepting", "unsafe", "finished", "deadend"):
            assert set(part[name]) <= set(wholly[name]), (most, name)

        def leaving(fsm, state):
            texts = {number: str(state) for number, state in fsm["states"].items()}
            return sum(texts[before] == state for before, _, _ in fsm["graph"])

        ended = fsm["finished"] + fsm["deadend"]
        waiting = [
            number
            for number, state in fsm["states"].items()
            if leaving(fsm, str(state)) < leaving(whole, str(state))
            or (leaving(whole, str(state)) == 0 and number not in ended)
        ]
        if not (line == "PushSuite Stack" and most == total):
            assert sorted(fsm["frontier"]) == waiting, most


def test_a_limit_of_no_transitions_keeps_the_initial_state(models):
    said, fsm = models.analyze("Stack", most=0)
    assert said == "1 states, 0 transitions, 1 accepting states, 0 unsafe states\n"
    assert (list(fsm["states"]), fsm["frontier"], fsm["runstarts"]) == ([0], [0], [0])


# What is written


def test_the_written_module_has_the_layout_of_pymodel(models):
    models.analyze("Login", "OneUser")
    text = (models.path / "Found.py").read_text()
    assert text.startswith("\n# pma Login OneUser -m 100000 -o Found\n")
    comment = "# 3 states, 4 transitions, 2 accepting states, 0 unsafe states, 0 finished and 0 deadend states\n"
    assert comment in text
    stubs = "def Initialize(): pass\ndef Login(): pass\ndef Logout(): pass\n"
    first = (
        "states = {\n"
        "  0 : {'Login': {'users': {'OleBrumm': False, 'VinniPuhh': False}, 'initialized': False}},\n"
    )
    lists = (
        "initial = 0\naccepting = [0, 1]\nunsafe = []\nfrontier = []\nfinished = []\n"
        "deadend = []\nrunstarts = [0]\n"
    )
    graph = (
        "graph = (\n  (0, (Initialize, (), None), 1),\n"
        "  (1, (Login, ('OleBrumm', 'Correct'), 'Success'), 2),\n"
        "  (1, (Login, ('OleBrumm', 'Incorrect'), 'Failure'), 1),\n"
        "  (2, (Logout, ('OleBrumm',), None), 1),\n)\n"
    )
    places = [text.index(part) for part in (comment, stubs, first, lists, graph)]
    assert places == sorted(places)
    # By default it is named after the first module, even if that only configures.
    models.command("compat", "pma", "Depth", "Stack")
    assert (models.path / "DepthFSM.py").exists()


@pytest.mark.parametrize(
    "line", ["Stack Depth Letters", "Populations", "Forms", "Fork", "Timer TimerEvents"]
)
def test_a_written_module_is_the_same_model(models, line):
    _, fsm = models.analyze(*line.split())
    _, again = models.analyze("Found", output="Again")
    texts = {number: {"Found": number} for number in fsm["states"]}
    # A machine has no invariant.
    assert graph_of(again) == graph_of({**fsm, "states": texts, "unsafe": []})


# Deterministic runs


SUITE_AND_STACK = """\
Push(1,)
Pop() / 1
  0. Finished at step 2, no more actions enabled, reached accepting state
Push(1,)
Push(2,)
Pop() / 2
Pop() / 1
  1. Finished at step 4, no more actions enabled, reached accepting state
  2. Finished at step 0, no more actions enabled, reached accepting state
Push(2,)
  3. Finished at step 1, no more actions enabled, ended in non-accepting state
Push(1,)
Push(2,)
Pop() / 2
Pop() / 1
  4. Finished at step 4, no more actions enabled, reached accepting state
  5. Finished at step 0, no more actions enabled, ended in non-accepting state
Test finished, completed 6 runs
"""

SUITE_ALONE = """\
Push(1,)
Pop() / 1
  0. Finished at step 2, no more actions enabled, reached accepting state
Push(1,)
Push(2,)
Pop() / 2
Pop() / 1
  1. Finished at step 4, no more actions enabled, reached accepting state
  2. Finished at step 0, no more actions enabled, reached accepting state
Push(2,)
Pop() / 1
  3. Finished at step 2, no more actions enabled, reached accepting state
Push(1,)
Push(2,)
Pop()
Pop()
  4. Finished at step 4, no more actions enabled, reached accepting state
Push(7,)
Pop()
  5. Finished at step 2, no more actions enabled, reached accepting state
Test finished, completed 6 runs
"""


def test_a_suite_plays_all_its_runs(models):
    assert models.test("PushSuite", "Stack") == SUITE_AND_STACK
    # The number of runs, cleanup and the order of modules make no difference.
    assert models.test("Stack", "PushSuite", "-r", 2, "-c", 5) == SUITE_AND_STACK
    assert models.test("PushSuite") == SUITE_ALONE
    quiet = re.sub(r"^(Push|Pop)\(.*", r"\1", SUITE_ALONE, flags=re.MULTILINE)
    assert models.test("-q", "PushSuite") == quiet
    cut = models.test("PushSuite", "-e", "Pop")
    assert [line for line in cut.splitlines() if line.startswith("P")] == [
        "Push(1,)",
        "Push(1,)",
        "Push(2,)",
        "Push(2,)",
        "Push(1,)",
        "Push(2,)",
        "Push(7,)",
    ]


def test_a_log_is_checked_without_running_anything(models):
    assert models.test("TimerLog", "Timer", "TimerReset") == (
        "Start(1,)\nTick()\nElapsed(0,) / 0\n"
        "  0. Finished at step 3, no more actions enabled, reached accepting state\n"
        "Start(2,)\nTick()\n"
        "  1. Finished at step 2, no more actions enabled, ended in non-accepting state\n"
        "Start(0,)\nElapsed() / 0\n"
        "  2. Finished at step 2, no more actions enabled, reached accepting state\n"
        "Test finished, completed 3 runs\n"
    )


def test_a_scenario_leads_through_a_model(models):
    assert models.test("Switch", "PowerTwice") == (
        "PowerOn()\nPowerOff()\nPowerOn()\nPowerOff()\n"
        "  0. Finished at step 4, no more actions enabled, reached accepting state\n"
    )
    assert models.test("PowerTwice", "Switch", "-n", 1, "-r", 1) == (
        "PowerOn()\n  0. Finished at step 1, ended in non-accepting state\n"
    )


@pytest.mark.parametrize(
    ("options", "ups", "downs", "end"),
    [
        ("-n 2", 2, 0, "2, ended in non-accepting state"),
        ("-n 2 -c 1", 2, 1, "3, ended in non-accepting state"),
        ("-n 2 -c 2", 2, 2, "4, reached accepting state"),
        ("-n 2 -c 9", 2, 2, "4, reached accepting state"),
        ("-n 2 -c 9 UpDown", 2, 2, "4, reached accepting state"),
        # A machine without cleanup actions prevents the cleanup of others.
        ("-n 2 -c 9 UpOnly", 2, 0, "2, ended in non-accepting state"),
        ("-n 2 -c 9 -e Down", 2, 0, "2, ended in non-accepting state"),
    ],
)
def test_cleanup_comes_to_an_end(models, options, ups, downs, end):
    printed = models.test("Ladder", "-g", "First", *options.split())
    steps = "Up()\n" * ups + "Down()\n" * downs
    assert printed == f"{steps}  0. Finished at step {end}\n"


def test_no_cleanup_in_an_accepting_state(models):
    models.write(
        Idle="count = 0\ndef Wait(): pass\nstate = ('count',)\nactions = cleanup = (Wait,)\n"
    )
    assert models.test("Idle", "-n", 1, "-c", 5) == (
        "Wait()\n  0. Finished at step 1, reached accepting state\n"
    )


# Random runs


@pytest.mark.parametrize(
    "line",
    [
        "Stack Depth -n 30",
        "Populations -n 30",
        "Login -n 30 -g StateCoverage",
        "AlternatingBit -n 30 -g ActionNameCoverage",
        "Wire -n 30",
        "Forms -n 30",
        "Login LoginFirst -n 9",
        "Fork -n 9",
        "Mixed -n 20",
    ],
)
def test_every_trace_is_a_path_and_a_seed_repeats(models, line):
    models.write(Resets=RESETS)
    names = [word for word in line.split() if word[0].isupper() and "Coverage" not in word]
    _, fsm = models.analyze(*names)
    seeded = ["compat", "pmt", *line.split(), "Resets", "-r", 3, "-s"]
    printed = {}
    for seed, hashes in ((5, "1"), (5, "2"), (6, "1")):
        done = models.run(*seeded, seed, PYTHONHASHSEED=hashes)
        # A nondeterministic machine is in all possible states at once.
        assert follow(fsm, done.stdout) == 3
        printed[seed, hashes] = done.stdout
    assert printed[5, "1"] == printed[5, "2"]
    assert printed[5, "1"] != printed[6, "1"]


RESETS = '''"""PyModel configuration: how to begin anew, whatever the model is."""
import copy
import sys

def reset_of(module):
    start = {name: copy.deepcopy(getattr(module, name)) for name in module.state}
    def Reset():
        for name, value in copy.deepcopy(start).items():
            setattr(module, name, value)
    return Reset

for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None) or ""
    if hasattr(module, "state") and hasattr(module, "actions") and "site-packages" not in file:
        module.Reset = reset_of(module)
'''


def test_what_was_recorded_can_be_played_again(models):
    wanted = "reached accepting state"
    recorded = models.test("Stack", "Letters", "-n", 6, "-c", 6, "-r", 3, "-s", 4, "-o", "Recorded")
    assert recorded.count(wanted) == 3 and "it's" in recorded
    text = (models.path / "Recorded.py").read_text()
    head = "\n# pmt Stack Letters -n 6 -c 6 -r 3 -s 4 -o Recorded\n"
    stubs = "def Push(): pass\ndef Pop(): pass\n"
    assert text.startswith(head) and stubs in text
    assert "\nactions = (Push, Pop)\n" in text and "\ntestSuite = [\n  [\n    (P" in text
    assert text.count("\n  ],\n") == 3 and text.count("\n  ],\n#\n  [\n") == 2
    assert text.endswith("\n  ],\n]")
    ends = re.compile("no more actions enabled, ")
    for line in (["Recorded"], ["Recorded", "Stack", "Letters"], ["Stack", "Letters", "Recorded"]):
        assert ends.sub("", models.test(*line)) == recorded
    steps = sum(len(run) for run in models.read("Recorded")["testSuite"])
    said, fsm = models.analyze("Recorded", "Stack", "Letters")
    assert len(fsm["graph"]) == steps and fsm["deadend"] == []


# Strategies


def test_strategies_cover_what_they_say(models):
    assert models.test("Stack", "-n", 8, "-q", "-g", "ActionNameCoverage") == (
        "Push\nPop\n" * 4 + "  0. Finished at step 8, reached accepting state\n"
    )
    printed = models.test("Fan", "-n", 10, "-g", "StateCoverage")
    gone = re.findall(r"Go\((\d),\)", printed)
    assert sorted(gone) == ["1", "2", "3", "4", "5"]
    # Coverage is kept between runs.
    printed = models.test("Fan", "-n", 2, "-r", 5, "-g", "StateCoverage")
    assert sorted(re.findall(r"Go\((\d),\)", printed)) == ["1", "2", "3", "4", "5"]


def test_a_user_strategy_gets_the_possible_actions(models):
    printed = models.test("Stack", "PushPop", "-g", "Telling", "-r", 2)
    number = "'accepting': {}, 'statefilter': True, 'stateinvariant': True"
    no, yes = number.format(False), number.format(True)
    first = (
        f"[('Push', (1,), None, {{'Stack': {{'stack': [1]}}, 'PushPop': 1}}, {{{no}}}),"
        f" ('Push', (2,), None, {{'Stack': {{'stack': [2]}}, 'PushPop': 1}}, {{{no}}})]"
    )
    assert printed.startswith(f"1 {first}\nPush(2,)\n2 [('Push', (1,), None, ")
    assert "('Pop', (), 2, {'Stack': {'stack': []}, 'PushPop': 0}, " in printed
    assert printed.count("Finished at step 2, no more actions enabled, ended in") == 2
    assert f"\n4 {first}\nPush(2,)\n" in printed and yes not in printed


def test_a_strategy_in_the_folder_takes_precedence(models):
    models.write(StateCoverage="def SelectAction(possible):\n    return possible[-1][:2]\n")
    assert models.test("Fan", "-n", 3, "-g", "StateCoverage") == (
        "Go(5,)\nBack()\nGo(5,)\n  0. Finished at step 3, ended in non-accepting state\n"
    )
    models.write(StateCoverage="def SelectAction(:\n")
    done = models.run("compat", "pmt", "Fan", "-n", 3, "-g", "StateCoverage", status=1)
    assert "this is not Python: invalid syntax" in done.stderr and done.stdout == ""
    done = models.run("compat", "pmt", "Fan", "-n", 3, "-g", "Switch", status=1)
    assert "the strategy `Switch` has no `SelectAction`" in done.stderr
    done = models.run("compat", "pmt", "Fan", "-n", 3, "-g", "Nothing", status=1)
    assert "there is no module `Nothing`" in done.stderr


def test_options_are_parsed_as_in_pymodel(models):
    plain = models.test("Stack", "-n", 4, "-s", 3, "-q")
    assert models.test("--nst", 4, "Stack", "--quiet", "--seed=3") == plain
    assert models.test("-qn4", "-s3", "Stack") == plain
    models.command("compat", "pma", "--max", 5, "Stack", "--out", "Short")
    assert len(models.read("Short")["graph"]) == 5
    for tool in ("pma", "pmt"):
        assert "Usage: " in models.command("compat", tool).stdout
        models.command("compat", tool, "--wrong", status=2)


# Lists of commands


def test_a_list_of_commands_is_run_and_compared(models):
    models.write(
        Tried="cases = [('Twice', 'pmt -n 2 -a Shift Shifting'), ('All', 'pma Shifting')]\n",
        Shifting="n = 0\ndef Shift():\n    global n\n    n = 1 - n\nstate = ('n',)\nactions = (Shift,)\n",
    )
    # Without a terminal, its own lines come last, as in all reference outputs.
    printed = (
        "Shift()\nShift()\n  0. Finished at step 2, reached accepting state\n"
        "2 states, 2 transitions, 2 accepting states, 0 unsafe states\n"
        "Twice\n\nAll\n\n"
    )
    assert models.run("compat", "trun", "Tried").stdout == printed
    done = models.command("compat", "tdiff", "trun", "Tried", status=1)
    assert "error: there is no `Tried.ref` to compare with\n" in done.stderr
    # The comparison ignores blanks.
    (models.path / "Tried.ref").write_text(printed.replace(", ", ",  "), encoding="utf-8")
    assert models.run("compat", "tdiff", "trun", "Tried").stdout == ""
    assert (models.path / "Tried.log").read_text(encoding="utf-8") == printed
    (models.path / "Tried.ref").write_text(printed.replace("2 trans", "3 trans"), encoding="utf-8")
    done = models.command("compat", "tdiff", "trun", "Tried", status=1)
    assert "> 2 states, 3 transitions," in done.stdout


def test_a_module_without_a_list_of_commands(models):
    done = models.command("compat", "trun", "Stack", status=1)
    assert "error: `Stack` has no list `cases` of pairs of texts\n" in done.stderr
    assert "Usage: trun" in models.run("compat", "trun").stdout
