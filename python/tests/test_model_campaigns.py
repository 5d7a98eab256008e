"""Campaigns of models: workers, crashes, hangs, the store, known failures, resuming."""

import json
import os
import re
import signal
import subprocess
import time

import pytest
from small_models import write_modules

#: A counter that fails at four, in a chosen way.
COUNTS = """\
import ctypes, os, signal, sys, time

number = 0

def Up(by):
    global number
    number += by
    if number == 4:
        {what}

def Down():
    global number
    number -= 1

def DownEnabled():
    return number > 0

state = ("number",)
actions = (Up, Down)
enablers = {{Down: (DownEnabled,)}}
domains = {{Up: {{"by": [1, 2]}}}}

def StateFilter():
    return number < 6
"""

#: What the counter does at four, and the report of it.
ENDS = {
    "segmentation fault": ("ctypes.string_at(0)", "crash: the process was killed by SIGSEGV"),
    "abort": ("os.abort()", "crash: the process was killed by SIGABRT"),
    "exit": ("os._exit(7)", "crash: the process exited with status 7"),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", "crash: the process was killed by SIGKILL"),
    "hang": ("while True: pass", "hang: no end after 1s"),
    "sleep": ("time.sleep(1000)", "hang: no end after 1s"),
    "exception": ("raise ValueError('four')", "uncaught exception: ValueError: four"),
    "polite exit": ("sys.exit(3)", "uncaught exception: SystemExit: 3"),
}

PATIENT = ["--step-timeout", "1s"]


def steps(folder, file):
    """Returns the steps of a saved test."""
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def shown(testwright):
    return json.loads(testwright("campaign", "show", "--json").stdout)


@pytest.fixture
def models(testwright):
    """Writes small models to a folder."""
    write_modules(testwright)
    return testwright


@pytest.mark.soak(keep=6)
@pytest.mark.parametrize("ending", ENDS)
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_kind_of_crash_of_a_model_is_survived_reduced_and_named(testwright, ending, jobs):
    what, told = ENDS[ending]
    testwright.write("Counts.py", COUNTS.format(what=what))
    done = testwright("run", "Counts", "--jobs", jobs, "--time", "30s", *PATIENT, status=1)
    assert told in done.stdout, done.stdout
    assert "Counts: 2 action names; seed " in done.stdout
    short = "testwright-out/Counts/failure-1.test"
    # The models try enabled steps in advance, so a test that reaches two is enough: the trial reaches four.
    reduced = steps(testwright.folder, short)
    assert reduced in (["Up(2,)"], ["Up(1,)"] * 2, ["Up(1,)", "Up(2,)"]), reduced
    if "crash" in told or "hang" in told:
        assert ", last step `Up(" in done.stdout
    if ending in ("segmentation fault", "abort"):
        assert "in Up" in done.stdout
    # The failure is in the store, and the saved test fails on its own.
    found = shown(testwright)
    assert found["harness"] == "Counts.py" and found["state"] == "complete"
    assert [failure["status"] for failure in found["failures"]] == ["open"]
    done = testwright("replay", short, *PATIENT, status=1)
    assert "fails at step" in done.stdout


def test_several_failures_are_distinguished_and_the_search_continues(testwright):
    two = COUNTS.format(what="os.abort()").replace(
        "    number -= 1", "    number -= 1\n    if number == 0: raise KeyError('none')"
    )
    testwright.write("Counts.py", two.replace("number < 6", "number < 9"))
    done = testwright(
        "run", "Counts", "--jobs", 2, "--time", "6s", "--keep-going", "--json", *PATIENT, status=1
    )
    found = json.loads(done.stdout)
    kinds = {failure["kind"] for failure in found["failures"]}
    assert kinds == {"crash", "uncaught-exception"}
    assert found["tests"] > 2


