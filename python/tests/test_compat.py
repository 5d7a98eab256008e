"""`testwright compat`: TSTL's own command lines."""

import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = [
    "tstl",
    "tstl_rt",
    "tstl_replay",
    "tstl_reduce",
    "tstl_regress",
    "tstl_standalone",
    "tstl_smallcheck",
    "tstl_generalize",
    "tstl_markov",
    "tstl_triage",
]
FAILING = "self.p_stack[0] = stack.Stack() \nself.p_stack[0].top() \n"
PASSING = (
    "self.p_int[0] = 1 \nself.p_stack[0] = stack.Stack() \nself.p_stack[0].push(self.p_int[0]) \n"
)


class Tools:
    """TSTL's commands: small programs on the path that call `testwright compat`, as a user's aliases do."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        for name in ("PYTHONHASHSEED", "NO_COLOR"):
            self.environment.pop(name, None)
        for tool in TOOLS:
            program = programs / tool
            program.write_text(
                f'#!/bin/sh\nexec "{sys.executable}" -m testwright compat {tool} "$@"\n'
            )
            program.chmod(0o755)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def has(self, name):
        return (self.folder / name).exists()

    def __call__(self, *words, status=0, raises=False):
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        told = f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == status, told
        assert ("Traceback" in done.stderr) == raises and "internal error" not in done.stderr, told
        return done


@pytest.fixture
def tools(testwright, tmp_path_factory):
    tools = Tools(testwright.folder, tmp_path_factory.mktemp("programs"))
    tools("tstl", "stack.tstl")
    return tools


@pytest.fixture
def avl(tmp_path, tmp_path_factory):
    """Copies the AVL tree whose `find` has a bug into a folder."""
    folder = tmp_path / "avl"
    shutil.copytree(ROOT / "examples/avl", folder)
    tools = Tools(folder, tmp_path_factory.mktemp("programs"))
    text = tools.read("avl.tstl").replace("@import avl\n", "@import avl_wrong_delete as avl\n")
    tools.write("buggy.tstl", text)
    return tools


def number(done, what):
    """Returns the number in front of the words that scripts look for."""
    found = re.search(rf"^(\S+) {what}$", done.stdout, re.MULTILINE)
    assert found, f"no {what} in\n{done.stdout}"
    return float(found[1])


# Typical work with TSTL


def test_find_replay_reduce_and_keep_a_failing_test(avl):
    avl("tstl", "buggy.tstl")
    py_compile.compile(str(avl.folder / "sut.py"), doraise=True)
    done = avl(
        "tstl_rt", "--noCover", "--seed", 1, "--output", ".fail.test", "--silentSUT", status=255
    )
    assert "STOPPING TESTING DUE TO FAILED TEST" in done.stdout
    assert avl.has(".fail.full.test") and avl.has(".fail.reduced.test")
    full, reduced = avl.read(".fail.full.test"), avl.read(".fail.test")
    assert len(reduced.splitlines()) < len(full.splitlines())
    # No header, and TSTL's names of actions, with a blank at the end.
    assert reduced.startswith("self.p_") and reduced.splitlines()[0].endswith(" ")

    avl("tstl_replay", ".fail.test", status=255)
    avl("tstl_replay", ".fail.full.test", status=255)
    done = avl("tstl_reduce", ".fail.full.test", ".small.test", "--verbose", "True")
    assert "TEST WRITTEN TO .small.test" in done.stdout
    assert re.search(r"^NEW LENGTH \d+$", done.stdout, re.MULTILINE)
    avl("tstl_replay", ".small.test", status=255)

    avl("tstl_standalone", ".small.test", "alone.py")
    assert "AssertionError" in avl(sys.executable, "alone.py", status=1, raises=True).stderr
    avl("tstl_regress", ".small.test", status=255)
    done = avl("tstl_regress", ".small.test", "--keepGoing")
    assert "1 FAILED TESTS:\n.small.test" in done.stdout

    # The bug is fixed.
    avl("tstl", "avl.tstl")
    avl("tstl_replay", ".small.test")
    assert avl("tstl_regress", ".small.test").stdout.endswith("ALL TESTS SUCCESSFUL\n")
    avl("tstl_standalone", ".small.test", "alone.py")
    assert avl(sys.executable, "alone.py").stdout.endswith("TEST COMPLETED SUCCESSFULLY\n")
    os.remove(avl.folder / "sut.py")


@pytest.mark.parametrize(
    "options",
    [
        ["--swarm"],
        ["--exploit", "0.8", "--Pmutate", "0.8"],
        ["--multiple", "--maxTests", "60"],
        ["--multiple", "--noCover", "--normalize", "--maxTests", "60"],
        ["--equalProbs", "--ddmin", "-k"],
        ["--profileProbs", "--profile", "--full"],
        ["--stutter", "0.1", "--greedyStutter", "--noExceptionMatch"],
        ["--swarm", "--highLowSwarm", "0.9", "--swarmLength", "20", "--generalize"],
    ],
)
def test_every_way_to_search_finds_the_bug(avl, options):
    avl("tstl", "buggy.tstl")
    done = avl(
        "tstl_rt", *options, "-s", "3", "-t", "60", "-o", "x.test", "--silentSUT", status=255
    )
    assert number(done, "EXECUTED") >= 1
    several = "--multiple" in options
    assert avl.has("x.0.test") == several and avl.has("x.test") != several
    avl("tstl_replay", "x.0.test" if several else "x.test", status=255)


def test_a_correct_tree_passes(avl):
    avl("tstl", "avl.tstl")
    done = avl("tstl_rt", "--maxTests", "20", "--depth", "50", "--seed", "1", "--silentSUT")
    assert number(done, "EXECUTED") == 20
    assert number(done, "TOTAL TEST OPERATIONS") == 1000
    assert 50 < number(done, "PERCENT COVERED") <= 100
    branches, statements = number(done, "BRANCHES COVERED"), number(done, "STATEMENTS COVERED")
    assert branches > statements > 20
    for words in (
        "TOTAL RUNTIME",
        "TIME SPENT EXECUTING TEST OPERATIONS",
        "TIME SPENT EVALUATING GUARDS AND CHOOSING ACTIONS",
        "TIME SPENT CHECKING PROPERTIES",
        "TOTAL TIME SPENT RUNNING SUT",
        "TIME SPENT RESTARTING",
        "TIME SPENT REDUCING TEST CASES",
    ):
        number(done, words)
    assert "avl.py" in avl.read("coverage.out")
    assert not list(avl.folder.glob("failure.*.test"))


def test_a_search_without_checks_cannot_fail(tools):
    """Runs a search like TSTL's own tests do: no properties, and exceptions are not failures."""
    done = tools(
        "tstl_rt",
        "--maxTests",
        "20",
        "--noCheck",
        "--uncaught",
        "--silentSUT",
        "--timedProgress",
        "10",
    )
    assert number(done, "EXECUTED") == 20
    assert "TIME SPENT CHECKING" not in done.stdout


