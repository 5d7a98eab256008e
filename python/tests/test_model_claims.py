"""What is said about models is true: names exist, what is observed is explored, and a search says where it ended."""

import json
import re
import signal
import subprocess
import sys
import time
from textwrap import dedent

import pytest


@pytest.fixture
def write(testwright):
    """Returns a function that writes a module, and the command."""

    def write(name, text):
        testwright.write(f"{name}.py", dedent(text).lstrip())
        return testwright

    return write


ALARM = """
    hot = False
    def Heat(): pass
    def Overheat(level):
        global hot
        hot = True
    def StateInvariant(): return not hot
    state = ('hot',)
    actions = (Heat, Overheat)
    observables = (Overheat,)
"""

RING = """
    N = 4
    token = 0
    want = [False] * N
    busy = False
    def Want(i): want[i] = True
    def WantEnabled(i): return not want[i]
    def Use():
        global busy
        busy = True
    def UseEnabled(): return want[token] and not busy
    def Done():
        global busy
        busy = False
        want[token] = False
    def DoneEnabled(): return busy
    def Pass():
        global token
        token = (token + 1) % N
    def PassEnabled(): return not busy
    state = ('token', 'want', 'busy')
    actions = (Want, Use, Done, Pass)
    enablers = {Want: (WantEnabled,), Use: (UseEnabled,), Done: (DoneEnabled,), Pass: (PassEnabled,)}
    domains = {Want: {'i': list(range(N))}}
"""

COUNT = """
    n = 0
    def Inc():
        global n
        n += 1
    def StateInvariant(): return n < 100
    state = ('n',)
    actions = (Inc,)
"""


def test_what_is_observed_with_a_domain_is_explored(write):
    models = write("Alarm", ALARM + "    domains = {Overheat: {'level': [1, 2]}}\n")
    done = models("explore", "Alarm", "--formula", "always not {hot}", status=1)
    assert "1 state unsafe" in done.stdout and "Overheat(1,)  (observed)" in done.stdout
    assert "Formula: is violated" in done.stdout
    found = json.loads(models("explore", "Alarm", "--json", status=1).stdout)
    assert found["unsafe"][0]["way"] == ["Overheat(1,)"] and found["observed"] == ["Overheat"]
    done = models("run", "Alarm", "--seed", 1, "--tests", 20, "--jobs", 1, status=1)
    assert "the invariant of `Alarm` is false" in done.stdout
    models("explore", "Alarm", "--keep-going", "--out", "graph.json", status=1)
    graph = json.loads((models.folder / "graph.json").read_text(encoding="utf-8"))
    assert {one["action"]: one["observed"] for one in graph["transitions"]} == {
        "Heat": False,
        "Overheat": True,
    }


def test_an_observed_action_without_parameters_needs_no_domain(write):
    models = write("Alarm", ALARM.replace("(level)", "()"))
    assert "Overheat()  (observed)" in models("explore", "Alarm", status=1).stdout


def test_what_is_observed_without_a_domain_is_not_covered(write):
    models = write("Alarm", ALARM)
    done = models("explore", "Alarm")
    assert "`Overheat` is only observed and has no domain" in done.stdout
    assert "every state is safe" not in done.stdout
    assert not json.loads(models("explore", "Alarm", "--json").stdout)["complete"]
    # A scenario that lists the arguments says all that can be observed.
    models.write(
        "Hot.py",
        "from Alarm import Overheat\ninitial = 0\naccepting = [0, 1]\ngraph = ((0, (Overheat, (1,), None), 1),)\n",
    )
    done = models("explore", "Alarm", "Hot", status=1)
    assert "Overheat(1,)  (observed)" in done.stdout and "no domain" not in done.stdout


def test_an_implementation_decides_what_is_observed(write):
    models = write(
        "Alarm",
        ALARM + "    domains = {Overheat: {'level': [1, 2]}}\n    def Accepting(): return True\n",
    )
    models.write(
        "Calm.py",
        "def TestAction(name, args, expected):\n    if name != 'Heat': return 'nobody can do ' + name\ndef Reset(): pass\n",
    )
    models("model", "test", "Alarm", "--stepper", "Calm", "--runs", 5, "--steps", 20)
    models("run", "Alarm", "--stepper", "Calm", "--seed", 1, "--tests", 5, "--jobs", 1)


