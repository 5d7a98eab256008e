"""Runs the commands of every folder in `examples/`, and compares their output with the expected one.

Each folder has `run.txt` with the commands, one per line, and `expected.txt` with their output. To accept the current
output, and then review the diff: UPDATE_EXPECTATIONS=1 pytest python/tests/test_examples.py
"""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from feature_runners import read_by_all
from terminal import run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: The examples in Rust are run by `cargo test`.
FOLDERS = sorted(
    path for path in EXAMPLES.iterdir() if path.is_dir() and not list(path.glob("*.rs"))
)
UPDATE = bool(os.environ.get("UPDATE_EXPECTATIONS"))

# 0.3ms, 0.25s, 12s, 1m 02s
DURATION = r"\d+(?:\.\d+)?(?:ms|s)|\d+m \d\ds"


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def example(request, tmp_path_factory):
    """Runs all commands of an example in a copy of its folder."""
    ignored = shutil.ignore_patterns("__pycache__", "testwright-out", "expected.txt")
    copy = tmp_path_factory.mktemp("examples") / request.param.name
    shutil.copytree(request.param, copy, ignore=ignored)
    return Example(request.param, copy)


class Example:
    def __init__(self, folder, copy):
        self.folder = folder
        self.copy = copy
        self.expected = folder / "expected.txt"
        lines = (folder / "run.txt").read_text(encoding="utf-8").splitlines()
        self.printed = "\n".join(transcript(line, copy) for line in lines if line.strip())


def test_there_are_examples():
    assert len(FOLDERS) >= 6


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_has_commands_and_expected_output(folder):
    assert (folder / "run.txt").is_file()
    assert (folder / "expected.txt").is_file() or UPDATE


def test_the_commands_print_the_expected_output(example):
    if UPDATE:
        example.expected.write_text(example.printed, encoding="utf-8")
    assert example.printed == example.expected.read_text(encoding="utf-8")
    assert "[exit status 2]" not in example.printed, "an example does what was asked"


def test_features_are_read_by_all_parsers_alike(example):
    for feature in sorted(example.copy.rglob("*.feature")):
        read_by_all(feature)


def test_reduced_tests_are_short(example):
    lengths = re.findall(r"^Reduced from \S+ to (\d+) steps?", example.printed, re.MULTILINE)
    assert all(int(length) <= 12 for length in lengths)


def test_the_written_tests_fail_alone(example, tmp_path):
    written = sorted(example.copy.glob("testwright-out/*/test_failure_*.py"))
    announced = re.findall(r"^  testwright-out/\S+\.py", example.printed, re.MULTILINE)
    assert len(written) == len(announced)
    for file in written:
        assert "import testwright" not in file.read_text(encoding="utf-8")
        # From another folder, so that the test has to find the code under test by itself.
        alone = run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file], tmp_path
        )
        assert alone.returncode == 1 and "1 failed" in alone.stdout, alone.stdout
        assert "NameError" not in alone.stdout, alone.stdout


def transcript(command, folder):
    """Runs a command. Returns its output without times and machine-dependent parts."""
    done = run(["sh", "-c", command], folder)
    text = done.stdout.replace(f"{folder}/", "")
    text = re.sub(rf"\b(in|after) (?:{DURATION}) \(seed", r"\1 … (seed", text)
    text = re.sub(rf"\bin (?:{DURATION}) \([\d.]+ \w+ a state\)", "in … (… a state)", text)
    text = re.sub(rf"(\d runs?) \((?:{DURATION})\)", r"\1 (…)", text)
    # Python marks positions below the lines of a traceback, differently in each version.
    text = re.sub(r"^ *[~^]+ *\n", "", text, flags=re.MULTILINE)
    return f"$ {command}\n{text}[exit status {done.returncode}]\n"
