"""Exploring models, checking them with scenarios, and bad input, on the command line.

Other files test products of models and their graphs; this one tests the output for users.
"""

import json
import re
import subprocess

import pytest
from small_models import MODULES, module, write_modules


@pytest.fixture
def models(testwright):
    """Writes small models to a folder."""
    write_modules(testwright)
    return testwright


def timeless(text):
    return re.sub(r"in \S+ \(\d+ \S+ a state\)", "in … (… a state)", text)


# Exploring


def test_all_states_of_a_model(models):
    done = models("explore", "Pile")
    assert timeless(done.stdout) == (
        "Explored 7 states, 12 transitions, in … (… a state)\n"
        "These are all that can be reached\n"
        "1 accepting, 0 finished, 0 dead ends\n"
        "every state is safe\n"
        "from every state an accepting state can be reached\n"
    )


def test_a_limit_ends_an_exploration(models):
    done = models("explore", "Pile", "--max", 3)
    assert timeless(done.stdout) == (
        "Explored 4 states, 3 transitions, in … (… a state)\n"
        "There may be more states; bounded by a limit of 3 transitions (`--max N` raises it); 3 states not followed\n"
        "1 accepting, 0 finished, 0 dead ends\n"
        "Never possible so far: Pop\n"
        "no unsafe state found\n"
        "no dead state found\n"
    )
    assert "Explored 1 state, 0 transitions" in models("explore", "Pile", "--max", 0).stdout
    done = models("explore", "Pile", "--most-states", 3, "--formula", "always not {items == [9]}")
    assert (
        "There may be more states; bounded by a limit of 3 states (`--most-states N` raises it); "
        in done.stdout
    )
    assert "Formula: no run found that violates it; bounded by a limit of 3 states\n" in done.stdout
    found = json.loads(models("explore", "Pile", "--most-states", 3, "--json").stdout)
    assert not found["complete"] and found["bounded_by"][0]["kind"] == "states"


def test_nothing_is_claimed_of_a_model_in_which_nothing_can_happen(models):
    models.write("Still.py", MODULES["Pile"].replace("len(items) < 2", "False"))
    done = models("explore", "Still", status=2)
    assert "no action can be taken at the start, so nothing was explored" in done.stderr
    assert " is safe" not in done.stdout and "These are all" not in done.stdout
    assert not json.loads(models("explore", "Still", "--json", status=2).stdout)["complete"]
    for how in (["--jobs", 2], ["--jobs", 0], ["--tests", 3]):
        done = models("run", "Still", "--time", "1h", *how, status=2)
        assert "no action is enabled at the start, so nothing was tested" in done.stderr
    done = models("model", "test", "Still", status=2)
    assert "no run took a step, so nothing was tested" in done.stderr


def test_a_random_model_proves_nothing(models):
    model = MODULES["Pile"].replace("items.append(number)", "items.append(random.choice([number]))")
    assert "random" in model, model
    models.write("Lucky.py", "import random\n" + model)
    done = models("explore", "Lucky", "--formula", "always not {items == [9]}")
    assert (
        "not covered: a model draws random numbers, so there may be other states\n" in done.stdout
    )
    for claim in ("These are all", "every", " safe", "holds"):
        assert claim not in done.stdout
    found = json.loads(models("explore", "Lucky", "--json").stdout)
    assert not found["complete"]
    assert [caveat["kind"] for caveat in found["caveats"]] == ["random-model"]


def test_a_written_graph_names_the_actions_that_were_left_out(models):
    models("explore", "Pile", "--exclude", "Pop", "--out", "PileFSM.py", status=1)
    text = (models.folder / "PileFSM.py").read_text()
    assert "testwright explore Pile --exclude Pop" in text
    models("model", "test", "Pile", "--exclude", "Pop", "--runs", 2, "--suite", "Runs.py")
    assert "testwright model test Pile --exclude Pop " in (models.folder / "Runs.py").read_text()


