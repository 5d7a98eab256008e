"""`testwright regress`: a suite of saved tests."""

import signal
import xml.etree.ElementTree as xml

import pytest

FAILING = "stack0 = stack.Stack()\nstack0.top()\n"
PASSING = "int0 = 1\nstack0 = stack.Stack()\nstack0.push(int0)\nstack0.top()\n"
UNKNOWN = "stack7 = stack.Stack()\n"


@pytest.fixture
def suite(testwright):
    testwright.write("saved/a.test", PASSING)
    testwright.write("saved/deep/b.test", PASSING)
    testwright.write("saved/notes.txt", "not a test\n")
    return testwright


def test_a_folder_stands_for_all_tests_in_it(suite):
    done = suite("regress", "saved", "--harness", "stack.tstl")
    assert done.stdout.startswith("2 tests in ") and done.stdout.endswith(": all pass\n")
    done = suite("regress", "saved", "--harness", "stack.tstl", "--verbose")
    assert "saved/a.test: passes\nsaved/deep/b.test: passes\n" in done.stdout


def test_failures_are_shown_and_counted(suite):
    suite.write("saved/c.test", FAILING)
    done = suite("regress", "saved", "--harness", "stack.tstl", status=1)
    assert "saved/c.test: fails after 2 steps\n" in done.stdout
    assert "IndexError: list index out of range" in done.stdout
    assert done.stdout.splitlines()[-1].endswith(": 1 failed")


def test_broken_tests_do_not_stop_the_others(suite):
    suite.write("saved/0.test", UNKNOWN)
    suite.write("saved/1.test", FAILING)
    done = suite("regress", "saved", "--harness", "stack.tstl", status=2)
    assert "unknown-step" in done.stderr
    assert done.stdout.splitlines()[-1].endswith(": 1 failed, 1 broken")
    done = suite("regress", "-x", "saved", "--harness", "stack.tstl", status=2)
    assert done.stdout.startswith("1 test in ")


def test_results_for_build_servers(suite):
    suite.write("saved/c.test", FAILING)
    suite("regress", "saved", "--harness", "stack.tstl", "--junit", "out.xml", status=1)
    root = xml.parse(suite.folder / "out.xml").getroot()
    assert root.get("tests") == "3" and root.get("failures") == "1"
    failure = root.find(".//testcase[@name='saved/c.test']/failure")
    assert failure.get("message") == "IndexError: list index out of range"
    assert "stack0.top()" in failure.text
    done = suite("regress", "saved/a.test", "--harness", "stack.tstl", "--junit", "-")
    assert "<testsuites" in done.stdout
    done = suite("regress", "saved", "--harness", "stack.tstl", "--junit", "no/out.xml", status=2)
    assert "its folder does not exist" in done.stderr


def test_skipped_steps_are_told(suite):
    suite.write("saved/a.test", "stack0.top()\n" + PASSING)
    done = suite("regress", "saved", "--harness", "stack.tstl", "--junit", "out.xml")
    assert "saved/a.test: passes (5 steps, 1 of them skipped)\n" in done.stdout
    case = xml.parse(suite.folder / "out.xml").getroot().find(".//testcase[@name='saved/a.test']")
    assert case.find("system-out").text == "5 steps, 1 of them skipped"
    done = suite("replay", "saved/a.test", "--harness", "stack.tstl")
    assert "passes (5 steps, 1 of them skipped)" in done.stdout


@pytest.mark.parametrize("command", ["regress", "triage"])
def test_ctrl_c_keeps_the_results_so_far(suite, command):
    wait = "import time\n" + suite.marker_code + "\ntime.sleep(60)"
    text = (suite.folder / "stack.tstl").read_text()
    suite.write("slow.py", f"def wait():\n    {wait.replace(chr(10), chr(10) + '    ')}\n")
    suite.write("stack.tstl", text + "@import slow\nslow.wait()\n")
    suite.write("saved/z.test", "slow.wait()\n")
    process = suite.start(command, "saved", "--harness", "stack.tstl")
    suite.wait_for_marker()
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=60)
    assert process.returncode == 2, said
    words = {
        "regress": "interrupted after 2 tests of 3 in ",
        "triage": "2 passing, interrupted, so 1 not looked at",
    }
    assert words[command] in told and "all pass" not in told, told


def test_coverage_of_a_suite(suite):
    done = suite("regress", "saved", "--harness", "stack.tstl", "--coverage")
    assert "stack.py" in done.stdout


def test_coverage_of_module_loading_counts(suite):
    # Tests do not reload a module that the harness does not import itself.
    suite.write("below.py", "LIMIT = 3\n\n\ndef unused():\n    pass\n")
    suite.write("stack.py", "import below\n\n" + (suite.folder / "stack.py").read_text())
    for command in ["regress", "replay"]:
        done = suite(command, "saved/a.test", "--harness", "stack.tstl", "--coverage")
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("below.py"))
        assert line.split()[1:3] == ["3", "1"]


def test_nothing_to_replay(suite):
    (suite.folder / "empty").mkdir()
    done = suite("regress", "empty", "--harness", "stack.tstl", status=2)
    assert "there are no tests to replay" in done.stderr


def test_a_test_of_which_no_step_can_be_taken_does_not_pass(suite):
    # Every step is skipped: there is no stack yet.
    suite.write("saved/skipped.test", "# testwright test 1\nstack0.top()\nstack1.top()\n")
    done = suite("regress", "saved", "--harness", "stack.tstl", status=2)
    assert "saved/skipped.test: no step could be taken, so nothing was tested\n" in done.stdout
    assert done.stdout.endswith(": 1 broken\n")
    only = ["saved/skipped.test", "--harness", "stack.tstl"]
    done = suite("replay", *only, status=2)
    assert "no step could be taken, so nothing was tested\n" in done.stdout
    assert "passes" not in suite("triage", *only, status=2).stdout
    done = suite("standalone", *only, status=2)
    assert "no step of the test could be taken" in done.stderr and "def test" not in done.stdout
    suite.write("none/notes.txt", "no tests here\n")
    suite("regress", "none", "--harness", "stack.tstl", status=2)
