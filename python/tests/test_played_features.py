"""`testwright feature` for tests, runs and suites: the features run as they are, and fail until the bug is fixed."""

import pytest
from feature_runners import read_by_all, run_behave, run_pytest_bdd

RUNNERS = ["behave", "pytest-bdd"]


def verdicts(folder, runner, stem):
    """Runs a feature. Returns whether each scenario passes."""
    if runner == "behave":
        results = run_behave(folder, f"{stem}.feature")
    else:
        module = stem.replace(".", "_").replace("-", "_")
        results = run_pytest_bdd(folder, f"test_{module}_feature.py")
    return [error is None for error in results.values()]


def change(file, before, after):
    """Replaces a text in a file, as a user with an editor would."""
    text = file.read_text(encoding="utf-8")
    assert before in text, text
    file.write_text(text.replace(before, after), encoding="utf-8")


HARNESSES = {
    "a property": (
        "@import shop\npool: <till> 1\npool: <int> 1 CONST\n<int> := <[4..5]>\n<till> := shop.Till()\n"
        "<till>.add(<int>)\nproperty: <till>.total < 8\n",
        "    def add(self, n):\n        self.total += n\n",
        "    def add(self, n):\n        self.total = min(self.total + n, 7)\n",
        ('I call "add" on till0 with 4', 'I call "add" on till0 with 3'),
    ),
    "a check afterwards": (
        "@import shop\npool: <till> 2\n<till> := shop.Till()\n"
        "<till>.add(<[3..9]>) => <till,1>.total == pre<(<till,1>.total)> + <[0..0]> or <till,1>.total > 5\n",
        "    def add(self, n):\n        self.total += n\n",
        "    def add(self, n):\n        self.total += 0\n",
        ("on till0 with 3", "on till0 with 6"),
    ),
    "an error": (
        "@import shop\npool: <till> 1\npool: <int> 1 CONST\n<int> := <[1..3]>\n<till> := shop.Till()\n"
        "{KeyError} <till>.look(<int>)\n<till>.take(<int>)\nfinally: shop.closed.append(1)\n",
        "    def take(self, n):\n        return 6 // (n - 2)\n\n    def look(self, n):\n        raise KeyError(n)\n",
        "    def take(self, n):\n        return n\n\n    def look(self, n):\n        raise KeyError(n)\n",
        ('"take" on till0 with 2', '"take" on till0 with 5'),
    ),
    "a reference": (
        "@import shop\npool: <till> 1 REF\n<till> := shop.Till()\n<till>.add(<[1..9]>)\n<till>.count()\n"
        "reference: shop.Till ==> shop.Real\ncompare: count\n",
        "    def add(self, n):\n        self.total += n if n < 5 else 0\n\n    def count(self):\n        return self.total\n",
        "    def add(self, n):\n        self.total += n\n\n    def count(self):\n        return self.total\n",
        ("on till0 with 5", "on till0 with 2"),
    ),
}

SHOP = """
closed = []


class Till:
    def __init__(self):
        self.total = 0

{methods}

class Real:
    def __init__(self):
        self.total = 0

    def add(self, n):
        self.total += n

    def count(self):
        return self.total
"""


