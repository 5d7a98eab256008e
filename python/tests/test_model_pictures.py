"""Pictures of models and machines: `graph`, `explore --svg`, and the viewers of PyModel, `pmg` and `pmv`."""

import html
import os
import re
import runpy
import xml.etree.ElementTree as xml

import pytest

MODULES = {
    "Switch": """\
is_on = False

def On():
    global is_on
    is_on = True
    return "light"
def OnEnabled(): return not is_on
def Off():
    global is_on
    is_on = False
def OffEnabled(): return is_on

state = ("is_on",)
actions = (On, Off)
enablers = {On: (OnEnabled,), Off: (OffEnabled,)}
""",
    # A hand-written machine with texts that DOT has to escape.
    "Wild": r"""
def Say(): pass
def Go(): pass

graph = (
    (0, (Say, ('a "quoted" word',), None), 1),
    (1, (Say, ("back\\slash\nnew line",), 'said "it"'), 2),
    (2, (Go, (), None), "node"),
    ("node", (Go, (), None), "a-b"),
)
initial = 0
accepting = [2, "node"]
""",
    # All kinds of marks.
    "Marked": """\
def Go(): pass

graph = tuple((0, (Go, (number,), None), number) for number in range(1, 7))
states = {number: {"number": number} for number in range(7)}
initial = 0
accepting = [0, 4]
unsafe = [1]
frontier = [2]
deadend = [3]
finished = [4]
runstarts = [0, 5]
""",
    # Steps to the opposite corner of a square, which is unsafe and a dead end.
    "Square": """\
x = y = 0
SIZE = 3

def Right():
    global x
    x += 1
def RightEnabled(): return x < SIZE
def Down():
    global y
    y += 1
def DownEnabled(): return y < SIZE
def Accepting(): return (x, y) == (0, 0)
def StateInvariant(): return x + y < 6

state = ("x", "y")
actions = (Right, Down)
enablers = {Right: (RightEnabled,), Down: (DownEnabled,)}
""",
}

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def models(testwright):
    for name, text in MODULES.items():
        testwright.write(f"{name}.py", text)
    return testwright


def read(command, file):
    return (command.folder / file).read_text(encoding="utf-8")


def texts(svg):
    """Parses a picture as XML. Returns all its texts."""
    return ["".join(one.itertext()) for one in xml.fromstring(svg).iter(f"{SVG}text")]


# DOT, as PyModel's viewer writes it


SWITCH_DOT = """\
digraph SwitchFSM {

  // Nodes
  0 [ style=filled, shape=ellipse, peripheries=2, fillcolor=lightgray,
      tooltip="{'Switch': {'is_on': False}}" ]
  1 [ style=filled, shape=ellipse, peripheries=2, fillcolor=white,
      tooltip="{'Switch': {'is_on': True}}" ]

  // Transitions
  0 -> 1 [ label="On()/'light'", tooltip="On()/'light'" ]
  1 -> 0 [ label="Off()", tooltip="Off()" ]
}
"""


def test_a_machine_as_dot(models):
    models("compat", "pma", "Switch")
    models("compat", "pmg", "SwitchFSM")
    assert read(models, "SwitchFSM.dot") == SWITCH_DOT


def test_labels_and_tooltips_can_be_chosen(models):
    models("compat", "pma", "Switch")
    models("compat", "pmg", "SwitchFSM", "-l", "name", "-x", "-y", "-o", "sub.name")
    assert (
        read(models, "sub.name.dot")
        == """\
digraph sub {

  // Nodes
  0 [ style=filled, shape=ellipse, peripheries=2, fillcolor=lightgray ]
  1 [ style=filled, shape=ellipse, peripheries=2, fillcolor=white ]

  // Transitions
  0 -> 1 [ label="On" ]
  1 -> 0 [ label="Off" ]
}
"""
    )
    models("compat", "pmg", "SwitchFSM", "-l", "none", "-xy")
    assert '  0 -> 1 [ label="" ]\n' in read(models, "SwitchFSM.dot")
    models("compat", "pmg", "SwitchFSM", "-l", "anything", "second argument")
    assert read(models, "SwitchFSM.dot") == SWITCH_DOT


