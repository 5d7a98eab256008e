"""Systems that end, hang and attack their process: a campaign survives, names what happened, and leaves nothing behind."""

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

RACK = Path(__file__).parent / "torture" / "rack.py"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="looks at processes as Linux shows them"
)

# What each action leads to: the kind of failure, and what is said of it.
FATAL = {
    "segfault": ("crash", "the process was killed by SIGSEGV"),
    "abort": ("crash", "the process was killed by SIGABRT"),
    "leave": ("crash", "the process exited with status 0"),
    "leave_with_three": ("crash", "the process exited with status 3"),
    "overflow": ("crash", "the process was killed by SIGSEGV"),
    "kill_group": ("crash", "the process was killed by SIGTERM"),
    "kill_parent": ("crash", "the parent of the process was killed by SIGTERM"),
    "kill_parent_at_once": ("crash", "the parent of the process was killed by SIGKILL"),
    "leave_a_daemon_and_kill_parent": ("crash", "the parent of the process was killed by SIGKILL"),
    "fork_and_crash": ("crash", "the process was killed by SIGKILL"),
    "close_all": ("crash", "the process was cut off"),
    "reopen_all": ("crash", "the process was cut off"),
    "spin": ("hang", "no end after 1s"),
    "spin_in_c": ("hang", "no end after 1s"),
    "pause_in_c": ("hang", "no end after 1s"),
    "stop": ("hang", "no end after 1s"),
    "spin_deaf": ("hang", "no end after 1s"),
    "leave_politely": ("uncaught-exception", "SystemExit: 3"),
    "interrupt": ("uncaught-exception", "KeyboardInterrupt"),
    "eat_memory": ("uncaught-exception", "MemoryError"),
    "write_without_end": ("uncaught-exception", "OSError: [Errno 27] File too large"),
}

HARMLESS = [
    "stop_parent",
    "cut_the_log",
    "remove_the_folder",
    "close_standard",
    "close_streams",
    "fork",
    "fork_in_c",
    "fork_and_stay",
    "leave_a_daemon",
    "start_threads",
    "thread_that_spins",
    "write_many_files",
    "reseed",
    "shout",
    "limit",
    "handle_signals",
    "ignore_signals",
    "block_signals",
    "forget_modules",
]

LIMITS = ("--step-timeout", "1s", "--memory", "400MB", "--file-size", "20MB")
# What does no harm may take its time: on a busy machine threads wait long for each other.
PATIENT = ("--step-timeout", "60s", *LIMITS[2:])