def test_time_ends_an_exploration(models):
    models.write("Endless.py", MODULES["Pile"].replace("len(items) < 2", "True"))
    done = models("explore", "Endless", "--time", "0.2s")
    assert (
        "There may be more states; bounded by the time limit (`--time DURATION` raises it); "
        in done.stdout
    )


def test_unsafe_and_dead_states_come_with_a_shortest_way_and_a_reason(models):
    done = models("explore", "Talk", "--keep-going", status=1)
    assert (
        timeless(done.stdout)
        == """\
Unsafe after 2 steps: state 6: {'Talk': {'place': 'idle', 'tokens': -1}}
Unsafe after 3 steps: state 10: {'Talk': {'place': 'asked', 'tokens': -1}}
Explored 13 states, 14 transitions, in … (… a state)
These are all that can be reached
5 accepting, 0 finished, 5 dead ends
2 states unsafe
  state 6: {'Talk': {'place': 'idle', 'tokens': -1}}
  state 10: {'Talk': {'place': 'asked', 'tokens': -1}}
  a shortest way to state 6:
    Spend()
    Spend()
5 states dead: no accepting state can be reached from there
  state 4: {'Talk': {'place': 'stuck', 'tokens': 3}}
  state 9: {'Talk': {'place': 'stuck', 'tokens': 1}}
  state 10: {'Talk': {'place': 'asked', 'tokens': -1}}
  and 2 more
  a shortest way to state 4:
    Ask()
    Answer('no',)
Nothing is possible in state 4:
    Ask(): Talk: the guard `AskEnabled` says no
    Answer('yes',) and 1 more: Talk: the guard `AnswerEnabled` says no
    Spend(): Talk: the guard `SpendEnabled` says no
  and Talk does not accept its state {'place': 'stuck', 'tokens': 3}
"""
    )


def test_the_results_as_json(models):
    found = json.loads(models("explore", "Talk", "--keep-going", "--json", status=1).stdout)
    assert (found["states"], found["transitions"], found["accepting"]) == (13, 14, 5)
    assert found["complete"] and found["frontier"] == 0
    assert found["unsafe"][0] == {
        "state": 6,
        "text": "{'Talk': {'place': 'idle', 'tokens': -1}}",
        "way": ["Spend()", "Spend()"],
    }
    assert [one["state"] for one in found["dead"]] == found["dead_ends"]
    assert found["formula"] is None
    formula = ("--ltl", "F accepting", "--json")
    judged = json.loads(models("explore", "Pile", *formula).stdout)
    assert (judged["formula"], judged["violation"]) == ("holds", None)
    formula = ("--ltl", "G F {len(items) == 0}", "--json")
    judged = json.loads(models("explore", "Pile", *formula, status=1).stdout)
    assert judged["formula"] == "violated"
    lasso = {"prefix": ["Push(1,)"], "lap": ["Push(1,)", "Pop()"], "then": "lap"}
    assert judged["violation"] == lasso


def test_the_graph_as_json(models):
    models("explore", "Talk", "--keep-going", "--out", "talk.json", status=1)
    models("explore", "Talk", "--keep-going", "--out", "TalkFSM.py", status=1)
    graph = json.loads((models.folder / "talk.json").read_text(encoding="utf-8"))
    fsm = module(models, "TalkFSM.py")
    assert graph["version"] == 1 and graph["actions"] == ["Ask", "Answer", "Spend"]
    assert {"Talk": str(fsm["states"][4]["Talk"])} == graph["states"][4]
    assert [eval(state["Talk"]) for state in graph["states"]] == [
        fsm["states"][number]["Talk"] for number in range(13)
    ]
    transitions = [
        (one["from"], (one["action"], eval(one["arguments"]), eval(str(one["result"]))), one["to"])
        for one in graph["transitions"]
    ]
    assert transitions == list(fsm["graph"])
    names = {"starts": "runstarts", "dead_ends": "deadend"}
    for name in ("accepting", "unsafe", "frontier", "finished", "starts", "dead_ends"):
        assert graph[name] == fsm[names.get(name, name)]
    assert set(graph["dead_ends"]) <= set(graph["dead"])