@pytest.mark.parametrize(
    "line, message, help",
    [
        (
            ("explore", "Ring", "--action", "Nope"),
            "`--action Nope`: no model has such an action",
            "the actions are `Want`, `Use`, `Done`, `Pass`",
        ),
        (("explore", "Ring", "--exclude", "Wnat"), "`--exclude Wnat`", "did you mean `Want`?"),
        (("model", "test", "Ring", "--action", "want"), "`--action want`", "did you mean `Want`?"),
        (
            ("explore", "Ring", "--formula", 'always not took "Dnoe()"'),
            "no action has that text",
            "did you mean `Done()`?",
        ),
        (
            ("explore", "Ring", "--formula", 'always not took "Dnoe"'),
            "no action has that text",
            "did you mean `Done`?",
        ),
        (
            ("explore", "Ring", "--formula", 'always not took "Want()"'),
            "no action has that text",
            "did you mean `Want(0,)`",
        ),
        (
            ("explore", "Ring", "--formula", 'always not took "Want(7)"'),
            "no action has that text",
            "`Want(3,)`",
        ),
        (
            ("explore", "Ring", "--formula", 'always not took "X*"'),
            "no action has that text",
            "`Want`",
        ),
        (
            ("explore", "Ring", "--formula", "always {tokn < 4}"),
            "NameError: name 'tokn' is not defined",
            "",
        ),
    ],
)
def test_names_that_do_not_exist_are_errors(write, line, message, help):
    done = write("Ring", RING)(*line, status=2)
    assert message in done.stderr and help in done.stderr
    assert "Explored" not in done.stdout


@pytest.mark.parametrize(
    "formula, status",
    [
        ('always not took "Want"', 1),
        ('always not took "Want(2)"', 1),
        ('always not took "Want(2,)"', 1),
        ('always not took "W*"', 1),
        ('always (took "Done" implies {not busy})', 0),
        ('always (took "Use()" implies {busy})', 0),
    ],
)
def test_a_name_alone_stands_for_the_action_with_any_arguments(write, formula, status):
    write("Ring", RING)("explore", "Ring", "--formula", formula, status=status)


def test_an_action_that_is_never_possible_may_be_named(write):
    models = write(
        "Ring", RING.replace("def DoneEnabled(): return busy", "def DoneEnabled(): return False")
    )
    done = models("explore", "Ring", "--formula", 'always not took "Done()"')
    assert "Formula: holds" in done.stdout and "Never possible: Done" in done.stdout


MACHINE = """
    def {first}(): pass
    def Pass(): pass
    initial = {initial}
    accepting = [0, 1]
    graph = ((0, ({first}, (), None), 1), (1, (Pass, (), None), 0))
"""


def test_misspelt_actions_of_scenarios_are_errors(write):
    models = write("Ring", RING)
    write("Scene", MACHINE.format(first="Psas", initial=0))
    done = models("explore", "Ring", "Scene", status=2)
    assert (
        "`Scene` has the action `Psas`, and no other model does" in done.stderr
        and "did you mean `Pass`" in done.stderr
    )
    # A name of its own may be meant.
    write("Scene", MACHINE.format(first="Sleep", initial=0))
    assert "only `Scene` has the action `Sleep`" in models("explore", "Ring", "Scene").stderr
    models.write("Runs.py", "def Sleep(): pass\ntestSuite = [[(Sleep, ())]]\n")
    assert (
        "`Runs` has the action `Sleep`"
        in models("model", "check", "Ring", "--scenarios", "Runs", status=2).stderr
    )
    models.write("runs.jsonl", '{"action": "Use"}\n{"action": "Doen"}\n')
    done = models("explore", "Ring", "runs.jsonl", status=2)
    assert "runs.jsonl:2: no model has the action `Doen`" in done.stderr and "`Done`" in done.stderr


def test_the_initial_state_of_a_machine_must_exist(write):
    models = write("Scene", MACHINE.format(first="Go", initial=7))
    assert (
        "`initial` of the module `Scene` is 7, and `graph` has no such state"
        in models("explore", "Scene", status=2).stderr
    )
    write("Scene", MACHINE.format(first="Go", initial=1))
    models("explore", "Scene")
    # A machine without edges only forbids actions.
    models.write(
        "Never.py",
        "from Scene import Go\nactions = (Go,)\ninitial = 0\naccepting = [0]\ngraph = ()\n",
    )
    models("explore", "Scene", "Never")


def test_exploration_ends_at_the_first_violation(write):
    models = write("Count", COUNT)
    done = models("explore", "Count", status=1)
    assert (
        "1 state unsafe" in done.stdout
        and "; stopped at the first failure (`--keep-going` goes on); 1 state not followed\n"
        in done.stdout
    )
    done = models("explore", "Count", "--formula", "always {n < 5}", status=1)
    assert done.stdout.endswith(
        "Formula: is violated by this run\n" + "    Inc()\n" * 5 + "  whatever follows\n"
    )


@pytest.mark.parametrize("option", ["--keep-going", "--all"])
def test_an_endless_model_meets_a_limit(write, option):
    done = write("Count", COUNT)("explore", "Count", option, "--memory", "1MB", status=1)
    assert (
        "bounded by the memory limit (`--memory SIZE` raises it); 1 state not followed\n"
        in done.stdout
    )


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_violation_survives_a_signal(write, sent):
    models = write("Count", COUNT)
    running = models.start("explore", "Count", "--keep-going")
    first = running.stdout.readline()
    assert first.startswith("Unsafe after 100 steps: state 100")
    running.send_signal(sent)
    rest = running.communicate(timeout=60)[0]
    assert (
        "There may be more states; interrupted; " in rest and "a shortest way to state 100" in rest
    )
    assert running.returncode == 1


