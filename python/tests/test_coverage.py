"""Line and branch coverage: what is measured, and the reports."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

MONEY = """\
def pay(amount, limit=10):
    if amount > limit:
        raise ValueError(amount)
    if amount < 0:
        return None
    return amount
"""

HARNESS = """\
@import money

pool: <int> 2

<int> := <[1..5]>
money.pay(<int>)
"""


@pytest.fixture
def shop(testwright):
    testwright.write("money.py", MONEY)
    testwright.write("money.tstl", HARNESS)
    return testwright


def table(text):
    """Parses a report. Returns the name and the numbers of each row."""
    rows = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 6 and words[5].endswith("%"):
            rows[words[0]] = (words[1:5], " ".join(words[6:]))
    return rows


RUN = ("run", "--seed", "1", "--tests", "20")


def test_run_shows_what_its_tests_reach(shop):
    done = shop(*RUN, "money.tstl", "--coverage")
    assert table(done.stdout) == {"money.py": (["6", "2", "4", "2"], "3, 5")}


@pytest.mark.parametrize("strategy", ["auto", "random"])
def test_what_an_unfinished_test_reaches_counts(shop, strategy):
    done = shop(
        *("run", "money.tstl", "--seed", "1", "--steps", "30"),
        *("--coverage", "--strategy", strategy),
    )
    assert "Ran 0 tests, 30 steps" in done.stdout
    assert table(done.stdout) == {"money.py": (["6", "2", "4", "2"], "3, 5")}


def test_nothing_is_measured_unless_asked_for(shop):
    assert "Cover" not in shop(*RUN, "money.tstl").stdout


def test_json_has_the_numbers(shop):
    done = shop(*RUN, "money.tstl", "--coverage", "--json")
    assert json.loads(done.stdout)["coverage"] == {
        "percentage": 60.0,
        "statements": 6,
        "missed_statements": 2,
        "branches": 4,
        "missed_branches": 2,
    }


def test_a_source_line_may_name_a_file_a_folder_or_a_module(shop):
    shop.write("parts/tool.py", "def f():\n    return 1\n")
    shop.write("other.py", "X = 1\n")
    extra = "@import other\n@import sys; sys.path.append('parts')\n@import tool\n"
    for source, expected in [
        ("money.py", {"money.py"}),
        ("money", {"money.py"}),
        ("parts", {"parts/tool.py"}),
        ("parts/tool.py", {"parts/tool.py"}),
    ]:
        shop.write("chosen.tstl", extra + HARNESS + f"\nsource: {source}\n")
        done = shop(*RUN, "chosen.tstl", "--coverage")
        assert set(table(done.stdout)) == expected, source
    shop.write("chosen.tstl", extra + HARNESS)
    done = shop(*RUN, "chosen.tstl", "--coverage")
    assert set(table(done.stdout)) - {"TOTAL", "Total"} == {"money.py", "other.py", "parts/tool.py"}


def test_a_source_that_does_not_exist_is_reported(shop):
    shop.write("chosen.tstl", HARNESS + "\nsource: money.py\nsource: mony\n")
    done = shop(*RUN, "chosen.tstl", "--coverage")
    assert "mony" in done.stderr
    assert set(table(done.stdout)) == {"money.py"}


def test_a_module_of_the_standard_library_is_measured_if_it_is_named(shop):
    shop.write("heap.tstl", "@import heapq\n\nsource: heapq\n\nheapq.nlargest(2, [3, 1, 2])\n")
    done = shop(*RUN, "heap.tstl", "--coverage")
    (row,) = [name for name in table(done.stdout)]
    assert row.endswith("heapq.py")


def test_code_in_the_harness_is_measured_on_request(shop):
    helper = "<@\ndef helper(x):\n    if x > 100:\n        return 0\n    return x\n@>\n"
    shop.write("raw.tstl", helper + HARNESS.replace("money.pay(<int>)", "money.pay(helper(<int>))"))
    done = shop(*RUN, "raw.tstl", "--coverage")
    assert set(table(done.stdout)) == {"money.py"}
    done = shop(*RUN, "raw.tstl", "--coverage", "--coverage-harness")
    assert "raw.tstl" in table(done.stdout)


def test_replay_lists_every_test_that_covers_a_line(shop):
    shop.write("money.tstl", HARNESS.replace("[1..5]", "[-1..5]"))
    shop.write("one.test", "# testwright test 1\nint0 = 1\nmoney.pay(int0)\n")
    shop.write("two.test", "# testwright test 1\nint0 = -1\nmoney.pay(int0)\n")
    shop.write("three.test", "# testwright test 1\nint0 = 2\nmoney.pay(int0)\n")
    report = "data:reached"
    tests = ("one.test", "two.test", "three.test")
    shop("replay", *tests, "--harness", "money.tstl", "--coverage-report", report)
    coverage = pytest.importorskip("coverage")
    data = coverage.CoverageData(str(shop.folder / "reached"))
    data.read()
    (name,) = data.measured_files()
    contexts = data.contexts_by_lineno(name)
    assert sorted(contexts[6]) == ["one.test", "three.test"]
    assert sorted(contexts[5]) == ["two.test"]
    assert sorted(contexts[2]) == sorted(tests)


def test_coverage_py_reads_and_combines_the_data_file(shop):
    pytest.importorskip("coverage")
    shop(*RUN, "money.tstl", "--coverage-report", "data:.coverage.ours")
    shop.write("more.py", "import money\nmoney.pay(-1)\n")
    command = [sys.executable, "-m", "coverage"]
    options = {"cwd": shop.folder, "check": True, "capture_output": True, "text": True}
    subprocess.run(
        [*command, "run", "--branch", "--data-file=.coverage.theirs", "more.py"], **options
    )
    subprocess.run([*command, "combine", ".coverage.ours", ".coverage.theirs"], **options)
    done = subprocess.run([*command, "report", "-m", "--include=money.py"], **options)
    assert "money.py" in done.stdout and done.stdout.split()[-1] != "0%"
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("money.py")]
    assert row.split()[1:] == ["6", "1", "4", "1", "80%", "3"]


def test_lcov_is_accepted_by_genhtml(shop):
    if shutil.which("genhtml") is None:
        pytest.skip("genhtml is not installed")
    shop(*RUN, "money.tstl", "--coverage-report", "lcov:money.info")
    command = ["genhtml", "--branch-coverage", "money.info", "-o", "html"]
    done = subprocess.run(command, cwd=shop.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "66.7% (4 of 6 lines)" in done.stdout


def test_cobertura_and_html(shop):
    shop(*RUN, "money.tstl", "--coverage-report", "cobertura", "--coverage-report", "html:pages")
    root = xml.etree.ElementTree.parse(shop.folder / "coverage.xml").getroot()
    assert (root.get("lines-valid"), root.get("lines-covered")) == ("6", "4")
    assert (root.get("branches-valid"), root.get("branches-covered")) == ("4", "2")
    index = (shop.folder / "pages" / "index.html").read_text(encoding="utf-8")
    assert "money.py" in index
    (page,) = [p for p in (shop.folder / "pages").glob("*.html") if p.name != "index.html"]
    assert "test 1" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["pdf", "table:x", "html:", "lcov:no/such/folder/x", "lcov:-"])
def test_a_report_that_cannot_be_written_is_refused_before_any_work(shop, option):
    done = shop(*RUN, "money.tstl", "--coverage-report", option, status=2)
    assert done.stdout == ""
    assert done.stderr.startswith("error")


PROGRAM = """\
import atexit, sys
import money
atexit.register(lambda: print("at exit"))
print(sys.argv, __name__, __file__)
money.pay(int(sys.argv[1]))
if len(sys.argv) > 2:
    sys.exit(int(sys.argv[2]))
