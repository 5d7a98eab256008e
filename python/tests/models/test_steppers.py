"""Steppers: their answers, observations and time limits. Numbers in test names are those of `test_models_quirks.py`."""

import pytest
from models.folder import Folder

PUSHED = "stepper loaded\nPush(1,)\nPop() / 1\n"


@pytest.fixture
def models(testwright):
    models = Folder(testwright)
    models.write(
        One="'''PyModel configuration'''\nimport Stack\nStack.domains[Stack.Push]['x'][:] = [1]\n"
    )
    return models


def pops(models, how, *options, status=0):
    """Runs the stack with one behaviour of the stepper: pushes and pops in turn."""
    strategy = ["-g", "ActionNameCoverage", "-n", 2]
    line = ["compat", "pmt", "Stack", "One", "-i", "StackStepper", *strategy, *options]
    return models.run(*line, STEPPER=how, status=status)


@pytest.mark.parametrize(
    ("how", "end", "error"),
    [
        ("right", "Success at step 2, reached accepting state", ""),
        ("text", "Failure at step 2, popped 1, expected 1", ""),
        ("number", "Failure at step 2, stepper returned unhandled result: 42", ""),
        ("false", "Failure at step 2, stepper returned unhandled result: False", ""),
        # 19: an empty text is not an error.
        ("empty", "Success at step 2, reached accepting state", ""),
        (
            "raise",
            "Failure at step 2, stepper raised exception: ValueError, cannot pop 1",
            "ValueError: cannot pop 1",
        ),
        (
            "exit",
            "Failure at step 2, stepper raised exception: SystemExit, enough",
            "SystemExit: enough",
        ),
    ],
)
def test_what_a_stepper_answers(models, how, end, error):
    done = pops(models, how)
    assert done.stdout == f"{PUSHED}  0. {end}\n"
    assert bool(error) == ("Traceback" in done.stderr) and error in done.stderr
    assert done.stderr == "" or "StackStepper.py" in done.stderr


def test_a_failed_run_does_not_end_the_session(models):
    done = pops(models, "raise", "-r", 2)
    failed = "{}. Failure at step 2, stepper raised exception: ValueError, cannot pop 1\n"
    steps = PUSHED.removeprefix("stepper loaded\n")
    assert done.stdout == (
        f"{PUSHED}  {failed.format(0)}{steps}  {failed.format(1)}Test finished, completed 2 runs\n"
    )


def test_a_stepper_may_take_too_long(models):
    done = pops(models, "slow", "-t", 1)
    assert (
        done.stdout
        == f"{PUSHED}  0. Failure at step 2, stepper raised exception: TimeoutException, \n"
    )


def test_13_the_time_limit_does_not_strike_after_an_exception(models):
    # The stepper raises at once. The next run is under way when the old time limit would strike.
    done = pops(models, "alarm", "-t", 1, "-r", 2)
    assert done.stdout.count("stepper raised exception: ValueError, early") == 2


def test_a_run_that_ends_where_it_may_not_fails(models):
    line = ["Stack", "One", "-i", "StackStepper", "-g", "First"]
    assert models.test(*line, "-n", 2) == (
        "stepper loaded\nPush(1,)\nPush(1,)\n  0. Failure at step 2, ended in non-accepting state\n"
    )
    assert models.test(*line, "-n", 1, "-c", 3) == (
        "stepper loaded\nPush(1,)\nPop() / 1\n  0. Success at step 2, reached accepting state\n"
    )


def test_a_suite_is_run_without_its_model(models):
    # The third run expects a wrong result, the last one no result at all.
    printed = models.test("PushSuite", "-i", "StackStepper")
    ends = [line.strip() for line in printed.splitlines() if "at step" in line]
    over = "no more actions enabled, reached accepting state"
    assert ends == [
        f"0. Success at step 2, {over}",
        f"1. Success at step 4, {over}",
        f"2. Success at step 0, {over}",
        "3. Failure at step 2, wrong",
        "4. Failure at step 3, wrong",
        "5. Failure at step 2, wrong",
    ]
    # With the model, steps that do not fit it are not taken.
    printed = models.test("PushSuite", "Stack", "-i", "StackStepper")
    ends = [line.strip() for line in printed.splitlines() if "at step" in line]
    assert ends[3] == "3. Failure at step 1, no more actions enabled, ended in non-accepting state"
    assert ends[4] == f"4. Success at step 4, {over}"


def test_the_expected_result_is_not_changed_by_later_steps(models):
    models.write(
        Growing="items = []\ndef Add():\n    items.append(len(items))\n    return items\n"
        "def AddEnabled(): return len(items) < 3\ndef Reset(): del items[:]\n"
        "state = ('items',)\nactions = (Add,)\nenablers = {Add: [AddEnabled]}\n",
        Telling="def TestAction(name, arguments, expected): print('expected', expected)\n"
        "def Reset(): pass\n",
    )
    run = "Add() / [0]\nexpected [0]\nAdd() / [0, 1]\nexpected [0, 1]\nAdd() / [0, 1, 2]\nexpected [0, 1, 2]\n"
    end = ". Success at step 3, no more actions enabled, reached accepting state\n"
    assert models.test("Growing", "-i", "Telling", "-r", 2) == (
        f"{run}  0{end}{run}  1{end}Test finished, completed 2 runs\n"
    )


# Invalid steppers


def test_a_stepper_without_reset_can_do_one_run(models):
    assert "Success" in pops(models, "no reset").stdout
    done = pops(models, "no reset", "-r", 2, status=1)
    assert "the stepper `StackStepper` has no `Reset`" in done.stderr
    assert done.stdout.startswith(f"{PUSHED}  0. Success at step 2")