def test_known_failures_are_replayed_first(models):
    models("run", "Talk", "--time", "20s", "--jobs", 2, status=1)
    first = (models.folder / "testwright-out/Talk/failure-1.test").read_text()
    done = models("run", "Talk", "--time", "20s", "--jobs", 2, status=1)
    assert "and it still fails:" in done.stdout
    assert "Ran 0 tests, 0 steps" in done.stdout
    again = (models.folder / "testwright-out/Talk/failure-1.test").read_text()
    assert steps_of(again) == steps_of(first)
    # Without the bug the failure is fixed; with the bug again it is a regression.
    broken = (models.folder / "Talk.py").read_text()
    repaired = broken + "\ndef StateInvariant(): return True\ndef Accepting(): return True\n"
    models.write("Talk.py", repaired)
    done = models("run", "Talk", "--time", "1s", "--jobs", 2)
    assert "Fixed: property violated: " in done.stdout
    models.write("Talk.py", broken)
    done = models("run", "Talk", "--time", "20s", "--jobs", 2, status=1)
    assert "A regression: it was fixed on " in done.stdout


def steps_of(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_a_known_crash_is_recognised(testwright):
    testwright.write("Counts.py", COUNTS.format(what="os._exit(7)"))
    testwright("run", "Counts", "--jobs", 1, "--time", "30s", status=1)
    done = testwright("run", "Counts", "--jobs", 1, "--time", "30s", status=1)
    assert "and it still fails:" in done.stdout
    testwright.write("Counts.py", COUNTS.format(what="pass"))
    done = testwright("run", "Counts", "--jobs", 1, "--time", "1s")
    assert "Fixed: crash: the process exited with status 7" in done.stdout


def test_a_failure_with_removed_actions_is_neither_fixed_nor_replayed(models):
    models("run", "Talk", "--time", "20s", "--jobs", 1, status=1)
    models.write("Talk.py", "x = 0\ndef Other(): pass\nstate = ('x',)\nactions = (Other,)\n")
    done = models("run", "Talk", "--time", "1s", "--jobs", 1)
    assert "Fixed" not in done.stdout and "still fails" not in done.stdout
    assert [failure["status"] for failure in shown(models)["failures"]] == []


def test_one_worker_makes_the_tests_of_its_seed(models):
    kept = []
    for folder, jobs in (("one", 1), ("other", 1), ("here", 0)):
        words = ["--seed", 3, "--tests", 100, "--length", 20, "--jobs", jobs]
        models("run", "Pile", *words, "--keep-tests", folder)
        kept.append(
            [steps_of(path.read_text()) for path in sorted((models.folder / folder).iterdir())]
        )
    assert kept[0] == kept[1] == kept[2] and len(kept[0]) == 100


def test_models_are_composed_in_every_worker(models):
    done = models("run", "Pile", "TwoOnly", "--jobs", 2, "--time", "1s", "--keep-tests", "kept")
    assert "no failure found" in done.stdout
    seen = {
        line for path in (models.folder / "kept").iterdir() for line in steps(models.folder, path)
    }
    assert seen == {"Push(2,)", "Pop()"}
    assert shown(models)["harness"] == "Pile.py TwoOnly.py"


def test_events_for_tools(models):
    done = models(
        "run",
        "Talk",
        "--jobs",
        2,
        "--time",
        "20s",
        "--keep-going",
        "--tests",
        2000,
        "--json-lines",
        status=1,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    names = [event["event"] for event in told]
    assert names[0] == "start" and names[-1] == "end"
    assert told[0]["harness"] == "Talk" and told[0]["jobs"] == 2 and told[0]["templates"] > 1
    assert {"worker", "coverage", "failure", "reduced"} <= set(names)
    covered = max(event["covered"] for event in told if event["event"] == "coverage")
    # A transition that both workers take counts once.
    explored = json.loads(models("explore", "Talk", "--keep-going", "--json", status=1).stdout)
    assert covered <= explored["transitions"]
    reduced = [event["test"] for event in told if event["event"] == "reduced"]
    assert ["Ask()", "Answer('no',)"] in reduced


def interrupted(testwright, *words):
    """Starts a campaign, and interrupts it when it has made tests."""
    line = testwright.line("run", *words, "--json-lines")
    command = subprocess.Popen(
        line, cwd=testwright.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in command.stdout:
        if json.loads(line)["event"] == "coverage":
            break
    time.sleep(1)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=120)
    assert command.returncode == 0, err
    return json.loads(out.splitlines()[-1])["report"]


def test_a_campaign_resumes_where_it_was_stopped(models):
    report = interrupted(models, "Pile", "PushPop", "--time", "1h", "--jobs", "2")
    assert report["interrupted"] and report["tests"] > 0
    stopped = shown(models)
    assert stopped["state"] == "interrupted" and stopped["reached"] > 0
    done = models("run", "--resume", "--time", "1s")
    end = json.loads(done.stdout.splitlines()[-1])["report"]
    assert end["tests"] >= report["tests"] and end["seed"] == report["seed"]
    ended = shown(models)
    assert ended["number"] == stopped["number"] and ended["state"] == "complete"
    assert ended["reached"] >= stopped["reached"]
    # The models may also be named.
    interrupted(models, "Pile", "--time", "1h", "--jobs", "1")
    done = models("run", "Talk", "--resume", status=2)
    assert "there is no campaign of `Talk` to resume" in done.stderr
    models("run", "Pile", "--resume", "--time", "1s")


def test_workers_that_are_killed_are_replaced(models):
    line = models.line("run", "Pile", "--time", "6s", "--jobs", "2", "--keep-going", "--json-lines")
    command = subprocess.Popen(
        line, cwd=models.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in command.stdout:
        if json.loads(line)["event"] == "coverage":
            break
    for _ in range(4):
        listed = subprocess.run(
            ["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True
        ).stdout.splitlines()[1:]
        rows = [row.split(None, 2) for row in listed]
        servers = {row[0] for row in rows if row[1] == str(command.pid)}
        workers = [int(row[0]) for row in rows if row[1] in servers]
        for worker in workers:
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.3)
    out, err = command.communicate(timeout=120)
    assert "panicked" not in err, err
    end = json.loads(out.splitlines()[-1])
    assert end["event"] == "end" and end["report"]["tests"] > 0
    for failure in end["report"]["failures"]:
        # A kill may also hit the worker that runs the test again, which looks like the same crash.
        assert failure["kind"] == "crash"


def test_list_show_export_and_prune(models):
    models("run", "Talk", "--time", "20s", "--jobs", 1, status=1)
    done = models("campaign", "list")
    assert "Talk.py" in done.stdout
    done = models("campaign", "show")
    assert (
        "reached" in done.stdout
        and "the invariant of `Talk`" in done.stdout
        or ("a dead end" in done.stdout)
    )
    models("campaign", "export", "--out", "exported")
    tests = sorted((models.folder / "exported").rglob("*.test"))
    assert tests
    done = models("replay", tests[0], "--harness", "Talk", status=1)
    assert "fails at step" in done.stdout
    models("campaign", "prune", "--keep", 0)


def test_models_write_into_a_folder_of_their_own(testwright):
    testwright.write(
        "Writes.py",
        "n = 0\ndef Write():\n    global n\n    n = 1 - n\n    open('left.txt', 'w').write('x')\n"
        "state = ('n',)\nactions = (Write,)\n",
    )
    testwright("run", "Writes", "--time", "1s", "--jobs", 1)
    assert not (testwright.folder / "left.txt").exists()
    testwright("run", "Writes", "--time", "1s", "--jobs", 1, "--in-place")
    assert (testwright.folder / "left.txt").exists()


def test_a_model_that_forks_has_one_search(testwright):
    testwright.write(
        "Forks.py",
        "import os\nn = 0\ndef Fork():\n    global n\n    n = (n + 1) % 3\n    os.fork()\n"
        "state = ('n',)\nactions = (Fork,)\n",
    )
    done = testwright("run", "Forks", "--tests", 20, "--jobs", 1, "--json")
    assert json.loads(done.stdout)["tests"] == 20


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_module\n", "no_such_module"),
        ("def (", "Broken.py"),
        ("state = ()\n", "actions"),
        ("import os\nos._exit(5)\n", "the process that loads the models exited with status 5"),
        ("import os\nos.abort()\n", "the process that loads the models was killed by SIGABRT"),
        ("", "Broken"),
    ],
)
def test_models_that_cannot_be_loaded_are_reported_once(testwright, text, told):
    testwright.write("Broken.py", text)
    line = testwright.line("run", "Broken", "--jobs", 2, "--time", "5s")
    done = subprocess.run(line, cwd=testwright.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done.stdout + done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert told in done.stderr and len(errors) == 1, done.stderr
    assert "panicked" not in done.stderr


def test_a_warning_about_models_comes_once(models):
    models.write(
        "Unsafe.py",
        "n = 0\ndef Go():\n    global n\n    n = 1 - n\ndef StateInvariant(): return n == 1\n"
        "state = ('n',)\nactions = (Go,)\n",
    )
    done = models("run", "Unsafe", "--jobs", 2, "--time", "2s", status=1)
    assert done.stderr.count("an invariant of the models is false where runs begin") == 1


def test_names_of_many_alphabets(testwright):
    testwright.write(
        "Größe.py",
        "zahl = 0\ndef Öffne(wort):\n    global zahl\n    zahl += 1\n"
        "    assert zahl < 3, 'zu groß: ' + wort\n"
        "state = ('zahl',)\nactions = (Öffne,)\ndomains = {Öffne: {'wort': ['ä\\n(', '漢字']}}\n",
    )
    done = testwright("run", "Größe", "--jobs", 2, "--time", "20s", status=1)
    assert "AssertionError: zu groß: " in done.stdout
    reduced = steps(testwright.folder, "testwright-out/Größe/failure-1.test")
    assert len(reduced) == 2 and all(line.startswith("Öffne(") for line in reduced)
    testwright("replay", "testwright-out/Größe/failure-1.test", status=1)


# With an implementation

#: A model of a counter, and an implementation of it.
LIGHT = """\
on = False
presses = 0

def Press():
    global on, presses
    on = not on
    presses = (presses + 1) % 5
    return on

def Look():
    return on

state = ("on", "presses")
actions = (Press, Look)
"""

STEPPER = """\
import ctypes, os, signal, sys, time
on, presses = False, 0

def TestAction(name, arguments, expected):
    global on, presses
    if name == "Press":
        on, presses = not on, presses + 1
        if presses == 3:
            {what}
    if on != expected:
        return "it is %s, not %s" % (on, expected)

def Reset():
    global on, presses
    on, presses = False, 0
"""

#: What the stepper does, and the report of it.
WRONG = {
    "difference": ("on = not on", "difference from the model: it is "),
    "exception": (
        "raise OSError('no light')",
        "difference from the model: stepper raised exception: OSError",
    ),
    "crash": ("ctypes.string_at(0)", "crash: the process was killed by SIGSEGV"),
    "exit": ("os._exit(9)", "crash: the process exited with status 9"),
    "deaf": (
        "signal.alarm(0); signal.pthread_sigmask(0, {signal.SIGALRM}); time.sleep(99)",
        "hang",
    ),
    "late": ("time.sleep(99)", "hang: no end after 2s"),
}


@pytest.mark.soak(keep=3)
@pytest.mark.parametrize("what", WRONG)
def test_failures_of_an_implementation(testwright, what):
    code, told = WRONG[what]
    testwright.write("Light.py", LIGHT)
    testwright.write("Lamp.py", STEPPER.replace("{what}", code))
    words = ["--stepper", "Lamp", "--jobs", 2, "--time", "60s", "--step-timeout", "2s"]
    done = testwright("run", "Light", *words, status=1)
    assert told in done.stdout, done.stdout
    test = "testwright-out/Light/failure-1.test"
    assert steps(testwright.folder, test) == ["Press()"] * 3
    assert shown(testwright)["harness"] == "Light.py --stepper Lamp"
    assert "# stepper: Lamp\n" in (testwright.folder / test).read_text(encoding="utf-8")
    again = f"To see it again: testwright replay {test} --harness Light --stepper Lamp\n"
    assert again in done.stdout
    done = testwright(
        "replay", test, "--harness", "Light", "--stepper", "Lamp", "--step-timeout", "2s", status=1
    )
    assert "fails at step 3" in done.stdout
    # The test names its stepper, which is restored.
    done = testwright("replay", test, "--step-timeout", "2s", status=1)
    assert "fails at step 3" in done.stdout
    # The models alone accept the steps, but do not report the failure as fixed.
    saved = (testwright.folder / test).read_text(encoding="utf-8")
    testwright.write("alone.test", saved.replace("# stepper: Lamp\n", ""))
    testwright("replay", "alone.test")
    done = testwright("run", "Light", "--time", "1s", "--jobs", 1)
    assert "Fixed" not in done.stdout
    done = testwright("run", "Light", *words, status=1)
    assert "and it still fails:" in done.stdout
    testwright.write("Lamp.py", STEPPER.replace("{what}", "pass"))
    done = testwright("run", "Light", "--stepper", "Lamp", "--time", "1s", "--jobs", 2)
    assert "Fixed: " in done.stdout


def test_a_test_is_reduced_with_its_implementation(testwright):
    testwright.write("Light.py", LIGHT)
    testwright.write("Lamp.py", STEPPER.replace("{what}", "on = not on"))
    long = ["Look()", "Press()", "Look()", "Press()", "Look()", "Look()", "Press()", "Look()"]
    testwright.write("long.test", "# testwright test 1\n# harness: Light.py\n" + "\n".join(long))
    testwright("reduce", "long.test", "--stepper", "Lamp", status=1)
    assert steps(testwright.folder, "long.reduced.test") == ["Press()"] * 3


MESSAGES = """\
sent = []

def Send(m): sent.append(m)
def SendEnabled(m): return len(sent) < 2
def Deliver(m): sent.remove(m)
def DeliverEnabled(m): return m in sent

state = ("sent",)
actions = (Send, Deliver)
observables = (Deliver,)
enablers = {Send: (SendEnabled,), Deliver: (DeliverEnabled,)}
domains = {Send: {"m": [1, 2]}}
def Accepting(): return not sent
"""

POST = """\
import threading, time
import observation_queue

observation_queue.asynch = {asynch}
number = 0
under_way = []

def deliver(m):
    if {asynch}:
        time.sleep(0.001)
    observation_queue.queue.append(("Deliver", (m,)))

def TestAction(name, arguments, expected):
    global number
    number += 1
    m = 7 if number == {wrong} else arguments[0]
    if {asynch}:
        under_way.append(threading.Thread(target=deliver, args=(m,)))
        under_way[-1].start()
    else:
        deliver(m)

def wait(seconds):
    end = time.monotonic() + seconds
    while not observation_queue.queue and time.monotonic() < end:
        time.sleep(0.001)

def Reset():
    global number
    number = 0
    while under_way:
        under_way.pop().join()
"""


@pytest.mark.parametrize("asynch", [False, True])
def test_observed_actions_are_not_steps_of_a_saved_test(testwright, asynch):
    testwright.write("Messages.py", MESSAGES)
    testwright.write("Post.py", POST.format(asynch=asynch, wrong=0))
    words = ["--stepper", "Post", "--jobs", 1, "--seed", 1, "--length", 6]
    done = testwright("run", "Messages", *words, "--tests", 20)
    assert "no failure found" in done.stdout
    testwright.write("Post.py", POST.format(asynch=asynch, wrong=2))
    done = testwright("run", "Messages", *words, "--tests", 20, status=1)
    assert "difference from the model: Deliver(7,), action not enabled" in done.stdout
    # Asynchronous observations may not recur, and then the test is saved as it was found.
    saved = re.search(r"To see it again: testwright replay (\S+)", done.stdout).group(1)
    assert asynch or saved == "testwright-out/Messages/failure-1.test"
    kept = steps(testwright.folder, saved)
    assert all(line.startswith("Send(") for line in kept)
    if not asynch:
        assert len(kept) == 2


def test_an_unusable_stepper_is_reported(models):
    models.write("Nothing.py", "def Reset(): pass\n")
    models.write("Wrong.py", "raise RuntimeError('no connection')\n")
    for stepper, told in [
        ("Nothing", "the stepper `Nothing` has no `TestAction`"),
        ("Wrong", "RuntimeError: no connection"),
        ("Missing", "Missing"),
    ]:
        line = models.line("run", "Pile", "--stepper", stepper, "--time", "2s", "--jobs", 2)
        done = subprocess.run(line, cwd=models.folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 2, done.stdout
        assert told in done.stderr and "panicked" not in done.stderr, done.stderr
