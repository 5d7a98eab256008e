"""Outputs: every command says that its result was lost, and keeps devices and pipes as they are."""

import os
import stat
import subprocess
import threading

import pytest

SAVED = "# testwright test 1\n# harness: stack.tstl\nstack0 = stack.Stack()\nstack0.top()\n"


@pytest.fixture
def folder(testwright):
    testwright.write("short.test", SAVED)
    return testwright


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
@pytest.mark.parametrize(
    "line",
    [
        "check stack.tstl --help",
        "expand stack.tstl",
        "standalone short.test",
        "replay short.test",
        "regress short.test",
        "reduce short.test --out -",
        "normalize short.test --out -",
        "generalize short.test",
        "triage short.test",
        "localize short.test",
        "markov short.test --order 1",
        "feature short.test --out -",
        "explore sound.tstl --depth 2",
        "quick sound.tstl --tests 3 --length 3",
        "compat tstl --help",
    ],
)
def test_a_lost_result_is_an_error(folder, line):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            folder.line(*line.split()),
            cwd=folder.folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
        )
    assert done.returncode == 2, done.stderr
    lost = "error: cannot write to standard output: no space left on device"
    assert done.stderr.count(lost) == 1, done.stderr


@pytest.mark.parametrize(
    ("line", "status"), [("standalone short.test --out", 0), ("reduce short.test --out", 1)]
)
def test_a_pipe_is_written_to_and_stays_a_pipe(folder, line, status):
    pipe = folder.folder / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    folder(*line.split(), "pipe", status=status)
    reader.join(timeout=60)
    assert "stack.Stack()" in read[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_stay_devices(folder):
    for line in ["standalone short.test --out", "compile stack.tstl --out"]:
        folder(*line.split(), "/dev/null")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_mistyped_path_creates_no_folders(folder):
    for line in ["graph short.test --svg", "standalone short.test --out"]:
        done = folder(*line.split(), "nosuch/path/x.svg", status=2)
        assert "cannot write `nosuch/path/x.svg`: its folder does not exist" in done.stderr
    assert not (folder.folder / "nosuch").exists()


def test_errors_have_no_numbers_of_the_operating_system(folder):
    for line in [
        "generate --python nosuch stack.py",
        "mutate --tests nosuch stack.py",
        "campaign list --store .",
    ]:
        done = subprocess.run(
            folder.line(*line.split()),
            cwd=folder.folder,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 2
        assert "os error" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "campaign prune --keep x",
        "campaign prune --keep -1",
        "show --limit x",
        "mutate --sample x",
        "graph Nowhere --max x",
        "model test Nowhere --runs 1.5",
    ],
)
def test_numbers_are_asked_for_in_plain_words(folder, line):
    done = folder(*line.split(), status=2)
    assert "must be a whole number from " in done.stderr
    assert "invalid digit" not in done.stderr


@pytest.mark.parametrize("command", ["run", "explore"])
def test_a_memory_limit_without_its_unit_is_refused(folder, command):
    done = folder(command, "stack.tstl", "--memory", "5", status=2)
    assert "5 B is too little" in done.stderr


@pytest.mark.parametrize("name", ["class", "None", "a²", "1x"])
def test_a_class_needs_a_valid_name(folder, name):
    done = folder("compile", "stack.tstl", "--class", name, status=2)
    assert f"`{name}` is not a valid class name" in done.stderr