# The compiler


def test_the_module_is_for_scripts_and_tools(tools):
    tools(
        "tstl",
        "stack.tstl",
        "--noCover",
        "-R",
        "--noReload",
        "--forceRefExceptionMatch",
        "-o",
        "sut.py",
    )
    script = "import sut; s = sut.sut(); print(s.measures_coverage)"
    assert tools(sys.executable, "-c", script).stdout == "False\n"
    done = tools("tstl_rt", "--maxTests", "3", "--uncaught", "--noCheck")
    assert "BRANCHES COVERED" not in done.stdout and "coverage is not measured" in done.stderr
    tools("tstl", "stack.tstl")
    assert tools(sys.executable, "-c", script).stdout == "True\n"
    assert "Testwright" in tools("tstl", "--version").stdout


def test_module_loading_counts_as_covered_only_on_request(tools):
    counts = []
    for options in ([], ["--coverReload"]):
        tools("tstl", "sound.tstl", *options)
        done = tools("tstl_rt", "-m", "30", "-s", "1")
        counts.append(number(done, "STATEMENTS COVERED"))
    assert counts[0] < counts[1]


def test_a_harness_with_mistakes_is_not_compiled(tools):
    before = tools.read("sut.py")
    tools.write("bad.tstl", "pool: <x> 1\n<y> := 1\n")
    done = tools("tstl", "bad.tstl", status=1)
    assert "unknown-pool" in done.stderr and "bad.tstl:2" in done.stderr
    assert tools.read("sut.py") == before
    assert "there is no file" in tools("tstl", "missing.tstl", status=1).stderr


