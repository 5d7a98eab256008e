"""Models and steppers whose code ends the process or never returns: every command survives, and names the step."""

import json
import signal

import pytest

#: A counter whose fourth step ends the process or hangs.
COUNTS = """\
import os, signal

number = 0

def Up():
    global number
    number += 1
    if number == 4:
        {what}

def Reset():
    global number
    number = 0

def Accepting(): return number in (2, 3)

state = ("number",)
actions = (Up,)
"""

#: What the fourth step does, and the report of it.
ENDS = {
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", "the process was killed by SIGSEGV"),
    "exit": ("os._exit(7)", "the process exited with status 7"),
    "hang": ("while True: pass", "no end after 1"),
}

TEST = "# testwright test 1\n# harness: Counts.py\n" + "Up()\n" * 3
PATIENT = ["--step-timeout", "1s"]


@pytest.fixture(params=ENDS)
def ending(request):
    return request.param


@pytest.fixture
def models(testwright, ending):
    what, _ = ENDS[ending]
    (testwright.folder / "Counts.py").write_text(COUNTS.format(what=what), encoding="utf-8")
    (testwright.folder / "three.test").write_text(TEST, encoding="utf-8")
    return testwright


@pytest.mark.parametrize("command", ["reduce", "normalize", "generalize", "triage", "regress"])
def test_commands_for_tests_treat_it_as_a_failure(models, ending, command):
    done = models(command, "three.test", *PATIENT, status=1)
    message = ENDS[ending][1]
    # The texts of `triage` have no numbers.
    assert (message.rstrip("17") if command == "triage" else message) in done.stdout


def test_commands_that_only_need_the_steps_survive(models):
    models("markov", "three.test", "--out", "three.markov", *PATIENT)
    models("graph", "three.test", "--svg", "three.svg", *PATIENT)


@pytest.mark.parametrize("line", ["localize three.test", "quick Counts --seed 1"])
def test_commands_that_measure_report_the_steps(models, ending, line):
    done = models(*line.split(), *PATIENT, status=2)
    title = "Hang" if ending == "hang" else "Crash"
    assert f"{title} after 3 steps: {ENDS[ending][1]}" in done.stdout
    assert "    Up()\n" * 3 in done.stdout


def test_replay_survives_and_reports_the_step(models, ending):
    done = models("replay", "three.test", *PATIENT, status=1)
    assert f"three.test: fails at step 3, Up(): {ENDS[ending][1]}" in done.stdout


def test_an_exploration_survives_and_reports_the_state(models, ending):
    done = models("explore", "Counts", *PATIENT, status=2)
    assert ENDS[ending][1] in done.stdout
    assert "It was at state 3; with `--max 3` it ends before" in done.stdout


def test_a_log_is_followed_up_to_the_line_that_kills(models, ending):
    log = "".join(json.dumps({"action": "Up"}) + "\n" for _ in range(5))
    (models.folder / "counts.jsonl").write_text(log, encoding="utf-8")
    done = models("conform", "Counts", "counts.jsonl", *PATIENT, status=2)
    assert ENDS[ending][1] in done.stdout
    assert 'It was at counts.jsonl:4: {"action": "Up"}\n' in done.stdout


def test_a_scenario_that_kills_its_model(models, ending):
    (models.folder / "Four.py").write_text(
        "from Counts import Up\ntestSuite = [[(Up, ())] * 2, [(Up, ())] * 4]\n", encoding="utf-8"
    )
    done = models("model", "check", "Counts", "--scenarios", "Four", *PATIENT, status=2)
    assert ENDS[ending][1] in done.stdout
    assert "It was at state 3 of the model with Four, run 1\n" in done.stdout
    assert "ok     Four, run 0: allowed\n" in done.stdout


def test_a_run_that_kills_is_kept_as_a_suite(models, ending):
    words = ["--runs", 1, "--steps", 9, "--timeout", "0.1s", "--seed", 1]
    done = models("model", "test", "Counts", *words, status=1)
    title = "Hang" if ending == "hang" else "Crash"
    assert f"{title} in run 0, after 3 steps: {ENDS[ending][1]}" in done.stdout
    assert "    Up()\n" * 3 + "Written: testwright-out/Counts/crash_suite.py\n" in done.stdout
    again = "testwright-out/Counts/crash_suite.py"
    assert f"To see it again: testwright model test {again} Counts\n" in done.stdout
    done = models("explore", again)
    assert "4 states, 3 transitions" in done.stdout


STEPPER = """\
import os, signal
def Reset(): pass
def TestAction(name, arguments, expected):
    global number
    number = globals().get("number", 0) + 1
    if number == 5:
        {what}
"""


def test_a_stepper_that_kills_is_survived(testwright):
    (testwright.folder / "Light.py").write_text(
        "on = False\ndef Press():\n    global on\n    on = not on\n"
        "state = ('on',)\nactions = (Press,)\n",
        encoding="utf-8",
    )
    what, told = ENDS["crash"]
    (testwright.folder / "Kills.py").write_text(STEPPER.format(what=what), encoding="utf-8")
    words = ["--stepper", "Kills", "--runs", 3, "--steps", 4, "--seed", 1]
    done = testwright("model", "test", "Light", *words, status=1)
    # The fifth step is the first of the second run.
    assert f"Crash in run 1, after 1 step: {told}" in done.stdout
    assert "in TestAction" in done.stdout
    assert (
        "To see it again: testwright model test testwright-out/Light/crash_suite.py Light"
        " --stepper Kills\n" in done.stdout
    )


def test_sigterm_ends_the_command_even_if_the_model_ignores_it(testwright):
    deaf = f"signal.signal(signal.SIGTERM, signal.SIG_IGN); {testwright.marker_code}\n        while True: pass"
    testwright.write("Counts.py", COUNTS.format(what=deaf))
    running = testwright.start("explore", "Counts", "--step-timeout", "10min")
    testwright.wait_for_marker()
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=600)
    assert running.returncode == 2
    assert err.strip().endswith("interrupted")