def test_a_cyclic_scenario_is_not_a_dead_end(models):
    models.write(
        "Never.py",
        "def On(): pass\ndef Off(): pass\n"
        "graph = ((0, (On, (), None), 1), (1, (Off, (), None), 0))\ninitial = 0\naccepting = [2]\n",
    )
    done = models("model", "check", "Switch", "--scenarios", "Never", status=1)
    assert done.stdout == (
        "WRONG  Never: not allowed\n"
        "       loops, and never reaches its end, not even after\n"
        "         On()\n"
        "       Never does not accept its state 1\n"
        "       On(): Switch: the guard `OnEnabled` says no\n"
        "1 scenario, 1 not as they should be\n"
    )


def test_actions_that_a_log_does_not_mention_may_happen_in_between(models):
    models.write("taken.jsonl", '{"action": "Pop"}\n{"action": "Pop"}\n')
    done = models("model", "check", "Pile", "--scenarios", "taken.jsonl")
    # The results of both steps are open, so the log has four readings.
    ways = [f"ok     taken.jsonl, run {way}: allowed\n" for way in range(4)]
    assert done.stdout == "".join(ways) + "4 scenarios, all as they should be\n"
    models.write("taken.jsonl", '{"action": "Pop", "result": 2}\n{"action": "Pop", "result": 1}\n')
    done = models("model", "check", "Pile", "--scenarios", "taken.jsonl")
    assert "1 scenario, all as they should be\n" in done.stdout
    models.write("taken.jsonl", '{"action": "Pop", "result": 3}\n')
    done = models("model", "check", "Pile", "--scenarios", "taken.jsonl", status=1)
    assert "not allowed" in done.stdout