def test_a_harness_may_have_any_name(tools):
    tools.write('sub/Käse "7".tstl', tools.read("stack.tstl"))
    tools("tstl", 'sub/Käse "7".tstl')
    tools.write("good.test", PASSING)
    tools("tstl_replay", "good.test")


# Wrong calls


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_explains_itself(tools, tool):
    os.remove(tools.folder / "sut.py")
    assert f"testwright compat {tool}" in tools(tool, "--help").stdout
    done = tools(tool, "--seeed", status=2)
    assert "'--seeed'" in done.stderr


def test_misspelt_words_are_recognised(tools, testwright):
    assert "--maxTests" in tools("tstl_rt", "--maxTest5", "3", status=2).stderr
    assert "tstl_replay" in testwright("compat", "tstl_repaly", status=2).stderr
    assert "must be a number" in tools("tstl_rt", "--swarmP", "2", status=2).stderr
    tools("tstl_reduce", "only-one.test", status=2)
    testwright("compat", status=2)


def test_options_may_be_cut_short_and_repeated_as_with_argparse(tools):
    done = tools("tstl_rt", "--maxT=3", "-m", "5", "--maxTests", "4", "--unc", "--noChe", "-n")
    assert number(done, "EXECUTED") == 4


@pytest.mark.parametrize(
    "words", [["tstl_rt"], ["tstl_replay", "a"], ["tstl_reduce", "a", "b"], ["tstl_regress", "a"]]
)
def test_without_a_compiled_harness_there_is_advice(tools, words):
    tools.write("a", PASSING)
    os.remove(tools.folder / "sut.py")
    done = tools(*words, status=1)
    assert "there is no `sut.py`" in done.stderr and "tstl FILE.tstl" in done.stderr
    tools.write("sut.py", "class sut(object):\n    pass\n")
    assert "not written by Testwright" in tools(*words, status=1).stderr


def test_options_without_effect_say_so(tools):
    done = tools(
        "tstl_rt", "-m", "1", "--enumerateEnabled", "--postCover", "--uncaught", "--noCheck"
    )
    told = [line for line in done.stderr.splitlines() if "has no effect" in line]
    assert len(told) == 2 and all(
        re.match(r"--\w+ is accepted and has no effect: \w", line) for line in told
    )
    done = tools("tstl_rt", "-m", "1", "--equalProbs", "--swarm", "--uncaught", "--noCheck")
    assert "--swarm has no effect together with --equalProbs" in done.stderr


# The tester


def test_an_exception_is_reported_in_the_words_of_tstl(tools):
    done = tools("tstl_rt", "--seed", "1", "--output", "f.test", status=255)
    out = done.stdout
    assert out.startswith("Random testing using config=Config(seed=1, timeout=3600, ")
    assert (
        "\nUNCAUGHT EXCEPTION\nERROR: (<class 'IndexError'>, IndexError('list index out of range'),"
        in out
    )
    assert "TRACEBACK:\n" in out and 'stack.py", line 14, in top' in out
    assert "Reduced test has 2 steps" in out and "SAVING TEST AS f.test" in out
    assert (
        "stack0 = stack.Stack()                                                   # STEP 0" in out
    )
    assert "ACTION: stack0 = stack.Stack() \nstack0 = None : <class 'NoneType'>" in out
    assert "=> stack0 = Stack([]) : <class 'Stack'>" in out
    assert out.count("ERROR: ") == 2
    assert tools.read("f.test") in (FAILING, FAILING.replace("[0]", "[1]"))