"""


def test_cover_runs_a_program_as_python_would(shop):
    shop.write("program.py", PROGRAM)
    for words, status in [(["5"], 0), (["5", "7"], 7), (["11"], 1), (["x"], 1)]:
        python = subprocess.run(
            [sys.executable, "program.py", *words], cwd=shop.folder, capture_output=True, text=True
        )
        assert python.returncode == status
        ours = subprocess.run(
            shop.line("cover", "program.py", *words),
            cwd=shop.folder,
            capture_output=True,
            text=True,
        )
        assert ours.returncode == status
        assert ours.stdout == python.stdout
        assert ours.stderr.startswith(python.stderr)
        assert "money.py" in table(ours.stderr)


def test_cover_runs_modules(shop):
    shop.write("package/__init__.py", "")
    shop.write(
        "package/__main__.py", "import sys\nfrom package import inner\nprint(sys.argv[1:])\n"
    )
    shop.write("package/inner.py", "X = 1\n")
    done = shop("cover", "-m", "package", "--flag", "x")
    assert done.stdout == "['--flag', 'x']\n"
    assert {"package/inner.py", "package/__main__.py"} <= set(table(done.stderr))


def test_cover_measures_only_what_is_named(shop):
    shop.write("program.py", "import money, json\nmoney.pay(1)\njson.dumps([1])\n")
    assert set(table(shop("cover", "--source", "money", "program.py").stderr)) == {"money.py"}


def test_cover_finds_modules_where_the_program_does(shop):
    shop.write("inner/program.py", "import bill, money\nbill.pay(1)\n")
    shop.write("inner/bill.py", MONEY)
    done = shop("cover", "--source", "bill", "inner/program.py")
    assert set(table(done.stderr)) == {"inner/bill.py"}
    assert "warning" not in done.stderr


@pytest.mark.parametrize("words", [["missing.py"], ["-m", "missing"], ["broken.py"]])
def test_a_program_that_cannot_be_run(shop, words):
    shop.write("broken.py", "def f(:\n")
    done = subprocess.run(
        shop.line("cover", *words), cwd=shop.folder, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error"), done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_the_program_and_the_report_is_written(shop):
    shop.write(
        "program.py", "import time\nprint('go', flush=True)\ntime.sleep(60)\nprint('never')\n"
    )
    process = shop.start("cover", "--coverage-report", "lcov:x.info", "program.py")
    assert process.stdout.readline() == "go\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("", 130)
    assert "KeyboardInterrupt" in err
    assert "DA:4,0" in (shop.folder / "x.info").read_text()


@pytest.mark.skipif(
    sys.version_info < (3, 10), reason="3.9 tells of one line more when an exception leaves"
)
def test_a_debugger_and_other_tools_get_the_same_events(shop):
    program = """
