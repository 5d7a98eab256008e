"""`testwright mutate`: mutation testing."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from terminal import run

FARE = """\
LIMIT = 6
RATES = {"child": 1, "adult": 2}


def rate(age):
    return RATES["child"] if age < LIMIT else RATES["adult"]


class Ticket:
    def __init__(self, age, zones=1):
        self.age = age
        self.zones = zones
        self.log = []

    def price(self):
        price = 0
        for zone in range(self.zones):
            price += rate(self.age)
        self.log.append(price)
        return price


def unused(x):
    return x + 1
"""

TESTS = """\
from fare import Ticket, rate


def test_rates():
    assert rate(3) == 1
    assert rate(30) == 2


class TestTicket:
    def test_price(self):
        assert Ticket(30, 3).price() == 6

    def test_log(self):
        ticket = Ticket(3)
        ticket.price()
        assert ticket.log == [1]
"""


def command(folder, *words):
    return run([sys.executable, "-m", "testwright", *words], folder)


@pytest.fixture
def fare(tmp_path):
    (tmp_path / "fare.py").write_text(FARE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_fare.py").write_text(TESTS)
    return tmp_path


def mutate(folder, *words, status=None):
    done = command(folder, "mutate", "--json", "out.json", *words)
    if status is not None:
        assert done.returncode == status, done.stdout
    return json.loads((folder / "out.json").read_text())


def verdicts(report):
    return {
        (found["line"], found["after"].strip()): found["verdict"] for found in report["mutants"]
    }


def test_known_mutants_are_noticed_and_known_ones_survive(fare):
    report = mutate(fare, "--tests", "tests", status=1)
    found = verdicts(report)
    assert found[(1, "LIMIT = 7")] == found[(1, "LIMIT = 5")] == "survived"
    assert found[(2, 'RATES = {"child": 2, "adult": 2}')] == "noticed"
    assert found[(2, 'RATES = {"XXchild": 1, "adult": 2}')] == "noticed"
    assert found[(6, 'return RATES["child"] if age <= LIMIT else RATES["adult"]')] == "survived"
    assert found[(6, 'return RATES["child"] if age >= LIMIT else RATES["adult"]')] == "noticed"
    assert found[(10, "def __init__(self, age, zones=2):")] == "noticed"
    assert found[(11, "pass")] == found[(13, "pass")] == "noticed"
    assert found[(18, "price -= rate(self.age)")] == "noticed"
    assert found[(19, "pass")] == found[(20, "return None")] == "noticed"
    assert not [key for key in found if key[0] == 24], "no test reaches it"
    [module] = report["modules"]
    assert module["mutants"] == module["tried"] + module["not_covered"]
    assert module["not_covered"] == 4 and module["survived"] == 3, report
    survivors = [found for found in report["mutants"] if found["verdict"] == "survived"]
    assert survivors[-1]["tests"] == [
        name for name in survivors[-1]["tests"] if name.startswith("tests/test_fare.py::")
    ]
    assert (fare / "fare.py").read_text() == FARE
    assert sorted(path.name for path in fare.iterdir()) == ["fare.py", "out.json", "tests"]


def test_verdicts_are_those_of_a_changed_file(fare):
    """Checks that the verdicts on mutants in memory equal those on a changed file."""
    (fare / "tests/test_fare.py").write_text(
        "import unittest\nfrom fare import Ticket, rate\n\n\nclass Tests(unittest.TestCase):\n"
        "    def test_rate(self):\n        self.assertEqual(rate(6), 2)\n\n"
        "    def test_price(self):\n        self.assertEqual(Ticket(3, 2).price(), 2)\n"
    )
    report = mutate(fare, "fare", "--tests", "tests", status=1)
    told = [found["verdict"] == "survived" for found in report["mutants"]]
    lines = FARE.splitlines()
    real = []
    for found in report["mutants"]:
        place = found["line"] - 1
        assert lines[place] == found["before"]
        changed = [*lines[:place], found["after"], *lines[place + 1 :]]
        (fare / "fare.py").write_text("\n".join(changed) + "\n")
        done = run([sys.executable, "-m", "unittest", "tests/test_fare.py"], fare)
        real.append(done.returncode == 0)
    assert told == real
    assert True in real and False in real


def test_lines_without_tests_count_if_asked_for(fare):
    report = mutate(fare, "fare.py", "--tests", "tests", "--all-lines", status=1)
    assert verdicts(report)[(24, "return x - 1")] == "not covered"
    [module] = report["modules"]
    assert module["mutants"] == module["tried"]
    assert module["survived"] == 7


def test_a_sample_is_the_same_again(fare):
    words = ("--tests", "tests", "--sample", "5")
    first, again = (mutate(fare, *words, "--seed", "7", "--jobs", "2") for _ in range(2))
    assert verdicts(first) == verdicts(again)
    assert len(first["mutants"]) == 5
    other = mutate(fare, *words, "--seed", "8")
    assert verdicts(other).keys() != verdicts(first).keys()


def test_the_text_report(fare):
    done = command(fare, "mutate", "--tests", "tests", "fare")
    assert "3 tests pass without any mutant" in done.stdout
    assert "fare.py:6:" in done.stdout
    assert '  - return RATES["child"] if age < LIMIT else RATES["adult"]\n' in done.stdout
    assert '  + return RATES["child"] if age <= LIMIT else RATES["adult"]\n' in done.stdout
    assert "reached by 3 tests: tests/test_fare.py::" in done.stdout
    assert "3 of 23 mutants survived" in done.stdout


def test_generated_tests_are_what_is_run_by_default(tmp_path):
    text = """\
        def grade(points):
            if points > 50:
                return "passed"
            return "failed"
    """
    (tmp_path / "school.py").write_text(textwrap.dedent(text))
    (tmp_path / "drive.py").write_text(
        "import school\nfor points in (20, 50, 51):\n    school.grade(points)\n"
    )
    assert command(tmp_path, "capture", "--quiet", "--", sys.executable, "drive.py").returncode == 0
    for style in ("pytest", "unittest"):
        out = tmp_path / f"for_{style}"
        assert command(tmp_path, "generate", "--style", style, "--out", out.name).returncode == 0
        # A test that the user wrote is not run.
        with (out / "test_school.py").open("a") as file:
            file.write("\n\ndef test_mine():\n    assert False\n")
        report = mutate(tmp_path, "school")
        found = verdicts(report)
        assert found[(2, "if points <= 50:")] == "noticed"
        assert found[(3, 'return "XXpassed"')] == "noticed"
        for path in out.iterdir():
            path.unlink()


def test_what_hangs_or_ends_the_process_is_noticed(tmp_path):
    text = """\
        import os

        def count(n):
            while n > 0:
                n -= 1
            return n

        def leave(is_wanted):
            if is_wanted:
                os._exit(3)
    """
    (tmp_path / "loops.py").write_text(textwrap.dedent(text))
    (tmp_path / "test_loops.py").write_text(
        "import unittest\nimport loops\n\n"
        "class Tests(unittest.TestCase):\n"
        "    def test_count(self):\n        loops.count(2)\n\n"
        "    def test_leave(self):\n        loops.leave(False)\n"
    )
    found = verdicts(mutate(tmp_path, "--tests", "test_loops.py", "--jobs", "4", status=1))
    assert found[(5, "n += 1")] == "hang"
    assert found[(9, "if not (is_wanted):")] == "crash"
    assert found[(6, "return None")] == "survived"


def test_no_mutant_can_harm_the_project(tmp_path):
    text = """\
        import os

        def clean(folder):
            names = sorted(os.listdir(folder))
            for name in names[1:]:
                os.remove(os.path.join(folder, name))
    """
    (tmp_path / "cleaner.py").write_text(textwrap.dedent(text))
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/only.txt").write_text("data")
    (tmp_path / "test_cleaner.py").write_text(
        "import os\nimport cleaner\n\n\ndef test_clean():\n"
        f"    cleaner.clean({str(tmp_path / 'precious')!r})\n"
    )
    found = verdicts(mutate(tmp_path, "--tests", "test_cleaner.py", status=1))
    assert found[(5, "for name in names[0:]:")] == "noticed"
    assert (tmp_path / "precious/only.txt").read_text() == "data"


def test_code_that_runs_on_import_is_changed_as_well(tmp_path):
    text = """\
        def table(size):
            return [number * 2 for number in range(size)]

        TABLE = table(3)

        class Sizes:
            small = 1

        def wrap(function):
            def inner(x):
                return function(x) + 1
            return inner

        @wrap
        def value(x):
            return TABLE[x]
    """
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/__init__.py").write_text("")
    (tmp_path / "deep/data.py").write_text(textwrap.dedent(text))
    (tmp_path / "test_deep.py").write_text(
        "import deep.data\n\n\ndef test_table():\n    assert deep.data.TABLE == [0, 2, 4]\n\n\n"
        "def test_value():\n    assert deep.data.value(1) == 3\n\n\n"
        "def test_late():\n    from deep import late\n\n    assert late.double(2) == 4\n"
    )
    (tmp_path / "deep/late.py").write_text("def double(x):\n    return x * 2\n")
    found = verdicts(mutate(tmp_path, "deep/data.py", "deep.late", "--tests", ".", status=1))
    assert found[(2, "return [number / 2 for number in range(size)]")] == "noticed"
    assert found[(4, "TABLE = table(2)")] == "noticed"
    assert found[(7, "small = 2")] == "survived"
    assert found[(11, "return function(x) - 1")] == "noticed"
    assert found[(12, "return None")] == "noticed"
    assert found[(16, "return None")] == "noticed"
    assert found[(2, "return x / 2")] == "noticed"


def test_failing_tests_are_reported(fare):
    (fare / "tests/test_fare.py").write_text(TESTS.replace("== 6", "== 7"))
    done = command(fare, "mutate", "--tests", "tests")
    assert done.returncode == 2
    assert "TestTicket::test_price" in done.stdout
    assert "assert 6 == 7" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no generated tests"),
        (["--tests", "nowhere"], "cannot find the tests in `nowhere`"),
        (["--tests", "empty"], "there are no test files in `empty`"),
        (["--tests", "tests", "no.such"], "no module `no.such`"),
        (["--tests", "tests", "--sample", "0"], "invalid value"),
        (["--tests", "tests", "--python", "no-such-python"], "no-such-python"),
        (["--tests", "tests", "broken.py"], "`broken.py` cannot be read: line 1"),
        (["--tests", "tests", "other"], "no test reaches anything that could be changed"),
        (["--tests", "bad/test_bad.py"], "No module named 'nothing'"),
    ],
)
def test_impossible_requests_are_reported(fare, words, message):
    (fare / "empty").mkdir()
    (fare / "bad").mkdir()
    (fare / "bad/test_bad.py").write_text("import nothing\n")
    (fare / "other.py").write_text("def other():\n    return 1\n")
    (fare / "broken.py").write_text("def broken(:\n")
    done = command(fare, "mutate", *words)
    assert done.returncode == 2, done.stdout
    assert message in done.stdout


@pytest.fixture
def bare_python(fare):
    """Makes an interpreter without pytest."""
    hidden = fare / "hidden"
    hidden.mkdir()
    (hidden / "pytest.py").write_text("raise ImportError('not here')\n")
    program = fare / "bare-python"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{hidden}:$PYTHONPATH" exec "{sys.executable}" "$@"\n'
    )
    program.chmod(0o755)
    return str(program)


def test_an_interpreter_without_pytest_is_reported(fare, bare_python):
    done = command(fare, "mutate", "--tests", "tests", "--python", bare_python)
    assert done.returncode == 2
    assert "has no pytest" in done.stdout


def test_unittest_alone_is_enough(fare, bare_python):
    (fare / "tests/__init__.py").write_text("")
    (fare / "tests/numbers.py").write_text("CHEAP, DEAR = 1, 2\n")
    (fare / "tests/test_fare.py").write_text(
        "import unittest\nfrom fare import rate\nfrom .numbers import CHEAP, DEAR\n\n\n"
        "class Tests(unittest.TestCase):\n    def test_rate(self):\n"
        "        self.assertEqual([rate(5), rate(6)], [CHEAP, DEAR])\n"
    )
    found = verdicts(mutate(fare, "fare", "--tests", "tests", "--python", bare_python, status=0))
    assert found[(1, "LIMIT = 7")] == found[(1, "LIMIT = 5")] == "noticed"


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked for there")
def test_ctrl_c_leaves_nothing_behind(tmp_path):
    (tmp_path / "slow.py").write_text("def f(x):\n    return x + 1\n")
    (tmp_path / "test_slow.py").write_text(
        "import time\nimport slow\n\n\ndef test_slow():\n    slow.f(1)\n    time.sleep(1)\n"
        + "".join(f"\n\ndef test_{n}():\n    slow.f(1)\n    time.sleep(5)\n" for n in range(4))
    )
    mark = str(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "testwright", "mutate", "--tests", "."],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": mark},
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    # The process that runs the tests, and its fork in which a test runs.
    while time.monotonic() < until and len(descendants(process.pid)) < 2:
        time.sleep(0.05)
    started = descendants(process.pid)
    assert len(started) == 2
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 2, said
    assert "interrupted" in said
    until = time.monotonic() + 20
    while time.monotonic() < until and any(map(is_alive, started)):
        time.sleep(0.05)
    assert not any(map(is_alive, started))
    assert [path.name for path in tmp_path.glob("testwright-*")] == []


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked for there")
def test_ctrl_c_keeps_the_results_so_far(tmp_path):
    numbers = "".join(f"    y += {n}\n" for n in range(2, 30))
    (tmp_path / "slow.py").write_text(f"def f(x):\n    y = x\n{numbers}    return y\n")
    (tmp_path / "test_slow.py").write_text(
        "import time\nimport slow\n\n\ndef test_slow():\n    time.sleep(0.3)\n"
        "    assert slow.f(1) == 435\n"
    )
    line = ["mutate", "--tests", ".", "--jobs", "1", "--json", "out.json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "testwright", *line],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # Each mutant runs in a process of its own.
    until, seen = time.monotonic() + 120, set()
    while time.monotonic() < until and len(seen) < 9:
        seen.update(descendants(process.pid))
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=60)
    assert process.returncode == 2, said
    assert "none survived; interrupted; not tried: " in told, told
    report = json.loads((tmp_path / "out.json").read_text())
    assert not report["complete"] and report["bounded_by"][0]["kind"] == "interrupted"
    assert 0 < len(report["mutants"]) < report["modules"][0]["mutants"]


def is_alive(number):
    """Returns true if a process runs; a zombie does not count."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(parent):
    """Returns the child processes of a process, and their child processes."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    above = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(above, []).append(int(name))
    found, pending = [], [parent]
    while pending:
        for child in children.get(pending.pop(), []):
            found.append(child)
            pending.append(child)
    return found
