"""`testwright conform`: checks a log against a model."""

import pytest
from small_models import write_modules


@pytest.fixture
def models(testwright):
    """Writes small models to a folder."""
    write_modules(testwright)
    return testwright


LOGS = {
    "allowed": (
        "Pile",
        ['{"action": "Push", "arguments": [1]}', "", '{"action": "Pop", "result": 1}'],
        "1 run, 2 steps: the model allows all of it\n",
    ),
    "with values that are not in the domain": (
        "Pile",
        ['{"action": "Push", "arguments": ["ü😀"]}', '{"action": "Pop", "result": "ü😀"}'],
        "1 run, 2 steps: the model allows all of it\n",
    ),
    "several runs": (
        "Pile",
        ['{"action": "Push", "arguments": [1]}', '{"action": "Pop"}', '{"restart": true}', '{"action": "Push", "arguments": [1]}', '{"action": "Pop"}'],
        "2 runs, 4 steps: the model allows all of it\n",
    ),
    "refused by a guard": (
        "Pile",
        ['{"action": "Pop"}'],
        'log:1: not allowed after 0 steps\n    {"action": "Pop"}\n  in the state {\'Pile\': {\'items\': []}}\n'
        "  Pile: the guard `PopEnabled` says no\n  possible there: Push(1,), Push(2,)\n",
    ),
    "refused by a scenario": (
        "Pile TwoOnly",
        ['{"action": "Push", "arguments": [1]}'],
        'log:1: not allowed after 0 steps\n    {"action": "Push", "arguments": [1]}\n'
        "  in the state {'Pile': {'items': []}, 'TwoOnly': 0}\n"
        "  TwoOnly: in its state 0 it lets only Push(2,) happen\n  possible there: Push(2,)\n",
    ),
    "another result": (
        "Pile",
        ['{"action": "Push", "arguments": [1]}', '{"action": "Pop", "result": 2}'],
        'log:2: not allowed after 1 step\n    {"action": "Pop", "result": 2}\n'
        "  in the state {'Pile': {'items': [1]}}\n  the model says that the result is 1\n"
        "  possible there: Push(1,), Push(2,), Pop() / 1\n",
    ),
    "more arguments than it takes": (
        "Pile",
        ['{"action": "Push", "arguments": [1, 2]}'],
        'log:1: not allowed after 0 steps\n    {"action": "Push", "arguments": [1, 2]}\n'
        "  in the state {'Pile': {'items': []}}\n  Pile: its domains have no such arguments\n"
        "  possible there: Push(1,), Push(2,)\n",
    ),
    "what could have been observed instead": (
        "Line",
        ['{"action": "Put", "arguments": ["a"]}', '{"action": "Put", "arguments": ["b"]}', '{"action": "Got", "arguments": ["b"]}'],
        'log:3: not allowed after 2 steps\n    {"action": "Got", "arguments": ["b"]}\n'
        "  in the state {'Line': {'waiting': ('a', 'b')}}\n  Line: the guard `is_first` says no\n"
        "  possible there: Got('a',)\n",
    ),
    "an unknown action": (
        "Pile",
        ['{"action": "Größe"}'],
        'log:1: not allowed after 0 steps\n    {"action": "Größe"}\n  in the state {\'Pile\': {\'items\': []}}\n'
        "  no model knows an action of that name\n  possible there: Push(1,), Push(2,)\n"
        "  the actions are `Push`, `Pop`; `--rename Größe=NAME` or `--ignore Größe` may be meant\n",
    ),
    "a run that may not end": (
        "Pile",
        ['{"action": "Push", "arguments": [1]}', '{"restart": true}'],
        "log:2: the run ends here, and may not\n  in the state {'Pile': {'items': [1]}}\n",
    ),
    "the last run may not end": (
        "Pile",
        ['{"action": "Push", "arguments": [1]}'],
        "log:1: the run ends here, and may not\n  in the state {'Pile': {'items': [1]}}\n",
    ),
    "either way of a machine": (
        "Fork",
        ['{"action": "Go"}', '{"action": "Right"}'],
        "1 run, 2 steps: the model allows all of it\n",
    ),
    "neither way of a machine": (
        "Fork",
        ['{"action": "Go"}', '{"action": "Go"}'],
        'log:2: not allowed after 1 step\n    {"action": "Go"}\n'
        "  in the state {'Fork': 'a'}\n  Fork: in its state 'a' it lets only Left() happen\n  possible there: Left()\n"
        "  in the state {'Fork': 'b'}\n  Fork: in its state 'b' it lets only Right() happen\n  possible there: Right()\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_logs(models, name):
    names, lines, said = LOGS[name]
    models.write("log", "\n".join(lines) + "\n")
    status = 0 if "allows all" in said else 1
    done = models("conform", *names.split(), "log", status=status)
    assert done.stdout == said
    assert done.stderr == ""


def test_an_unfinished_log_can_be_allowed(models):
    models.write("log", '{"action": "Push", "arguments": [1]}\n')
    done = models("conform", "Pile", "--open-end", "log")
    assert done.stdout == "1 run, 1 step: the model allows all of it\n"


BAD_LOGS = {
    "no JSON": (
        '{"action": "Push", "arguments": [1]}\n\n{"action": "Püsh", arguments: [1]}\n',
        """\
error[unreadable-log]: this is not JSON: key must be a string
 --> log:3:20
  |
3 | {"action": "Püsh", arguments: [1]}
  |                    ^^^^^^^^^^^^^^^
  |
  = help: a line is like {"action": "Push", "arguments": [1], "result": null}

1 error in log
""",
    ),
    "cut off": (
        '{"action": "Push", "arguments": [1',
        """\
error[unreadable-log]: this is not JSON: EOF while parsing a list
 --> log:1:34
  |
1 | {"action": "Push", "arguments": [1
  |                                  ^
  |
  = help: a line is like {"action": "Push", "arguments": [1], "result": null}

1 error in log
""",
    ),
    "no object": (
        "[1]\n",
        """\
error[unreadable-log]: a line should be a JSON object
 --> log:1:1
  |
1 | [1]
  | ^^^
  |
  = help: a line is like {"action": "Push", "arguments": [1], "result": null}

1 error in log
""",
    ),
    "no action": ('{"arguments": []}\n', "there is no `action`, or it is not a text"),
    "arguments that are no list": (
        '{"action": "Pop", "arguments": 1}\n',
        "`arguments` should be a list",
    ),
    "empty": ("\n\n", "error: the log `log` is empty\n"),
}


@pytest.mark.parametrize("name", BAD_LOGS)
def test_logs_that_cannot_be_read(models, name):
    text, said = BAD_LOGS[name]
    models.write("log", text)
    done = models("conform", "Pile", "log", status=2)
    assert said in done.stderr
    assert done.stdout == ""


def test_a_log_that_is_missing_or_not_text(models):
    assert models("conform", "Pile", "log", status=2).stderr == "error: there is no file `log`\n"
    (models.folder / "log").write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in models("conform", "Pile", "log", status=2).stderr
    done = models("conform", "Pile", status=2)
    assert done.stderr == (
        "error: a model and a log are needed\n |\n"
        " = help: the log comes last: `testwright conform MODEL LOG`\n"
    )
