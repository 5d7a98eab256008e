"""Recorded calls with every kind of side effect become tests that pass: see `side-effects.md`."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).with_name("side-effects.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
CHAPTER = re.compile(r"^### (.*)\n", re.MULTILINE)


def chapters():
    """Returns the blocks of each chapter by its name: a module, its use, and perhaps the tests."""
    pieces = CHAPTER.split(DOCUMENT.read_text())[1:]
    return {name: BLOCK.findall(text) for name, text in zip(pieces[::2], pieces[1::2])}


CHAPTERS = chapters()


def module_of(name):
    # It must not be the name of a standard module.
    return "my_" + re.sub(r"\W", "_", name).lower()


def command(folder, *words, **settings):
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=600, **settings
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Records all uses in a folder and generates the tests."""
    folder = tmp_path_factory.mktemp("effects")
    for name, (module, use, *_) in CHAPTERS.items():
        module_name = module_of(name)
        (folder / f"{module_name}.py").write_text(module)
        (folder / f"use_{module_name}.py").write_text(f"from {module_name} import *\n\n{use}")
        words = ["capture", "--quiet", "--scope", module_name, "--"]
        words = [sys.executable, "-m", "testwright", *words]
        done = command(
            folder,
            *words,
            sys.executable,
            f"use_{module_name}.py",
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    for style in ("pytest", "unittest"):
        words = ["generate", "--style", style, "--out", f"tests_{style}"]
        done = command(folder, sys.executable, "-m", "testwright", *words)
        assert done.returncode == 0, done.stdout + done.stderr
    if os.environ.get("UPDATE_EXPECTATIONS"):
        update(folder)
    return folder


def text_of(folder, name, style="pytest"):
    path = folder / f"tests_{style}" / f"test_{module_of(name)}.py"
    text = path.read_text() if path.exists() else "# Nothing was written.\n"
    # The identifiers of the tests mean nothing to a reader.
    text = re.sub(r"^ *# tw:.*\n", "", text, flags=re.MULTILINE)
    return VARYING[name](text) if name in VARYING else text


def without(pattern, instead):
    return lambda text: re.sub(pattern, instead, text)


#: Texts that differ between runs or machines.
VARYING = {
    "host and user": without(
        rf"(?i)linux|darwin|{re.escape(socket.gethostname())}|(?<=lambda: )[0-9]+|returns_\w+",
        "…",
    ),
    "secrets and unique numbers": without(
        r'(?m)[0-9a-f]{8}(-[0-9a-f-]+)?|b("|\').*\2(?=\)$)|returns_\w+', "…"
    ),
    "socket made": without(r"\b[0-9]{4,5}\b", "…"),
}


def update(folder):
    """Writes the generated tests into the document."""
    pieces = CHAPTER.split(DOCUMENT.read_text())
    for place in range(1, len(pieces), 2):
        name, text = pieces[place], pieces[place + 1]
        first, second, *_ = BLOCK.finditer(text)
        rest = BLOCK.sub("", text[second.end() :], count=1).lstrip("\n")
        block = f"\n```python\n{text_of(folder, name)}```\n"
        pieces[place] = f"### {name}\n"
        pieces[place + 1] = text[: second.end()] + block + ("\n" + rest if rest else "")
    DOCUMENT.write_text("".join(pieces))
    CHAPTERS.update(chapters())


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_text_is_as_expected(written, name):
    assert text_of(written, name) == CHAPTERS[name][2]


@pytest.mark.parametrize("style", ["pytest", "unittest"])
def test_all_pass(written, style):
    folder = f"tests_{style}"
    runner = ["pytest", "-q", folder] if style == "pytest" else ["unittest", "discover", folder]
    done = command(written, sys.executable, "-m", *runner)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_text_has_no_machine_paths(written):
    for path in written.glob("tests_*/*.py"):
        text = path.read_text()
        assert str(written) not in text
        assert " at 0x" not in text or path.name == "testwright_helpers.py"
