"""Systems that end, hang and attack their process: a campaign survives, reports what happened, and leaves nothing behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from soak import SOAK, often

HOSTILE = Path(__file__).parent / "torture" / "hostile.py"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="looks at processes as Linux shows them"
)

# The failure that each action leads to: its kind and its message.
FATAL = {
    "segfault": ("crash", "the process was killed by SIGSEGV"),
    "abort": ("crash", "the process was killed by SIGABRT"),
    "exit_with_status_0": ("crash", "the process exited with status 0"),
    "exit_with_status_3": ("crash", "the process exited with status 3"),
    "overflow": ("crash", "the process was killed by SIGSEGV"),
    "kill_group": ("crash", "the process was killed by SIGTERM"),
    "kill_parent": ("crash", "the parent of the process was killed by SIGTERM"),
    "kill_parent_at_once": ("crash", "the parent of the process was killed by SIGKILL"),
    "start_daemon_and_kill_parent": ("crash", "the parent of the process was killed by SIGKILL"),
    "fork_and_crash": ("crash", "the process was killed by SIGKILL"),
    "close_all": ("crash", "the process was cut off"),
    "reopen_all": ("crash", "the process was cut off"),
    "spin": ("hang", "no end after 1s"),
    "spin_in_c": ("hang", "no end after 1s"),
    "pause_in_c": ("hang", "no end after 1s"),
    "stop": ("hang", "no end after 1s"),
    "spin_without_signals": ("hang", "no end after 1s"),
    "sys_exit": ("uncaught-exception", "SystemExit: 3"),
    "interrupt": ("uncaught-exception", "KeyboardInterrupt"),
    "exhaust_memory": ("uncaught-exception", "MemoryError"),
    "write_forever": ("uncaught-exception", "OSError: [Errno 27] File too large"),
}

HARMLESS = [
    "stop_parent",
    "truncate_log",
    "remove_the_folder",
    "close_standard",
    "close_streams",
    "fork",
    "fork_in_c",
    "fork_and_stay",
    "start_daemon",
    "start_threads",
    "thread_that_spins",
    "write_many_files",
    "reseed",
    "print_5_megabytes",
    "limit",
    "handle_signals",
    "ignore_signals",
    "block_signals",
    "forget_modules",
]

LIMITS = ("--step-timeout", "1s", "--memory", "400MB", "--file-size", "20MB")
# Harmless actions may take long: on a busy machine threads wait for each other.
PATIENT = ("--step-timeout", "60s", *LIMITS[2:])


class HostileSystem:
    """A folder with the hostile system, and checks that the command leaves nothing behind."""

    def __init__(self, testwright, tmp_path):
        self.testwright = testwright
        self.temporary = tmp_path / "temporary"
        self.temporary.mkdir()
        self.mark = f"hostile-{os.getpid()}-{time.monotonic_ns()}"
        self.marker = tmp_path / "marker"
        self.environment = {
            **os.environ,
            "HOSTILE_MARK": self.mark,
            "HOSTILE_MARKER": str(self.marker),
            "TMPDIR": str(self.temporary),
        }
        shutil.copy(HOSTILE, testwright.folder / "hostile.py")

    def harness(self, *actions):
        lines = ["@import hostile", "", *(f"hostile.{action}()" for action in actions), ""]
        self.testwright.write("hostile.tstl", "\n".join(lines))

    def processes(self):
        """Returns the process ids of the command and all its children."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                state = (folder / "stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if f"HOSTILE_MARK={self.mark}".encode() in environment.split(b"\0") and state != "Z":
                found.append(int(folder.name))
        return found

    def workers(self):
        """Returns the process ids of fork servers and workers."""
        return [number for number in self.processes() if is_worker(number)]

    def assert_nothing_is_left(self):
        wait_until(lambda: not self.processes() and not any(self.temporary.iterdir()))
        assert self.processes() == []
        assert list(self.temporary.iterdir()) == []
        mine = {
            "hostile.py",
            "hostile.tstl",
            "stack.py",
            "stack.tstl",
            "sound.tstl",
            "temporary",
            "marker",
        }
        left = {path.name for path in self.testwright.folder.iterdir()} - mine - {"__pycache__"}
        assert left <= {"testwright-out", ".testwright"}

    def run(self, *options, status, limits=LIMITS):
        done = self.testwright(
            "run", "hostile.tstl", "--json", *limits, *options, status=status, env=self.environment
        )
        self.assert_nothing_is_left()
        return json.loads(done.stdout)

    def start(self, *options):
        return self.testwright.start("run", "hostile.tstl", *options, env=self.environment)

    def wait_for_workers(self, number=1):
        wait_until(lambda: len(self.workers()) >= number)
        return self.workers()

    def wait_for_step(self):
        wait_until(self.marker.exists)
        return self.marker.exists()


def wait_until(condition):
    """Waits until a condition holds. The deadline is only for tests that fail."""
    deadline = time.monotonic() + 120
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def is_worker(number):
    try:
        return b"worker" in Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


@pytest.fixture
def hostile(testwright, tmp_path):
    return HostileSystem(testwright, tmp_path)