def test_a_property_is_reported_in_the_words_of_tstl(tools):
    tools.write(
        "low.tstl", tools.read("sound.tstl").replace("len(<stack>) >= 0", "len(<stack>) < 3")
    )
    tools("tstl", "low.tstl")
    done = tools("tstl_rt", "--seed", "1", "--output", "f.test", "--silentFail", status=255)
    assert "\nPROPERLY VIOLATION\nERROR: (<class 'AssertionError'>, AssertionError(" in done.stdout
    assert "ACTION:" not in done.stdout
    done = tools("tstl_replay", "f.test", status=255)
    assert "FAILED PROPERTY\n(<class 'AssertionError'>" in done.stdout
    tools("tstl_replay", "f.test", "--noCheck")


def test_the_process_id_is_in_the_usual_name(tools):
    tools("tstl_rt", "--seed", "1", status=255)
    names = sorted(path.name for path in tools.folder.glob("failure.*"))
    assert [re.sub(r"\d+", "PID", name) for name in names] == [
        "failure.PID.full.test",
        "failure.PID.reduced.test",
        "failure.PID.test",
    ]


def test_the_same_seed_makes_the_same_tests(tools):
    texts = []
    for _ in range(2):
        tools("tstl_rt", "-s", "-5", "--full", "-o", "f.test", status=255)
        texts.append(tools.read("f.full.test"))
    assert texts[0] == texts[1]


def test_several_failures_are_numbered(tools):
    tools.write("two.tstl", tools.read("stack.tstl") + "<stack>.nothing()\n")
    tools("tstl", "two.tstl")
    done = tools(
        "tstl_rt", "-M", "-m", "20", "-s", "1", "-o", "f.test", "--normalize", "-n", status=255
    )
    assert number(done, "FAILED") == 20
    distinct = number(done, "ACTUAL DISTINCT FAILURES")
    assert distinct >= 2 and number(done, "REPEATS OF FAILURES") == 20 - distinct
    assert tools.has("f.1.test") and tools.has("f.normalized.test") and not tools.has("f.test")
    assert "FAILURE 1\n" in done.stdout


def test_quick_tests_and_their_suite(tools):
    tools("tstl", "sound.tstl")
    done = tools("tstl_rt", "-q", "-m", "40", "-s", "1", "--quickPrefix", "q")
    assert "SAVING TEST AS q.0.test" in done.stdout
    covered = number(done, "BRANCHES COVERED")
    suite = sorted(path.name for path in tools.folder.glob("q.*.test"))
    done = tools("tstl_regress", *suite, "--running")
    assert f"EXECUTED {len(suite)} TESTS" in done.stdout and "New branch: ('" in done.stdout
    assert (
        re.findall(r"^STATEMENTS: \d+ BRANCHES: (\d+)$", done.stdout, re.MULTILINE)[-1]
        == f"{covered:.0f}"
    )
    assert "ALL TESTS SUCCESSFUL" in tools("tstl_regress", "--glob", "q.*.test", "--noCover").stdout
    done = tools("tstl_rt", "-q", "--readQuick", "-m", "5", "-s", "2", "--quickPrefix", "q")
    assert f"BRANCH COVERAGE: {covered:.0f}\n" in done.stdout


def test_logs_that_survive_a_crash(tools):
    tools(
        "tstl_rt", "--replayable", "--total", "-m", "3", "-d", "4", "--uncaught", "--noCheck", "-n"
    )
    total = tools.read("fulltest.test").splitlines()
    assert total.count("<<RESTART>>") == 3 and len(total) == 15
    assert tools.read("currtest.test").splitlines() == total[-4:]


def test_searching_can_be_stopped_by_what_is_covered(tools):
    tools("tstl", "sound.tstl")
    assert (
        "LACK OF NEW COVERAGE FOR 5 TESTS" in tools("tstl_rt", "--stopWhenNoCoverage", "5").stdout
    )
    assert "BRANCH COVERAGE TARGET" in tools("tstl_rt", "--stopWhenBranches", "2").stdout
    assert "COVERAGE SATURATION" in tools("tstl_rt", "--stopSaturated", "--sessions", "2").stdout
    done = tools("tstl_rt", "--stopWhenHitStatement", "stack.py:10", "-o", "hit.test", status=255)
    assert "HIT STATEMENT: stack.py:10" in done.stdout
    assert [line for line in tools.read("hit.test").splitlines() if "pop" in line]
    done = tools(
        "tstl_rt", "--trackMaxCoverage", "best.test", "-m", "5", "--fullCoverage", "counts.txt"
    )
    assert "NEW BEST COVERAGE TEST: (" in done.stdout and tools.has("best.test")
    assert re.search(r"^5 \('.*stack\.py', \(\d+, \d+\)\)$", tools.read("counts.txt"), re.MULTILINE)


