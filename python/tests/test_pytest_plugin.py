"""Harnesses and saved tests as pytest collects them."""

import subprocess
import sys

import pytest

FAILING = """\
# testwright test 1
# harness: stack.tstl
stack0 = stack.Stack()
stack0.top()
"""
PASSING = FAILING.replace("stack0.top()", "int0 = 1")


class Pytest:
    """Runs pytest in a folder, and counts the outcomes."""

    def __init__(self, command):
        self.command = command
        self.folder = command.folder

    def write(self, name, text):
        return self.command.write(name, text)

    def __call__(self, *arguments, status=0):
        line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def project(testwright):
    testwright.write("pyproject.toml", '[tool.pytest.ini_options]\ntestwright = ["checks"]\ntestwright_tests = "50"\n')  # fmt: skip
    for name in ("stack.py", "stack.tstl", "sound.tstl"):
        (testwright.folder / "checks").mkdir(exist_ok=True)
        (testwright.folder / name).rename(testwright.folder / "checks" / name)
    return Pytest(testwright)


def test_only_configured_folders_are_collected(project):
    project.write("elsewhere/other.tstl", "pool: <x> 1\n<x> := 1\n")
    out = project("--collect-only", "-q")
    assert "checks/stack.tstl::search" in out and "checks/sound.tstl::search" in out
    assert "elsewhere" not in out
    assert "elsewhere/other.tstl::search" in project("--collect-only", "-q", "--testwright")
    assert "1 passed" in project("elsewhere/other.tstl"), "a file that is named is wanted"


def test_nothing_is_collected_by_default(project):
    project.write("pyproject.toml", "")
    project("--collect-only", "-q", status=5)


def test_a_failure_shows_the_reduced_test(project):
    out = project("--testwright-seed", "7", status=1)
    assert "uncaught-exception: IndexError: list index out of range" in out
    assert "  stack0 = stack.Stack()\n  stack0.top()\n" in out and "seed 7" in out
    assert "1 failed, 1 passed" in out and "Traceback" not in out
    assert "1 passed, 1 deselected" in project("-k", "sound")


def test_saved_tests_are_replayed(project):
    project.write("checks/saved/good.test", PASSING)
    out = project("-k", "replay")
    assert "1 passed" in out
    project.write("checks/saved/bad.test", FAILING)
    project.write("checks/saved/lost.test", PASSING.replace("stack.tstl", "gone.tstl"))
    project.write("checks/saved/bare.test", "int0 = 1\n")
    out = project("-k", "replay", status=1)
    assert "3 failed, 1 passed" in out
    assert "bad.test: fails at step 2 of 2" in out
    assert "no harness `gone.tstl`" in out
    assert "does not say which harness" in out


def test_results_for_build_servers(project):
    project("--junitxml", "out.xml", status=1)
    assert 'failures="1"' in (project.folder / "out.xml").read_text()
    assert "1 failed" in project("-x", "checks/stack.tstl", status=1)


def test_work_is_shared_by_several_processes(project):
    project.write("checks/saved/good.test", PASSING)
    for number in range(4):
        project.write(f"checks/more{number}.tstl", "pool: <x> 2\n<x> := <[1..3]>\n")
    out = project("-n", "2", "-v", status=1)
    assert "1 failed, 6 passed" in out and "stack0.top()" in out
    assert "[gw0]" in out and "[gw1]" in out


def test_a_harness_with_errors_fails_with_its_own_message(project):
    project.write("checks/bad.tstl", "pool: <x> 2\n<y> := 3\n")
    out = project("checks/bad.tstl", status=1)
    assert "error[unknown-pool]: no pool named `<y>`" in out


def test_nothing_tested_is_not_green(project):
    project.write("checks/nothing.tstl", "pool: <d> 2\n<d> = []\n<d>.append(1)\n")
    out = project("checks/nothing.tstl", status=1)
    assert "1 failed" in out
    assert "no action is enabled at the start, so nothing was tested" in out
    project.write(
        "checks/skipped.test", "# testwright test 1\n# harness: stack.tstl\nstack0.top()\n"
    )
    out = project("checks/skipped.test", status=1)
    assert "no step could be taken, so nothing was tested" in out
