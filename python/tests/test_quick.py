"""`testwright quick`: a few short tests that cover what many long ones cover."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from coverage import CoverageData

AVL = Path(__file__).resolve().parents[2] / "examples/avl"


def names_in(folder):
    return sorted(path.name for path in folder.glob("*.test"))


def reached(command, folder, harness, status=0):
    """Returns the arcs that the tests in a folder cover."""
    command(
        *["regress", folder, "--harness", harness, "--coverage-report", "data:reached"],
        status=status,
    )
    data = CoverageData(str(command.folder / "reached"))
    data.read()
    return {(Path(file).name, *arc) for file in data.measured_files() for arc in data.arcs(file)}


def test_the_suite_covers_what_the_tests_cover(testwright):
    for name in ["avl.py", "avl.tstl"]:
        shutil.copy(AVL / name, testwright.folder)
    search = ["avl.tstl", "--seed", "3", "--tests", "40"]
    testwright("run", *search, "--keep-tests", "kept", "--strategy", "random")
    done = testwright("quick", *search, "--out", "suite")
    before, after = done.stdout.splitlines()[2:4]
    assert before.split()[:3] == ["before", "40", "4,000"]
    assert before.split()[3] == after.split()[3]
    tests, steps = map(int, after.split()[1:3])
    assert tests == len(names_in(testwright.folder / "suite")) < 20 and steps < 200
    assert reached(testwright, "suite", "avl.tstl") == reached(testwright, "kept", "avl.tstl")

    again = testwright("quick", "avl.tstl", "--from", "kept", "--out", "again")
    assert "again" in again.stdout.splitlines()[-1]
    assert reached(testwright, "again", "avl.tstl") == reached(testwright, "kept", "avl.tstl")


def test_every_test_of_the_suite_is_needed(testwright):
    testwright("quick", "sound.tstl", "--seed", "1", "--tests", "20", "--out", "suite")
    everything = reached(testwright, "suite", "sound.tstl")
    names = names_in(testwright.folder / "suite")
    for name in names if len(names) > 1 else []:
        path = testwright.folder / "suite" / name
        text = path.read_text(encoding="utf-8")
        path.unlink()
        assert reached(testwright, "suite", "sound.tstl") < everything
        path.write_text(text, encoding="utf-8")


def test_each_test_states_its_purpose(testwright):
    testwright("quick", "sound.tstl", "--seed", "1", "--tests", "20")
    text = (testwright.folder / "testwright-out/sound-quick/quick-1.test").read_text()
    assert "# harness: sound.tstl\n# seed: 1\n# for: stack.py:" in text


def test_the_same_seed_makes_the_same_suite(testwright):
    def suite(folder):
        testwright("quick", "sound.tstl", "--seed", "4", "--tests", "9", "--out", folder)
        paths = sorted((testwright.folder / folder).iterdir())
        return [path.read_text() for path in paths]

    assert suite("one") == suite("two")


def test_a_test_of_the_suite_may_fail(testwright):
    testwright.write(
        "saved/a.test", "stack0 = stack.Stack()\nstack1 = stack.Stack()\nstack0.top()\n"
    )
    testwright.write("saved/b.test", "stack7.top()\n")
    done = testwright("quick", "stack.tstl", "--from", "saved", "--out", "größe", status=1)
    assert "größe/quick-1.test: fails\n" in done.stdout
    assert "IndexError: list index out of range" in done.stdout
    assert "unknown-step" in done.stderr
    text = (testwright.folder / "größe/quick-1.test").read_text(encoding="utf-8")
    assert "# failure: uncaught-exception: IndexError" in text
    assert text.endswith("\nstack0 = stack.Stack()\nstack0.top()\n")


def test_passing_tests_are_preferred(testwright):
    done = testwright("quick", "stack.tstl", "--seed", "1", "--tests", "50", "--out", "suite")
    assert "made (seed 1)" in done.stdout
    testwright("regress", "suite", "--harness", "stack.tstl")


def test_files_of_an_earlier_call_are_replaced(testwright):
    for name in ["quick-7.test", "quick-x.test", "mine.test"]:
        testwright.write(f"suite/{name}", "stack0 = stack.Stack()\n")
    testwright("quick", "sound.tstl", "--seed", "1", "--tests", "5", "--out", "suite")
    names = names_in(testwright.folder / "suite")
    assert "quick-1.test" in names and "quick-7.test" not in names
    assert {"mine.test", "quick-x.test"} < set(names)


def test_impossible_requests(testwright):
    (testwright.folder / "empty").mkdir()
    done = testwright("quick", "sound.tstl", "--from", "empty", status=2)
    assert "there are no tests to replay" in done.stderr
    done = testwright("quick", "sound.tstl", "--from", "empty", "--seed", "1", status=2)
    assert "cannot be used with" in done.stderr
    testwright.write("file", "")
    done = testwright("quick", "sound.tstl", "--out", "file/suite", status=2)
    assert "cannot write to the folder `file/suite`" in done.stderr
    testwright.write("plain.tstl", "pool: <int> 1\n<int> := 1\n")
    done = testwright("quick", "plain.tstl", "--tests", "3", status=2)
    assert "reach nothing" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to(testwright):
    folder = testwright.folder / "locked"
    folder.mkdir(mode=0o500)
    done = testwright("quick", "sound.tstl", "--tests", "3", "--out", "locked", status=2)
    assert "cannot write to the folder `locked`" in done.stderr


def test_ctrl_c_writes_the_suite_so_far(testwright):
    pop = "    def pop(self):\n"
    text = (testwright.folder / "stack.py").read_text()
    testwright.write("stack.py", text.replace(pop, f"{pop}        {testwright.marker_code}\n"))
    process = testwright.start("quick", "sound.tstl", "--time", "1h", "--out", "suite")
    testwright.wait_for_marker(100)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "interrupted, so it may not be the shortest" in out
    lines = [line.split() for line in out.splitlines()]
    before, after = (line for line in lines if line[0] in {"before", "after"})
    assert before[3] == after[3]
    assert names_in(testwright.folder / "suite")
    testwright("regress", "suite", "--harness", "sound.tstl")
