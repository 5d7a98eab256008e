"""Harnesses and saved tests as pytest sees them.

Off by default: nothing is collected but below the folders that the setting `testwright` lists, or with `--testwright`.
A harness is one test: a search with a budget, which fails with the reduced test. A saved test is one test, too: it is
replayed. Both run in processes of their own, so that a system under test cannot harm the ones that follow.
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
    """What searches have found is there to be looked at, not to fail once more."""
    is_output = collection_path.name == OUTPUT and collection_path not in _arguments(config)
    return True if is_output else None


def _is_wanted(path: Path, config) -> bool:
    if config.getoption("testwright") or path in _arguments(config):
        return True
    root = config.inipath.parent if config.inipath else config.rootpath
    folders = [(root / folder).resolve() for folder in config.getini("testwright")]
    return any(folder in path.resolve().parents for folder in folders)


def _arguments(config):
    """Files that were named on the command line are wanted, whatever is set."""
    start = config.invocation_params.dir
    return {start / argument.partition("::")[0] for argument in config.invocation_params.args if isinstance(argument, str)}  # fmt: skip


class HarnessFile(pytest.File):
    def collect(self):
        yield Search.from_parent(self, name="search")


class SavedFile(pytest.File):
    def collect(self):
        yield Replay.from_parent(self, name="replay")


class Found(Exception):
    """A failure, in the words of the command that found it."""


class Item(pytest.Item):
    """Something that a command of ours does in a process of its own."""

    def command(self, *arguments):
        line = [sys.executable, "-m", "testwright", *map(str, arguments)]
        done = subprocess.run(
            line, cwd=self.path.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode not in (0, FAILURE_FOUND):
            raise Found((done.stderr or done.stdout).strip())
        return done

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, Found):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class Search(Item):
    """A search with a harness."""

    def runtest(self):
        # Where pytest itself uses all cores, each search has one.
        jobs = ["--jobs", "1"] if "PYTEST_XDIST_WORKER" in os.environ else []
        done = self.command("run", self.path.name, "--json", *jobs, *self.budget())
        report = json.loads(done.stdout)
        for failure in report["failures"]:
            steps = "\n".join(f"  {step}" for step in failure["test"])
            raise Found(
                f"{failure['kind']}: {failure['message']}\n\n{steps}\n\n"
                f"seed {report['seed']}; the test is in {self.path.parent / failure['file']}"
            )

    def budget(self):
        """The options that limit the search."""
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
            raise Found(done.stdout.strip() + "\n\n" + self.path.read_text(encoding="utf-8"))

    def reportinfo(self):
        return self.path, 0, f"saved test {self.path.name}"