def test_reports(tools):
    tools("tstl", "sound.tstl")
    done = tools(
        "tstl_rt",
        "-m",
        "5",
        "--html",
        "pages",
        "--internal",
        "--coverFile",
        "c.out",
        "--profile",
        "-r",
    )
    assert tools.has("pages/index.html") and tools.has("c.out") and not tools.has("coverage.out")
    assert "TOTAL BRANCHES COVERED: " in done.stdout and "New statement ('" in done.stdout
    assert "ACTION PROFILE:" in done.stdout and "<stack>.push(<int>)" in done.stdout
    done = tools(
        "tstl_rt",
        "-m",
        "2",
        "-d",
        "3",
        "--showActions",
        "--verboseActions",
        "--progress",
        "--throughput",
    )
    assert done.stdout.count("STEP #2 ") == 2 and done.stdout.count("ACTION: ") == 6
    assert done.stdout.count("THROUGHPUT: ") == 2 and "sound.tstl: TEST #2 (0:00:00." in done.stdout


def test_a_fault_is_located(tools):
    done = tools(
        "tstl_rt", "-M", "-m", "20", "-s", "1", "--localize", "--localizeTop", "3", status=255
    )
    suspects = done.stdout.split("FAULT LOCALIZATION RESULTS", 1)[1]
    assert "stack.py', 14)" in suspects.split("BRANCHES:")[0]


def test_swarms_leave_a_record(tools):
    tools("tstl", "sound.tstl")
    tools("tstl_rt", "-w", "-m", "6", "--saveSwarmCoverage", "swarm.txt", "--swarmSwitch", "2")
    text = tools.read("swarm.txt")
    assert text.count("CONFIG:") == 6 and "::::<stack> := stack.Stack()" in text
    tools.write("only.test", PASSING)
    done = tools("tstl_rt", "-w", "--swarmFromTest", "only.test", "-m", "5", "--profile")
    assert "pop() NEVER EXECUTED" in done.stdout


def test_a_random_system_is_detected(tools):
    tools.write(
        "chance.tstl",
        "@import itertools\n@count = itertools.count()\npool: <x> 1\n<x> := next(count)\n<x> % 7 != 5 -> print(<x>)\n",
    )
    tools("tstl", "chance.tstl", "--noCover")
    done = tools("tstl_rt", "--checkDeterminism", "-m", "20", "-d", "6", "-s", "1")
    assert "TEST WAS NOT DETERMINISTIC!" in done.stdout and tools.has("ndfail.test")


def test_a_system_that_ends_the_process_is_a_failure(tools):
    tools.write("exit.tstl", "@import sys\npool: <x> 1\n<x> := 1\nsys.exit(<x>)\n")
    tools("tstl", "exit.tstl")
    done = tools("tstl_rt", "-n", "-o", "f.test", status=255)
    assert "UNCAUGHT EXCEPTION" in done.stdout and "SystemExit" in done.stdout
    tools("tstl_replay", "f.test", status=255)
    tools("tstl_reduce", "f.test", "g.test", "--sandbox", "--timeout", "60")
    assert len(tools.read("g.test").splitlines()) == 2


def test_nothing_enabled_ends_the_search(tools):
    tools.write("stuck.tstl", "pool: <x> 1\nFalse -> <x> := 1\n")
    tools("tstl", "stuck.tstl", "--noCover")
    assert "DEADLOCK" in tools("tstl_rt").stdout


def test_time_is_limited(tools):
    tools("tstl", "sound.tstl")
    done = tools("tstl_rt", "--timeout", "1", "--noCover")
    assert "STOPPING TEST DUE TO TIMEOUT, TERMINATED AT LENGTH" in done.stdout
    assert "STOPPING TESTING DUE TO TIMEOUT" in done.stdout