@pytest.mark.soak(keep=3)
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("kind", HARNESSES)
def test_a_failing_test_of_a_harness_runs(testwright, kind, runner):
    harness, wrong, right, (before, after) = HARNESSES[kind]
    testwright.write("shop.py", SHOP.format(methods=wrong))
    testwright.write("selling.tstl", harness)
    testwright("run", "selling.tstl", "--seed", "1", "--explain", "--no-store", status=1)
    saved = testwright.folder / "testwright-out/selling"
    told = (saved / "failure-1.feature").read_text(encoding="utf-8")
    test = "testwright-out/selling/failure-1.test"
    done = testwright("feature", test, "--steps", runner, "--out", "features", status=1)
    assert done.stdout.startswith(f"{test}: fails\n  features/failure-1.feature\n"), done.stdout
    assert ("counterexample: scenarios" in done.stdout) == (runner == "pytest-bdd")
    folder = testwright.folder / "features"
    feature = folder / "failure-1.feature"
    # The scenario is the one that the search printed, and its steps have no paths of this machine.
    assert feature.read_text(encoding="utf-8") == told
    read_by_all(feature)
    steps = "".join(file.read_text(encoding="utf-8") for file in folder.rglob("*.py"))
    assert str(testwright.folder) not in steps
    assert verdicts(folder, runner, "failure-1") == [False]
    # Another number in a sentence makes another test.
    change(feature, before, after)
    assert verdicts(folder, runner, "failure-1") == [True]
    change(feature, after, before)
    assert verdicts(folder, runner, "failure-1") == [False]
    testwright.write("shop.py", SHOP.format(methods=right))
    assert verdicts(folder, runner, "failure-1") == [True]
    done = testwright("feature", test, "--out", "again")
    assert done.stdout == f"{test}: passes, so no feature is written\n"


def test_line_numbers_of_the_feature_are_kept(testwright):
    harness, wrong, _, _ = HARNESSES["a property"]
    testwright.write("shop.py", SHOP.format(methods=wrong))
    testwright.write("selling.tstl", harness)
    testwright("run", "selling.tstl", "--seed", "1", "--no-store", status=1)
    test = "testwright-out/selling/failure-1.test"
    testwright("feature", test, "--steps", "behave", "--out", "features", status=1)
    folder = testwright.folder / "features"
    added = '    And I call "add" on till0 with 4\n'
    change(folder / "failure-1.feature", added, "")
    [error] = run_behave(folder, "failure-1.feature").values()
    assert "values can be changed, but lines stay where they are" in error


def test_names_that_steps_have_for_themselves(testwright):
    testwright.write("shop.py", SHOP.format(methods=HARNESSES["a property"][1]))
    text = "@import shop\n<@\ndef advance(till):\n    till.add(9)\n@>\npool: <till> 1\n<till> := shop.Till()\n"
    testwright.write("selling.tstl", text + "advance(<till>)\nproperty: <till>.total < 8\n")
    testwright("run", "selling.tstl", "--seed", "1", "--no-store", status=1)
    test = "testwright-out/selling/failure-1.test"
    done = testwright("feature", test, "--steps", "behave", status=2)
    assert "would both have something called `advance`" in done.stderr


WEBSITE = """
'''Who is logged in.'''
users = []

def Login(name, password):
    if password != 'right':
        return 'wrong password'
    users.append(name)
    return 'welcome'

def Count():
    return len(users)

state = ('users',)
actions = (Login, Count)
domains = {Login: {'name': ['ann'], 'password': ['right', 'wrong']}}
""".lstrip()

VISITS = """
'''Two visits.'''
from website import Count, Login

testSuite = [
    [(Login, ('ann', 'right'), 'welcome'), (Count, (), 1)],
    [(Count, (), 0), (Login, ('ann', 'wrong'), 'wrong password'), (Count, ())],
]
""".lstrip()


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_suite_runs(testwright, runner):
    testwright.write("website.py", WEBSITE)
    testwright.write("visits.py", VISITS)
    testwright("feature", "visits.py", "--steps", runner, "--out", "features")
    folder = testwright.folder / "features"
    feature = folder / "visits.feature"
    read_by_all(feature)
    # Each run starts in the initial state: no user is logged in.
    assert verdicts(folder, runner, "visits") == [True, True]
    change(feature, 'with "ann" and "wrong"', 'with "ann" and "right"')
    assert verdicts(folder, runner, "visits") == [True, False]
    change(feature, 'the answer is "wrong password"', 'the answer is "welcome"')
    assert verdicts(folder, runner, "visits") == [True, True]
    testwright.write("website.py", WEBSITE.replace("len(users)", "len(users) + 1"))
    assert verdicts(folder, runner, "visits") == [False, False]


