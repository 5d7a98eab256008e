"""Invalid modules: the error is reported, and no file is half written."""

import os
import signal
import time

import pytest
from models.folder import Folder

MODEL = "n = 0\ndef A(): pass\nstate = ('n',)\nactions = (A,)\n"
MACHINE = "def A(): pass\ninitial = 0\naccepting = [0]\n"

#: A module, and the error message for it.
BAD = {
    "empty": ("", "the module `Bad` has no `state`"),
    "no state": ("def A(): pass\nactions = (A,)\n", "the module `Bad` has no `state`"),
    "no actions": ("n = 0\nstate = ('n',)\n", "the module `Bad` has no `actions`"),
    "syntax": ("def A(:\n", "this is not Python: invalid syntax"),
    "import": ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    "exit": ("import sys\nsys.exit(0)\n", "SystemExit: 0"),
    "no variable": (MODEL + "state = ('m',)\n", "the module `Bad` has no `m`"),
    "state": (MODEL + "state = 5\n", "`state` of the module `Bad` cannot be read"),
    "variable": (MODEL + "state = (5,)\n", "`state` of the module `Bad` cannot be read"),
    "actions": (MODEL + "actions = 5\n", "`actions` of the module `Bad` cannot be read"),
    "action": (MODEL + "actions = ('A',)\n", "`actions` of the module `Bad` cannot be read"),
    "enablers": (MODEL + "enablers = [A]\n", "`enablers` of the module `Bad` cannot be read"),
    "guard": (MODEL + "enablers = {A: 5}\n", "what `enablers` has for `A` of the module `Bad`"),
    "domains": (MODEL + "domains = A\n", "`domains` of the module `Bad` cannot be read"),
    "domain": (
        MODEL + "def A(x): pass\nactions = (A,)\ndomains = {A: {'x': 5}}\n",
        "for the parameter `x` of the action `A` are neither a collection nor a function",
    ),
    "parameter": (
        MODEL + "def A(x): pass\nactions = (A,)\ndomains = {A: {'y': [5]}}\n",
        "the module `Bad` has no values for the parameter `x` of the action `A`",
    ),
    "combination": (
        MODEL + "domains = {A: {}}\ncombinations = {A: 'some'}\n",
        "the module `Bad` combines the arguments of `A` by `some`",
    ),
    "predicate": (MODEL + "Accepting = True\n", "`Accepting` of the module `Bad` cannot be read"),
    "copy": (
        "import threading\nn = threading.Lock()\ndef A(): pass\nstate = ('n',)\nactions = (A,)\n",
        "the state variable `n` cannot be copied",
    ),
    "loop": (
        "n = []\nn.append(n)\ndef A(): pass\nstate = ('n',)\nactions = (A,)\n",
        "nested too deeply",
    ),
    "raises": (MODEL + "def A(): raise ValueError('no')\nactions = (A,)\n", "ValueError: no"),
    "exits": (MODEL + "def A(): raise SystemExit(0)\nactions = (A,)\n", "SystemExit: 0"),
    "predicate raises": (MODEL + "def Accepting(): return 1 / 0\n", "ZeroDivisionError"),
    "domain raises": (
        MODEL + "def A(x): pass\nactions = (A,)\ndomains = {A: {'x': lambda: 1 / 0}}\n",
        "ZeroDivisionError",
    ),
    "graph": (MACHINE + "graph = 7\n", "`graph` of the module `Bad` cannot be read"),
    "edge": (MACHINE + "graph = ((0, (A, (), None)),)\n", "entry 0 of `graph` of the module `Bad`"),
    "step": (MACHINE + "graph = ((0, (A, (), 1), 1), (0, A, 1))\n", "entry 1 of `graph`"),
    "list": (MACHINE + "graph = ((0, (A, [1], None), 1),)\n", "entry 0 of `graph`"),
    "name": (MACHINE + "graph = ((0, ('A', (), None), 1),)\n", "entry 0 of `graph`"),
    "no initial": (MACHINE + "graph = ()\ndel initial\n", "the module `Bad` has no `initial`"),
    "accepting": (MACHINE + "graph = ()\naccepting = 0\n", "`accepting` of the module `Bad`"),
    "suite": ("testSuite = 5\n", "the list of runs of the module `Bad` cannot be read"),
    "run": ("testSuite = [5]\n", "run 0 of the module `Bad` cannot be read"),
    "run step": (
        "def A(): pass\ntestSuite = [[(A, ())], [(A,)]]\n",
        "step 0 of run 1 of the module",
    ),
    "configuration": ("'''PyModel configuration'''\n", "there is no model to work with"),
}


@pytest.fixture
def models(testwright):
    return Folder(testwright)


@pytest.mark.parametrize("case", BAD)
def test_bad_modules_are_reported(models, case):
    text, told = BAD[case]
    models.write(Bad=text)
    done = models.run("compat", "pma", "Bad", "-o", "Out", status=1)
    assert told in done.stderr and done.stdout == ""
    if "error: " + told in done.stderr:
        assert "\n = help: " in done.stderr and "Traceback" not in done.stderr
    # The written file has the states that were known.
    if (models.path / "Out.py").exists():
        assert models.read("Out")["graph"] == ()


