"""`testwright run`, from the search to the files it writes."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_failure_is_found_reduced_and_written(testwright):
    done = testwright("run", "stack.tstl", "--seed", "7", status=1)
    assert "stack.tstl: 20 actions from 5 lines; seed 7, " in done.stdout
    assert "Failure 1 in test " in done.stdout
    assert "uncaught exception: IndexError: list index out of range" in done.stdout
    assert "  1  stack0 = stack.Stack()\n  2  stack0.top()\n" in done.stdout
    assert (
        "To see it again: testwright replay testwright-out/stack/failure-1.test --harness stack.tstl\n"
        in done.stdout
    )
    assert done.stdout.splitlines()[-1].endswith("(seed 7): 1 failure found")
    folder = testwright.folder / "testwright-out" / "stack"
    assert names(folder) == ["failure-1.full.test", "failure-1.test", "test_failure_1.py"]
    assert (
        (folder / "failure-1.test").read_text().endswith("\nstack0 = stack.Stack()\nstack0.top()\n")
    )


def test_the_written_pytest_file_fails_alone(testwright):
    testwright("run", "stack.tstl", "--seed", "7", status=1)
    (testwright.folder / "stack.tstl").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "testwright-out/stack/test_failure_1.py"],
        cwd=testwright.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout
    assert "IndexError: list index out of range" in done.stdout


def test_nothing_found(testwright):
    done = testwright("run", "sound.tstl", "--tests", "20", "--seed", "1", "--strategy", "random")
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Ran 20 tests, 2,000 steps in ")
    assert last.endswith(" (seed 1): no failure found")
    assert not (testwright.folder / "testwright-out").exists()


@pytest.mark.parametrize("strategy", ["auto", "random"])
def test_the_number_of_steps_is_exact(testwright, strategy):
    arguments = ("run", "sound.tstl", "--steps", "1234", "--strategy", strategy)
    done = testwright(*arguments, "--seed", "1")
    assert ", 1,234 steps in all\n" in done.stdout.splitlines(keepends=True)[0]
    assert ", 1,234 steps in " in done.stdout.splitlines()[-1]
    testwright("run", "sound.tstl", "--steps", "0", status=2)


def test_a_drawn_seed_is_shown_and_repeats_the_run(testwright):
    first = json.loads(testwright("run", "stack.tstl", "--json", "--jobs", "1", status=1).stdout)
    again = json.loads(
        testwright("run", "stack.tstl", "--json", "--seed", first["seed"], status=1).stdout
    )
    del first["seconds"], again["seconds"]
    assert first == again


def test_json(testwright):
    done = testwright("run", "stack.tstl", "--json", "--seed", "7", "--tests", "50", status=1)
    report = json.loads(done.stdout)
    assert done.stderr == ""
    assert set(report) == {
        "seed", "tests", "steps", "seconds", "actions", "templates", "failures", "interrupted",
        "complete", "bounded_by", "caveats",
    }  # fmt: skip
    assert (report["seed"], report["actions"], report["templates"]) == (7, 20, 5)
    assert report["interrupted"] is False
    (failure,) = report["failures"]
    assert failure["kind"] == "uncaught-exception"
    assert failure["message"] == "IndexError: list index out of range"
    assert failure["steps"] == 2
    assert failure["full_steps"] >= 2
    assert failure["test"] == ["stack0 = stack.Stack()", "stack0.top()"]
    assert failure["file"] == "testwright-out/stack/failure-1.test"
    assert failure["times"] == 1
    assert failure["reproduced"] is True


def test_json_of_a_run_that_finds_nothing(testwright):
    report = json.loads(
        testwright("run", "sound.tstl", "--json", "--tests", "3", "--strategy", "random").stdout
    )
    assert (report["tests"], report["steps"], report["failures"]) == (3, 300, [])


def test_same_seed_same_output(testwright):
    testwright.write(
        "words.tstl",
        "pool: <s> 3 \npool: <w> 2\n<w> := <['a','bb','ccc']>\n<s> := set()\n<s>.add(<w>)\n"
        "<s>.discard(<w>)\n",
    )
    arguments = ("run", "words.tstl", "--tests", "50", "--seed", "7", "--json")
    reports = [json.loads(testwright(*arguments).stdout) for _ in range(2)]
    for report in reports:
        del report["seconds"]
    assert reports[0] == reports[1]


def test_the_hash_seed_is_fixed_but_a_chosen_one_is_kept(testwright, environment):
    testwright.write(
        "seed.tstl",
        "import os\n\npool: <x> 1\n<x> := os.environ['PYTHONHASHSEED']\n<x>.nothing()\n",
    )
    chosen = {**environment, "PYTHONHASHSEED": "5"}
    for options, seed in (({}, "0"), ({"env": chosen}, "5")):
        testwright("run", "seed.tstl", "--seed", "1", status=1, **options)
        done = testwright(
            "replay",
            "testwright-out/seed/failure-1.test",
            "--harness",
            "seed.tstl",
            "-v",
            status=1,
            **options,
        )
        assert f"x0 = '{seed}'" in done.stdout


def test_keep_going_counts_equal_failures(testwright):
    harness = (testwright.folder / "stack.tstl").read_text()
    testwright.write("two.tstl", harness.replace("{IndexError} ", ""))
    done = testwright(
        "run",
        "two.tstl",
        "--keep-going",
        "--tests",
        "30",
        "--seed",
        "3",
        "--json",
        "--strategy",
        "random",
        status=1,
    )
    report = json.loads(done.stdout)
    assert report["tests"] == 30
    assert sorted(failure["message"] for failure in report["failures"]) == [
        "IndexError: list index out of range",
        "IndexError: pop from an empty stack",
    ]
    assert sum(failure["times"] for failure in report["failures"]) == 30
    assert names(testwright.folder / "testwright-out" / "two") == [
        "failure-1.full.test",
        "failure-1.test",
        "failure-2.full.test",
        "failure-2.test",
        "test_failure_1.py",
        "test_failure_2.py",
    ]


def test_no_reduce(testwright):
    done = testwright("run", "stack.tstl", "--no-reduce", "--seed", "7", "--json", status=1)
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["steps"] == failure["full_steps"]


def test_no_check(testwright):
    testwright.write("wrong.tstl", "pool: <x> 1\n<x> := 1\nproperty: <x> == 2\n")
    testwright("run", "wrong.tstl", "--tests", "2", status=1)
    testwright("run", "wrong.tstl", "--tests", "2", "--no-check")


def test_out_is_used_as_it_is(testwright):
    testwright("run", "stack.tstl", "--out", "here/there", status=1)
    assert (testwright.folder / "here" / "there" / "failure-1.test").exists()
    assert not (testwright.folder / "testwright-out").exists()


def test_an_earlier_run_is_kept_until_something_is_found(testwright):
    stale = testwright.write("testwright-out/stack/failure-9.test", "x")
    notes = testwright.write("testwright-out/stack/notes.txt", "mine")
    harness = (testwright.folder / "sound.tstl").read_text()
    buggy = (testwright.folder / "stack.tstl").read_text()
    testwright.write("stack.tstl", harness)
    testwright("run", "stack.tstl", "--tests", "3")
    assert stale.exists()
    testwright.write("stack.tstl", buggy)
    testwright("run", "stack.tstl", status=1)
    assert not stale.exists()
    assert notes.exists()


def test_an_unwritable_folder_is_reported_before_any_work(testwright):
    testwright.write("blocked", "a file")
    for place in ("blocked", "blocked/deeper"):
        done = testwright("run", "stack.tstl", "--out", place, "--time", "1h", status=2)
        assert f"cannot write to the folder `{place}`" in done.stderr
        assert "help: choose another folder with `--out FOLDER`" in done.stderr
        assert done.stdout == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_reported_before_any_work(testwright):
    folder = testwright.folder / "locked"
    folder.mkdir(mode=0o500)
    done = testwright("run", "stack.tstl", "--out", "locked", status=2)
    assert "cannot write to the folder `locked`: permission denied" in done.stderr


ENDLESS = "while True: pass"
DEAF = """while True:
        try:
            while True: sum(range(99))
        except: pass"""
# A loop in C that never checks for signals.
IN_C = "sum(range(10**11))"


@pytest.mark.parametrize(
    ("body", "extra"),
    [
        ("pass", []),
        ("pass", ["--json"]),
        ("pass", ["--keep-going"]),
        (ENDLESS, []),
        (ENDLESS, ["--json"]),
        (DEAF, []),
        (DEAF, ["--json"]),
        (IN_C, []),
    ],
)
def test_ctrl_c_prints_the_summary_whatever_the_system_does(testwright, body, extra):
    testwright.write("slow.py", f"def f():\n    {testwright.marker_code}\n    {body}\n")
    testwright.write("slow.tstl", "@import slow\n\npool: <x> 1\n<x> := slow.f()\n")
    run = testwright.start("run", "slow.tstl", "--time", "1h", "--seed", "1", *extra)
    testwright.wait_for_marker()
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=600)
    assert run.returncode == 0, err
    assert "Traceback" not in err
    if "--json" in extra:
        assert json.loads(out)["interrupted"] is True
    else:
        assert out.splitlines()[-1].startswith("Interrupted after ")


def test_ctrl_c_keeps_what_was_found(testwright):
    run = testwright.start("run", "stack.tstl", "--time", "1h", "--keep-going", "--seed", "7")
    testwright.wait_for("testwright-out/stack/failure-1.test")
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=600)
    assert run.returncode == 1, err
    assert "1 failure found" in out
    assert (testwright.folder / "testwright-out" / "stack" / "failure-1.test").exists()


def test_the_system_may_exit_interrupt_and_close_everything(testwright):
    testwright.write(
        "rude.py",
        "import os, sys\n"
        "def leave(): sys.exit(3)\n"
        "def interrupt(): raise KeyboardInterrupt\n"
        "def close():\n"
        "    sys.stdout.close(); sys.stderr.close(); os.close(1); os.close(2)\n"
        "    sys.stdout = None\n"
        "def shout(): print('shouting'); print('louder', file=sys.stderr); os.system('echo from a child')\n",
    )
    testwright.write(
        "rude.tstl",
        "@import rude\n\npool: <x> 1\n<x> := rude.close()\n<x> := rude.shout()\n"
        "<x> := rude.leave()\n<x> := rude.interrupt()\n",
    )
    done = testwright(
        "run",
        "rude.tstl",
        "--tests",
        "40",
        "--length",
        "5",
        "--keep-going",
        "--seed",
        "1",
        "--json",
        status=1,
    )
    report = json.loads(done.stdout)
    assert report["interrupted"] is False
    raised = {failure["message"].split()[0].rstrip(":") for failure in report["failures"]}
    assert {"SystemExit", "KeyboardInterrupt"} <= raised
    assert "shouting" not in done.stdout + done.stderr


def test_show_output(testwright):
    testwright.write("loud.tstl", "pool: <x> 1\n<x> := print('heard', 'you')\n")
    done = testwright("run", "loud.tstl", "--tests", "1", "--length", "2", "--show-output")
    assert done.stdout.count("heard you\n") == 2
    assert "no failure found" in done.stdout


def test_a_flaky_failure_is_kept_and_marked(testwright):
    testwright.write(
        "flaky.py",
        "import pathlib\nSEEN = pathlib.Path(__file__).with_name('seen')\ndef f():\n    if not SEEN.exists():\n        SEEN.touch()\n        raise ValueError('once')\n",
    )
    testwright.write("flaky.tstl", "@import flaky\n\npool: <x> 1\n<x> := flaky.f()\n")
    done = testwright("run", "flaky.tstl", "--seed", "1", status=1)
    assert "When run again, the test behaves differently: it passes." in done.stdout
    assert names(testwright.folder / "testwright-out" / "flaky") == ["failure-1.full.test"]


def test_a_harness_that_cannot_be_imported(testwright):
    testwright.write(
        "lost.tstl", "@import no_such_module\n\npool: <x> 1\n<x> := no_such_module.f()\n"
    )
    done = testwright("run", "lost.tstl", status=2)
    assert (
        done.stderr
        == f"""\