@pytest.mark.soak(keep=8)
@pytest.mark.parametrize("action", FATAL)
def test_a_fatal_action_is_reported_and_reduced(hostile, action):
    kind, message = FATAL[action]
    hostile.harness(action, "reseed")
    report = hostile.run("--jobs", "1", "--tests", "1", status=1)
    (failure,) = report["failures"]
    assert (failure["kind"], failure["message"][: len(message)]) == (kind, message)
    assert failure["test"] == [f"hostile.{action}()"]
    assert failure["reproduced"]
    file = hostile.testwright.folder / "testwright-out/hostile/test_failure_1.py"
    # A file that kills pytest is not kept.
    assert file.is_file() == ("kill_parent" not in action)


@pytest.mark.soak(keep=4)
@pytest.mark.parametrize("action", HARMLESS)
def test_a_harmless_action_passes(hostile, action):
    hostile.harness(action, "reseed")
    plan = ("--jobs", "1", "--strategy", "random", "--tests", "3", "--length", "6")
    report = hostile.run(*plan, status=0, limits=PATIENT)
    assert report["tests"] == 3
    assert report["steps"] == 18


SCRIBBLER = """\
import ctypes


def scribble(everywhere, word, pattern):
    for line in open("/proc/self/maps"):
        if "testwright-log" in line and (everywhere or " rw-s " in line):
            start = int(line.split("-")[0], 16)
            ctypes.c_uint64.from_address(start + 8 * word).value = pattern


def quiet(n):
    pass
"""


@pytest.mark.soak(keep=8)
@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("pattern", [0, 2, 0xAAAAAAAAAAAAAAAA, 2**64 - 1])
@pytest.mark.parametrize("word", range(7))
def test_memory_that_is_overwritten_is_noticed_and_not_believed(
    testwright, word, pattern, everywhere
):
    testwright.write("scribbler.py", SCRIBBLER)
    action = f"scribbler.scribble({everywhere}, {word}, {pattern})"
    testwright.write("wild.tstl", f"@import scribbler\nscribbler.quiet(<[1..100]>)\n{action}\n")
    plan = ("--seed", 1, "--strategy", "random", "--tests", 8, "--length", 300)
    options = (*plan, "--jobs", 1, "--json", "--no-store")
    line = testwright.line("run", "wild.tstl", *options)
    done = subprocess.run(line, cwd=testwright.folder, stdout=subprocess.PIPE, text=True)
    report = json.loads(done.stdout)
    assert report["tests"] <= 8 and report["steps"] <= 8 * 300
    if report["failures"]:
        assert report["failures"][0]["kind"] == "crash"
        assert done.returncode == 1
    else:
        # The same small number again overwrites nothing, and the worker writes its activity often.
        assert pattern in (0, 2) or word == 4
        assert (report["tests"], report["steps"]) == (8, 2400)


def test_daemons_end_with_the_written_file_that_starts_them(hostile):
    hostile.harness("start_daemon_and_fail")
    report = hostile.run("--jobs", "1", "--tests", "1", status=1)
    (failure,) = report["failures"]
    assert failure["message"] == "ValueError: a daemon is left"
    assert (hostile.testwright.folder / "testwright-out/hostile/test_failure_1.py").is_file()


def test_a_campaign_with_all_actions_completes(hostile):
    hostile.harness(*FATAL, *HARMLESS)
    seconds = often(40, 6)
    plan = ("--jobs", "2", "--keep-going", "--time", f"{seconds}s", "--length", "8")
    expected = set(FATAL.values())
    # Which failures are found depends on chance and on the speed of the machine. Each campaign knows the failures of
    # the earlier ones.
    for _ in range(8):
        report = hostile.run(*plan, "--strategy", "random", status=1)
        assert report["seconds"] >= seconds
        assert not report["interrupted"]
        failures = report["failures"]
        if not SOAK:
            assert failures
            return
        found = [(failure["kind"], failure["message"]) for failure in failures]
        missing = {
            (kind, message)
            for kind, message in expected
            if not any(kind == other and words.startswith(message) for other, words in found)
        }
        reproduced = [failure for failure in failures if failure["reproduced"]]
        alone = {failure["test"][0] for failure in reproduced if failure["steps"] == 1}
        # Some actions change what others do (a signal that is ignored, a limit), and then both are needed.
        shortest = {}
        for failure in filter(one_suffices, reproduced):
            last, steps = failure["test"][-1], failure["steps"]
            shortest[last] = min(steps, shortest.get(last, steps))
        long = {last for last, steps in shortest.items() if steps > 2}
        if len(missing) <= 3 and len(alone) >= 12 and not long:
            return
    assert len(missing) <= 3, missing
    assert len(alone) >= 12, alone
    assert not long, failures


def one_suffices(failure):
    """Returns true if the last step of a failing test leads to its failure by itself."""
    last = failure["test"][-1].removeprefix("hostile.").removesuffix("()")
    kind, message = FATAL.get(last, ("", ""))
    return kind == failure["kind"] and failure["message"].startswith(message)


