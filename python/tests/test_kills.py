"""Campaigns whose processes are killed at any moment: the store has everything that was announced, and resuming works."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from soak import SOAK, often

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="finds processes as Linux shows them"
)

# Three failures, at different depths, and enough other actions to keep a campaign busy.
SYSTEM = """\
import os

class Box:
    def __init__(self):
        self.items = []

    def put(self, item):
        self.items.append(item)
        if self.items[-3:] == [1, 2, 3]:
            raise ValueError("one, two, three")

    def take(self):
        if len(self.items) > 6:
            os.abort()
        return self.items.pop() if self.items else None

    def look(self):
        return self.items[2]
"""

HARNESS = """\
@import box

pool: <box> 1
pool: <int> 2

<box> := box.Box()
<int> := <[1..3]>
<box>.put(<int>)
<box>.take()
{IndexError} <box>.look()
"""

MOMENTS = often(200, 20)


class Campaign:
    """One campaign that is killed and resumed, and everything that it announced."""

    def __init__(self, testwright):
        self.testwright = testwright
        self.mark = f"kills-{os.getpid()}-{time.monotonic_ns()}"
        self.environment = {**os.environ, "KILLS_MARK": self.mark}
        self.failures = set()
        self.tests = 0
        self.has_begun = False

    def start(self):
        plan = ["--time", "1h", "--keep-going", "--jobs", "1", "--json-lines", "--no-replay"]
        words = ["--resume"] if self.has_begun else ["box.tstl", *plan]
        return subprocess.Popen(
            self.testwright.line("run", *words),
            cwd=self.testwright.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def processes(self):
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"KILLS_MARK={self.mark}".encode() in environment.split(b"\0"):
                found.append((int(folder.name), b"worker" in words))
        return found

    def listen(self, lines):
        """Collects the announced events. Returns true if the campaign started. The last line may be cut off."""
        starts = False
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            starts |= event["event"] == "start"
            if event["event"] == "failure":
                self.failures.add((event["kind"], event["message"]))
            if event["event"] == "progress":
                self.tests = max(self.tests, event["tests"])
        self.has_begun |= starts
        return starts

    def stored(self):
        done = self.testwright("campaign", "show", "--json")
        return json.loads(done.stdout)


class Pace:
    """Scales waiting times: on a busy machine a campaign starts more slowly."""

    def __init__(self):
        self.factor = 1.0

    def wait(self, seconds):
        time.sleep(self.factor * seconds)

    def learn(self, starts):
        """Adapts the factor so that about one in four kills comes before the harness is loaded."""
        self.factor = max(1.0, self.factor * (0.9 if starts else 1.4))


def test_killing_any_process_at_any_moment(testwright):
    testwright.write("box.py", SYSTEM)
    testwright.write("box.tstl", HARNESS)
    rng = random.Random(7)
    campaign = Campaign(testwright)
    expected = ("uncaught-exception", "ValueError: one, two, three")
    pace = Pace()
    kills = 0
    # The failure takes a few hundred tests; even a slow machine makes them sooner or later.
    while kills < MOMENTS or SOAK and expected not in campaign.failures:
        command = campaign.start()
        # Several kills per supervisor: workers first, the supervisor itself last.
        for _ in range(rng.randrange(4)):
            pace.wait(rng.expovariate(20))
            workers = [number for number, is_worker in campaign.processes() if is_worker]
            if workers:
                kill(rng.choice(workers))
                kills += 1
        pace.wait(rng.expovariate(8))
        kill(command.pid)
        kills += 1
        out, err = command.communicate(timeout=600)
        assert "panicked" not in err and "internal error" not in err, err
        pace.learn(campaign.listen(out.splitlines()))
        if campaign.has_begun and kills % 10 < 3:
            check(campaign)
    check(campaign)
    # Nothing is stuck: the campaign completes.
    before = campaign.stored()["tests"]
    line = testwright.line("run", "--resume", "--time", "1s")
    folder, environment = testwright.folder, campaign.environment
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr  # there may be no time left to find a failure
    end = json.loads(done.stdout.splitlines()[-1])
    assert end["event"] == "end"
    assert end["report"]["tests"] >= before
    assert campaign.stored()["state"] == "complete"
    deadline = time.monotonic() + 120
    while campaign.processes() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert campaign.processes() == []


def kill(number):
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended already


def check(campaign):
    """Checks that the store opens and has everything that was announced."""
    stored = campaign.stored()
    kept = {(failure["kind"], failure["message"]) for failure in stored["failures"]}
    assert campaign.failures <= kept
    assert stored["tests"] >= campaign.tests


def test_a_resumed_store_sets_no_paths_and_no_variables(testwright):
    """Checks that options with paths or variables are not taken from a store, which may come from an attacker."""
    elsewhere = testwright.folder.parent / "elsewhere"
    plan = ("--time", "1h", "--jobs", "1", "--env", "SECRET=1", "--out", str(elsewhere))
    command = testwright.start("run", "sound.tstl", *plan)
    wait_for_a_campaign(testwright)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=600)
    shutil.rmtree(elsewhere, ignore_errors=True)
    done = testwright("run", "--resume", "--time", "1s")
    assert "`--env` of the campaign is left out" in done.stderr
    assert "`--out` of the campaign is left out" in done.stderr
    assert not elsewhere.exists()
    assert "Ran " in done.stdout


def wait_for_a_campaign(testwright):
    """Waits until a campaign is in the store and makes tests."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        listed = testwright("campaign", "list", "--json").stdout
        if any(campaign["tests"] for campaign in json.loads(listed)["campaigns"]):
            return
        time.sleep(0.1)


def test_there_may_be_nothing_to_resume(testwright):
    done = testwright("run", "--resume", status=2)
    assert "error: there is no campaign to resume" in done.stderr
    testwright("run", "sound.tstl", "--tests", "3")
    done = testwright("run", "sound.tstl", "--resume", status=2)
    assert "error: there is no campaign of `sound.tstl` to resume" in done.stderr
    done = testwright("run", status=2)
    assert "<HARNESS|MODEL>" in done.stderr