STEPPER = """
from shop import Till

till = Till()


def TestAction(name, arguments, expected):
    if name == 'Add':
        till.add(*arguments)
    if name == 'Total' and till.total != expected:
        return f'the total is {till.total} and should be {expected}'


def Reset():
    till.__init__()
""".lstrip()

SELLING = """
total = 0

def Add(n):
    global total
    total += n

def Total():
    return total

def AddEnabled(n):
    return total < 20

state = ('total',)
actions = (Add, Total)
enablers = {Add: (AddEnabled,)}
domains = {Add: {'n': [1, 7]}}
""".lstrip()


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_run_that_failed_and_a_suite_without_functions(testwright, runner):
    _, wrong, right, _ = HARNESSES["a reference"]
    testwright.write("shop.py", SHOP.format(methods=wrong))
    testwright.write("till_stepper.py", STEPPER)
    testwright.write("selling.py", SELLING)
    run = ("model", "test", "selling", "--stepper", "till_stepper", "--seed", "1")
    testwright(*run, "--runs", "5", "--steps", "10", status=1)
    failed = "testwright-out/selling/failure_1.py"
    done = testwright("feature", failed, "--steps", runner, "--out", "features", status=2)
    assert "are nothing but names" in done.stderr and "`--stepper MODULE`" in done.stderr
    # The bug is in the implementation, not in the model.
    named = ("feature", failed, "--steps", runner)
    testwright(*named, "--stepper", "till_stepper", "--out", "features")
    testwright(*named, "--harness", "selling", "--out", "of-the-model")
    folder = testwright.folder / "features"
    feature = folder / "failure_1.feature"
    assert verdicts(testwright.folder / "of-the-model", runner, "failure_1") == [True]
    assert verdicts(folder, runner, "failure_1") == [False]
    change(feature, "the answer is 7", "the answer is 0")
    assert verdicts(folder, runner, "failure_1") == [True]
    change(feature, "the answer is 0", "the answer is 7")
    testwright.write("shop.py", SHOP.format(methods=right))
    assert verdicts(folder, runner, "failure_1") == [True]


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_saved_test_of_models_runs(testwright, runner):
    must = "\n\ndef StateInvariant():\n    return total < 8\n"
    testwright.write("selling.py", SELLING + must)
    testwright(
        "run", "selling", "--seed", "1", "--tests", "20", "--explain", "--no-store", status=1
    )
    saved = testwright.folder / "testwright-out/selling"
    test = "testwright-out/selling/failure-1.test"
    testwright("feature", test, "--steps", runner, "--out", "features", status=1)
    folder = testwright.folder / "features"
    feature = folder / "failure-1.feature"
    told = feature.read_text(encoding="utf-8")
    assert told == (saved / "failure-1.feature").read_text(encoding="utf-8")
    assert "Then the total is less than 8\n" in told
    assert verdicts(folder, runner, "failure-1") == [False]
    change(feature, '"add" with 7', '"add" with 1')
    assert verdicts(folder, runner, "failure-1") == [True]
    feature.write_text(told, encoding="utf-8")
    testwright.write("selling.py", SELLING + must.replace("8", "80"))
    assert verdicts(folder, runner, "failure-1") == [True]


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_saved_test_of_an_implementation_runs(testwright, runner):
    _, wrong, right, _ = HARNESSES["a reference"]
    testwright.write("shop.py", SHOP.format(methods=wrong))
    testwright.write("till_stepper.py", STEPPER)
    testwright.write("selling.py", SELLING)
    search = ("--stepper", "till_stepper", "--seed", "1", "--tests", "20", "--no-store")
    testwright("run", "selling", *search, status=1)
    test = "testwright-out/selling/failure-1.test"
    named = ("feature", test, "--stepper", "till_stepper")
    testwright(*named, "--steps", runner, "--out", "features", status=1)
    folder = testwright.folder / "features"
    feature = folder / "failure-1.feature"
    assert "Then the last step goes as the model says\n" in feature.read_text(encoding="utf-8")
    assert verdicts(folder, runner, "failure-1") == [False]
    change(feature, '"add" with 7', '"add" with 1')
    assert verdicts(folder, runner, "failure-1") == [True]
    change(feature, '"add" with 1', '"add" with 7')
    testwright.write("shop.py", SHOP.format(methods=right))
    assert verdicts(folder, runner, "failure-1") == [True]