class Rack:
    """A folder in which the command is run, and what it must not leave behind."""

    def __init__(self, testwright, tmp_path):
        self.testwright = testwright
        self.temporary = tmp_path / "temporary"
        self.temporary.mkdir()
        self.mark = f"rack-{os.getpid()}-{time.monotonic_ns()}"
        self.sign = tmp_path / "sign"
        self.environment = {
            **os.environ,
            "RACK_MARK": self.mark,
            "RACK_SIGN": str(self.sign),
            "TMPDIR": str(self.temporary),
        }
        shutil.copy(RACK, testwright.folder / "rack.py")

    def harness(self, *actions):
        lines = ["@import rack", "", *(f"rack.{action}()" for action in actions), ""]
        self.testwright.write("rack.tstl", "\n".join(lines))

    def processes(self):
        """All that the command has started, and itself."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                state = (folder / "stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if f"RACK_MARK={self.mark}".encode() in environment.split(b"\0") and state != "Z":
                found.append(int(folder.name))
        return found

    def workers(self):
        """Nurseries and workers, by their numbers."""
        return [number for number in self.processes() if is_worker(number)]

    def assert_nothing_is_left(self):
        wait_until(lambda: not self.processes() and not any(self.temporary.iterdir()))
        assert self.processes() == []
        assert list(self.temporary.iterdir()) == []
        mine = {"rack.py", "rack.tstl", "stack.py", "stack.tstl", "sound.tstl", "temporary", "sign"}
        left = {path.name for path in self.testwright.folder.iterdir()} - mine - {"__pycache__"}
        assert left <= {"testwright-out", ".testwright"}

    def run(self, *options, status, limits=LIMITS):
        done = self.testwright(
            "run", "rack.tstl", "--json", *limits, *options, status=status, env=self.environment
        )
        self.assert_nothing_is_left()
        return json.loads(done.stdout)

    def start(self, *options):
        return self.testwright.start("run", "rack.tstl", *options, env=self.environment)

    def wait_for_workers(self, number=1):
        wait_until(lambda: len(self.workers()) >= number)
        return self.workers()

    def wait_for_a_step(self):
        wait_until(self.sign.exists)
        return self.sign.exists()


def wait_until(is_so):
    """Waits for what must happen sooner or later. The limit is there for tests that fail."""
    deadline = time.monotonic() + 120
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)


def is_worker(number):
    try:
        return b"worker" in Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


@pytest.fixture
def rack(testwright, tmp_path):
    return Rack(testwright, tmp_path)


@pytest.mark.soak(keep=8)
@pytest.mark.parametrize("action", FATAL)
def test_it_is_named_and_reduced(rack, action):
    kind, message = FATAL[action]
    rack.harness(action, "reseed")
    report = rack.run("--jobs", "1", "--tests", "1", status=1)
    (failure,) = report["failures"]
    assert (failure["kind"], failure["message"][: len(message)]) == (kind, message)
    assert failure["test"] == [f"rack.{action}()"]
    assert failure["reproduced"]
    assert (rack.testwright.folder / "testwright-out/rack/test_failure_1.py").is_file()


@pytest.mark.soak(keep=4)
@pytest.mark.parametrize("action", HARMLESS)
def test_it_does_no_harm(rack, action):
    rack.harness(action, "reseed")
    plan = ("--jobs", "1", "--strategy", "random", "--tests", "3", "--length", "6")
    report = rack.run(*plan, status=0, limits=PATIENT)
    assert report["tests"] == 3
    assert report["steps"] == 18


def test_campaigns_with_all_of_them_run_to_their_end(rack):
    rack.harness(*FATAL, *HARMLESS)
    seconds = often(40, 6)
    plan = ("--jobs", "2", "--keep-going", "--time", f"{seconds}s", "--length", "8")
    expected = set(FATAL.values())
    # It is chance, and a matter of how fast the machine is, what comes up in that time; what came up in a campaign is
    # known to the next.
    for _ in range(8):
        report = rack.run(*plan, "--strategy", "random", status=1)
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
        # Some change what others do (a signal that is ignored, a limit), and then both are needed.
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
    """Whether the last step of a failing test leads to its failure by itself."""
    last = failure["test"][-1].removeprefix("rack.").removesuffix("()")
    kind, message = FATAL.get(last, ("", ""))
    return kind == failure["kind"] and failure["message"].startswith(message)


def test_a_stack_is_shown_where_it_happened(rack):
    rack.harness("segfault")
    done = rack.testwright("run", "rack.tstl", "--tests", "1", status=1, env=rack.environment)
    assert "(a wild pointer, or the stack is full), last step `rack.segfault()`\n" in done.stdout
    assert 'rack.py", line' in done.stdout
    assert "in segfault" in done.stdout
    assert "runpy" not in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_is_asked_to_end_says_what_it_has(rack, number):
    rack.harness("give_a_sign")
    command = rack.start("--time", "1h", "--jobs", "2")
    assert rack.wait_for_a_step()
    time.sleep(0.5)
    command.send_signal(number)
    out, err = command.communicate(timeout=600)
    assert (command.returncode, rack.testwright.without_progress(err)) == (0, [])
    assert "Interrupted after" in out
    rack.assert_nothing_is_left()


def test_a_killed_supervisor_takes_all_with_it(rack):
    rack.harness("reseed", "leave_a_daemon", "fork_and_stay")
    command = rack.start("--time", "1h", "--jobs", "2")
    assert rack.wait_for_workers(4)
    time.sleep(1)
    command.kill()
    command.communicate(timeout=600)
    rack.assert_nothing_is_left()


def test_a_supervisor_that_is_killed_while_the_system_is_imported(rack):
    rack.testwright.write("rack.py", "import time\ntime.sleep(600)\n")
    rack.testwright.write("rack.tstl", "@import rack\n\nrack.f()\n")
    command = rack.start("--time", "60s", "--jobs", "2")
    assert rack.wait_for_workers(2)
    command.kill()
    command.communicate(timeout=600)
    wait_until(lambda: not rack.processes())
    assert rack.processes() == []


def test_a_worker_that_somebody_kills_is_replaced(rack):
    rack.harness("reseed")
    command = rack.start("--time", "1h", "--jobs", "1", "--keep-going", "--json-lines")
    events = map(json.loads, command.stdout)

    def wait_for(what):
        """For the next event that is so."""
        return next(event for event in events if what.items() <= event.items())

    wait_for({"event": "worker", "what": "started"})
    nursery, worker = sorted(rack.wait_for_workers(2))[:2]
    os.kill(worker, signal.SIGKILL)
    # The test is not to blame, which shows when it is run again.
    killed = wait_for({"event": "failure"})
    assert "the process was killed by SIGKILL" in killed["message"]
    assert not wait_for({"event": "reduced"})["reproduced"]
    os.kill(nursery, signal.SIGKILL)
    killed = wait_for({"event": "failure"})
    assert "the parent of the process was killed by SIGKILL" in killed["message"]
    assert not wait_for({"event": "reduced"})["reproduced"]
    # And on it goes.
    progress = wait_for({"event": "progress"})
    assert wait_for({"event": "progress"})["tests"] > progress["tests"]
    command.send_signal(signal.SIGINT)
    assert len(wait_for({"event": "end"})["report"]["failures"]) == 2
    assert command.communicate(timeout=600) == ("", "")
    rack.assert_nothing_is_left()


def test_who_asks_twice_does_not_wait(rack):
    rack.harness("spin")
    command = rack.start("--time", "600s", "--jobs", "1", "--step-timeout", "600s")
    assert rack.wait_for_workers(2)
    command.send_signal(signal.SIGINT)
    time.sleep(0.05)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=600)
    assert command.returncode in (0, 2)
    rack.assert_nothing_is_left()


def test_nobody_reads_what_is_said(rack):
    rack.harness("reseed")
    line = " ".join(rack.testwright.line("run", "rack.tstl", "--time", "1s"))
    done = subprocess.run(
        f"{line} | head -1",
        shell=True,
        cwd=rack.testwright.folder,
        env=rack.environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    rack.assert_nothing_is_left()


def test_a_harness_that_crashes_when_it_is_loaded(rack):
    rack.testwright.write("rack.py", "import os\nos.abort()\n")
    rack.testwright.write("rack.tstl", "@import rack\n\nrack.f()\n")
    done = rack.testwright("run", "rack.tstl", status=2, env=rack.environment)
    assert "the process that loads the harness was killed by SIGABRT" in done.stderr
    assert 'rack.py", line 2 in <module>' in done.stderr
    rack.assert_nothing_is_left()


def test_a_test_that_takes_too_long_as_a_whole(rack):
    rack.testwright.write("rack.py", "import time\n\n\ndef nap():\n    time.sleep(0.1)\n")
    rack.testwright.write("rack.tstl", "@import rack\n\nrack.nap()\n")
    plan = ("--jobs", "1", "--tests", "1", "--test-timeout", "1s")
    (failure,) = rack.run(*plan, status=1)["failures"]
    assert (failure["kind"], failure["message"]) == ("hang", "the test takes longer than 1s")
    assert failure["reproduced"]
    assert failure["steps"] <= 12
