"""The pytest plugin: collects harnesses and saved tests.

Off by default: it collects only below the folders in the setting `testwright`, or everywhere with `--testwright`.
A harness is one test: a search with a budget, which fails with the reduced test. A saved test is also one test: it is
replayed. Both run in processes of their own, so that a system under test cannot harm the tests that follow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = ".tstl"
SAVED = ".test"
OUTPUT = "testwright-out"
FAILURE_FOUND = 1


def pytest_addoption(parser):
    group = parser.getgroup("testwright", "harnesses and saved tests of Testwright")
    group.addoption(
        "--testwright",
        action="store_true",
        help="collect *.tstl and *.test files wherever they are, not only in the folders that are set",
    )
    group.addoption(
        "--testwright-time", metavar="TIME", help="how long to search with each harness"
    )
    group.addoption(
        "--testwright-seed", metavar="N", help="the seed of every search: same seed, same tests"
    )
    parser.addini("testwright", "folders with harnesses and saved tests", "args", [])
    parser.addini("testwright_time", "how long to search with each harness", "string", "2s")
    parser.addini("testwright_tests", "how many tests to make with each harness", "string", "")
    parser.addini("testwright_length", "how many steps a test may have", "string", "")
    parser.addini("testwright_seed", "the seed of every search", "string", "")
    parser.addini("testwright_options", "further options of `testwright run`", "args", [])


def pytest_collect_file(file_path, parent):
    if file_path.suffix == HARNESS and _is_wanted(file_path, parent.config):
        return HarnessFile.from_parent(parent, path=file_path)
    if file_path.suffix == SAVED and _is_wanted(file_path, parent.config):
        return SavedFile.from_parent(parent, path=file_path)
    return None


def pytest_ignore_collect(collection_path, config):
    """Ignores the output folder: the failures that searches saved are for reading, not for running again."""
    is_output = collection_path.name == OUTPUT and collection_path not in _named_paths(config)
    return True if is_output else None


def _is_wanted(path: Path, config) -> bool:
    if config.getoption("testwright") or path in _named_paths(config):
        return True
    root = config.inipath.parent if config.inipath else config.rootpath
    folders = [(root / folder).resolve() for folder in config.getini("testwright")]
    return any(folder in path.resolve().parents for folder in folders)


def _named_paths(config):
    """Returns the paths on the command line, which are collected whatever the settings are."""
    start = config.invocation_params.dir
    return {start / argument.partition("::")[0] for argument in config.invocation_params.args if isinstance(argument, str)}  # fmt: skip


class HarnessFile(pytest.File):
    def collect(self):
        yield Search.from_parent(self, name="search")


class SavedFile(pytest.File):
    def collect(self):
        yield Replay.from_parent(self, name="replay")


class CommandFailure(Exception):
    """A failure, with the message of the command that found it."""


class Item(pytest.Item):
    """A test that a `testwright` command runs in its own process."""

    def command(self, *arguments):
        line = [sys.executable, "-m", "testwright", *map(str, arguments)]
        done = subprocess.run(
            line, cwd=self.path.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode not in (0, FAILURE_FOUND):
            raise CommandFailure((done.stderr or done.stdout).strip())
        return done

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, CommandFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class Search(Item):
    """A search with a harness."""

    def runtest(self):
        # pytest-xdist uses all cores already, so each search gets one.
        jobs = ["--jobs", "1"] if "PYTEST_XDIST_WORKER" in os.environ else []
        done = self.command("run", self.path.name, "--json", *jobs, *self.budget())
        report = json.loads(done.stdout)
        for failure in report["failures"]:
            steps = "\n".join(f"  {step}" for step in failure["test"])
            raise CommandFailure(
                f"{failure['kind']}: {failure['message']}\n\n{steps}\n\n"
                f"seed {report['seed']}; the test is in {self.path.parent / failure['file']}"
            )

    def budget(self):
        """Yields the options that limit the search."""
        config = self.config

        def wanted(name):
            return config.getoption(f"testwright_{name}", None) or config.getini(f"testwright_{name}")  # fmt: skip

        tests = config.getini("testwright_tests")
        if not tests or config.getoption("testwright_time"):
            yield from ("--time", wanted("time"))
        if tests:
            yield from ("--tests", tests)
        if wanted("seed"):
            yield from ("--seed", wanted("seed"))
        if config.getini("testwright_length"):
            yield from ("--length", config.getini("testwright_length"))
        yield from config.getini("testwright_options")

    def reportinfo(self):
        return self.path, 0, f"harness {self.path.name}"


class Replay(Item):
    """A saved test."""

    def runtest(self):
        done = self.command("replay", self.path.name)
        if done.returncode == FAILURE_FOUND:
            raise CommandFailure(
                done.stdout.strip() + "\n\n" + self.path.read_text(encoding="utf-8")
            )

    def reportinfo(self):
        return self.path, 0, f"saved test {self.path.name}"