def test_a_stack_is_shown_where_it_happened(hostile):
    hostile.harness("segfault")
    done = hostile.testwright(
        "run", "hostile.tstl", "--tests", "1", status=1, env=hostile.environment
    )
    assert "(a wild pointer, or the stack is full), last step `hostile.segfault()`\n" in done.stdout
    assert 'hostile.py", line' in done.stdout
    assert "in segfault" in done.stdout
    assert "runpy" not in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_command_with_its_summary(hostile, number):
    hostile.harness("touch_marker")
    command = hostile.start("--time", "1h", "--jobs", "2")
    assert hostile.wait_for_step()
    time.sleep(0.5)
    command.send_signal(number)
    out, err = command.communicate(timeout=600)
    assert (command.returncode, hostile.testwright.without_progress(err)) == (0, [])
    assert "Interrupted after" in out
    hostile.assert_nothing_is_left()


def test_all_processes_end_with_a_killed_supervisor(hostile):
    hostile.harness("reseed", "start_daemon", "fork_and_stay")
    command = hostile.start("--time", "1h", "--jobs", "2")
    assert hostile.wait_for_workers(4)
    time.sleep(1)
    command.kill()
    command.communicate(timeout=600)
    hostile.assert_nothing_is_left()


def test_a_supervisor_that_is_killed_while_the_system_is_imported(hostile):
    hostile.testwright.write("hostile.py", "import time\ntime.sleep(600)\n")
    hostile.testwright.write("hostile.tstl", "@import hostile\n\nhostile.f()\n")
    command = hostile.start("--time", "60s", "--jobs", "2")
    assert hostile.wait_for_workers(2)
    command.kill()
    command.communicate(timeout=600)
    wait_until(lambda: not hostile.processes())
    assert hostile.processes() == []


def test_a_killed_worker_is_replaced(hostile):
    hostile.harness("reseed")
    command = hostile.start("--time", "1h", "--jobs", "1", "--keep-going", "--json-lines")
    events = map(json.loads, command.stdout)

    def wait_for(what):
        """Waits for the next event with these fields."""
        return next(event for event in events if what.items() <= event.items())

    wait_for({"event": "worker", "what": "started"})
    server, worker = sorted(hostile.wait_for_workers(2))[:2]
    os.kill(worker, signal.SIGKILL)
    # The test passes when it is run again, so the failure is not reproduced.
    killed = wait_for({"event": "failure"})
    assert "the process was killed by SIGKILL" in killed["message"]
    assert not wait_for({"event": "reduced"})["reproduced"]
    os.kill(server, signal.SIGKILL)
    killed = wait_for({"event": "failure"})
    assert "the parent of the process was killed by SIGKILL" in killed["message"]
    assert not wait_for({"event": "reduced"})["reproduced"]
    # The campaign continues.
    progress = wait_for({"event": "progress"})
    assert wait_for({"event": "progress"})["tests"] > progress["tests"]
    command.send_signal(signal.SIGINT)
    assert len(wait_for({"event": "end"})["report"]["failures"]) == 2
    assert command.communicate(timeout=600) == ("", "")
    hostile.assert_nothing_is_left()


def test_a_second_ctrl_c_ends_the_command_at_once(hostile):
    hostile.harness("spin")
    command = hostile.start("--time", "600s", "--jobs", "1", "--step-timeout", "600s")
    assert hostile.wait_for_workers(2)
    command.send_signal(signal.SIGINT)
    time.sleep(0.05)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=600)
    assert command.returncode in (0, 2)
    hostile.assert_nothing_is_left()


def test_a_reader_that_closes_the_pipe(hostile):
    hostile.harness("reseed")
    line = " ".join(hostile.testwright.line("run", "hostile.tstl", "--time", "1s"))
    done = subprocess.run(
        f"{line} | head -1",
        shell=True,
        cwd=hostile.testwright.folder,
        env=hostile.environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    hostile.assert_nothing_is_left()


def test_a_harness_that_crashes_when_it_is_loaded(hostile):
    hostile.testwright.write("hostile.py", "import os\nos.abort()\n")
    hostile.testwright.write("hostile.tstl", "@import hostile\n\nhostile.f()\n")
    done = hostile.testwright("run", "hostile.tstl", status=2, env=hostile.environment)
    assert "the process that loads the harness was killed by SIGABRT" in done.stderr
    assert 'hostile.py", line 2 in <module>' in done.stderr
    hostile.assert_nothing_is_left()


def test_a_test_that_takes_too_long_as_a_whole(hostile):
    hostile.testwright.write("hostile.py", "import time\n\n\ndef nap():\n    time.sleep(0.1)\n")
    hostile.testwright.write("hostile.tstl", "@import hostile\n\nhostile.nap()\n")
    plan = ("--jobs", "1", "--tests", "1", "--test-timeout", "1s")
    (failure,) = hostile.run(*plan, status=1)["failures"]
    assert (failure["kind"], failure["message"]) == ("hang", "the test takes longer than 1s")
    assert failure["reproduced"]
    assert failure["steps"] <= 12