def test_texts_are_escaped_and_states_without_descriptions_have_no_tooltips(models):
    models("compat", "pmg", "Wild", "-o", "not an identifier")
    assert (
        read(models, "not an identifier.dot")
        == r"""digraph "not an identifier" {

  // Nodes
  0 [ style=filled, shape=ellipse, peripheries=1, fillcolor=lightgray ]
  1 [ style=filled, shape=ellipse, peripheries=1, fillcolor=white ]
  2 [ style=filled, shape=ellipse, peripheries=2, fillcolor=white ]
  "node" [ style=filled, shape=ellipse, peripheries=2, fillcolor=white ]
  "a-b" [ style=filled, shape=ellipse, peripheries=1, fillcolor=white ]

  // Transitions
  0 -> 1 [ label="Say('a \"quoted\" word',)", tooltip="Say('a \"quoted\" word',)" ]
  1 -> 2 [ label="Say('back\\\\slash\\nnew line',)/'said \"it\"'", tooltip="Say('back\\\\slash\\nnew line',)/'said \"it\"'" ]
  2 -> "node" [ label="Go()", tooltip="Go()" ]
  "node" -> "a-b" [ label="Go()", tooltip="Go()" ]
}
"""
    )


def colours(command, file):
    found = re.findall(
        r"^  (\d) \[ .*peripheries=(\d), fillcolor=(\w+)", read(command, file), re.MULTILINE
    )
    return {int(state): (int(lines), colour) for state, lines, colour in found}


def test_marks_are_colours_if_all_of_them_are_there(models):
    models("compat", "pmg", "Marked")
    expected = {
        0: (2, "lightgray"),
        1: (1, "red"),
        2: (1, "orange"),
        3: (1, "yellow"),
        4: (2, "lightgreen"),
        5: (1, "lightgray"),
        6: (1, "white"),
    }
    assert colours(models, "Marked.dot") == expected
    for missing in ("unsafe", "frontier", "deadend", "finished", "runstarts"):
        text = re.sub(rf"^{missing} = .*\n", "", MODULES["Marked"], flags=re.MULTILINE)
        models.write("Less.py", text)
        models("compat", "pmg", "Less")
        plain = {state: (lines, "white") for state, (lines, _) in expected.items()}
        assert colours(models, "Less.dot") == plain | {0: (2, "lightgray")}, missing


def test_the_viewer_explores_and_draws(models):
    done = models("compat", "pmv", "Switch")
    # It prints the commands that it runs.
    assert done.stdout == (
        "pma --maxTransitions 100 Switch\n"
        "2 states, 2 transitions, 2 accepting states, 0 unsafe states\n"
        "pmg --transitionLabels action SwitchFSM\n"
        "dot -Tsvg -o SwitchFSM.svg SwitchFSM.dot\n"
    )
    assert read(models, "SwitchFSM.dot") == SWITCH_DOT
    assert "On()/'light'" in texts(read(models, "SwitchFSM.svg"))
    assert len(runpy.run_path(str(models.folder / "SwitchFSM.py"))["graph"]) == 2


def test_the_viewer_passes_all_options_on(models):
    done = models("compat", "pmv", "Switch", "-m", 0, "-o", "Nothing")
    assert done.stdout.splitlines()[:2] == [
        "pma --maxTransitions 0 --output Nothing Switch",
        "1 states, 0 transitions, 1 accepting states, 0 unsafe states",
    ]
    assert colours(models, "Nothing.dot") == {0: (2, "orange")}
    done = models("compat", "pmv", "Switch", "-m", 1, "-l", "name", "-xy", "-e", "Nobody")
    assert done.stdout.splitlines()[:3] == [
        "pma --exclude Nobody --maxTransitions 1 Switch",
        "2 states, 1 transitions, 2 accepting states, 0 unsafe states",
        "pmg --transitionLabels name --noStateTooltip --noTransitionTooltip SwitchFSM",
    ]
    assert '  0 -> 1 [ label="On" ]' in read(models, "SwitchFSM.dot")
    done = models("compat", "pmv", "Switch", "-m", -1, status=2)
    assert "error: invalid value '-1' for '--maxTransitions <N>'" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a script is not a program there")