def errors(folder, runner, stem):
    """Runs a feature. Returns the messages of the failing scenarios."""
    if runner == "behave":
        results = run_behave(folder, f"{stem}.feature")
    else:
        results = run_pytest_bdd(folder, f"test_{stem.replace('-', '_')}_feature.py")
    return [error for error in results.values() if error is not None]


DOORS = """
from selling import Add

graph = (
    ("open", (Add, (), None), "closing"),
    ("closing", (Add, (7,), None), "closed"),
)
initial = "open"
accepting = ["open"]
""".lstrip()


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_dead_end_runs(testwright, runner):
    """Covers a dead end of a model and a machine: the steps track the machine's state."""
    testwright.write("selling.py", SELLING.replace("(Add, Total)", "(Add,)"))
    testwright.write("doors.py", DOORS)
    testwright("run", "selling", "doors", "--seed", "1", "--tests", "20", "--no-store", status=1)
    test = "testwright-out/selling/failure-1.test"
    testwright("feature", test, "--steps", runner, "--out", "features", status=1)
    folder = testwright.folder / "features"
    feature = folder / "failure-1.feature"
    assert "Then something is possible, or the run may end here\n" in feature.read_text()
    [error] = errors(folder, runner, "failure-1")
    assert "nothing is possible, and no run may end here: {'total': " in error, error
    # The machine has no edge for this step.
    change(feature, 'And I call "add" with 7', 'And I call "add" with 1')
    [error] = errors(folder, runner, "failure-1")
    assert "the models do not allow Add(1) here" in error, error
    change(feature, 'And I call "add" with 1', 'And I call "add" with 7')
    testwright.write("doors.py", DOORS.replace('["open"]', '["open", "closed"]'))
    assert verdicts(folder, runner, "failure-1") == [True]
    more = '    ("closed", (Add, (), None), "open"),\n)\ninitial'
    testwright.write("doors.py", DOORS.replace(")\ninitial", more))
    assert verdicts(folder, runner, "failure-1") == [True]


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_an_error_in_the_code_of_a_model_runs(testwright, runner):
    """Covers an error that occurs when the models compute the steps after the last one."""
    wrong = SELLING.replace("return total < 20", "return 20 // (total - 7) < 20")
    testwright.write("selling.py", wrong)
    testwright("run", "selling", "--seed", "1", "--tests", "20", "--no-store", status=1)
    test = "testwright-out/selling/failure-1.test"
    testwright("feature", test, "--steps", runner, "--out", "features", status=1)
    folder = testwright.folder / "features"
    [error] = errors(folder, runner, "failure-1")
    # behave prints the exception, but does not write it to its report.
    assert "ZeroDivisionError" in error or runner == "behave"
    testwright.write("selling.py", SELLING)
    assert verdicts(folder, runner, "failure-1") == [True]


HANGS = {
    "a hang": ("while True:\n            pass", "the last step took longer than 1 seconds"),
    "an end": ("__import__('os')._exit(3)", "the last step ended the process (status 3)"),
    "no hurry": ("__import__('time').sleep(60)", "the last step took longer than 1 seconds"),
}


