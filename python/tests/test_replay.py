"""`testwright replay`, `reduce` and `standalone`, on tests saved by hand."""

import signal
import subprocess
import sys

import pytest

LONG = """\
int0 = 3
stack1 = stack.Stack()
stack1.push(int0)
stack1.pop()
stack1.pop()
stack1.top()
"""
PASSING = "int0 = 1\nstack0 = stack.Stack()\nstack0.push(int0)\nstack0.top()\n"


@pytest.fixture
def saved(testwright):
    testwright.write("long.test", LONG)
    testwright.write("passing.test", PASSING)
    return testwright


def test_replay(saved):
    done = saved("replay", "passing.test", "--harness", "stack.tstl")
    assert done.stdout == "passing.test: passes (4 steps)\n"

    done = saved("replay", "passing.test", "long.test", "--harness", "stack.tstl", status=1)
    assert "passing.test: passes (4 steps)\nlong.test: fails at step 6 of 6\n" in done.stdout
    assert "uncaught exception: IndexError: list index out of range" in done.stdout


def test_replay_of_what_run_wrote(saved):
    saved("run", "stack.tstl", "--seed", "7", status=1)
    for name in ("failure-1.test", "failure-1.full.test"):
        done = saved("replay", f"testwright-out/stack/{name}", "--harness", "stack.tstl", status=1)
        assert "IndexError: list index out of range" in done.stdout
        assert "skipped" not in done.stdout


def test_the_harness_that_a_test_notes_is_found(saved):
    noting = "# testwright test 1\n# harness: {}\n" + PASSING
    saved.write("kept/deep/one.test", noting.format("stack.tstl"))
    saved.write("kept/two.test", noting.format("/etc/stack.tstl"))
    saved.write("kept/three.test", noting.format("../elsewhere/stack.tstl"))
    done = saved("regress", "kept")
    assert "3 tests" in done.stdout and "all pass" in done.stdout
    # Of a path outside the parent folders, only the name is used.
    saved.write("outside/evil.tstl", "@import os\nos._exit(7)\n")
    saved.write("kept/inner/four.test", noting.format("../../outside/evil.tstl"))
    done = saved("replay", "kept/inner/four.test", status=2)
    assert "there is no harness `../../outside/evil.tstl` beside the test" in done.stderr
    assert "help: name the harness, or the model, with `--harness FILE`" in done.stderr
    # There are several harnesses nearby, and this test names none.
    done = saved("replay", "passing.test", status=2)
    assert "the test `passing.test` does not say which harness it belongs to" in done.stderr
    (saved.folder / "sound.tstl").unlink()
    assert saved("replay", "passing.test").stdout == "passing.test: passes (4 steps)\n"
    saved.write("kept/other.tstl", "pool: <int> 1\n<int> := 1\n")
    saved.write("kept/other.test", "# testwright test 1\n# harness: other.tstl\nint0 = 1\n")
    done = saved("replay", "kept/other.test", "kept/two.test", status=2)
    assert "different harnesses, `kept/other.tstl` and `stack.tstl`" in done.stderr


def test_skipped_steps_are_listed(saved):
    saved.write("skip.test", "stack0.top()\nint0 = 1\n")
    done = saved("replay", "skip.test", "--harness", "stack.tstl")
    assert done.stdout == (
        "skip.test: passes (2 steps, 1 of them skipped)\n"
        "    step 1 skipped, not enabled: stack0.top()\n"
    )


def test_verbose(saved):
    saved.write(
        "loud.tstl", (saved.folder / "stack.tstl").read_text() + "print('seen:', ~<stack>)\n"
    )
    saved.write("loud.test", LONG.replace("stack1.top()", "print('seen:', stack1)"))
    done = saved("replay", "loud.test", "--harness", "loud.tstl", "--verbose")
    assert "step 3: stack1.push(int0)\n" in done.stdout
    assert "    \u2192 stack1 = Stack([3])  (Stack)\n" in done.stdout
    assert "raised IndexError: pop from an empty stack, as expected" in done.stdout
    assert "    | seen: Stack([])\n" in done.stdout
    assert done.stdout.endswith("loud.test: passes (6 steps)\n")


def test_all_unknown_steps_are_reported(saved):
    saved.write("odd.test", "int0 = 3\nstack1 = stack.Stakc()\nstack0.push(int0)\nnonsense\n")
    for command in ("replay", "reduce", "standalone"):
        done = saved(command, "odd.test", "--harness", "stack.tstl", status=2)
        assert " --> odd.test:2:1" in done.stderr
        assert "did you mean `stack0 = stack.Stack()`?" in done.stderr
        assert " --> odd.test:4:1" in done.stderr
        assert "2 errors in odd.test" in done.stderr
        assert done.stdout == ""


