"""Runs the examples in README.md and the pages in `docs/`.

The blocks of a page run in order, in a folder with a copy of `examples/`:

- A block whose first line is `# in file NAME` is written to that file.
- Any other ```tstl block is a harness that `testwright check` accepts without a message.
- Any other ```python block is a program that succeeds.
- The ```pycon blocks of a page are one session at a Python prompt, in which `...` stands for anything.
- A ```console block shows commands after `$ `, each with its output. `…` stands for anything within a line,
  and alone in a line for any number of lines.
- ```sh and ```text blocks are not run: they have installation commands and drawings.
"""

import re
import shutil
import sys
from pathlib import Path

import pytest
from terminal import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "examples/README.md", *sorted(ROOT.glob("docs/**/*.md"))]
FENCE = re.compile(r"^```(.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)
NAMED = re.compile(r"\A# in file (\S+)\n")
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@pytest.fixture(params=PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def page(request):
    return request.param


def test_examples_of_a_page_are_true(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    talk(page, tmp_path)
    for line, language, text in blocks(page):
        try:
            play(language, text, tmp_path)
        except AssertionError as error:
            raise AssertionError(f"{page.relative_to(ROOT)}, line {line}: {error}") from None


def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        path, _, heading = target.partition("#")
        if path.startswith(("https://", "http://")):
            continue
        file = page.parent / path if path else page
        assert file.exists(), f"{target} does not exist"
        assert not heading or heading in headings(file), f"{target} has no such heading"


COMMANDS = [
    "check",
    "expand",
    "run",
    "explore",
    "replay",
    "reduce",
    "normalize",
    "generalize",
    "regress",
    "quick",
    "triage",
    "localize",
    "markov",
    "standalone",
    "compile",
    "cover",
    "capture",
    "show",
    "generate",
    "changes",
    "mutate",
    "harness",
    "model",
    "model check",
    "model lint",
    "model test",
    "conform",
    "graph",
    "feature",
    "campaign",
    "campaign list",
    "campaign show",
    "campaign export",
    "campaign prune",
    "explain",
    "measure",
    "compat",
]


#: The commands that run no harness.
WITHOUT_SYSTEM = {
    "check",
    "expand",
    "compile",
    "cover",
    "capture",
    "show",
    "generate",
    "changes",
    "mutate",
    "harness",
    "model",
    "conform",
    "campaign",
    "explain",
    "measure",
    "compat",
}


#: The commands that take saved tests.
WITH_TESTS = set(
    "replay reduce normalize generalize regress quick triage localize markov standalone graph feature".split()
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(command):
    text = (ROOT / "docs/guide/commands.md").read_text(encoding="utf-8")
    common = rows(text, "These are common to")
    explained = rows(text, f"## {command}\n") | {"--help"}
    if command.split()[0] not in WITHOUT_SYSTEM:
        explained |= common
    if command == "run":
        explained |= rows(text, "The tests run in worker processes")
    if command in WITH_TESTS:
        explained |= rows(text, "All commands that take saved tests have")
    if command in {"run", "replay", "regress"}:
        explained |= rows(text, "lines and branches the tests reach")
    usage = run([sys.executable, "-m", "testwright", *command.split(), "--help"], ROOT).stdout
    offered = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", usage, re.MULTILINE))
    assert explained == offered


def rows(text, start):
    """Returns the options in the first table after a text, or none if another chapter comes first."""
    chapter = text.split(start, 1)[1].split("\n## ")[0]
    table = re.search(r"^\| option .*\n(?:\|.*\n)+", chapter, re.MULTILINE)
    return set(re.findall(r"^\| `(--[a-z-]+)", table[0], re.MULTILINE)) if table else set()


def headings(file):
    """Returns the anchors of the headings of a page."""
    lines = FENCE.sub("", file.read_text(encoding="utf-8")).splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def blocks(page):
    """Returns (line, language, text) of every fenced block."""
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") % 2 == 0, f"{page.name} has a block without an end"
    for block in FENCE.finditer(text):
        yield text.count("\n", 0, block.start()) + 1, block[1], block[2]


def play(language, text, folder):
    named = NAMED.match(text)
    if named and language in {"tstl", "python", "ini", "text"}:
        (folder / named[1]).write_text(text, encoding="utf-8")
    elif language == "tstl":
        (folder / "block.tstl").write_text(text, encoding="utf-8")
        done = shell("testwright check block.tstl", folder)
        assert done.returncode == 0 and "no problems" in done.stdout, done.stdout
    elif language == "python":
        done = run([sys.executable, "-c", text], folder)
        assert done.returncode == 0, done.stdout
    elif language == "console":
        for command, expected in conversation(text):
            printed = shell(command, folder).stdout
            assert matches(expected, printed), f"{command} prints\n{printed}"
    else:
        assert language in {"sh", "text", "pycon"}, f"no block is marked `{language}`"


PROMPT = """\
import doctest
import sys

failed, _ = doctest.testfile(sys.argv[1], module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
sys.exit(failed > 0)
"""


def talk(page, folder):
    """Runs the session at a Python prompt that a page shows."""
    text = "\n".join(text for _, language, text in blocks(page) if language == "pycon")
    if text:
        (folder / "conversation.txt").write_text(text, encoding="utf-8")
        done = run([sys.executable, "-c", PROMPT, "conversation.txt"], folder)
        assert done.returncode == 0, done.stdout


def conversation(text):
    """Returns (command, output) pairs of a console block."""
    assert text.startswith("$ "), "a console block starts with a command"
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def matches(expected, printed):
    """Returns true if a text is as expected, with `…` for anything."""
    pattern = ""
    for line in expected.rstrip().split("\n"):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            parts = (re.escape(part) for part in line.rstrip().split("…"))
            pattern += ".*?".join(parts) + r" *\n"
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


def test_dots_stand_for_anything():
    assert matches("a … c\n", "a b c\n")
    assert not matches("a … c\n", "a b\nc\n")
    assert matches("a\n…\nd\n", "a\nb\nc\nd\n")
    assert matches("a\n…\n", "a\n")
    assert not matches("a\n", "a\nb\n")


def shell(command, folder):
    return run(["sh", "-c", command], folder)