@pytest.mark.soak(keep=2)
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("kind", HANGS)
def test_a_step_that_hangs_or_exits_runs(testwright, kind, runner):
    """Covers a step that hangs or exits: it runs in a fork of the runner's process, with a time limit."""
    does, says = HANGS[kind]
    testwright.write("shop.py", SHOP.format(methods=HARNESSES["a reference"][2]))
    head = "def TestAction(name, arguments, expected):\n"
    stuck = f"    if arguments == (7,):\n        {does}\n"
    testwright.write("till_stepper.py", STEPPER.replace(head, head + stuck))
    testwright.write("selling.py", SELLING)
    search = ("--stepper", "till_stepper", "--seed", "1", "--tests", "5", "--no-store")
    testwright("run", "selling", *search, "--step-timeout", "2s", status=1)
    test = "testwright-out/selling/failure-1.test"
    named = ("feature", test, "--stepper", "till_stepper", "--step-timeout", "2s")
    testwright(*named, "--steps", runner, "--out", "features", status=1)
    folder = testwright.folder / "features"
    text = (folder / "failure-1.feature").read_text()
    assert text.endswith('I try to call "add" with 7\n    Then the last step comes to an end\n')
    [error] = errors(folder, runner, "failure-1")
    assert says in error, error
    testwright.write("till_stepper.py", STEPPER)
    assert verdicts(folder, runner, "failure-1") == [True]


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_run_that_ends_the_process_runs(testwright, runner):
    """Checks that the supervisor reports the steps before the process ended."""
    testwright.write("shop.py", SHOP.format(methods=HARNESSES["a reference"][2]))
    head = "def TestAction(name, arguments, expected):\n"
    ends = (
        "    if arguments == (7,):\n        __import__('os').kill(__import__('os').getpid(), 9)\n"
    )
    testwright.write("till_stepper.py", STEPPER.replace(head, head + ends))
    testwright.write("selling.py", SELLING)
    run = ("model", "test", "selling", "--stepper", "till_stepper", "--seed", "1")
    done = testwright(*run, "--explain", "--steps-for", runner, status=1)
    assert "Written: testwright-out/selling/crash_suite.feature\n" in done.stdout
    folder = testwright.folder / "testwright-out/selling"
    text = (folder / "crash_suite.feature").read_text()
    assert text.endswith('I try to call "add" with 7\n    Then the last step comes to an end\n')
    [error] = errors(folder, runner, "crash_suite")
    assert "the last step ended the process (signal 9)" in error, error
    testwright.write("till_stepper.py", STEPPER)
    assert verdicts(folder, runner, "crash_suite") == [True]


LINE = """
'''What is sent comes back once.'''
sent = []

def Send(word):
    sent.append(word)

def SendEnabled(word):
    return not sent

def Receive(word):
    sent.remove(word)

def ReceiveEnabled(word):
    return word in sent

def Accepting():
    return not sent

state = ('sent',)
actions = (Send, Receive)
observables = (Receive,)
enablers = {Send: (SendEnabled,), Receive: (ReceiveEnabled,)}
domains = {Send: {'word': ['a', 'b']}}
""".lstrip()

LINE_STEPPER = """
import observation_queue
import wire

observation_queue.asynch = IS_ASYNCHRONOUS

def TestAction(name, arguments, expected):
    wire.send(arguments[0])
    IS_ASYNCHRONOUS or wait(0)

def wait(seconds):
    while wire.words:
        observation_queue.queue.append(("Receive", (wire.words.pop(0),)))

def Reset():
    wire.words.clear()
""".lstrip()

WIRES = {
    "another word": "words = []\n\ndef send(word):\n    words.append(word.upper())\n",
    "twice": "words = []\n\ndef send(word):\n    words.extend([word, word])\n",
    "nothing": "words = []\n\ndef send(word):\n    pass\n",
}
RIGHT = "words = []\n\ndef send(word):\n    words.append(word)\n"