def test_tests_are_never_evaluated(saved):
    saved.write("evil.test", "open('evil', 'w')\n__import__('os').system('touch evil')\n")
    saved("replay", "evil.test", "--harness", "stack.tstl", status=2)
    assert not (saved.folder / "evil").exists()


def test_an_empty_test_is_refused(saved):
    saved.write("empty.test", "\n")
    done = saved("replay", "empty.test", "--harness", "stack.tstl", status=2)
    assert "the test `empty.test` has no steps" in done.stderr


@pytest.mark.parametrize("options", [[], ["--ddmin"], ["--keep-last"]])
def test_reduce(saved, options):
    done = saved("reduce", "long.test", "--harness", "stack.tstl", *options, status=1)
    assert done.stdout.startswith("Reduced from 6 to 2 steps in ")
    assert done.stdout.endswith("\nWritten to long.reduced.test\n")
    text = (saved.folder / "long.reduced.test").read_text()
    assert text.endswith("\nstack0 = stack.Stack()\nstack0.top()\n")


def test_reduce_to_a_chosen_file(saved):
    saved("reduce", "long.test", "--harness", "stack.tstl", "--out", "short.test", status=1)
    assert (saved.folder / "short.test").exists()
    assert not (saved.folder / "long.reduced.test").exists()


def test_a_test_that_passes_cannot_be_reduced(saved):
    done = saved("reduce", "passing.test", "--harness", "stack.tstl", status=2)
    assert "the test `passing.test` does not fail, so there is nothing to reduce" in done.stderr
    assert not (saved.folder / "passing.reduced.test").exists()


@pytest.mark.parametrize("style", ["pytest", "unittest", "script"])
def test_standalone(saved, style):
    done = saved(
        "standalone",
        "long.test",
        "--harness",
        "stack.tstl",
        "--style",
        style,
        "--out",
        "test_it.py",
    )
    assert done.stdout == "Written to test_it.py\n"
    text = (saved.folder / "test_it.py").read_text()
    assert "import stack" in text
    assert "testwright" not in text.split("import", 1)[1]
    runner = {"pytest": ["-m", "pytest", "-q"], "unittest": ["-m", "unittest"], "script": []}[style]
    alone = subprocess.run(
        [sys.executable, *runner, "test_it.py"], cwd=saved.folder, capture_output=True, text=True
    )
    assert alone.returncode == 1, alone.stdout + alone.stderr
    assert "IndexError: list index out of range" in alone.stdout + alone.stderr


def test_standalone_to_standard_output(saved):
    done = saved("standalone", "passing.test", "--harness", "stack.tstl", "--style", "script")
    alone = subprocess.run([sys.executable, "-"], input=done.stdout, cwd=saved.folder, text=True)
    assert alone.returncode == 0


@pytest.mark.parametrize("command", ["replay", "reduce"])
def test_ctrl_c(saved, command):
    saved.write("slow.py", f"import time\ndef f():\n    {saved.marker_code}\n    time.sleep(600)\n")
    saved.write("slow.tstl", "@import slow\n\npool: <x> 1\n<x> := slow.f()\n")
    saved.write("slow.test", "x0 = slow.f()\n")
    running = saved.start(command, "slow.test", "--harness", "slow.tstl")
    saved.wait_for_marker()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 2
    assert "Traceback" not in err
    assert "interrupted" in out + err
    assert not (saved.folder / "slow.reduced.test").exists()


@pytest.fixture
def wandering(saved):
    """Writes a system that changes the current folder on import and on each call."""
    (saved.folder / "elsewhere").mkdir()
    text = (saved.folder / "stack.py").read_text()
    away = "import os, pathlib\ndef away(): os.chdir(pathlib.Path(__file__).resolve().parent / 'elsewhere')\naway()\n"
    saved.write(
        "stack.py", away + text.replace("def top(self):\n", "def top(self):\n        away()\n")
    )
    return saved


def test_the_system_may_change_the_current_folder(wandering):
    done = wandering("replay", "passing.test", "long.test", "--harness", "stack.tstl", status=1)
    assert "passing.test: passes (4 steps)\nlong.test: fails at step 6 of 6\n" in done.stdout

    done = wandering("reduce", "long.test", "--harness", "stack.tstl", status=1)
    assert done.stdout.endswith("\nWritten to long.reduced.test\n")
    assert (wandering.folder / "long.reduced.test").exists()

    done = wandering("standalone", "long.test", "--harness", "stack.tstl", "--out", "test_it.py")
    assert done.stdout == "Written to test_it.py\n"
    assert (wandering.folder / "test_it.py").exists()
    assert list((wandering.folder / "elsewhere").iterdir()) == []