error[raw-code-failed]: there is no module named `no_such_module`
 --> lost.tstl:1:1
  |
1 | @import no_such_module
  | ^^^^^^^^^^^^^^^^^^^^^^ while running this
  |
  = help: install it, or put `no_such_module.py` into `{testwright.folder}`

1 error in lost.tstl
"""
    )
    assert not (testwright.folder / "testwright-out").exists()


def test_nothing_enabled_at_the_start(testwright):
    testwright.write("stuck.tstl", "pool: <x> 1\n<x>.f()\n")
    for how in (
        ["--jobs", "2"],
        ["--jobs", "0"],
        ["--tests", "3"],
        ["--steps", "9"],
        ["--seed", "1"],
    ):
        done = testwright("run", "stuck.tstl", "--time", "1h", *how, status=2)
        assert "no action is enabled at the start, so nothing was tested" in done.stderr
        assert "such as `<x> := 1`" in done.stderr
    done = testwright("run", "stuck.tstl", "--json", status=2)
    assert not json.loads(done.stdout)["complete"]
    listed = testwright("campaign", "list").stdout
    assert "failed" in listed and "complete" not in listed
    done = testwright("run", "--resume", status=2)
    assert "so nothing was tested" in done.stderr


@pytest.mark.parametrize("jobs", [[], ["--jobs", "0"], ["--seed", "1"]])
def test_lines_that_were_never_taken_are_named(testwright, jobs):
    testwright.write(
        "partly.tstl",
        "pool: <x> 1\n<x> := <[1..2]>\n<x> + 1\n<x> == 7 -> <x> - 1\n"
        "pool: <y> 1\n<y>.append(<x>)\n",
    )
    done = testwright("run", "partly.tstl", "--steps", "2000", *jobs)
    assert done.stdout.endswith(
        "  not covered: line 4, `<x> - 1`, was never taken\n"
        "  not covered: line 6, `<y>.append(<x>)`, was never taken\n"
    )
    report = json.loads(testwright("run", "partly.tstl", "--steps", "2000", "--json", *jobs).stdout)
    assert [caveat["kind"] for caveat in report["caveats"]] == ["never-taken"] * 2
    assert [limit["kind"] for limit in report["bounded_by"]] == ["steps"]
    # A line that fails is taken, although its test ends there, and a line that kills the process.
    testwright.write(
        "die.tstl", "pool: <x> 1\n<x> := 1\n<x> + 1\n@import os\n<x> == 1 -> os.abort()\n"
    )
    if jobs != ["--jobs", "0"]:
        done = testwright("run", "die.tstl", "--steps", "2000", "--keep-going", *jobs, status=1)
        assert "never taken" not in done.stdout


def test_a_search_that_is_too_short_for_a_line_does_not_name_it(testwright):
    lines = "".join(f"<x> + {number}\n" for number in range(100))
    testwright.write("many.tstl", f"pool: <x> 1\n<x> := 1\n{lines}")
    done = testwright("run", "many.tstl", "--steps", "50", "--seed", "1")
    assert "never taken" not in done.stdout


def test_a_guard_that_raises_is_a_warning_with_its_line(testwright):
    testwright.write("guard.tstl", "pool: <x> 1\n<x> := 1\nundefined_name -> <x> := 2\n")
    done = testwright("run", "guard.tstl", "--tests", "2", "--seed", "1")
    assert "warning[while-running]" in done.stderr
    assert " --> guard.tstl:3:1" in done.stderr
    assert "undefined_name" in done.stderr


def test_all_files_are_written_if_the_reader_closes_the_pipe(testwright):
    run = testwright.start("run", "stack.tstl", "--seed", "7")
    run.stdout.close()
    assert testwright.without_progress(run.stderr.read()) == []
    assert run.wait(timeout=600) == 1
    assert (testwright.folder / "testwright-out" / "stack" / "failure-1.test").exists()


def test_progress_in_a_log_file_is_plain_lines(testwright):
    done = testwright("run", "sound.tstl", "--time", "6s", "--seed", "1")
    assert done.stderr
    for line in done.stderr.splitlines():
        assert " steps/s, 0 failures, " in line
        assert line.endswith(" left")
    assert "\r" not in done.stderr and "\x1b" not in done.stderr + done.stdout


def drawn_on_a_terminal(testwright, *options):
    import pty

    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        testwright.line("run", "sound.tstl", "--time", "1s", "--seed", "1", *options),
        cwd=testwright.folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        drawn += piece
    os.close(ours)
    assert run.wait(timeout=20) == 0
    assert b"steps/s" in drawn
    return drawn


def test_progress_on_a_terminal_is_a_panel_that_is_cleared(testwright):
    drawn = drawn_on_a_terminal(testwright).decode()
    for words in ("sound.tstl", "testing", "coverage", "workers", "left"):
        assert words in drawn
    # At the end the cursor moves up to the first line and clears the panel.
    assert re.search(r"\x1b\[[0-9]+A\r\x1b\[J$", drawn)


def test_progress_in_one_process_is_one_line_that_is_cleared(testwright):
    drawn = drawn_on_a_terminal(testwright, "--jobs", "0")
    # A line, then the cursor is on the next one; at the end it moves up and clears the line.
    drawn = drawn.replace(b"\r\r\n", b"\r\n")  # The terminal adds carriage returns.
    first, *others = drawn.split(b"\x1b[?2026h\x1b[1A\r")
    assert first.startswith(b"\x1b[?2026h\r")
    assert all(line.count(b"\n") == 1 for line in [first, *others])
    assert drawn.endswith(b"\x1b[K\r\n\x1b[J\x1b[?2026l\x1b[1A\r\x1b[J")


def test_ctrl_c_during_reduction_keeps_the_best_so_far(testwright):
    testwright.write(
        "slow.py",
        "import time\n"
        "calls = 0\n"
        "def f():\n"
        f"    {testwright.marker_code}\n"
        "    global calls\n"
        "    calls += 1\n"
        "    time.sleep(0.05)\n"
        "    if calls == 12: raise ValueError('twelve')\n"
        "    return calls\n",
    )
    testwright.write("slow.tstl", "@import slow\n\npool: <x> 1\n<x> := slow.f()\nrepr(<x>)\n")
    run = testwright.start("run", "slow.tstl", "--seed", "1")
    assert any("Failure 1" in line for line in run.stdout)
    # The test was repeated, and run once or twice with fewer steps.
    testwright.wait_for_marker(36)
    run.send_signal(signal.SIGINT)
    rest, err = run.communicate(timeout=600)
    assert run.returncode == 1, err
    assert "; interrupted, so it may not be the shortest" in rest
    folder = testwright.folder / "testwright-out" / "slow"
    assert names(folder) == ["failure-1.full.test", "failure-1.test", "test_failure_1.py"]


@pytest.mark.parametrize(
    "body",
    [
        "import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()",
        "import os, time\n    if os.fork() == 0: time.sleep(600)",
        "import atexit; atexit.register(print, 'at exit')",
        "import os, sys\n    if os.fork() == 0: sys.exit(0)\n    os.wait()",
        "import os, signal, time\n    child = os.fork()\n    if child == 0: time.sleep(20)\n"
        "    os.kill(child, signal.SIGTERM); os.wait()",
        "import multiprocessing as m\n    with m.get_context('fork').Pool(2) as p: p.map(abs, [1, 2])",
    ],
    ids=["thread", "process", "exit handler", "child exits", "child is killed", "pool"],
)
def test_leftovers_of_a_system_do_no_harm(testwright, body):
    testwright.write("left.py", f"def f():\n    {body}\n")
    testwright.write("left.tstl", "@import left\nleft.f()\n")
    done = testwright("run", "left.tstl", "--tests", "1", "--length", "3", "--json", "--seed", "1")
    report = json.loads(done.stdout)
    assert (report["tests"], report["steps"], report["interrupted"]) == (1, 3, False)


@pytest.mark.parametrize("when", ["imported", "called"])
def test_the_system_may_change_the_current_folder(testwright, when):
    away = "os.makedirs(HERE / 'elsewhere', exist_ok=True); os.chdir(HERE / 'elsewhere')"
    testwright.write(
        "wander.py",
        "import os, pathlib\n"
        "HERE = pathlib.Path(__file__).resolve().parent\n"
        f"def away(): {away}\n"
        + ("away()\n" if when == "imported" else "")
        + "def go():\n    away()\n    raise ValueError('lost')\n",
    )
    testwright.write("wander.tstl", "@import wander\n\npool: <x> 1\n<x> := wander.go()\n")
    done = testwright("run", "wander.tstl", "--seed", "1", status=1)
    assert "\n  testwright-out/wander/failure-1.test       this test\n" in done.stdout
    assert names(testwright.folder / "testwright-out" / "wander") == [
        "failure-1.full.test",
        "failure-1.test",
        "test_failure_1.py",
    ]
    assert names(testwright.folder / "elsewhere") == []


@pytest.mark.parametrize("deleted", ["work", "work/testwright-out"])
def test_the_system_may_delete_the_output_folder(testwright, deleted):
    testwright.write(
        "delete.py",
        "import pathlib, shutil\n"
        "HERE = pathlib.Path(__file__).resolve().parent\n"
        "def go():\n"
        f"    shutil.rmtree(HERE / {deleted!r}, ignore_errors=True)\n"
        "    raise ValueError('lost')\n",
    )
    testwright.write("delete.tstl", "@import delete\n\npool: <x> 1\n<x> := delete.go()\n")
    work = testwright.folder / "work"
    work.mkdir()
    line = testwright.line("run", "../delete.tstl", "--seed", "1", "--keep-going", "--tests", "3")
    done = subprocess.run(line, cwd=work, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "1 failure found" in done.stdout
    assert names(work / "testwright-out" / "delete") == [
        "failure-1.full.test",
        "failure-1.test",
        "test_failure_1.py",
    ]


def test_a_failure_that_cannot_be_written_is_still_reported(testwright):
    resource = pytest.importorskip("resource")
    testwright.write(
        "greedy.py",
        "import os\n"
        "def go():\n"
        "    try:\n"
        "        while True: os.dup(0)\n"
        "    except OSError: pass\n"
        "    raise ValueError('no file left')\n",
    )
    testwright.write("greedy.tstl", "@import greedy\n\npool: <x> 1\n<x> := greedy.go()\n")
    few_files = {
        "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)),
        "stdin": subprocess.DEVNULL,
    }
    arguments = ("run", "greedy.tstl", "--seed", "1", "--jobs", "0")
    done = testwright(*arguments, status=2, **few_files)
    assert "\n  1  x0 = greedy.go()\n" in done.stdout
    assert "To see it again" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith("(seed 1): 1 failure found")
    message = "error: cannot write `testwright-out/greedy`: too many open files\n"
    assert done.stderr.count(message) == 1

    done = testwright(*arguments, "--json", status=2, **few_files)
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["message"] == "ValueError: no file left"
    assert failure["file"] == "testwright-out/greedy/failure-1.test"
    assert message in done.stderr


def test_json_distinguishes_actions_with_equal_texts(testwright):
    testwright.write(
        "alike.tstl",
        "pool: <l> 1\n<l> := []\n<l> != None and False -> <l>.pop()\nlen(<l>) == 0 -> <l>.pop()\n",
    )
    done = testwright("run", "alike.tstl", "--seed", "1", "--json", status=1)
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["test"] == ["l0 = []", "l0.pop()  #2"]
    assert (testwright.folder / failure["file"]).read_text().endswith("\nl0 = []\nl0.pop()  #2\n")


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_ctrl_c_while_the_system_is_imported(testwright, extra):
    testwright.write(
        "late.py", f"import time\n{testwright.marker_code}\ntime.sleep(600)\ndef f(): pass\n"
    )
    testwright.write("late.tstl", "@import late\n\npool: <x> 1\n<x> := late.f()\n")
    run = testwright.start("run", "late.tstl", "--seed", "1", *extra)
    testwright.wait_for_marker()
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=600)
    assert run.returncode == 2
    assert testwright.without_progress(err) == ["interrupted"]
    if extra:
        report = json.loads(out)
        assert (report["interrupted"], report["tests"], report["seed"]) == (True, 0, 1)
        assert report["actions"] == 1
    else:
        assert out == ""


@pytest.mark.parametrize("extra", [[], ["--json"]])
@pytest.mark.parametrize("jobs", ["0", "1"])
def test_a_failure_counts_even_if_the_system_gets_stuck_while_it_is_reduced(
    testwright, jobs, extra
):
    testwright.write(
        "stuck.py",
        "import pathlib\n"
        "SEEN = pathlib.Path(__file__).with_name('seen')\n"
        "def f():\n"
        "    while SEEN.exists():\n"
        "        try:\n"
        "            while True: sum(range(99))\n"
        "        except: pass\n"
        "    SEEN.touch()\n"
        "    raise ValueError('once')\n",
    )
    testwright.write("stuck.tstl", "@import stuck\n\npool: <x> 1\n<x> := stuck.f()\n")
    run = testwright.start("run", "stuck.tstl", "--seed", "1", "--jobs", jobs, *extra)
    testwright.wait_for("testwright-out/stuck/failure-1.full.test")
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=600)
    assert run.returncode == 1, err
    if extra:
        (failure,) = json.loads(out)["failures"]
        assert failure["file"].startswith("testwright-out/stuck/failure-1.")
    else:
        assert out.splitlines()[-1].endswith("(seed 1): 1 failure found")


# Makes the modules in a folder importable, as if they were installed.
INSTALLED = "@sys.path.append(os.path.join(os.path.dirname(__file__), 'site-packages'))\n"


def test_a_failure_that_needs_earlier_tests_is_reduced_with_them(testwright):
    # A new test does not reset an installed package.
    testwright.write("site-packages/shared.py", "class Thing:\n    count = 0\n")
    harness = (
        f"{INSTALLED}@import shared\nshared.Thing.count += 1\nproperty: shared.Thing.count < 30\n"
    )
    testwright.write("alone.tstl", harness)
    done = testwright("run", "alone.tstl", "--length", "40", "--json", "--seed", "1", status=1)
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["steps"] == failure["full_steps"] == 30
    done = testwright("run", "alone.tstl", "--length", "20", "--json", "--seed", "1", status=1)
    (failure,) = json.loads(done.stdout)["failures"]
    # The earlier tests that it needs are put in front of it.
    assert failure["reproduced"] is True
    assert failure["steps"] == 30
    arguments = ("run", "alone.tstl", "--length", "20", "--json", "--seed", "1", "--jobs", "0")
    (failure,) = json.loads(testwright(*arguments, status=1).stdout)["failures"]
    assert failure["reproduced"] is False
    assert names(testwright.folder / "testwright-out" / "alone") == ["failure-1.full.test"]


def test_a_failure_that_needs_resets_is_reduced_across_them(testwright):
    thing = "class Thing:\n    resets = 0\n    def look(self): pass\n"
    testwright.write("site-packages/shared.py", thing)
    harness = (
        f"{INSTALLED}@import shared\n"
        "init: shared.Thing.resets += 1\n"
        "shared.Thing().look()\n"
        "property: shared.Thing.resets < 4\n"
    )
    testwright.write("resets.tstl", harness)
    done = testwright("run", "resets.tstl", "--length", "5", "--seed", "1", status=1)
    assert (
        "It fails only after other tests: a reset does not undo all that they did." in done.stdout
    )
    # The first reset comes before the first step.
    restarts = "  1  <<RESTART>>\n  2  <<RESTART>>\n  3  <<RESTART>>\n  4  shared.Thing().look()\n"
    assert restarts in done.stdout
    saved = testwright.folder / "testwright-out" / "resets" / "failure-1.test"
    done = testwright("replay", saved, "--harness", "resets.tstl", status=1)


def test_every_test_can_be_kept(testwright):
    kept = testwright.folder / "kept"
    arguments = ("run", "sound.tstl", "--seed", "7", "--length", "5", "--keep-tests", "kept")
    testwright(*arguments, "--tests", "4")
    assert names(kept) == ["test-1.test", "test-2.test", "test-3.test", "test-4.test"]
    first = (kept / "test-1.test").read_text()
    assert first.startswith("# testwright test 1\n# harness: sound.tstl\n# seed: 7, test 1\n")
    assert len(first.splitlines()) == 3 + 5
    done = testwright("replay", *sorted(kept.iterdir()), "--harness", "sound.tstl")
    assert done.stdout.count("passes") == 4
    # The tests of an earlier run are replaced; other files are not touched.
    (kept / "notes.txt").write_text("mine")
    testwright(*arguments, "--tests", "2")
    assert names(kept) == ["notes.txt", "test-1.test", "test-2.test"]
    assert (kept / "test-1.test").read_text() == first


def test_a_failing_test_is_kept_with_the_others(testwright):
    done = testwright(
        "run", "stack.tstl", "--seed", "7", "--keep-tests", "kept", "--json", status=1
    )
    report = json.loads(done.stdout)
    kept = testwright.folder / "kept" / f"test-{report['tests']}.test"
    full = testwright.folder / "testwright-out" / "stack" / "failure-1.full.test"
    assert kept.read_text() == full.read_text()
    assert len(names(kept.parent)) == report["tests"]


def test_tests_that_cannot_be_kept(testwright):
    testwright.write("file", "")
    arguments = ("run", "sound.tstl", "--seed", "7", "--tests", "1", "--keep-tests", "file/kept")
    done = testwright(*arguments, status=2)
    assert "cannot write to the folder `file/kept`: `" in done.stderr
    assert "choose another folder with `--keep-tests FOLDER`" in done.stderr
    # The system creates a file at the path of the folder.
    testwright.write("rude.tstl", "@import pathlib\n\npathlib.Path('kept').touch()\n")
    plan = ("--tests", "9", "--jobs", "1")
    arguments = ("run", "rude.tstl", *plan, "--keep-tests", "kept", "--in-place")
    done = testwright(*arguments, status=2)
    assert "cannot write `kept" in done.stderr
    assert "no failure found" in done.stdout


def test_a_campaign_that_cannot_write_its_failure_is_not_complete(testwright):
    (testwright.folder / "testwright-out/stack/failure-1.test").mkdir(parents=True)
    testwright("run", "stack.tstl", "--seed", "1", status=2)
    campaign = json.loads(testwright("campaign", "show", "--json").stdout)
    assert campaign["state"] == "failed", campaign


def test_keep_going_is_not_advised_to_those_who_used_it(testwright):
    testwright("run", "stack.tstl", "--tests", "20", "--no-reduce", status=1)
    # The known failure takes all the time that there is.
    advice = "`--keep-going` does so"
    assert advice in testwright("run", "stack.tstl", status=1).stdout
    done = testwright("run", "stack.tstl", "--keep-going", "--time", "1ms", status=1)
    assert advice not in done.stdout


def test_a_run_that_finds_nothing_claims_nothing(testwright):
    for limit, kind in ((["--tests", "3"], "tests"), (["--time", "0.5s"], "time"), (["--steps", "9"], "steps")):  # fmt: skip
        done = testwright("run", "sound.tstl", "--seed", "1", *limit)
        assert "no failure found" in done.stdout
        for claim in ("All ", "every ", "safe", "holds", "proven"):
            assert claim not in done.stdout
        report = json.loads(testwright("run", "sound.tstl", "--json", "--seed", "1", *limit).stdout)
        assert not report["complete"]
        assert [reason["kind"] for reason in report["bounded_by"]] == [kind]