def test_a_stepper_must_be_one(models):
    models.write(Broken="def TestAction(:\n", Exits="import sys\nsys.exit(0)\n")
    for stepper, told in (
        ("Switch", "the stepper `Switch` has no `TestAction`"),
        ("Nowhere", "there is no module `Nowhere`"),
        ("Broken", "this is not Python: invalid syntax"),
        ("Exits", "SystemExit"),
    ):
        done = models.run("compat", "pmt", "Stack", "-n", 1, "-i", stepper, status=1)
        assert told in done.stderr and done.stdout == ""


# Observations

TIMED = "Start(2,)\nTick()\nTick()\nElapsed(0,) / 0\n"


def timed(models, how, *options, status=0):
    names = ["Timer", "TwoSeconds", "TimerReset2"]
    models.write(
        TimerReset2="'''PyModel configuration'''\nimport Timer\n"
        "def Reset(): Timer.running, Timer.left = False, 0\nTimer.Reset = Reset\n"
    )
    line = ["compat", "pmt", *names, "-i", "TimerStepper", *options]
    return models.run(*line, STEPPER=how, status=status)


@pytest.mark.parametrize("how", ["at once", "later"])
def test_observations_must_be_possible(models, how):
    done = timed(models, how, "-n", 8, "-t", 20)
    assert done.stdout == f"{TIMED * 2}  0. Success at step 8, reached accepting state\n"
    assert done.stderr == ""


def test_impossible_observations_are_refused(models):
    done = timed(models, "too many", "-n", 8)
    # A refused observation is not a step.
    assert done.stdout == (
        "Start(2,)\nTick()\nTick()\n  0. Failure at step 3, Tick(), action not enabled\n"
    )


def test_9_an_unknown_observation_is_refused(models):
    done = timed(models, "unknown", "-n", 8)
    assert done.stdout == (
        "Start(2,)\nTick()\n  0. Failure at step 2, Boom(), not in the vocabulary of any model\n"
    )


def test_10_nothing_may_come_after_the_end_of_a_suite(models):
    models.write(
        Short="from Timer import *\nactions = (Start, Tick, Elapsed)\ntestSuite = [[(Start, (2,)), (Tick, ())]]\n"
    )
    line = ["compat", "pmt", "Short", "Timer", "-i", "TimerStepper"]
    assert models.run(*line, STEPPER="at once").stdout == (
        "Start(2,)\nTick()\n  0. Failure at step 2, Tick(), action not enabled\n"
    )


def test_a_suite_allows_what_was_recorded(models):
    models.write(
        Exact="from Timer import *\n"
        "testSuite = [[(Start, (2,)), (Tick, ()), (Tick, ()), (Elapsed, (0,), 0)]]\n"
    )
    line = ["compat", "pmt", "Exact", "Timer", "-i", "TimerStepper"]
    over = "no more actions enabled, reached accepting state"
    assert models.run(*line, STEPPER="at once").stdout == f"{TIMED}  0. Success at step 4, {over}\n"
    # Observed actions are recorded.
    timed(models, "at once", "-n", 4, "-o", "Recorded")
    assert models.test("Recorded", "Timer") == f"{TIMED}  0. Finished at step 4, {over}\n"


def test_11_a_wait_without_an_observation_ends_the_run(models):
    done = timed(models, "nothing", "-n", 8, "-t", 0.1)
    assert done.stdout == (
        "Start(2,)\n  0. Failure at step 1, no more actions enabled, ended in non-accepting state\n"
    )


@pytest.mark.parametrize("options", [["-t", 20], []])
def test_a_wait_that_returns_too_early_is_repeated(models, options):
    # This stepper waits for an event that was set earlier.
    models.write(
        Echo="asked = False\ndef Ask():\n    global asked\n    asked = True\ndef not_asked(): return not asked\n"
        "def Heard():\n    global asked\n    asked = False\ndef was_asked(): return asked\n"
        "def Accepting(): return not asked\nstate = ('asked',)\nactions = (Ask, Heard)\n"
        "observables = (Heard,)\nenablers = {Ask: [not_asked], Heard: [was_asked]}\n",
        Early="import observation_queue as seen, threading\nseen.asynch = True\n"
        "event = threading.Event()\n"
        "def hear():\n    seen.queue.append(('Heard', ()))\n    event.set()\n"
        "def TestAction(name, arguments, expected):\n"
        "    event.set()\n    threading.Timer(0.2, hear).start()\n"
        "def wait(seconds):\n    event.wait(seconds)\n    event.clear()\n",
    )
    printed = models.test("Echo", "-n", 2, "-i", "Early", *options)
    assert printed == "Ask()\nHeard()\n  0. Success at step 2, reached accepting state\n"


def test_an_asynchronous_stepper_needs_a_wait_function(models):
    done = timed(models, "no wait", "-n", 8, "-t", 0.1, status=1)
    assert "the stepper `TimerStepper` is asynchronous and has no `wait`" in done.stderr


def test_12_unread_observations_are_reported_and_dropped(models):
    done = timed(models, "at once", "-n", 2, "-r", 2)
    run = "Start(2,)\nTick()\n  {}. Failure at step 2, ended in non-accepting state\n"
    assert done.stdout == run.format(0) + run.format(1) + "Test finished, completed 2 runs\n"
    for number in (0, 1):
        assert f"run {number} ended before 2 observations that had come" in done.stderr
    # Observations between two runs belong to the next run.
    done = timed(models, "left in reset", "-n", 4, "-r", 2)
    assert "  1. Failure at step 0, Boom(), not in the vocabulary" in done.stdout
