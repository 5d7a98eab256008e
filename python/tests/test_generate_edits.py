"""Test files belong to users: what they write, move and delete stays, byte for byte."""

import difflib
import os
import re
import sys

import pytest
from terminal import run

SHOP = """\
import random


class Shelf:
    def __init__(self, name):
        self.name = name
        self.items = []

    def put(self, item):
        self.items.append(item)
        return len(self.items)


def label(name, price=0):
    if price < 0:
        raise ValueError("negative price")
    return f"{name}: {price or 'free'}"


def draw(names):
    return random.choice(names)
"""

USE = """\
import shop

shelf = shop.Shelf("fruit")
shelf.put("apple")
print(shop.label("apple", 3), shop.label("pear"))
try:
    shop.label("kiwi", -1)
except ValueError:
    pass
shop.draw(["ann", "bob", "cy", "dee", "eve", "fay"])
"""


class Project:
    def __init__(self, folder, style="pytest"):
        self.folder = folder
        self.style = style
        (folder / "shop.py").write_text(SHOP)
        (folder / "use.py").write_text(USE)
        (folder / "tests").mkdir()
        self.path = folder / "tests/test_shop.py"
        self.capture()

    def capture(self):
        done = self.command("capture", "--quiet", "--", sys.executable, "use.py")
        assert done.returncode == 0, done.stdout

    def generate(self, *words, status=0):
        done = self.command("generate", "shop", "--style", self.style, *words)
        assert done.returncode == status, done.stdout
        assert "Traceback" not in done.stdout
        return done.stdout

    def command(self, *words):
        return run([sys.executable, "-m", "testwright", *words], self.folder)

    def run_tests(self):
        runner = ["pytest", "-q", "tests"]
        if self.style == "unittest":
            runner = ["unittest", "discover", "tests"]
        return run([sys.executable, "-m", *runner], self.folder)

    def read(self):
        return self.path.read_bytes()


@pytest.fixture(params=["pytest", "unittest"])
def project(request, tmp_path):
    return Project(tmp_path, request.param)


def texts_of_tests(text):
    """Returns the text of each test, from its `def` line to the next test, class or end of file."""
    parts = re.split(r"(?m)^(?=    def test_|class |if __name__)", text)
    return [part for part in parts if part.startswith("    def test_")]


def only_inserted(before, after):
    """Returns true if the only change is inserted lines."""
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return all(kind in ("equal", "insert") for kind, *_ in changes)


def test_comments_order_and_deletions_stay(project):
    project.generate()
    text = project.read().decode()
    tests = texts_of_tests(text)
    assert len(tests) >= 5, text
    # One gets a comment, one is deleted, two are swapped, one is renamed.
    label = [test for test in tests if "label(" in test]
    edited = text.replace(label[0], "").replace(
        label[1], label[1].replace("\n", "\n        # The shop's own words.\n", 1)
    )
    put = next(test for test in tests if "put(" in test)
    created = next(test for test in tests if "Shelf(" in test and "put(" not in test)
    one, other = edited.index(created), edited.index(put)
    first, second = sorted([(one, created), (other, put)])
    between = edited[first[0] + len(first[1]) : second[0]]
    whole = first[1] + between + second[1]
    assert whole in edited
    swapped = second[1].rstrip("\n") + "\n\n" + between + first[1].rstrip("\n") + "\n\n\n"
    edited = edited.replace(whole, swapped)
    edited = re.sub(
        r"def test_\w*(draw|ann|bob|returns)\w*\(self, monkeypatch",
        "def test_of_mine(self, monkeypatch",
        edited,
    )
    project.path.write_text(edited)
    assert project.run_tests().returncode == 0, project.run_tests().stdout
    expected = project.read()
    # Neither the same recording nor a new one of the same program brings anything back.
    project.generate()
    assert project.read() == expected
    project.capture()
    project.generate()
    assert project.read() == expected
    project.generate("--force")
    kept = project.read().decode()
    assert "# The shop's own words." in kept
    assert label[0] not in kept
    assert kept.count("def test_") == edited.count("def test_")


ENDINGS = {
    "windows": ("\r\n", b"", "utf-8"),
    "mark": ("\n", b"\xef\xbb\xbf", "utf-8"),
    "cookie": ("\n", b"", "latin-1"),
}


@pytest.mark.soak(keep=2)
@pytest.mark.parametrize("kind", ENDINGS)
def test_bytes_of_a_file_stay(tmp_path, kind):
    project = Project(tmp_path)
    end, mark, encoding = ENDINGS[kind]
    lines = [
        "# -*- coding: latin-1 -*-" if encoding != "utf-8" else "# Mine.",
        "import shop  # as I like it",
        "",
        "",
        "class TestLabel:",
        "\tdef test_mine(self):  # caf\xe9",
        '\t\tassert shop.label("x") == "x: free"',
        "",
        "# The end, without a newline",
    ]
    before = mark + end.join(lines).encode(encoding)
    project.path.write_bytes(before)
    project.generate()
    after = project.read()
    assert after.count(b"def test_") > 4, after
    assert only_inserted(before.splitlines(keepends=True)[:-1], after.splitlines(keepends=True))
    assert after.startswith(mark)
    assert after.count(b"\n") == after.count(end.encode())
    # New methods of an existing class have its indentation.
    methods = [
        line for line in after.splitlines() if b"test_returns_pear" in line or b"_free" in line
    ]
    assert not methods or methods[0].startswith(b"\t")
    assert project.run_tests().returncode == 0, project.run_tests().stdout
    project.generate("--force")
    assert project.read() == after


def test_a_file_that_does_not_parse_is_left_alone(project):
    project.generate()
    broken = project.read().replace(b"class TestLabel", b"class TestLabel(", 1)
    project.path.write_bytes(broken)
    (project.folder / "use.py").write_text(USE + 'shop.label("", 5)\n')
    project.capture()
    told = project.generate("--force", status=1)
    assert "tests/test_shop.py" in told
    assert re.search(r"line \d+", told), told
    assert project.read() == broken


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    project = Project(tmp_path)
    os.rmdir(tmp_path / "tests")
    (tmp_path / "tests").write_text("I am a file")
    told = project.generate(status=2)
    assert "tests" in told and "nothing was written" in told
    assert (tmp_path / "tests").read_text() == "I am a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing keeps the superuser from writing")
def test_a_read_only_folder_is_reported(tmp_path):
    project = Project(tmp_path)
    (tmp_path / "tests").chmod(0o555)
    try:
        told = project.generate(status=2)
    finally:
        (tmp_path / "tests").chmod(0o755)
    assert "nothing was written" in told
    assert list((tmp_path / "tests").iterdir()) == []