def test_a_filter_and_idle_parts_are_told(write):
    models = write(
        "Dice",
        """
        n = 0
        def Add(k):
            global n
            n += k
        def Free(): return True
        def Never(): pass
        def NeverEnabled(): return n > 100
        def StateFilter(): return n <= 4
        state = ('n',)
        actions = (Add, Never)
        enablers = {Add: (Free,), Never: (NeverEnabled,)}
        domains = {Add: {'k': [1, 2, 3]}}
        """,
    )
    for jobs in ((), ("--jobs", 3)):
        done = models("explore", "Dice", *jobs)
        assert "  note: `StateFilter` cut off 3 states" in done.stdout
        assert (
            "Never possible: Never\n" in done.stdout
            and "Guards that were never false: Free\n" in done.stdout
        )


@pytest.mark.parametrize(
    "domain, message",
    [
        (
            "{'x': itertools.count()}",
            "the domain of its parameter `x` has more than 1000000 values",
        ),
        ("{'x': itertools.count}", "the domain of its parameter `x` has more than 1000000 values"),
        ("{'x': range(10**9)}", "the domain of its parameter `x` has 1000000000 values"),
        (
            "{'x': range(2000), 'y': range(1000)}",
            "its domains combine 2000 of `x`, 1000 of `y` to 2000000 calls",
        ),
    ],
)
def test_a_domain_that_is_too_large_is_named(write, domain, message):
    parameters = "x, y" if "'y'" in domain else "x"
    models = write(
        "Large",
        f"""
        import itertools
        n = 0
        def Take({parameters}): pass
        state = ('n',)
        actions = (Take,)
        domains = {{Take: {domain}}}
        """,
    )
    done = models("explore", "Large", status=2)
    assert f"the action `Take` cannot be tried: {message}" in done.stderr


LAMP = """
    on = False
    def Flip():
        global on
        on = not on
        return on
    def Accepting(): return True
    def Reset():
        global on
        on = False
    state = ('on',)
    actions = (Flip,)
"""

# A server over a socket. It ends once it was flipped `{limit}` times. Workers import their own copy of
# the stepper, so it writes to `{folder}`.
SERVED = """
    import atexit, socket, subprocess, sys
    SERVER = '''
    import socket
    listener = socket.create_server(('127.0.0.1', 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        on, flips = False, 0
        with client, client.makefile('rw') as lines:
            for line in lines:
                flip = line.strip() == 'flip'
                on, flips = (not on, flips + 1) if flip else (False, 0)
                if flips == LIMIT:
                    raise SystemExit
                print(on, file=lines, flush=True)
    '''
    server = subprocess.Popen([sys.executable, '-c', SERVER.replace('LIMIT', '{limit}')], stdout=subprocess.PIPE, text=True)
    with open({folder!r} + '/pids', 'a') as file:
        print(server.pid, file=file)
    lines = socket.create_connection(('127.0.0.1', int(server.stdout.readline()))).makefile('rw')
    def ask(text):
        print(text, file=lines, flush=True)
        answer = lines.readline().strip()
        if not answer:
            raise ConnectionError('the server has ended')
        return answer
    def TestAction(name, args, expected):
        got = ask('flip')
        if got != str(expected):
            return 'the lamp says %s, the model %s' % (got, expected)
    def Reset():
        ask('reset')
"""


def assert_all_ended(models):
    for pid in (models.folder / "pids").read_text(encoding="utf-8").split():
        status = f"/proc/{pid}/status"
        try:
            with open(status, encoding="utf-8") as file:
                assert re.search(r"State:\s+Z", file.read()), f"process {pid} is left"
        except FileNotFoundError:
            pass


@pytest.mark.parametrize(
    "line",
    [
        ("model", "test", "Lamp", "--stepper", "Served", "--seed", 1, "--runs", 3, "--steps", 5),
        ("run", "Lamp", "--stepper", "Served", "--seed", 1, "--tests", 3, "--jobs", 2),
        ("run", "Lamp", "--stepper", "Served", "--seed", 1, "--tests", 3, "--jobs", 0),
    ],
)
@pytest.mark.parametrize(
    "end",
    [
        "",
        "atexit.register(server.kill)",
        "def Teardown(): open({folder!r} + '/told', 'a').close(); server.kill()",
    ],
)
def test_the_server_of_a_stepper_ends_with_the_run(write, line, end):
    models = write("Lamp", LAMP)
    write("Served", (SERVED + f"    {end}\n").format(limit=-1, folder=str(models.folder)))
    # The output is a pipe, which the server holds open as long as it runs.
    models(*line)
    assert_all_ended(models)
    assert (models.folder / "told").exists() == ("Teardown" in end)


# A service that leaves the session and the environment of its stepper, and goes wrong at the third step.
DETACHED = """
    import subprocess, sys
    no = subprocess.DEVNULL
    line = [sys.executable, '-c', 'import time; time.sleep(600)']
    server = subprocess.Popen(line, start_new_session=True, env={{}}, stdin=no, stdout=no, stderr=no)
    with open({folder!r} + '/pids', 'a') as file:
        print(server.pid, file=file)
    n = 0
    def TestAction(name, args, expected):
        global n
        n += 1
        if n == 3: return 'broken'
    def Reset():
        global n
        n = 0
"""