def test_exceptions_in_a_model_have_their_traceback(models):
    models.write(
        "Raises.py",
        "n = 0\ndef Go():\n    global n\n    n += 1\n    if n == 3: raise ValueError('three')\n"
        "state = ('n',)\nactions = (Go,)\n",
    )
    # The traceback shows the code of the model.
    done = subprocess.run(
        models.line("explore", "Raises"), cwd=models.folder, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "ValueError: three" in done.stderr
    assert (
        "There may be more states; ended by an error of the system; 1 state not followed\n"
        "  in state 2: {'Raises': {'n': 2}}\n"
        "  a shortest way to state 2:\n"
        "    Go()\n"
        "    Go()\n"
    ) in done.stdout


FORMULAS = {
    "holds": ("Switch", "G ({is_on} -> X {not is_on})", "Formula: holds in every run\n"),
    "of a machine": ("Fork", "F accepting", "Formula: holds in every run\n"),
    "violated by a lap": (
        "Pile",
        "G F {len(items) == 0}",
        "Formula: is violated by this run\n    Push(1,)\n  and then again and again\n    Push(1,)\n    Pop()\n",
    ),
    "violated by a lap from the beginning": (
        "Switch",
        "F {is_on is None}",
        "Formula: is violated by this run\n  again and again\n    On()\n    Off()\n",
    ),
    "violated where nothing is possible": (
        "Talk",
        "G ({place == 'asked'} -> F {place == 'idle'})",
        "Formula: is violated by this run\n    Ask()\n    Answer('no',)\n"
        "  where no action is possible any more\n",
    ),
    "violated whatever follows": (
        "Talk",
        "G {tokens > 1}",
        "Formula: is violated by this run\n    Spend()\n  whatever follows\n",
    ),
    "violated at once": (
        "Fork",
        "G accepting",
        "Formula: is violated by this run\n  at its beginning, whatever follows\n",
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(models, name):
    model, formula, said = FORMULAS[name]
    status = 0 if "holds" in said and model != "Talk" else 1
    done = models("explore", model, "--ltl", formula, "--keep-going", status=status)
    assert done.stdout.endswith(said), done.stdout


def test_formulas_without_an_answer(models):
    done = models("explore", "Pile", "--ltl", "G {itms}", status=2)
    assert "error: `itms` cannot be evaluated: NameError: name 'itms' is not defined" in done.stderr
    assert "= help: it is a Python expression over the state variables of the models" in done.stderr
    done = models("explore", "Pile", "--ltl", "G items ==", status=2)
    assert "error[bad-formula]: `=` means nothing here\n" in done.stderr
    assert "1 | G items ==\n  |         ^\n" in done.stderr


def test_what_is_written_can_be_explored_again(models):
    done = models("explore", "Talk", "--keep-going", "--out", "TalkFSM.py", status=1)
    assert done.stdout.endswith("Written: TalkFSM.py\n")
    models("explore", "TalkFSM", "--out", "Again.py", status=1)
    first, again = module(models, "TalkFSM.py"), module(models, "Again.py")
    assert first["graph"] == again["graph"] and len(first["graph"]) == 14
    for marks in ("initial", "accepting", "frontier", "finished", "deadend", "runstarts"):
        assert first[marks] == again[marks], marks
    assert first["states"][6] == {"Talk": {"place": "idle", "tokens": -1}} and first["unsafe"] == [
        6,
        10,
    ]
    assert again["states"][6] == {"TalkFSM": 6}


KINDS = {
    "whole numbers": ("0", "(value + step) % 40", (1, 7)),
    "texts": ("''", "(value + step)[-3:]", ("a", "é", "\"'\\\n")),
    "sets": ("set()", "value ^ {step}", (1, 2, 3, "x", (4,))),
    "dictionaries": ("{}", "{**value, step: (value.get(step, 0) + 1) % 3}", ("a", "b", 3)),
    "fractions": ("0.0", "round((value + step) % 2, 3)", (0.25, 0.1)),
    "tuples": ("()", "(value + (step, None))[-6:]", (1, "x", ())),
    "lists in tuples": ("([], 0)", "([*value[0], step][-2:], len(value[0]))", (1, 2)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_several_processes_give_the_same_result(models, kind):
    initial, after, steps = KINDS[kind]
    text = f"""\
value = {initial}

def Change(step):
    global value
    value = {after}
    return len(str(value))

state = ("value",)
actions = (Change,)
domains = {{Change: {{"step": {steps!r}}}}}
"""
    models.write("Kind.py", text)
    alone = models("explore", "Kind", "--jobs", 1, "--out", "FSM.py")
    one = (models.folder / "FSM.py").read_bytes()
    parallel = models("explore", "Kind", "--jobs", 2, "--out", "FSM.py")
    assert parallel.stderr == "", "no warning: they did help"
    assert timeless(alone.stdout) == timeless(parallel.stdout)
    assert (models.folder / "FSM.py").read_bytes() == one
    assert len(module(models, "FSM.py")["states"]) >= 15 or kind == "lists in tuples"


def test_several_processes_explore_products_and_obey_limits(models):
    for arguments in (
        ["Pile", "TwoOnly"],
        ["Switch", "Talk", "Pile"],
        ["Switch", "Talk", "Pile", "--max", 100],
    ):
        written = []
        for jobs in (1, 2, 3):
            line = ["explore", *arguments, "--jobs", jobs, "--out", "FSM.py"]
            models(*line, status=0 if "Talk" not in arguments else 1)
            written.append((models.folder / "FSM.py").read_bytes())
        assert written[0] == written[1] == written[2], arguments


def test_several_processes_explore_a_large_model(models):
    models.write(
        "Tower.py",
        "tower = []\ndef Put(x): tower.append(x)\ndef Take(): return tower.pop()\n"
        "def TakeEnabled(): return tower\ndef StateFilter(): return len(tower) < 8\n"
        "state = ('tower',)\nactions = (Put, Take)\nenablers = {Take: (TakeEnabled,)}\n"
        "domains = {Put: {'x': [(), 'a', 2.5]}}\n",
    )
    written = []
    for jobs in (1, 2, 3):
        done = models("explore", "Tower", "--jobs", jobs, "--out", "FSM.py")
        assert "Explored 3,280 states, 6,558 transitions" in done.stdout
        written.append((models.folder / "FSM.py").read_bytes())
    assert written[0] == written[1] == written[2]


def test_states_that_hold_objects_are_explored_in_one_process(models):
    # Each state has one successor, so there is no work for other processes.
    done = models("explore", "Objects", "--jobs", 2)
    assert done.stderr == ""
    assert "Explored 21 states, 20 transitions" in done.stdout
    models.write(
        "Wide.py",
        "import collections\n"
        "class Thing:\n"
        "    def __init__(self): self.size = 0\n"
        "thing = Thing()\n"
        "def Jump(size): thing.size = size\n"
        "def JumpEnabled(size): return thing.size == 0\n"
        "state = ('thing',)\nactions = (Jump,)\nenablers = {Jump: (JumpEnabled,)}\n"
        "domains = {Jump: {'size': range(1, 200)}}\n",
    )
    done = models("explore", "Wide", "--jobs", 2)
    assert done.stderr == ""
    assert "Explored 200 states, 199 transitions" in done.stdout
    # These are copied, and other processes do not have the copies.
    text = (models.folder / "Wide.py").read_text(encoding="utf-8")
    models.write("Wide.py", text.replace("class Thing:", "class Thing(collections.deque):"))
    done = models("explore", "Wide", "--jobs", 2)
    assert done.stderr == (
        "warning: explored in one process, "
        "since the states hold objects that cannot be passed to another process\n"
    )
    assert "Explored 200 states, 199 transitions" in done.stdout


# Checking models


def test_scenarios_that_a_model_should_allow_or_not(models):
    done = models(
        "model", "check", "Pile", "--scenarios", "PushPop", "TwoOnly", "--forbidden", "PopFirst"
    )
    assert done.stdout == (
        "ok     PushPop, run 0: allowed\nok     PushPop, run 1: allowed\nok     TwoOnly: allowed\n"
        "ok     PopFirst, run 0: not allowed\n4 scenarios, all as they should be\n"
    )
    done = models(
        "model", "check", "Pile", "--scenarios", "PopFirst", "--forbidden", "PushPop", status=1
    )
    assert done.stdout == (
        "WRONG  PopFirst, run 0: not allowed\n       stuck at once\n"
        "       PopFirst does not accept its state (0, 0)\n"
        "       Pop(): Pile: the guard `PopEnabled` says no\n"
        "       Push(1,) and 1 more: PopFirst: in its state (0, 0) it lets only Pop() / 1 happen\n"
        "WRONG  PushPop, run 0: allowed\nWRONG  PushPop, run 1: allowed\n"
        "3 scenarios, 3 not as they should be\n"
    )


def test_a_scenario_that_was_not_decided_is_no_failure(models):
    limited = ["model", "check", "Pile", "--max", 1]
    done = models(*limited, "--scenarios", "PushPop", status=2)
    assert "?      PushPop, run 0: not allowed, as far as it was explored\n" in done.stdout
    assert done.stdout.endswith("2 scenarios, 2 not decided; bounded by a limit of 1 transition\n")
    done = models(*limited, "--forbidden", "PushPop")
    assert done.stdout.endswith(
        "2 scenarios, none found that is wrong; bounded by a limit of 1 transition\n"
    )


def test_every_scenario_starts_in_the_initial_state(models):
    # This scenario leaves a number on the pile, which the next one must not find.
    models.write(
        "Stays.py",
        "def Push(): pass\ngraph = ((0, (Push, (2,), None), 1),)\ninitial = 0\naccepting = [1]\n",
    )
    models.write("PopTwo.py", MODULES["PopFirst"].replace("(Pop, (), 1)", "(Pop, (), 2)"))
    done = models(
        "model", "check", "Pile", "--scenarios", "Stays", "--forbidden", "PopTwo", "PopTwo.py"
    )
    assert done.stdout == (
        "ok     Stays: allowed\nok     PopTwo, run 0: not allowed\nok     PopTwo.py, run 0: not allowed\n"
        "3 scenarios, all as they should be\n"
    )


# Bad input

REFUSED = {
    "explore Nowhere": "error: there is no module `Nowhere` in the current folder or on Python's path\n",
    "model test Nowhere": "error: there is no module `Nowhere`",
    "model check Nowhere --scenarios PushPop": "error: there is no module `Nowhere`",
    "model check Pile --scenarios Nowhere": "error: there is no module `Nowhere`",
    "conform Pile Fork.py": "error[unreadable-log]: ",
    "graph Nowhere --svg x.svg": "error: there is no module `Nowhere`",
    "model check Pile": "error: no scenarios were given\n",
    "model test Pile --stepper Nowhere": "error: there is no module `Nowhere`",
    "model test Pile --stepper PushPop": "error: the stepper `PushPop` has no `TestAction`\n",
    "model test Pile --strategy Nowhere": "error: there is no module `Nowhere`",
    "model test Pile --strategy Forgetful": "error: the strategy `Forgetful` has no `SelectAction`\n",
    "explore NoState": "error: the module `NoState` has no `state`\n",
    "explore Broken": "this is not Python: invalid syntax",
    "explore ExitsAtOnce": "error: the code of a model raised SystemExit: 0\n",
    "explore Exits": "error: the code of a model raised SystemExit: 0\n",
    "model test Exits": "error: the code of a model raised SystemExit: 0\n",
    "explore RaisesAtThree": "ValueError: three is too much\nerror: the code of a model raised ValueError: three is too much\n",
    "model test RaisesAtThree": "error: the code of a model raised ValueError: three is too much\n",
    "explore Pile --out Pile.py": "error: `Pile.py` is the model itself, and would be lost\n",
    "explore Pile --out Switch.py/x.py": "error: cannot ",
    "explore Pile --svg Switch.py/x.svg": "error: cannot ",
    "graph Pile --html Switch.py/x.html": "error: cannot ",
    "model test Pile --suite Switch.py/x.py --runs 1": "error: cannot ",
    "model test Pile --stepper Forgetful --out Switch.py --seed 1": "error: cannot ",
    "explore Pile --depth 3": "error: `--depth` is for harnesses\n",
    "explore Pile --max -1": "error: ",
    "model test Pile --runs -1": "error: ",
    "model test Pile --timeout soon": "error: ",
    "model test": "error: ",
    "graph Pile": "error: there is no file to draw to\n",
}


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input(models, line):
    before = (models.folder / "Pile.py").read_text(encoding="utf-8")
    done = subprocess.run(
        models.line(*line.split()), cwd=models.folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert REFUSED[line] in done.stderr
    assert "panicked" not in done.stderr and "internal error" not in done.stderr
    assert (models.folder / "Pile.py").read_text(encoding="utf-8") == before


def test_what_is_known_when_a_model_raises_is_written(models):
    line = models.line("explore", "RaisesAtThree", "--out", "Found.py")
    done = subprocess.run(line, cwd=models.folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert (
        "There may be more states; ended by an error of the system; 1 state not followed\n"
        in done.stdout
    )
    found = module(models, "Found.py")
    assert len(found["graph"]) == 2 and found["frontier"] == [2]


def test_output_of_models_is_in_order(models):
    done = models("model", "test", "Prints", "--runs", 1, "--seed", 1)
    printed = re.sub(r"(up to \d\n)+", "…\n", done.stdout)
    assert printed.startswith("imported\nSeed 1\nRun 0\n")
    assert printed.endswith(
        "Run 0, 2 steps, no more actions enabled, reached accepting state\n1 run, 2 steps\n"
    )
    assert models("explore", "Prints").stdout.startswith(
        "imported\nup to 1\nup to 2\nExplored 3 states"
    )
