"""`testwright explain` and `testwright measure`."""

PLATES = """\
'''A pile of plates.'''
plates = []

def put(plate):
    plates.append(plate)

def take():
    return plates.pop()

state = ('plates',)
actions = (put, take)
enablers = {take: (lambda: plates,)}
"""


def test_a_model_is_explained(testwright):
    testwright.write("plates.py", PLATES)
    done = testwright("explain", "plates.py")
    assert done.stdout.startswith("Model: plates\n  A pile of plates.\n\nWhat is remembered:\n")
    assert "  When it can happen: only if the plates are not empty.\n" in done.stdout
    assert done.stderr == ""


def test_nothing_is_run(testwright):
    testwright.write("boom.py", PLATES + "\nraise SystemExit('imported!')\n")
    testwright("explain", "boom.py")


def test_a_harness_is_explained(testwright):
    done = testwright("explain", "stack.tstl")
    assert done.stdout.startswith("Test harness: stack\n")
    assert "\nAction: choose an int\n" in done.stdout


def test_formats(testwright):
    testwright.write("plates.py", PLATES)
    assert testwright("explain", "plates.py", "--format", "md").stdout.startswith("# Model: plates")
    page = testwright("explain", "plates.py", "--format", "html").stdout
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
    assert '<section id="action-take">' in page


def test_one_machine_of_several(testwright):
    machine = "class {0}(RuleBasedStateMachine):\n    @rule()\n    def {1}(self): self.n = 1\n"
    testwright.write("machines.py", machine.format("One", "a") + machine.format("Two", "b"))
    assert "Action: a\n" in testwright("explain", "machines.py").stdout
    assert "Action: b\n" in testwright("explain", "machines.py::Two").stdout
    done = testwright("explain", "machines.py::Three", status=2)
    assert "error: `machines.py` has no machine `Three`" in done.stderr
    assert "there is `One`, `Two`" in done.stderr


def test_levels_of_detail(testwright):
    testwright.write("plates.py", PLATES)
    brief = testwright("explain", "plates.py", "--brief").stdout
    normal = testwright("explain", "plates.py").stdout
    full = testwright("explain", "plates.py", "-v").stdout
    trace = testwright("explain", "plates.py", "-vv").stdout
    assert "It returns" not in brief and "It returns" in normal
    assert "Source: plates.py, lines 4 to 5." in full and "Source:" not in normal
    assert "`plates.append(plate)`" in trace and "`" not in full
    testwright("explain", "plates.py", "-v", "--brief", status=2)


def test_a_file_without_a_model(testwright):
    testwright.write("empty.py", "x = 1\n")
    done = testwright("explain", "empty.py", status=2)
    assert "error: `empty.py` has neither a model nor a machine" in done.stderr
    assert "help: " in done.stderr
    done = testwright("explain", "missing.py", status=2)
    assert "there is no file `missing.py`" in done.stderr


def test_syntax_errors(testwright):
    testwright.write("broken.py", "def f(:\n    pass\n")
    done = testwright("explain", "broken.py", status=2)
    assert "error[python-syntax]" in done.stderr and " --> broken.py:1:7" in done.stderr
    testwright.write("broken.tstl", "pool: <x> 1\n<y>.f()\n")
    done = testwright("explain", "broken.tstl", status=2)
    assert "error[unknown-pool]" in done.stderr


def test_names_and_idioms(testwright):
    testwright.write("plates.py", PLATES)
    testwright.write("words.idioms", "[names]\nplates = pile\ntake = lift\n")
    testwright.write("more.idioms", "[names]\nplates = heap\nput = lay\n")
    done = testwright("explain", "plates.py", "--names", "words.idioms", "--names", "more.idioms")
    assert "Action: lift\n" in done.stdout and "Action: lay\n" in done.stdout
    assert "the pile" in done.stdout and "heap" not in done.stdout


def test_a_wrong_idiom_is_pointed_at(testwright):
    testwright.write("plates.py", PLATES)
    testwright.write("bad.idioms", "[idiom x]\nkind = effect\nmatsch = f()\nsay = y\n")
    done = testwright("explain", "plates.py", "--names", "bad.idioms", status=2)
    assert "error[bad-idiom]" in done.stderr and " --> bad.idioms:3:1" in done.stderr


def test_unmatched_expressions_are_idioms_already(testwright):
    stubs = testwright("explain", "stack.tstl", "--unmatched").stdout
    assert "match = $o.push($a)" in stubs
    testwright.write("stubs.idioms", stubs)
    testwright("explain", "stack.tstl", "--names", "stubs.idioms")


def test_versions_are_compared(testwright):
    testwright.write("old.py", PLATES)
    testwright.write("new.py", PLATES.replace("lambda: plates", "lambda: len(plates) > 1"))
    done = testwright("explain", "new.py", "--diff", "old.py")
    assert "  - Now also requires: the plates have more than 1 element" in done.stdout
    assert "  - No longer requires: the plates are not empty.\n" in done.stdout
    assert testwright("explain", "old.py", "--diff", "old.py").stdout == "Nothing has changed.\n"
    testwright("explain", "new.py", "old.py", "--diff", "old.py", status=2)


def test_written_explanations_are_kept_up_to_date(testwright):
    testwright.write("plates.py", PLATES)
    done = testwright("explain", "plates.py", "--check", "told", status=1)
    assert "plates.explanation.md: not written yet" in done.stdout
    testwright("explain", "plates.py", "--out", "told")
    text = (testwright.folder / "told/plates.explanation.md").read_text(encoding="utf-8")
    assert text.startswith("# Model: plates\n")
    testwright("explain", "plates.py", "--check", "told")
    testwright.write("plates.py", PLATES.replace("plates.pop()", "plates.pop(0)"))
    done = testwright("explain", "plates.py", "--check", "told", status=1)
    expected = "plates.explanation.md: Action: take: the text no longer matches the model\n"
    assert done.stdout.endswith(expected) and "put" not in done.stdout


def test_too_many_outcomes(testwright):
    lines = [
        f"    if x[{n}]:\n        if y[{n}]: return {n}\n        t.append({n})" for n in range(20)
    ]
    text = "t = []\ndef act(x, y):\n" + "\n".join(lines) + "\nstate = ('t',)\nactions = (act,)\n"
    testwright.write("branches.py", text)
    done = testwright("explain", "branches.py", "--max-outcomes", "5")
    assert "because the limit of 5 was reached." in done.stdout
    assert done.stdout.endswith(
        "Note: this explanation is incomplete. 1 action has more than 5 possible outcomes.\n"
    )


def test_figures(testwright):
    testwright.write("plates.py", PLATES)
    testwright.write("bad.txt", "It returns None if x == 3.\n")
    done = testwright("measure", "plates.py", "bad.txt")
    assert done.stdout.startswith("plates.py: ") and "\nbad.txt: 1 sentence\n" in done.stdout
    assert "not reached" in done.stdout
    testwright.write("good.txt", "The plates are empty.\n")
    testwright("measure", "good.txt", "--check")
    testwright("measure", "bad.txt", "--check", status=1)
    testwright("measure", "missing.txt", status=2)