def test_ctrl_c_ends_the_search_with_its_numbers(testwright, tools):
    testwright("compat", "tstl", "sound.tstl")
    run = testwright.start("compat", "tstl_rt", "--timeout", "3600", "--progress", "--noCover")
    assert any("TEST #2 " in line for line in run.stdout)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=600)
    assert run.returncode == 0 and " EXECUTED\n" in out and "Traceback" not in err, err


def test_a_system_that_ignores_ctrl_c_is_killed(testwright, tools):
    tools.write(
        "deaf.tstl",
        "@import time\npool: <x> 1\n<x> := 1\nfor _ in iter(int, 1): sum(range(10**9))\n",
    )
    tools("tstl", "deaf.tstl", "--noCover")
    run = testwright.start("compat", "tstl_rt", "--verbose", "--seed", "1")
    assert any("iter(int, 1)" in line for line in run.stdout)
    time.sleep(1)  # The step is about to start.
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=600)
    assert run.returncode == 1 and "does not react" in err


# The other tools


def test_replaying(tools):
    tools.write("good.test", PASSING)
    tools.write("bad.test", FAILING)
    tools("tstl_replay", "good.test")
    assert tools.read("replay.out") == PASSING + "TEST REPLAYED SUCCESSFULLY\n"
    done = tools("tstl_replay", "bad.test", status=255)
    assert "FAILED STEP\n(<class 'IndexError'>" in done.stdout
    assert "SUCCESSFULLY" not in tools.read("replay.out")
    done = tools(
        "tstl_replay", "good.test", "--verbose", "--showActions", "--delay", "0.001", "--coverage"
    )
    assert "STEP #2:" in done.stdout and "=> stack0 = Stack([1]) : <class 'Stack'>" in done.stdout
    assert 0 < number(done, "PERCENT COVERED") < 100 and tools.has("coverage.out")
    tools.write("empty.test", "")
    tools("tstl_replay", "empty.test")
    tools.write("twice.test", f"{PASSING}<<RESTART>>\n{PASSING}")
    tools("tstl_replay", "twice.test")


def test_a_test_that_the_harness_does_not_know_is_an_error_with_advice(tools):
    tools.write("odd.test", "self.p_stack[0] = stack.Stak() \n")
    for words in (
        ["tstl_replay", "odd.test"],
        ["tstl_reduce", "odd.test", "x"],
        ["tstl_generalize", "odd.test"],
    ):
        done = tools(*words, status=1)
        assert (
            "odd.test:1" in done.stderr and "did you mean `stack0 = stack.Stack()`" in done.stderr
        )
    tools.write("good.test", PASSING)
    done = tools("tstl_regress", "odd.test", "good.test")
    assert (
        "INVALID TEST, SKIPPING..." in done.stdout and "1 INVALID TESTS:\nodd.test" in done.stdout
    )
    (tools.folder / "bytes.test").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in tools("tstl_replay", "bytes.test", status=1).stderr
    assert "there is no file" in tools("tstl_replay", "missing.test", status=1).stderr


LONG = PASSING + "self.p_stack[1] = stack.Stack() \nself.p_int[1] = 3 \nself.p_stack[1].top() \n"


def test_reducing(tools):
    tools.write("long.test", LONG)
    done = tools(
        "tstl_reduce", "long.test", "short.test", "--matchException", "--ddmin", "--speed", "SLOW"
    )
    assert "STARTING WITH TEST OF LENGTH 6" in done.stdout and "NEW LENGTH 2" in done.stdout
    assert "ERROR: (<class 'IndexError'>" in done.stdout
    assert tools.read("short.test") == FAILING
    tools("tstl_reduce", "long.test", "same.test", "--noReduce", "--noNormalize", "--noAlpha")
    assert tools.read("same.test") == LONG
    tools("tstl_reduce", "long.test", "often.test", "--probability", "1", "--samples", "3")
    assert len(tools.read("often.test").splitlines()) == 2
    tools("tstl_reduce", "long.test", "several", "--multiple", "--noNormalize")
    assert tools.read("several.0.test").endswith("top() \n")