@pytest.mark.soak(keep=3)
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("is_asynchronous", [True, False])
@pytest.mark.parametrize("kind", WIRES)
def test_observed_actions_run(testwright, kind, is_asynchronous, runner):
    testwright.write("wire.py", WIRES[kind])
    stepper = LINE_STEPPER.replace("IS_ASYNCHRONOUS", str(is_asynchronous))
    testwright.write("line_stepper.py", stepper)
    testwright.write("line.py", LINE)
    run = ("model", "test", "line", "--stepper", "line_stepper", "--seed", "1", "--timeout", "1s")
    testwright(*run, "--explain", "--steps-for", runner, status=1)
    folder = testwright.folder / "testwright-out/line"
    text = (folder / "failure_1.feature").read_text()
    [error] = errors(folder, runner, "failure_1")
    word = "b" if 'with "b"' in text else "a"
    if kind == "nothing":
        assert "Then something is possible, or the run may end here\n" in text
        assert "nothing is possible, and no run may end here: {'sent': [" in error, error
    else:
        seen = word.upper() if kind == "another word" else word
        assert f'"receive" with "{seen}" does not happen\n' in text
        assert (f'Then "receive" with "{seen}" happens\n' in text) == (kind == "twice")
        wrong = f"did Receive('{seen}') by itself, which the models do not allow here"
        assert wrong in error, error
    testwright.write("wire.py", RIGHT)
    assert verdicts(folder, runner, "failure_1") == [True]
    # The suite has the same steps; only the model knows which of them are observed.
    named = ("feature", "testwright-out/line/failure_1.py", "--harness", "line")
    testwright(*named, "--stepper", "line_stepper", "--steps", runner, "--out", "suite")
    assert verdicts(testwright.folder / "suite", runner, "failure_1") == [True]


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_observed_actions_of_a_saved_test_are_in_the_feature(testwright, runner):
    twice = "words = []\n\ndef send(word):\n    words.extend(word * (1 + (word == 'b')))\n"
    testwright.write("wire.py", twice)
    testwright.write("line_stepper.py", LINE_STEPPER.replace("IS_ASYNCHRONOUS", "False"))
    testwright.write("line.py", LINE)
    search = ("--stepper", "line_stepper", "--seed", "1", "--tests", "5", "--no-store")
    testwright("run", "line", *search, status=1)
    test = "testwright-out/line/failure-1.test"
    named = ("feature", test, "--stepper", "line_stepper")
    testwright(*named, "--steps", runner, "--out", "features", status=1)
    folder = testwright.folder / "features"
    feature = folder / "failure-1.feature"
    told = feature.read_text()
    assert told.endswith(
        '    When I call "send" with "b"\n    Then "receive" with "b" happens\n'
        '    And "receive" with "b" does not happen\n'
    )
    assert verdicts(folder, runner, "failure-1") == [False]
    # The other word passes. The last line needs no edit: no other observation is allowed.
    changed = told.replace('send" with "b"', 'send" with "a"')
    feature.write_text(changed.replace('with "b" happens\n    And', 'with "a" happens\n    And'))
    assert verdicts(folder, runner, "failure-1") == [True]


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_dead_end_fails_and_a_short_run_passes(testwright, runner):
    testwright.write("shop.py", SHOP.format(methods=HARNESSES["a reference"][2]))
    testwright.write("till_stepper.py", STEPPER)
    ends = SELLING.replace("{Add: (AddEnabled,)}", "{Add: (AddEnabled,), Total: (TotalEnabled,)}")
    ends = ends.replace("state = (", "def TotalEnabled():\n    return total < 20\n\nstate = (")
    testwright.write("selling.py", ends + "\n\ndef Accepting():\n    return total > 100\n")
    run = ("model", "test", "selling", "--stepper", "till_stepper", "--seed", "1", "--runs", "1")
    # A run that is merely too short to reach an accepting state has not failed.
    testwright(*run, "--steps", "2")
    testwright(*run, "--steps", "60", "--explain", "--steps-for", runner, status=1)
    folder = testwright.folder / "testwright-out/selling"
    told = (folder / "failure_1.feature").read_text()
    assert "Then something is possible, or the run may end here\n" in told
    [error] = errors(folder, runner, "failure_1")
    assert "no run may end here: {'total': " in error, error
    testwright.write("selling.py", ends)
    assert verdicts(folder, runner, "failure_1") == [True]


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_wrong_answers_of_an_implementation_run(testwright, runner):
    _, wrong, right, _ = HARNESSES["a reference"]
    testwright.write("shop.py", SHOP.format(methods=wrong))
    testwright.write("till_stepper.py", STEPPER)
    testwright.write("selling.py", SELLING)
    run = ("model", "test", "selling", "--stepper", "till_stepper", "--seed", "1")
    told = ("--explain", "--steps-for", runner, "--out", "features")
    testwright(*run, "--runs", "5", "--steps", "10", *told, status=1)
    folder = testwright.folder / "features"
    feature = folder / "failure_1.feature"
    [error] = errors(folder, runner, "failure_1")
    assert "the total is 0 and should be 7" in error, error
    change(feature, "the answer is 7", "the answer is 0")
    assert verdicts(folder, runner, "failure_1") == [True]
    change(feature, "the answer is 0", "the answer is 7")
    testwright.write("shop.py", SHOP.format(methods=right))
    assert verdicts(folder, runner, "failure_1") == [True]