def test_only_the_first_of_many_unknown_steps_are_reported(saved):
    saved.write("other.test", "int7 = 3\n" * 50_000)
    done = saved("replay", "other.test", "--harness", "stack.tstl", status=2)
    assert done.stderr.count("error[unknown-step]") == 20
    assert done.stderr.endswith(
        "\nand 49,980 more steps that the harness does not know\n50,000 errors in other.test\n"
    )


@pytest.mark.parametrize("command", ["reduce", "standalone"])
@pytest.mark.parametrize("name", ["stack.tstl", "./stack.tstl", "link.tstl"])
def test_the_harness_is_never_overwritten(saved, command, name):
    harness = saved.folder / "stack.tstl"
    (saved.folder / "link.tstl").symlink_to(harness)
    before = harness.read_text()
    done = saved(command, "long.test", "--harness", "stack.tstl", "--out", name, status=2)
    assert f"cannot write `{name}`: it is the harness, which would be lost" in done.stderr
    assert done.stdout == ""
    assert harness.read_text() == before


def test_a_test_is_not_overwritten_by_its_python_file_but_by_its_reduction(saved):
    done = saved(
        "standalone", "long.test", "--harness", "stack.tstl", "--out", "./long.test", status=2
    )
    assert "cannot write `./long.test`: it is the test, which would be lost" in done.stderr
    assert (saved.folder / "long.test").read_text() == LONG
    saved("reduce", "long.test", "--harness", "stack.tstl", "--out", "long.test", status=1)
    assert (saved.folder / "long.test").read_text().endswith("= stack.Stack()\nstack0.top()\n")


@pytest.mark.skipif(sys.platform != "linux", reason="a folder that cannot be written to")
@pytest.mark.parametrize("command", ["reduce", "normalize", "standalone"])
def test_an_unwritable_output_is_reported_before_any_work(saved, command):
    words = ("long.test", "--harness", "stack.tstl", "--out", "/proc/short.test")
    done = saved(command, *words, status=2)
    assert "error: cannot write `/proc/short.test`: " in done.stderr
    assert "help: choose another file to write to" in done.stderr
    assert done.stdout == ""


def test_an_output_without_a_folder_is_reported_before_any_work(saved):
    for command in ("reduce", "standalone"):
        done = saved(command, "long.test", "--harness", "stack.tstl", "--out", "no/x", status=2)
        assert "cannot write `no/x`: its folder does not exist" in done.stderr
        assert done.stdout == ""


def test_a_dash_is_standard_output(saved):
    done = saved("reduce", "long.test", "--harness", "stack.tstl", "--out", "-", status=1)
    assert done.stdout.startswith("# testwright test 1\n")
    assert done.stdout.endswith("\nstack0 = stack.Stack()\nstack0.top()\n")
    assert done.stderr.startswith("Reduced from 6 to 2 steps in ")

    plain = saved("standalone", "long.test", "--harness", "stack.tstl")
    dash = saved("standalone", "long.test", "--harness", "stack.tstl", "--out", "-")
    assert dash.stdout == plain.stdout
    assert not (saved.folder / "-").exists()


def test_ctrl_c_while_the_system_is_imported(saved):
    saved.write("stack.py", f"import time\n{saved.marker_code}\ntime.sleep(600)\n")
    running = saved.start("replay", "passing.test", "--harness", "stack.tstl")
    saved.wait_for_marker()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert (running.returncode, out, err) == (2, "", "interrupted\n")


@pytest.mark.parametrize(
    ("fatal", "words"),
    [
        ("os.abort()", "the process was killed by SIGABRT (the process aborted itself)"),
        ("os._exit(0)", "the process exited with status 0"),
    ],
)
def test_a_test_that_ends_the_process_is_reported(testwright, fatal, words):
    testwright.write("fatal.tstl", f"@import os\n\npool: <x> 1\n<x> := 1\n{fatal}\n")
    testwright.write("fatal.test", f"x0 = 1\n{fatal}\n")
    done = testwright("replay", "fatal.test", "--harness", "fatal.tstl", status=1)
    first, *_ = done.stdout.splitlines()
    assert first == f"fatal.test: fails at step 2, {fatal}: {words}"
    done = testwright("replay", "fatal.test", "--harness", "fatal.tstl", "-v", status=1)
    assert done.stdout.startswith("step 1: x0 = 1\n")