def test_no_command_and_no_written_file_leaves_a_process(write):
    models = write("Lamp", LAMP)
    write("Detached", DETACHED.format(folder=str(models.folder)))
    line = ("Lamp", "--stepper", "Detached", "--seed", 1)
    models("model", "test", *line, "--runs", 2, "--steps", 5, status=1)
    models("run", *line, "--tests", 5, "--jobs", 1, status=1)
    assert_all_ended(models)
    files = sorted(models.folder.glob("testwright-out/**/test_*.py"))
    assert len(files) == 2
    pytest_line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(pytest_line, cwd=models.folder, capture_output=True, text=True)
    assert done.stdout.count("AssertionError: broken") and "2 failed" in done.stdout
    assert_all_ended(models)


def test_a_signal_does_not_lose_failing_runs(write):
    models = write("Lamp", LAMP)
    write(
        "Slow",
        """
        import time
        n = 0
        def TestAction(name, args, expected):
            global n
            n += 1
            with open('steps', 'a') as file: file.write('x')
            if n == 3: return 'broken'
            if n > 3: time.sleep(0.05)
        def Reset(): pass
        """,
    )
    running = models.start("model", "test", "Lamp", "--stepper", "Slow", "--seed", 1, "--runs", 999)
    steps = models.folder / "steps"
    deadline = time.monotonic() + 60
    while (not steps.exists() or steps.stat().st_size < 8) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    out = running.communicate(timeout=60)[0]
    assert running.returncode == 1
    assert "; stopped" in out and "Failure 1: broken" in out


def test_a_server_that_dies_is_a_failing_run_that_is_reduced(write):
    models = write("Lamp", LAMP)
    write(
        "Served",
        (SERVED + "    atexit.register(server.kill)\n").format(limit=3, folder=str(models.folder)),
    )
    line = ("model", "test", "Lamp", "--stepper", "Served", "--seed", 1, "--runs", 4, "--steps", 10)
    done = models(*line, status=1)
    assert "4 runs, 4 failed" in done.stdout
    assert (
        "Failure 1: stepper raised exception: ConnectionError, the server has ended" in done.stdout
    )
    assert "reduced from 3 to 3 steps" in done.stdout
    assert (models.folder / "testwright-out/Lamp/test_failure_1.py").exists()
    assert_all_ended(models)


def test_failures_before_an_error_of_the_stepper_are_reported(write):
    models = write("Lamp", LAMP)
    write(
        "Broken",
        """
        def TestAction(name, args, expected): return 'wrong'
        def Reset():
            with open('count', 'a') as file:
                if file.tell() > 0:
                    raise OSError('gone')
                file.write('x')
        """,
    )
    running = models.start("model", "test", "Lamp", "--stepper", "Broken", "--seed", 1, "--runs", 4)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "Failure 1: wrong" in out and "the stepper `Broken` raised OSError: gone" in err
    assert (models.folder / "testwright-out/Lamp/failure_1.py").exists()


def test_a_stepper_is_reset_before_the_first_run(write):
    models = write("Lamp", LAMP)
    write(
        "Dirty",
        """
        on = True
        def TestAction(name, args, expected):
            global on
            on = not on
            if on != expected: return 'differs'
        def Reset():
            global on
            on = False
        """,
    )
    models("model", "test", "Lamp", "--stepper", "Dirty", "--seed", 1, "--runs", 2)
    models("run", "Lamp", "--stepper", "Dirty", "--seed", 1, "--tests", 3, "--jobs", 1)
    done = models("compat", "pmt", "-i", "Dirty", "-n", 3, "Lamp")
    assert "Failure at step 1" in done.stdout


def test_a_stepper_without_reset_may_do_one_run(write):
    models = write("Lamp", LAMP)
    models.write("Plain.py", "def TestAction(name, args, expected): pass\n")
    models("model", "test", "Lamp", "--stepper", "Plain", "--seed", 1, "--runs", 1)


PINGS = """
    n = 0
    def Ping():
        global n
        n = (n + 1) % 3
        return n
    def Pong(k): pass
    def PongEnabled(k): return {guard}
    def Accepting(): return True
    def Reset():
        global n
        n = 0
    state = ('n',)
    actions = (Ping, Pong)
    observables = (Pong,)
    enablers = {{Pong: (PongEnabled,)}}
"""