def test_the_viewer_uses_graphviz_for_other_formats(models, tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    done = models("compat", "pmv", "Switch", "-T", "png", status=1)
    assert (
        "error: a picture of the kind `png` needs Graphviz, and its program `dot` is not there\n"
        in done.stderr
    )
    assert read(models, "SwitchFSM.dot") == SWITCH_DOT
    dot = programs / "dot"
    dot.write_text(
        '#!/bin/sh\n[ "$1" = -Tpdf ] && [ "$2" = -o ] && read -r line < "$4" && echo "$line" > "$3"\n'
    )
    dot.chmod(0o755)
    models("compat", "pmv", "Switch", "-T", "pdf")
    assert read(models, "SwitchFSM.pdf") == "digraph SwitchFSM {\n"
    done = models("compat", "pmv", "Switch", "-T", "odd", status=1)
    assert "its program `dot` could not draw it\n" in done.stderr


# SVG and pages


def test_models_are_drawn_in_every_way(models):
    done = models("graph", "Switch", "--svg", "s.svg", "--dot", "s.dot", "--html", "s.html")
    assert done.stdout == "Written: s.svg\nWritten: s.dot\nWritten: s.html\n"
    assert read(models, "s.dot") == SWITCH_DOT.replace("SwitchFSM", "Switch")
    assert {"0", "1", "On()/'light'", "Off()"} <= set(texts(read(models, "s.svg")))
    assert "is_on" in html.unescape(read(models, "s.html"))
    models("graph", "Switch", "--svg", "s.svg", "--labels", "name")
    assert "On" in texts(read(models, "s.svg"))
    models("graph", "Switch", "--svg", "s.svg", "--labels", "none")
    assert not [text for text in texts(read(models, "s.svg")) if text.startswith(("On", "Off"))]


def test_explore_and_graph_draw_the_same_picture(models):
    for machine, *options in (("graph",), ("explore", "--keep-going")):
        models(
            machine,
            "Square",
            *options,
            "--svg",
            f"{machine}.svg",
            "--dot",
            f"{machine}.dot",
            "--html",
            f"{machine}.html",
            status=machine == "explore",
        )
    for ending in ("svg", "dot", "html"):
        assert read(models, f"graph.{ending}") == read(models, f"explore.{ending}"), ending


def test_pictures_do_not_disturb_json(models):
    done = models("explore", "Switch", "--json", "--svg", "s.svg", "--html", "s.html")
    assert done.stdout.startswith("{") and done.stdout.count("\n") == 1
    assert (models.folder / "s.svg").is_file() and (models.folder / "s.html").is_file()


def test_a_machine_is_drawn_as_its_module_has_it(models):
    models("graph", "Marked", "--dot", "m.dot", "--svg", "m.svg")
    assert colours(models, "m.dot")[1] == (1, "red"), (
        "what an exploration would find out is not asked"
    )
    assert [text for text in texts(read(models, "m.svg")) if text.startswith("Go(")]
    models("graph", "Wild", "--svg", "w.svg", "--html", "w.html", "--dot", "w.dot")
    written = "".join(xml.fromstring(read(models, "w.svg")).itertext())
    assert 'a "quoted" word' in written and r"back\\slash\nnew line" in written


def test_unsafe_and_dead_states_are_marked(models):
    models("graph", "Square", "--svg", "s.svg", "--dot", "s.dot")
    dot = read(models, "s.dot")
    assert dot.count("fillcolor=red") == 1 and dot.count(" -> ") == 24
    names = [text for text in texts(read(models, "s.svg")) if text.isdigit()]
    assert sorted(names, key=int) == [str(number) for number in range(16)]
    models("graph", "Square", "--dot", "s.dot", "--max", 5)
    assert read(models, "s.dot").count("fillcolor=orange") >= 1


def test_models_of_any_size_are_drawn(models):
    models.write("Long.py", MODULES["Square"].replace("SIZE = 3", "SIZE = 13"))
    models("graph", "Long", "--svg", "l.svg", "--html", "l.html", "--dot", "l.dot")
    names = [text for text in texts(read(models, "l.svg")) if text.isdigit()]
    assert len(names) == 14 * 14
    models.write(
        "Nothing.py", "def Go(): pass\nactions = (Go,)\ngraph = ()\ninitial = 0\naccepting = []\n"
    )
    models("graph", "Nothing", "--svg", "n.svg", "--html", "n.html", "--dot", "n.dot")
    xml.fromstring(read(models, "n.svg"))


def test_pictures_of_products_are_named_after_all_models(models):
    models.write(
        "Once.py",
        "def On(): pass\ngraph = ((0, (On, (), 'light'), 1),)\ninitial = 0\naccepting = [1]\n",
    )
    models("graph", "Switch", "Once.py", "--dot", "p.dot")
    assert read(models, "p.dot").startswith("digraph Switch_Once {")
    models("explore", "Switch", "Once.py", "--dot", "e.dot")
    assert read(models, "e.dot") == read(models, "p.dot")