import sys
seen = []
def trace(frame, event, argument):
    if frame.f_code.co_filename.endswith("money.py"):
        seen.append((event, frame.f_lineno, frame.f_code.co_name))
    return trace
sys.settrace(trace)
import money
for amount in (1, -1, 11):
    try:
        money.pay(amount)
    except ValueError as error:
        line = error.__traceback__.tb_next.tb_lineno
sys.settrace(None)
print(line, seen)
"""
    shop.write("program.py", program)
    python = subprocess.run(
        [sys.executable, "program.py"], cwd=shop.folder, capture_output=True, text=True
    )
    assert shop("cover", "program.py").stdout == python.stdout


def test_a_function_that_fails_before_it_has_begun_fails_as_it_would(shop):
    program = """
def broken(): pass
broken.__code__ = broken.__code__.replace(co_code=bytes([229, 0]))
try:
    broken()
except SystemError as error:
    print(error)
"""
    shop.write("program.py", program)
    python = subprocess.run(
        [sys.executable, "program.py"], cwd=shop.folder, capture_output=True, text=True
    )
    assert shop("cover", "program.py").stdout.split(":")[-1] == python.stdout.split(":")[-1]


def test_coverage_py_works_at_the_same_time(shop):
    pytest.importorskip("coverage")
    program = """
import coverage
measurement = coverage.Coverage(branch=True, data_file=None)
measurement.start()
import money
for amount in (1, -1):
    money.pay(amount)
measurement.stop()
(name,) = [name for name in measurement.get_data().measured_files() if name.endswith("money.py")]
print(sorted(measurement.get_data().arcs(name)))
"""
    shop.write("program.py", program)
    alone = subprocess.run(
        [sys.executable, "program.py"], cwd=shop.folder, capture_output=True, text=True
    )
    both = shop("cover", "--source", "money", "program.py")
    assert both.stdout == alone.stdout
    assert table(both.stderr)["money.py"] == (["6", "1", "4", "1"], "3")


def test_a_unicode_name_and_an_empty_file(shop):
    shop.write("größe.py", "def f(x):\n    return x\n")
    shop.write("leer.py", "")
    shop.write("program.py", "import größe, leer\ngröße.f(1)\n")
    rows = table(
        shop("cover", "program.py", env={**os.environ, "PYTHONIOENCODING": "utf-8"}).stderr
    )
    assert rows["größe.py"][0] == ["2", "0", "0", "0"]
    assert rows["leer.py"][0][0] == "0"