@pytest.mark.parametrize(
    "guard, waits", [("False", 0), ("n > 9 and k == 1", 0), ("k == n + 5", 3), ("True", 3)]
)
def test_nothing_is_waited_for_where_a_run_may_end(write, guard, waits):
    models = write("Pings", PINGS.format(guard=guard))
    write(
        "PingStepper",
        """
        import observation_queue
        observation_queue.asynch = True
        n = 0
        def TestAction(name, args, expected):
            global n
            n = (n + 1) % 3
            if n != expected: return 'wrong'
        def Reset():
            global n
            n = 0
        def wait(seconds):
            with open('waits', 'a') as file: file.write('x')
        """,
    )
    models(
        "model", "test", "Pings", "--stepper", "PingStepper", "--seed", 1, "--runs", 3, "--steps", 5
    )
    log = models.folder / "waits"
    # Each wait is repeated, since it may have ended too early.
    assert (len(log.read_text(encoding="utf-8")) if log.exists() else 0) == 3 * waits


GATE = """
    import Turnstile
    n = 0
    def TestAction(name, args, expected):
        global n
        if name == 'Coin': n += 1
        elif n: n -= 1
        if n != Turnstile.coins: return f'gate has {n} coins, the model {Turnstile.coins}'
    def Reset():
        global n
        n = 0
        if Turnstile.coins: raise ValueError('the model is not where runs begin')
"""

TURNSTILE = """
    coins = 0
    def Coin():
        global coins
        coins += 1
    def CoinEnabled(): return coins < 2
    def Push():
        global coins
        if coins == 0: return 'locked'
        coins -= 1
        return 'open'
    def Reset():
        global coins
        coins = 0
    state = ('coins',)
    actions = (Coin, Push)
    enablers = {Coin: (CoinEnabled,)}
    def Accepting(): return coins == 0
"""


def test_the_stepper_sees_the_model_after_the_step(write):
    models = write("Turnstile", TURNSTILE)
    write("Gate", GATE)
    models(
        "model", "test", "Turnstile", "--stepper", "Gate", "--seed", 1, "--runs", 20, "--steps", 20
    )
    for jobs in (0, 1):
        models("run", "Turnstile", "--stepper", "Gate", "--seed", 1, "--tests", 20, "--jobs", jobs)


def test_a_run_that_is_too_short_is_not_a_failure(write):
    models = write("Turnstile", TURNSTILE)
    write("Gate", GATE)
    line = (
        "model",
        "test",
        "Turnstile",
        "--stepper",
        "Gate",
        "--seed",
        1,
        "--runs",
        20,
        "--steps",
        3,
        "--cleanup",
        0,
    )
    assert re.search(
        r"20 runs, none failed\n\d+ runs ended before an accepting state", models(*line).stdout
    )
    assert (
        "Failure at step"
        in models("compat", "pmt", "-i", "Gate", "-n", 3, "-r", 20, "-s", 1, "Turnstile").stdout
    )


@pytest.mark.parametrize(
    "text",
    [
        "'got %s, expected %s' % (got, expected)",
        "f'{len(got)} items instead of {len(expected)}'",
        "f'it has {got!r}'",
    ],
)
def test_values_in_a_text_do_not_make_another_failure(write, text):
    models = write(
        "Queue",
        """
        items = []
        def Put(x): items.append(x)
        def PutEnabled(x): return len(items) < 4
        def All(): return list(items)
        def Accepting(): return True
        def Reset(): items.clear()
        state = ('items',)
        actions = (Put, All)
        enablers = {Put: (PutEnabled,)}
        domains = {Put: {'x': [1, 2, 'c']}}
        """,
    )
    write(
        "QueueStepper",
        f"""
        got = []
        def TestAction(name, args, expected):
            if name == 'Put':
                got.append(args[0])
                if len(got) == 2: got.append(args[0])
            elif got != expected: return {text}
        def Reset(): got.clear()
        """,
    )
    done = models(
        "run",
        "Queue",
        "--stepper",
        "QueueStepper",
        "--seed",
        1,
        "--tests",
        40,
        "--keep-going",
        "--jobs",
        1,
        status=1,
    )
    assert ": 1 failure found" in done.stdout
    done = models(
        "model", "test", "Queue", "--stepper", "QueueStepper", "--seed", 1, "--runs", 30, status=1
    )
    assert "Failure 1:" in done.stdout and "Failure 2:" not in done.stdout


# `conform` reads real logs


