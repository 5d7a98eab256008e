"""`testwright check` and `testwright expand`."""

import signal
import subprocess

import pytest


def test_a_correct_harness(testwright):
    done = testwright("check", "stack.tstl")
    assert done.stdout == "stack.tstl: 20 actions from 5 lines, 1 property, no problems\n"
    assert done.stderr == ""


def test_all_problems_of_all_files(testwright):
    testwright.write("bad.tstl", "pool: <int> 2\n<int> := 1\n<imt>.x()\n<int>.f(\n")
    testwright.write("worse.tstl", "pool: <int> 2\n<int> := )\n")
    done = testwright("check", "bad.tstl", "stack.tstl", "worse.tstl", "missing.tstl", status=2)
    assert " --> bad.tstl:3:1" in done.stderr
    assert " --> bad.tstl:4:" in done.stderr
    assert "errors in bad.tstl\n" in done.stderr
    assert " --> worse.tstl:2:" in done.stderr
    assert "error: there is no file `missing.tstl`" in done.stderr
    assert done.stdout.startswith("stack.tstl: 20 actions")


def test_nothing_of_the_system_is_run(testwright):
    testwright.write("boom.py", "raise SystemExit('imported!')\n\ndef f(): pass\n")
    testwright.write("boom.tstl", "@import boom\n\npool: <x> 1\n<x> := boom.f()\n")
    testwright("check", "boom.tstl")


def test_an_empty_file(testwright):
    testwright.write("empty.tstl", "")
    done = testwright("check", "empty.tstl", status=2)
    assert "empty.tstl" in done.stderr


def test_not_utf8(testwright):
    testwright.write("latin.tstl", "pool: <x> 1\n<x> := 'caf\u00e9'\n", encoding="latin-1")
    done = testwright("check", "latin.tstl", status=2)
    assert "`latin.tstl` is not UTF-8 text: line 2" in done.stderr
    assert "help: save the file again" in done.stderr


def test_a_folder_is_no_harness(testwright):
    for command in ("check", "expand", "run"):
        done = testwright(command, ".", status=2)
        assert "`.` is a folder, not a file" in done.stderr


def test_unicode_file_names(testwright):
    testwright.write(
        "\u540d\u524d/na\u00efve \U0001f980.tstl", (testwright.folder / "stack.tstl").read_text()
    )
    done = testwright("check", "\u540d\u524d/na\u00efve \U0001f980.tstl")
    assert done.stdout.startswith("\u540d\u524d/na\u00efve \U0001f980.tstl: 20 actions")


def test_templates(testwright):
    done = testwright("expand", "stack.tstl")
    assert done.stdout == (
        "line  actions  template\n"
        "   6       10  <int> = <[1..5]>\n"
        "   7        2  <stack> = stack.Stack()\n"
        "   8        4  <stack>.push(<int>)\n"
        "   9        2  <stack>.pop()\n"
        "  10        2  <stack>.top()\n"
    )
    assert testwright("expand", "stack.tstl", "--templates").stdout == done.stdout


def test_count(testwright):
    assert testwright("expand", "stack.tstl", "--count").stdout == "20 actions from 5 lines\n"


def test_actions(testwright):
    lines = testwright("expand", "stack.tstl", "--actions").stdout.splitlines()
    assert len(lines) == 20
    assert lines[0] == "int0 = 1"
    assert lines[-1] == "stack1.top()"


def test_a_hundred_thousand_actions(testwright):
    pools = "".join(f"pool: <p{number}> 10\n" for number in range(5))
    testwright.write("big.tstl", f"{pools}<p0> := 1\nprint(<p0>, <p1>, <p2>, <p3>, <p4>)\n")
    assert testwright("expand", "big.tstl", "--count").stdout == "100010 actions from 2 lines\n"
    testwright("check", "big.tstl")


def test_a_reader_that_closes_the_pipe_early(testwright):
    testwright.write("big.tstl", "pool: <x> 1\n<x> := <[1..1000000]>\n")
    lister = testwright.start("expand", "big.tstl", "--actions")
    head = subprocess.run(["head", "-1"], stdin=lister.stdout, capture_output=True, text=True)
    lister.stdout.close()
    assert head.stdout == "x0 = 1\n"
    assert lister.stderr.read() == ""
    assert lister.wait(timeout=30) == 0


def test_ctrl_c_ends_a_long_list_at_once(testwright):
    testwright.write("big.tstl", "pool: <x> 1\n<x> := <[1..1000000000]>\n")
    lister = testwright.start("expand", "big.tstl", "--actions", stdin=subprocess.DEVNULL)
    assert lister.stdout.readline() == "x0 = 1\n"
    lister.send_signal(signal.SIGINT)
    lister.communicate(timeout=5)
    assert lister.returncode == -signal.SIGINT


def test_bad_patterns_are_reported_with_errors_in_the_text(testwright):
    testwright.write(
        "both.tstl",
        "pool: <x> 1 REF\nreference: ( ==> y\n<x> := 1\npropperty: <x> == 1\n",
    )
    done = testwright("check", "both.tstl", status=2)
    assert "error[unknown-keyword]" in done.stderr
    assert "this is not a valid regular expression" in done.stderr


MODEL = """\
is_on = False
def Flip():
    global is_on
    is_on = not is_on
state = ("is_on",)
actions = (Flip,)
"""


@pytest.mark.parametrize("command", ["check", "expand", "compile"])
def test_a_model_is_named_with_the_commands_for_it(testwright, command):
    testwright.write("Switch.py", MODEL)
    for name in ("Switch.py", "Switch"):
        done = testwright(command, name, status=2)
        assert f"`testwright {command}` takes harnesses; `{name}` is a model" in done.stderr
        assert f"`testwright model lint {name}`" in done.stderr
    # Other Python code gets the advice for Python code.
    done = testwright(command, "stack.py", status=2)
    assert "is a model" not in done.stderr
    testwright.write("machine.py", "from hypothesis.stateful import RuleBasedStateMachine\n")
    assert "is a model" not in testwright(command, "machine.py", status=2).stderr


@pytest.mark.parametrize("form", ["--templates", "--count", "--actions"])
def test_expanding_a_harness_with_errors_is_not_green(testwright, form):
    testwright.write("broken.tstl", "pool: <x> 1\n<x> := 1\n<x> + foo bar\n")
    done = testwright("expand", "broken.tstl", form, status=2)
    assert done.stdout and "error[host-syntax]" in done.stderr