def test_reducing_for_coverage(tools):
    tools.write("good.test", PASSING + "self.p_int[1] = 2 \n" + "self.p_stack[0].pop() \n")
    done = tools("tstl_reduce", "good.test", "small.test", "--coverage")
    assert re.search(r"PRESERVING \d+ BRANCHES AND \d+ STATEMENTS", done.stdout)
    small = tools.read("small.test")
    assert "push" in small and "pop" in small and "p_int[1]" not in small
    done = tools("tstl_reduce", "good.test", "parts", "--decompose", "--noNormalize")
    assert "NEW LENGTHS [" in done.stdout and tools.has("parts.0.test")
    # There is nothing to preserve: the test stays unchanged, and a message says so.
    done = tools("tstl_reduce", "good.test", "same.test")
    assert (
        tools.read("same.test") == tools.read("good.test")
        and "does not do what is to be" in done.stderr
    )
    assert (
        "does not fail"
        in tools("tstl_reduce", "good.test", "x", "--matchException", status=1).stderr
    )


def test_bytes_for_a_fuzzer(tools):
    tools.write("bad.test", LONG)
    tools("tstl_reduce", "bad.test", "bad.afl", "--writeafl", "--noNormalize")
    assert len((tools.folder / "bad.afl").read_bytes()) == 2
    tools("tstl_replay", "bad.afl", "--afl", status=255)
    tools("tstl_regress", "bad.afl", "--afl", status=255)
    assert (
        "cannot be read" in tools("tstl_replay", "bad.afl", "--afl", "--aflswarm", status=1).stderr
    )


def test_regressions(tools):
    tools.write("a.test", PASSING)
    tools.write("b.test", PASSING)
    tools.write("c.test", FAILING)
    done = tools("tstl_regress", "a.test", "b.test", "--html", "pages")
    assert "RUNNING TEST a.test" in done.stdout and number(done, "PERCENT COVERED") > 0
    assert "TEST b.test REDUNDANT WITH RESPECT TO COVERAGE" in done.stdout
    assert "1 TESTS NEEDED FOR FULL COVERAGE: a.test" in done.stdout and tools.has(
        "pages/index.html"
    )
    done = tools("tstl_regress", "c.test", "a.test", status=255)
    assert "TEST c.test FAILED:" in done.stdout and "RUNNING TEST a.test" not in done.stdout
    done = tools("tstl_regress", "c.test", "a.test", "--keepGoing", "--noCheck", "--verbose")
    assert "1 FAILED TESTS:\nc.test" in done.stdout and "ACTION: " in done.stdout


def test_all_small_tests(tools):
    done = tools("tstl_smallcheck", "--depth", "2", "-o", "s.test", status=255)
    assert (
        "STOPPING DUE TO FAILED TEST." in done.stdout
        and "SAVING FAILED TEST AS fail.s.test" in done.stdout
    )
    tools("tstl_replay", "fail.s.test", status=255)
    done = tools(
        "tstl_smallcheck",
        "--depth",
        "2",
        "-M",
        "-o",
        "m.test",
        "--visited",
        "-v",
        "any",
        status=255,
    )
    assert re.search(r"SAVED \d+ FAILING TESTS WITH PREFIX fail.m", done.stdout) and tools.has(
        "fail.m.1.test"
    )
    tools("tstl", "sound.tstl")
    done = tools("tstl_smallcheck", "--depth", "2", "-o", "c.test", "--recursive", "1")
    assert (
        "FINISHED EXPLORATION TO DEPTH 2" in done.stdout
        and "RECURSIVE EXPLORATION RUN #1" in done.stdout
    )
    # A failure after three steps is found by extending a test with new coverage.
    pushing = [
        path.read_text() for path in tools.folder.glob("c.*.test") if "push" in path.read_text()
    ]
    assert pushing and all(len(text.splitlines()) in (3, 4) for text in pushing)
    tools.write("start.test", PASSING)
    done = tools("tstl_smallcheck", "--depth", "1", "-o", "d.test", "--fromTests", "start.*")
    assert "EXPLORING FROM TEST start.test" in done.stdout
    tools("tstl", "sound.tstl", "--noCover", "-R")
    assert "COVERING" not in tools("tstl_smallcheck", "--depth", "2").stdout


