"""Saved tests that end their process or never return: every command survives them and reports what happened."""

import json
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

FRAGILE = """\
import ctypes
import os
import time


class Box:
    def __init__(self):
        self.n = 0

    def add(self):
        self.n += 1

    def leave(self):
        if self.n > 2:
            os._exit(0)

    def crash(self):
        if self.n > 2:
            ctypes.string_at(0)

    def stay(self):
        while self.n > 2:
            time.sleep(0.01)
"""

HARNESS = """\
@import fragile
pool: <box> 1
<box> := fragile.Box()
~<box>.add()
~<box>.leave()
~<box>.crash()
~<box>.stay()
"""

WAYS = {
    "leave": "the process exited with status 0",
    "crash": "the process was killed by sigsegv",
    "stay": "hang: ",
}


def steps(*calls):
    return ["box0 = fragile.Box()", *(f"box0.{call}()" for call in calls)]


@pytest.fixture
def fragile(testwright):
    testwright.write("fragile.py", FRAGILE)
    testwright.write("fragile.tstl", HARNESS)
    head = "# testwright test 1\n# harness: fragile.tstl\n"
    for way in WAYS:
        calls = ("add", "leave", "add", "crash", "stay", "add", way)
        testwright.write(f"saved/{way}.test", head + "\n".join(steps(*calls)) + "\n")
    testwright.write("saved/well.test", head + "\n".join(steps("add", "leave")) + "\n")
    return testwright


PATIENCE = ("--step-timeout", "1s")


def test_regress_continues_after_fatal_tests(fragile):
    done = fragile("regress", "saved", "--junit", "results.xml", *PATIENCE, status=1)
    for way, words in WAYS.items():
        assert f"saved/{way}.test: fails after 8 steps" in done.stdout
        assert words in done.stdout.lower()
    assert "4 tests in" in done.stdout and "3 failed" in done.stdout
    suite = xml.etree.ElementTree.parse(fragile.folder / "results.xml").getroot()
    assert [len(case) for case in suite.iter("testcase")] == [1, 1, 1, 0]


@pytest.mark.soak(keep=4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", ["reduce", "normalize"])
def test_fatal_tests_are_reduced(fragile, command, way):
    fragile(command, f"saved/{way}.test", "--out", "short.test", *PATIENCE, status=1)
    kept = (fragile.folder / "short.test").read_text().splitlines()
    assert [line for line in kept if not line.startswith("#")] == steps("add", "add", "add", way)


def test_the_result_is_printed_once(fragile):
    done = fragile("reduce", "saved/leave.test", "--json", "--out", "short.test", status=1)
    assert json.loads(done.stdout)["steps"] == 5


def test_fatal_tests_are_generalized_and_triaged(fragile):
    done = fragile("generalize", "saved/crash.test", *PATIENCE, status=1)
    assert "# STEP 7" in done.stdout
    done = fragile("triage", "saved", *PATIENCE, status=1)
    assert "4 tests: 3 failing in 3 groups" in done.stdout


def test_fatal_tests_are_written_for_pytest(fragile):
    fragile("standalone", "saved/crash.test", "--out", "test_it.py")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=fragile.folder,
        capture_output=True,
    )
    # The crash is in a process of the test's own.
    assert ran.returncode == 1
    assert f"the steps ended early, with status {-signal.SIGSEGV}" in ran.stdout.decode()


@pytest.mark.parametrize("words", [["quick", "fragile.tstl"], ["localize", "saved"]])
def test_commands_that_measure_report_where_the_process_ended(fragile, words):
    done = fragile(*words, *PATIENCE, status=2)
    assert done.stdout.startswith(("Crash after ", "Hang after "))
    assert "    box0 = fragile.Box()\n" in done.stdout
    is_hang = done.stdout.startswith("Hang")
    way = "hangs" if is_hang else "ended the process"
    assert f"error: the code under test {way}" in done.stderr


def test_explore_reports_that_it_did_not_finish(fragile):
    harness = HARNESS.replace("~<box>.stay()\n", "")
    fragile.write("fragile.tstl", harness)
    done = fragile("explore", "fragile.tstl", status=2)
    assert "While states were visited: " in done.stdout
    assert "`testwright run` survives this" in done.stderr


def test_tools_of_tstl_do_not_end_silently(fragile):
    fragile("compat", "tstl", "fragile.tstl")
    done = fragile("compat", "tstl_rt", "--timeout", "20", "--seed", "1", status=1)
    assert "While `tstl_rt` ran: " in done.stdout


def test_a_harness_that_ends_the_process_when_it_is_loaded(fragile):
    fragile.write("fragile.py", "import os\nos._exit(0)\n")
    for words in (
        ["regress", "saved"],
        ["reduce", "saved/leave.test"],
        ["explore", "fragile.tstl"],
    ):
        done = fragile(*words, status=2)
        assert "while the harness was loaded: the process exited with status 0" in done.stdout


def test_ctrl_c_ends_the_work_in_processes_that_may_die(fragile):
    fragile.write(
        "fragile.py",
        FRAGILE.replace("time.sleep(0.01)", f"{fragile.marker_code}; time.sleep(0.01)"),
    )
    child = fragile.start("regress", "saved", "--step-timeout", "600s")
    fragile.wait_for_marker()
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        time.sleep(0.5)
    _, told = child.communicate()
    assert child.returncode not in (0, 1)
    assert "Traceback" not in told