def test_both_commands_report_with_their_own_exit_status(models):
    models.write(Bad=BAD["raises"][0])
    for line, status in (
        (["compat", "pmt", "Missing"], 1),
        (["compat", "pma", "Switch", "Missing"], 1),
        (["explore", "Missing"], 2),
        (["compat", "pmt", "Bad"], 1),
        (["explore", "Bad"], 2),
        (["compat", "pmt", "Switch", "--nothing"], 2),
    ):
        done = models.run(*line, status=status)
        told = {"Missing": "no module `Missing`", "Bad": "ValueError: no"}.get(
            line[-1], "unexpected"
        )
        assert told in done.stderr


def test_almost_empty_modules(models):
    models.write(NoRuns="def A(): pass\nactions = (A,)\ntestSuite = []\n")
    said, fsm = models.analyze("NoRuns")
    assert said == "0 states, 0 transitions, 0 accepting states, 0 unsafe states\n"
    assert models.test("NoRuns") == ""
    models.write(NoActions="n = 0\nstate = ()\nactions = ()\n")
    said, fsm = models.analyze("NoActions")
    assert (said.split(",")[0], fsm["finished"]) == ("1 states", [0])
    # A forgotten comma.
    models.write(
        Comma="stack = 0\ndef A():\n    global stack\n    stack = 1\nstate = ('stack')\nactions = (A)\n"
    )
    said, fsm = models.analyze("Comma")
    assert fsm["states"] == {0: {"Comma": {"stack": 0}}, 1: {"Comma": {"stack": 1}}}


def test_names_in_any_language(models):
    models.write(
        Größe="zähler = 0\ndef erhöhe(größe):\n    global zähler\n    zähler = größe\n    return 'schön'\n"
        "state = ('zähler',)\nactions = (erhöhe,)\ndomains = {erhöhe: {'größe': 'äß'}}\n"
    )
    said, fsm = models.analyze("Größe")
    assert said.startswith("3 states, 6 transitions")
    assert fsm["states"][1] == {"Größe": {"zähler": "ä"}}
    assert models.analyze("Found", output="Again")[0] == said
    for environment in ({}, {"LC_ALL": "C"}):
        assert "erhöhe('" in models.test("Größe", "-n", 1, **environment)


def test_models_that_print_and_change_the_current_folder(models):
    models.write(
        Noisy="import os\nn = 0\nprint('imported')\ndef A():\n    global n\n    print('A is tried')\n"
        "    os.chdir('/')\n    n = 1\ndef AEnabled(): return not n\n"
        "state = ('n',)\nactions = (A,)\nenablers = {A: [AEnabled]}\n"
    )
    said, fsm = models.analyze("Noisy")
    assert said == (
        "imported\nA is tried\n2 states, 1 transitions, 2 accepting states, 0 unsafe states\n"
    )
    assert models.test("Noisy", "-o", "Recorded") == (
        "imported\nA is tried\nA is tried\nA()\n"
        "  0. Finished at step 1, no more actions enabled, reached accepting state\n"
    )
    assert len(models.read("Recorded")["testSuite"][0]) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(models):
    (models.path / "shut").mkdir(mode=0o500)
    for tool in ("pma", "pmt"):
        done = models.command(
            "compat", tool, "Switch", "-n1" if tool == "pmt" else "-m1", "-o", "shut/X", status=1
        )
        assert "shut/X.py" in done.stderr
    assert list((models.path / "shut").iterdir()) == []


def test_an_output_path_that_is_a_folder(models):
    (models.path / "Folder.py").mkdir()
    done = models.command("compat", "pma", "Switch", "-o", "Folder", status=1)
    assert "Folder.py" in done.stderr
    assert list((models.path / "Folder.py").iterdir()) == []
    assert not [file for file in models.path.iterdir() if file.name.startswith(".")]


ENDLESS = """
import time
n = 0
def A():
    global n
    n += 1
    time.sleep(0.002)
    if n == 20:
        open("begun", "w").close()
state = ("n",)
actions = (A,)
"""

#: Swallows every exception.
DEAF = ENDLESS.replace("    time.sleep(0.002)\n", "    try: time.sleep(0.002)\n    except: pass\n")

#: Two machines without code. Their product has too many states to explore.
WIDE = """
def {0}(): pass
def {1}(): pass
initial = 0
accepting = [0]
graph = [(one, ({0}, (), None), (one + 1) % 3000) for one in range(3000)]
graph += [(one, ({1}, (), None), (one + 1) % 3000) for one in range(3000)]
open("begun", "w").close()
"""


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("compat pma Endless -m 100000000 -o Out", 1),
        ("compat pma Wide Wider -m 100000000 -o Out", 1),
        ("compat pmt Endless -o Out", 1),
        ("compat pmt Wide -o Out", 1),
        ("compat pmt Deaf -o Out", 1),
        ("explore Endless --out Out.py", 0),
        ("explore Deaf --out Out.py", 0),
    ],
)
def test_ctrl_c_writes_what_is_known(models, line, status):
    models.write(
        Endless=ENDLESS, Deaf=DEAF, Wide=WIDE.format("A", "B"), Wider=WIDE.format("C", "D")
    )
    process = models.command.start(*line.split(), start_new_session=True)
    deadline = time.monotonic() + 60
    while not (models.path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == status, (process.returncode, out[-300:], err)
    assert "Traceback" not in err and "panicked" not in err
    # The states that were known are written completely.
    text = (models.path / "Out.py").read_text()
    assert text.endswith("\n]" if "pmt" in line else ",\n)\n")
    if "Wide" not in line:
        models.read("Out")