def test_generalizing(tools):
    tools.write("bad.test", FAILING)
    done = tools("tstl_generalize", "bad.test", "--matchException", "--noFresh")
    assert "GENERALIZING..." in done.stdout and "stack0.top()" in done.stdout
    assert re.search(r"^GENERALIZED IN \S+ SECONDS$", done.stdout, re.MULTILINE)
    tools.write("good.test", PASSING)
    tools("tstl_generalize", "good.test", "--coverage")
    assert (
        "does not fail"
        in tools("tstl_generalize", "good.test", "--matchException", status=1).stderr
    )


def test_learning_the_order_of_actions(tools):
    tools.write("a.test", PASSING)
    tools.write("b.test", PASSING)
    done = tools("tstl_markov", "m.txt", "1", "a.test", "b.test")
    assert "PREFIX: (" in done.stdout and tools.read("m.txt").startswith("1\nSTART CLASS\n")
    tools("tstl", "sound.tstl")
    done = tools("tstl_rt", "--markov", "m.txt", "--markovP", "0.9", "-m", "5")
    assert number(done, "EXECUTED") == 5
    tools("tstl_rt", "--sequencesFromTests", "?.test", "--sequenceSize", "2", "-m", "5")
    tools.write("classes.txt", "<int> := <[1..5]>\n<stack> := stack.Stack()\n<stack>.push(<int>)\n")
    tools("tstl_markov", "n.txt", "1", "classes.txt", "--notRaw")
    assert tools.read("n.txt") == tools.read("m.txt")
    tools.write("classes.txt", "nothing of the kind\n")
    assert (
        "line 1" in tools("tstl_markov", "n.txt", "1", "classes.txt", "--notRaw", status=1).stderr
    )


def test_triage(tools):
    tools.write("t/1.test", FAILING)
    tools.write("t/2.test", LONG)
    tools.write("t/3.test", PASSING)
    tools.write("t/4.test", "what is this\n")
    (tools.folder / "t/5.test").write_bytes(b"\xff\xfe")
    done = tools("tstl_triage", "t/*.test", "--showTests", "--actionClasses", "--abstractStrings")
    assert done.stdout.count("COUNT: 1 (50.0%)") == 2
    done = tools("tstl_triage", "t/*.test")
    assert (
        "TEST: t/1.test LENGTH: 2\nOPERATION: stack0.top()\nEXCEPTION: (<class 'IndexError'>"
        in done.stdout
    )
    assert "COUNT: 2 (100.0%)" in done.stdout and "INVALID TEST CASE: t/4.test" in done.stdout
    assert done.stdout.endswith(
        "2 TOTAL FAILING TESTS\n2 TOTAL INVALID TESTS\n1 TOTAL PASSING TESTS\n"
    )
    done = tools("tstl_triage", "t/*.test", "--ignoreContaining", "p_int[1];;nothing")
    assert "1 TOTAL FAILING TESTS" in done.stdout


def test_lines_are_preferred_by_their_lines_of_code(tools):
    lines = "pool: <x> 2\n<x> := <[1..3]>\nabs(~<x>)\nstr(~<x>)\n"
    tools.write("loc.tstl", lines)
    tools("tstl", "loc.tstl")
    tools.write("loc.txt", "abs(~<x>) %%%% 90\nstr(~<x>) %%%% 10\n")

    def taken(*options):
        done = tools("tstl_rt", "--maxTests", 20, "--depth", 50, "--seed", 1, "--noCover", "--profile", *options)  # fmt: skip
        counts = re.findall(r"^(abs|str)\(~<x>\) (\d+) ", done.stdout, re.MULTILINE)
        return {name: int(count) for name, count in counts}

    plain, biased = taken(), taken("--biasLOC", "loc.txt")
    assert plain["abs"] < 2 * plain["str"] and biased["abs"] > 4 * biased["str"]
