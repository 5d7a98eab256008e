"""`testwright markov`: how often actions follow each other in given tests."""

import pytest

A = "int0 = 1\nstack0 = stack.Stack()\nstack0.push(int0)\nstack0.push(int0)\n"
B = "stack1 = stack.Stack()\nint1 = 4\nstack1.push(int1)\nstack1.pop()\nstack1.push(int1)\n"

MODEL = """\
1
START CLASS
<int> := <[1..5]>
END CLASS
0.5 %%%% <stack> := stack.Stack()
0.5 %%%% <stack>.push(<int>)
START CLASS
<stack> := stack.Stack()
END CLASS
0.5 %%%% <int> := <[1..5]>
0.5 %%%% <stack>.push(<int>)
START CLASS
<stack>.push(<int>)
END CLASS
0.5 %%%% <stack>.push(<int>)
0.5 %%%% {IndexError} <stack>.pop()
START CLASS
{IndexError} <stack>.pop()
END CLASS
1 %%%% <stack>.push(<int>)
"""


@pytest.fixture
def saved(testwright):
    testwright.write("saved/a.test", A)
    testwright.write("saved/deep/b.test", B)
    return testwright


def test_frequencies_are_written(saved):
    arguments = ["markov", "saved", "--harness", "stack.tstl", "--order", "1"]
    done = saved(*arguments, "--out", "größe.markov")
    assert done.stdout == (
        "Learned from 2 tests, 9 steps: what follows 4 runs of 1 step\nWritten to größe.markov\n"
    )
    assert (saved.folder / "größe.markov").read_text(encoding="utf-8") == MODEL
    assert saved(*arguments).stdout == MODEL


def test_any_order_of_the_model(saved):
    model = saved("markov", "saved", "--harness", "stack.tstl", "--order", "0").stdout
    assert model.startswith("0\nSTART CLASS\nEND CLASS\n")
    assert model.count("%%%%") == 4
    model = saved("markov", "saved", "--harness", "stack.tstl", "--order", "4").stdout
    assert model.startswith("4\n") and model.count("START CLASS") == 1
    done = saved("markov", "saved", "--harness", "stack.tstl", "--order", "5", status=2)
    assert "no test is longer than 5 steps" in done.stderr
    saved("markov", "saved", "--harness", "stack.tstl", "--order", "-1", status=2)


def test_unknown_tests_are_left_out(saved):
    saved.write("saved/c.test", "stack7 = stack.Stack()\n")
    done = saved("markov", "saved", "--harness", "stack.tstl", "--order", "1")
    assert done.stdout == MODEL
    assert "unknown-step" in done.stderr


def test_no_file_is_overwritten(saved):
    arguments = ["markov", "saved", "--harness", "stack.tstl", "--out"]
    done = saved(*arguments, "saved/a.test", status=2)
    assert "it is one of the tests, which would be lost" in done.stderr
    done = saved(*arguments, "no/x.markov", status=2)
    assert "its folder does not exist" in done.stderr
    (saved.folder / "empty").mkdir()
    saved("markov", "empty", "--harness", "stack.tstl", status=2)