def lines(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


PUSH = {"action": "Push", "arguments": [], "result": "open"}


def test_other_fields_are_ignored_and_counted(write):
    models = write("Turnstile", TURNSTILE)
    push = {"time": "10:00", "client": "b", **PUSH}
    models.write(
        "gate.jsonl",
        lines({"time": "09:59", "client": "a", "action": "Coin", "arguments": []}, push, push),
    )
    done = models("conform", "Turnstile", "gate.jsonl", status=1)
    assert (
        "gate.jsonl:3: not allowed after 2 steps" in done.stdout
        and "the model says that the result is 'locked'" in done.stdout
    )
    assert done.stdout.endswith("Fields that were not used: `client` (3 lines), `time` (3 lines)\n")


def test_standard_input_is_judged_line_by_line(write):
    models = write("Turnstile", TURNSTILE)
    running = models.start("conform", "Turnstile", "-", stdin=-1)
    running.stdin.write(lines(PUSH))
    running.stdin.flush()
    # The writer goes on.
    assert running.stdout.readline() == "standard input:1: not allowed after 0 steps\n"
    assert running.wait(timeout=60) == 1


def test_a_log_may_pause_longer_than_a_step_may_take(write):
    models = write("Turnstile", TURNSTILE)
    running = models.start("conform", "Turnstile", "-", "--step-timeout", "1s", stdin=-1)
    running.stdin.write(lines({"action": "Coin"}))
    running.stdin.flush()
    time.sleep(2.5)
    running.stdin.write(lines(PUSH))
    out = running.communicate(timeout=60)[0]
    assert "the model allows all of it" in out and running.returncode == 0


def test_ctrl_c_ends_a_log_with_what_is_known(write):
    models = write("Turnstile", TURNSTILE)
    running = models.start("conform", "Turnstile", "-", stdin=-1)
    # The second line is not finished yet.
    running.stdin.write(lines({"action": "Coin"}, {"action": "Nope"})[:-1])
    running.stdin.flush()
    time.sleep(3)
    running.send_signal(signal.SIGINT)
    running.wait(timeout=60)
    out = running.stdout.read()
    assert "1 run, 1 step: all of it is allowed so far; stopped" in out and running.returncode == 0


PILE = """
    items = []
    def Push(x, top=True): items.append(x) if top else items.insert(0, x)
    def Pop(): return items.pop()
    def PopEnabled(): return bool(items)
    def Tick(): items.clear()
    def TickEnabled(): return len(items) > 1
    state = ('items',)
    actions = (Push, Pop, Tick)
    enablers = {Pop: (PopEnabled,), Tick: (TickEnabled,)}
    domains = {Push: {'x': [1, 2], 'top': [True]}}
"""


@pytest.mark.parametrize(
    "entries, options",
    [
        ([{"action": "Push", "arguments": {"x": 3}}, {"action": "Pop", "result": 3}], ()),
        (
            [
                {"action": "Push", "arguments": {"top": False, "x": 3, "who": "a"}},
                {"action": "Pop", "result": 3},
            ],
            (),
        ),
        ([{"action": "Push", "x": 3, "who": "a"}, {"action": "Pop", "result": 3}], ()),
        (
            [{"event": "put", "args": [3]}, {"event": "Pop", "gives": 3}],
            (
                "--field",
                "action=event",
                "--field",
                "arguments=args",
                "--field",
                "result=gives",
                "--rename",
                "put=Push",
            ),
        ),
        (
            [{"action": "Push", "arguments": [1]}, {"action": "login"}, {"action": "Pop"}],
            ("--ignore", "login"),
        ),
        (
            [
                {"action": "Push", "arguments": [1]},
                {"action": "Push", "arguments": [2]},
                {"action": "Push", "arguments": [1]},
                {"action": "Pop"},
                {"restart": True},
                {"action": "Push", "arguments": [1]},
            ],
            ("--hidden", "Tick"),
        ),
    ],
)
def test_forms_of_logs(write, entries, options):
    models = write("Pile", PILE)
    models.write("log", lines(*entries))
    assert "the model allows all of it" in models("conform", "Pile", "log", *options).stdout


def test_hidden_steps_are_taken_only_if_they_are_named(write):
    models = write("Pile", PILE + "    def Accepting(): return not items\n")
    models.write(
        "log", lines({"action": "Push", "arguments": [1]}, {"action": "Push", "arguments": [2]})
    )
    assert "the run ends here, and may not" in models("conform", "Pile", "log", status=1).stdout
    models("conform", "Pile", "log", "--hidden", "Tick")
    assert (
        "did you mean `Tick`"
        in models("conform", "Pile", "log", "--hidden", "Tikc", status=2).stderr
    )
    assert (
        "did you mean `Tick`"
        in models("conform", "Pile", "log", "--rename", "a=Tikc", status=2).stderr
    )
    assert (
        "did you mean `action`"
        in models("conform", "Pile", "log", "--field", "acton=a", status=2).stderr
    )


# States are told apart by all that code can notice


def explored(models, *line, status=0):
    return json.loads(models("explore", *line, "--json", status=status).stdout)


CHOICES = """
    import collections, dataclasses
    class Quiet:
        def __init__(self, n): self.n = n
    class Liar(Quiet):
        def __eq__(self, other): return True
        __hash__ = None
    @dataclasses.dataclass
    class Pair:
        x: int = 0
        y: int = 0
    ring = [0]
    ring.append(ring)
    values = {values}
    it = values[0]
    def Set(k):
        global it
        it = values[k]
    def Copy(): return None
    state = ('it',)
    actions = (Set, Copy)
    domains = {{Set: {{'k': list(range(len(values)))}}}}
"""


@pytest.mark.parametrize(
    "values, states",
    [
        ("[1, 1.0, True]", 3),
        ("[[0.0], [-0.0], [0]]", 3),
        ("[float('nan'), float('nan'), [float('nan')]]", 2),
        ("[10**30, 10**30 + 1, 10**30 + 1 - 0 * 2]", 2),
        (r"['\udc00', '\udc01', '\udc00']", 2),
        ("[{'a': 1, 'b': 2}, {'b': 2, 'a': 1}]", 2),
        ("[{1, 9, 17}, {17, 9, 1}, frozenset([1, 9, 17])]", 2),
        ("[Quiet(0), Quiet(0), Quiet(1)]", 2),
        ("[Liar(0), Liar(1), [Liar(1)]]", 3),
        ("[Pair(0, 1), Pair(0, 1), Pair(1, 0)]", 2),
        ("[collections.OrderedDict(a=1), {'a': 1}, collections.deque([1])]", 3),
        ("[[[0], [0]], [[0]] * 2]", 2),
        ("[len, sorted, lambda: 1, lambda: 2]", 4),
        ("[ring, ring, [0, [0]]]", 2),
    ],
)
def test_states_that_code_can_tell_apart_are_different(write, values, states):
    models = write("Choices", CHOICES.format(values=values))
    found = explored(models, "Choices")
    assert (found["states"], found["complete"]) == (states, True), found["caveats"]


def test_variables_may_share_an_object(write):
    models = write(
        "Share",
        """
        a = [0]
        b = a
        def Part():
            global b
            b = list(a)
        def Flip(): a[0] = 1 - a[0]
        def StateInvariant(): return a == b
        state = ('a', 'b')
        actions = (Part, Flip)
        """,
    )
    found = explored(models, "Share", "--keep-going", status=1)
    # Shared with 0 or 1, and each pair of values apart.
    assert found["states"] == 6 and found["unsafe"][0]["way"] == ["Part()", "Flip()"]


def test_what_is_changed_besides_states_is_named(write):
    models = write(
        "Leaky",
        """
        import Helper
        log = []
        class Box:
            total = 0
        def remember(seen=[]): seen.append(1)
        def counter():
            n = 0
            def inc():
                nonlocal n
                n += 1
            return inc
        inc = counter()
        on = False
        n = 0
        def Log(): log.append(n)
        def Class(): Box.total += 1
        def Default(): remember()
        def Closure(): inc()
        def Import(): Helper.items.append(1)
        def Toggle():
            global on
            on = not on
        def Step():
            global n
            n = (n + 1) % 3
        state = ('n',)
        actions = (Log, Class, Default, Closure, Import, Toggle, Step)
        """,
    )
    models.write("Helper.py", "items = []\n")
    named = {
        "Log": "`log` in `Leaky`",
        "Class": "`Box.total`",
        "Default": "a default argument of `remember`",
        "Closure": "the closure of `counter.<locals>.inc`",
        "Import": "`items` in `Helper`",
        "Toggle": "`on` in `Leaky`",
    }
    for jobs in ((), ("--jobs", 2)):
        found = explored(models, "Leaky", *jobs)
        texts = [one["text"] for one in found["caveats"]]
        for what in named.values():
            assert any(text.startswith(what) for text in texts), (what, texts)
        assert not found["complete"]
    for action, what in named.items():
        others = [other for other in named if other != action]
        done = models("explore", "Leaky", *(word for one in others for word in ("--exclude", one)))
        assert f"not covered: {what}" in done.stdout
        assert "every state is safe" not in done.stdout
    assert explored(models, "Leaky", "--action", "Step")["complete"]


@pytest.mark.parametrize(
    "value, reason",
    [
        ("threading.Lock()", "cannot pickle '_thread.lock' object"),
        ("(one for one in [1])", "cannot pickle 'generator' object"),
        ("Half()", "a copy differs from it"),
    ],
)
def test_state_that_cannot_be_copied_is_an_error(write, value, reason):
    models = write(
        "Locked",
        f"""
        import threading
        class Half:
            def __init__(self): self.n, self.m = 1, 2
            def __getstate__(self): return {{'n': 1}}
        it = [{value}]
        def Step(): pass
        state = ('it',)
        actions = (Step,)
        """,
    )
    done = models("explore", "Locked", status=2)
    assert "`it` cannot be copied" in done.stderr and reason in done.stderr
    assert done.stdout == ""


def test_an_object_that_is_its_own_copy_must_not_change(write):
    models = write(
        "Stubborn",
        """
        class Same:
            n = 0
            def __deepcopy__(self, memo): return self
        it = Same()
        def Step(): it.n = (it.n + 1) % 3
        def Clear(): it.n = 0
        state = ('it',)
        actions = (Step, Clear)
        """,
    )
    assert "cannot be restored" in models("explore", "Stubborn", status=2).stderr


def test_the_order_of_a_set_is_no_part_of_a_state(write):
    text = """
        words = {{'red', 'green', 'blue', 'grey'}}
        last = ''
        def Take(k):
            global last
            last = {taken}
        def Put(k): words.symmetric_difference_update([k])
        state = ('words', 'last')
        actions = (Take, Put)
        domains = {{action: {{'k': ['red', 'green', 'blue', 'grey']}} for action in actions}}
        """
    models = write("Words", text.format(taken="k if k in words else ''"))
    found = explored(models, "Words")
    assert (found["states"], found["complete"]) == (80, True)
    models = write("Words", text.format(taken="next(iter(words), '')"))
    found = explored(models, "Words")
    assert [one["kind"] for one in found["caveats"]] == ["nondeterministic"]
    assert not found["complete"]


# What was left out is part of every claim


def test_actions_that_were_left_out_are_named(write):
    models = write("Ring", RING)
    done = models("explore", "Ring", "--exclude", "Done", "--exclude", "Use")
    assert "  not covered: `Use`, `Done` left out" in done.stdout
    found = explored(models, "Ring", "--action", "Want")
    assert found["caveats"] == [
        {"kind": "left-out-actions", "text": "`Use`, `Done`, `Pass` left out"}
    ]
    models.write(
        "Scene.py",
        "from Ring import Want\ninitial = 0\naccepting = [1]\n"
        "graph = ((0, (Want, (1,), None), 1),)\n",
    )
    done = models("model", "check", "Ring", "--exclude", "Pass", "--scenarios", "Scene")
    assert "  not covered: `Pass` left out" in done.stdout


def test_domains_that_are_empty_or_cut_are_named(write):
    models = write(
        "Holes",
        """
        n = 0
        def Push(x, y): pass
        def Take(x, y):
            global n
            n = x
        state = ('n',)
        actions = (Push, Take)
        domains = {Push: {'x': [], 'y': [1]}, Take: {'x': [1, 2, 3], 'y': lambda: [1]}}
        combinations = {Take: 'cases'}
        """,
    )
    for jobs in ((), ("--jobs", 2)):
        texts = [one["text"] for one in explored(models, "Holes", *jobs)["caveats"]]
        assert texts[0] == "`Push` was never tried, since the domain of its parameter `x` is empty"
        assert texts[1].startswith("2 of the values of `x` were not tried in `Take`")


def test_an_iterator_as_a_domain_is_the_same_in_every_state(write):
    models = write(
        "Once",
        """
        n = 0
        def Set(k):
            global n
            n = k
        state = ('n',)
        actions = (Set,)
        domains = {Set: {'k': (k for k in range(3))}}
        """,
    )
    found = explored(models, "Once")
    assert (found["states"], found["transitions"]) == (3, 9)


def test_unchecked_invariants_are_named(write):
    models = write("Turnstile", TURNSTILE + "    def StateInvariant(): return True\n")
    write("Gate", GATE)
    line = ("Turnstile", "--stepper", "Gate", "--seed", 1, "--no-check")
    done = models("model", "test", *line, "--runs", 2, "--exclude", "Coin")
    assert "  not covered: `Coin` left out\n  note: the property was not checked" in done.stdout
    done = models("run", *line, "--tests", 2, "--jobs", 0)
    assert "  note: properties and invariants were not checked" in done.stdout
    done = models("explore", "Turnstile", "--no-check", status=2)
    assert "`--no-check` is for harnesses" in done.stderr


def test_states_are_not_dead_if_a_way_may_have_been_missed(write):
    models = write(
        "Question",
        """
        is_open = False
        def Ask():
            global is_open
            is_open = True
        def AskEnabled(): return not is_open
        def Answer(text):
            global is_open
            is_open = False
        def Accepting(): return not is_open
        state = ('is_open',)
        actions = (Ask, Answer)
        observables = (Answer,)
        enablers = {Ask: (AskEnabled,)}
        """,
    )
    done = models("explore", "Question")
    assert "1 state from which no accepting state was found" in done.stdout
    found = explored(models, "Question")
    assert found["dead"] == [] and found["perhaps_dead"][0]["way"] == ["Ask()"]
    models.write(
        "Asked.py",
        "from Question import Ask\ninitial = 0\naccepting = [1]\n"
        "graph = ((0, (Ask, (), None), 1),)\n",
    )
    done = models("model", "check", "Question", "--scenarios", "Asked", status=2)
    assert "?      Asked: not allowed, as far as it was explored" in done.stdout
    assert "not covered: `Answer` is only observed" in done.stdout


@pytest.mark.parametrize("formula", ["always {n >= 0}", "always eventually took 'Inc'"])
def test_an_unsafe_state_ends_the_search_for_a_run_that_violates_a_formula(write, formula):
    models = write("Count", COUNT)
    # Without an end, a model has no violation that this formula could find.
    done = models("explore", "Count", "--formula", formula, status=1)
    assert "1 state unsafe" in done.stdout
    assert "Formula: no run found that violates it; stopped at" in done.stdout


def test_with_keep_going_violations_are_shown_before_a_formula_is_judged(write):
    models = write("Count", COUNT)
    running = models.start("explore", "Count", "--keep-going", "--formula", "always {n >= 0}")
    assert running.stdout.readline().startswith("Unsafe after 100 steps: state 100")
    running.send_signal(signal.SIGTERM)
    rest = running.communicate(timeout=60)[0]
    assert "interrupted" in rest and "Formula: no run found that violates it" in rest
    assert running.returncode == 1