def test_steps_cannot_be_written_with_excluded_actions(testwright):
    testwright.write("selling.py", SELLING)
    left_out = ("--explain", "--steps-for", "behave", "--exclude", "Total")
    done = testwright("model", "test", "selling", *left_out, status=2)
    assert "step definitions would not know that `Total` was named" in done.stderr


def test_a_step_without_a_notation_has_no_steps(testwright):
    things = "import enum\n\nclass Thing(enum.Enum):\n    BOOK = 1\n\n"
    text = SELLING.replace("(Add, Total)", "(Add,)").replace("[1, 7]", "[Thing.BOOK]")
    text = text.replace("total += n", "total += 9") + "\n\nAccepting = lambda: False\n"
    testwright.write("selling.py", things + text)
    testwright("run", "selling", "--seed", "1", "--tests", "20", "--no-store", status=1)
    test = "testwright-out/selling/failure-1.test"
    done = testwright("feature", test, "--steps", "behave", "--out", "features", status=2)
    assert "a step is done with something that has no notation" in done.stderr


MACHINE = """
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule


class Shelf(RuleBasedStateMachine):
    things = Bundle("things")

    def __init__(self):
        super().__init__()
        self.items = []

    @rule(target=things, name=st.text())
    def make(self, name):
        return name

    @rule(thing=things, times=st.integers())
    def put(self, thing, times):
        self.items += [thing] * times

    @invariant()
    def has_room(self):
        assert len(self.items) < 4
""".lstrip()

PRINTED = """
    assert len(self.items) < 4
AssertionError
Falsifying example:
state = Shelf()
state.has_room()
things_0 = state.make(name='a')
state.has_room()
state.put(thing=things_0, times=4)
state.has_room()
state.teardown()
"""


@pytest.mark.soak(keep=1)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_failed_run_of_a_state_machine_runs(testwright, runner):
    testwright.write("machine.py", MACHINE)
    testwright.write("printed.log", PRINTED)
    named = ("feature", "machine.py::Shelf", "--case-from", "printed.log")
    testwright(*named, "--steps", runner, "--out", "features", status=1)
    folder = testwright.folder / "features"
    feature = folder / "Shelf.counterexample.feature"
    read_by_all(feature)
    assert verdicts(folder, runner, "Shelf.counterexample") == [False]
    change(feature, "times set to 4", "times set to 3")
    assert verdicts(folder, runner, "Shelf.counterexample") == [True]
    change(feature, "times set to 3", "times set to 4")
    testwright.write("machine.py", MACHINE.replace("[thing] * times", "[thing]"))
    assert verdicts(folder, runner, "Shelf.counterexample") == [True]
