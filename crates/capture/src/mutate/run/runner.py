"""Runs tests with mutants of a program, one after the other. Started by Testwright in a process of its own.

Reads its orders as JSON from the file named first, requests as JSON lines from standard input, and answers in JSON lines on
standard output. It works in one of three ways:

- `measure`: runs the tests without any mutant and tells which lines each of them reaches, and how long it takes.
- `swap`: collects the tests, then for each request makes a copy of this process in which the code of the functions that the
  mutant changes is exchanged, and runs tests there. Nothing is imported again, so this takes no longer than the tests.
- `load`: for what runs when a module is imported. The copy is made before any module of the program is there, and loads the
  changed text in the place of the file's. What the program uses of others is there already.

No file is changed, and nothing outside of one folder can be (`guard.py`).
"""

import gc
import importlib
import importlib.machinery
import json
import os
import select
import signal
import sys
import threading
import time
import types

import testwright_guard

try:
    import resource
except ImportError:  # not on Windows
    resource = None

with open(sys.argv[1], encoding="utf-8") as orders_file:
    ORDERS = json.load(orders_file)
#: The files of the program, in the order in which they are numbered.
SOURCES = dict(ORDERS["sources"])
REQUESTS = os.dup(0)
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
CAN_FORK = hasattr(os, "fork")

#: No test without a mutant may take longer, in seconds.
LONGEST = 60
#: How much memory a copy may take beyond what it begins with.
MEMORY = 2 << 30
#: What is here is not of the program's own, even if it is below its folder.
INSTALLED = (sys.prefix, sys.base_prefix, ORDERS["inside"])
#: The flag of code that has local variables: functions, but neither modules nor classes.
CO_OPTIMIZED = 0x1


def tell(**answer):
    ANSWERS.write(json.dumps(answer) + "\n")
    ANSWERS.flush()


def requests():
    """All requests; ends when nobody is left to ask."""
    waiting = b""
    while True:
        while b"\n" not in waiting:
            more = os.read(REQUESTS, 1 << 16)
            if not more:
                return
            waiting += more
        line, _, waiting = waiting.partition(b"\n")
        yield json.loads(line)


# Tests


def by_pytest(files, use):
    """Collects tests and calls `use` with a function for each by its name, and with what could not be collected."""
    import pytest
    from _pytest.runner import runtestprotocol

    broken = []

    def run(item):
        for report in runtestprotocol(item, log=False, nextitem=None):
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                return "failed", first_line(crash.message if crash else str(report.longrepr))
            if report.skipped:
                return "skipped", ""
        return "passed", ""

    class Plugin:
        def pytest_collectreport(self, report):
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                message = crash.message if crash else str(report.longrepr)
                broken.append((report.nodeid, message.strip().splitlines()[-1][:200]))

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session):
            use({item.nodeid: lambda item=item: run(item) for item in session.items}, broken)
            return True

    arguments = ["-q", "-p", "no:cacheprovider", "-c", ORDERS["settings"]]
    arguments += ["--rootdir", ORDERS["root"], "--basetemp", ORDERS["temporary"]]
    pytest.main([*arguments, *files], plugins=[Plugin()])


def by_unittest(files, use):
    import unittest

    tests, broken = {}, []

    def run(test):
        result = unittest.TestResult()
        test.run(result)
        for _, text in result.errors + result.failures:
            return "failed", text.strip().splitlines()[-1][:200]
        return ("skipped", "") if result.skipped else ("passed", "")

    for path in files:
        file = os.path.relpath(path, ORDERS["root"]).replace(os.sep, "/")
        sys.path.insert(0, os.path.dirname(path))
        try:
            module = importlib.import_module(os.path.basename(path)[: -len(".py")])
        except Exception as error:
            broken.append((file, first_line(f"{type(error).__name__}: {error}")))
            continue
        pending = [unittest.defaultTestLoader.loadTestsFromModule(module)]
        while pending:
            for test in pending.pop():
                if isinstance(test, unittest.TestSuite):
                    pending.append(test)
                else:
                    name = f"{file}::{type(test).__name__}::{test._testMethodName}"
                    tests[name] = lambda test=test: run(test)
    use(tests, broken)


def first_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return (lines[0] if lines else "")[:200]


collect = by_pytest if ORDERS["style"] == "pytest" else by_unittest


# Copies of this process


def forked(work, seconds, processor):
    """What `work` gives in a copy of this process, or how the copy ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            limit(processor)
            answer = work()
        except BaseException as error:
            answer = {"noticed": "crash", "message": type(error).__name__}
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    answer, is_late = b"", False
    # No request comes before the answer, so the end of requests is all that there can be.
    ready = select.select([reader, REQUESTS], [], [], seconds)[0]
    if reader in ready:
        answer = os.read(reader, 1 << 16)
    else:
        is_late = True
    os.close(reader)
    if not answer:
        # Somebody who waits for the end may still be at it.
        is_late = is_late or not has_ended(child)
    status = end(child)
    if REQUESTS in ready:
        os._exit(1)
    if answer:
        return json.loads(answer)
    if is_late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return {"noticed": "hang"}
    if os.WIFSIGNALED(status):
        return {"noticed": "crash", "message": signal.Signals(os.WTERMSIG(status)).name}
    return {"noticed": "crash", "message": f"exit status {os.WEXITSTATUS(status)}"}


def has_ended(child):
    """Whether a process that has closed its side of the pipe is at its end, or will be in a moment."""
    until = time.monotonic() + 1
    while time.monotonic() < until:
        if hasattr(os, "waitid"):
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return True
        time.sleep(0.002)
    return not hasattr(os, "waitid")


def end(child):
    testwright_guard.lifted = True
    try:
        os.kill(child, signal.SIGKILL)
    finally:
        testwright_guard.lifted = False
    return os.waitpid(child, 0)[1]


def limit(processor):
    """Processor time rather than time, because other processes may be at work as well."""
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    except OSError:
        pass  # no such file on this system, and no limit


def tried(tests, names, broken=()):
    """Runs tests until one fails."""
    for name in names:
        if name not in tests:
            message = broken[0][1] if broken else "it is not there any more"
            return {"noticed": "test", "by": name, "message": message}
        outcome, message = tests[name]()
        if outcome == "failed":
            return {"noticed": "test", "by": name, "message": message}
    return {"noticed": None}


# Without mutants


class Lines:
    """Which lines of the program run."""

    def __init__(self):
        self.numbers = {path: number for number, path in enumerate(SOURCES)}
        self.known = {}
        self.found = set()
        self.at_import = set()

    def number(self, code):
        """The number of the file that a code object comes from, if it belongs to the program."""
        name = code.co_filename
        if name not in self.known:
            self.known[name] = self.numbers.get(os.path.realpath(name))
        return self.known[name]

    def note(self, code, line):
        found = self.found if code.co_flags & CO_OPTIMIZED else self.at_import
        found.add((self.number(code), line))

    def begin(self):
        """Notes from now on."""
        if not hasattr(sys, "monitoring"):
            threading.settrace(self.called)
            sys.settrace(self.called)
            return
        events = sys.monitoring.events
        tool = next(tool for tool in (4, 3, 1, 0) if sys.monitoring.get_tool(tool) is None)

        def started(code, offset):
            if self.number(code) is not None:
                sys.monitoring.set_local_events(tool, code, events.LINE)
            return sys.monitoring.DISABLE

        def reached(code, line):
            self.note(code, line)
            return sys.monitoring.DISABLE

        sys.monitoring.use_tool_id(tool, "testwright mutate")
        sys.monitoring.register_callback(tool, events.PY_START, started)
        sys.monitoring.register_callback(tool, events.LINE, reached)
        sys.monitoring.set_events(tool, events.PY_START)

    def again(self):
        """Forgets what ran so far."""
        self.found.clear()
        self.at_import.clear()
        if hasattr(sys, "monitoring"):
            sys.monitoring.restart_events()
        else:
            self.begin()

    def called(self, frame, event, argument):
        return self.traced if self.number(frame.f_code) is not None else None

    def traced(self, frame, event, argument):
        if event == "line":
            self.note(frame.f_code, frame.f_lineno)
        return self.traced


def measure():
    lines = Lines()
    started = time.perf_counter()
    lines.begin()

    def use(tests, broken):
        for name, message in broken:
            tell(broken=name, message=message)
        # What functions do while modules are imported is not done again for each test.
        at_import = lines.found | lines.at_import
        tell(
            seconds=time.perf_counter() - started,
            lines=sorted(at_import),
            outside=outside(),
            forks=CAN_FORK,
        )
        wanted = ORDERS["wanted"]
        for name, run in tests.items():
            if wanted is None or name.partition("[")[0] in wanted:
                measure_one(lines, name, run)

    collect(ORDERS["files"], use)
    tell(done=True)


def measure_one(lines, name, run):
    def work():
        lines.again()
        started = time.perf_counter()
        outcome, message = run()
        seconds = time.perf_counter() - started
        reached = lines.found | lines.at_import
        tell(test=name, outcome=outcome, message=message, seconds=seconds, lines=sorted(reached))
        return {}

    ended = forked(work, LONGEST, LONGEST) if CAN_FORK else work()
    if ended:
        message = ended.get("message") or f"it takes longer than {LONGEST} seconds"
        tell(test=name, outcome="failed", message=message, seconds=0, lines=[])


def outside():
    """The modules that are loaded and not of the program's own, in the order of their import."""
    names = []
    for name, module in list(sys.modules.items()):
        if name != "__main__" and getattr(module, "__spec__", None) and not is_own(module):
            names.append(name)
    return names


def is_own(module):
    path = getattr(module, "__file__", None)
    folders = [path] if path else list(getattr(module, "__path__", ()))
    for folder in folders:
        is_installed = any(is_below(folder, place) for place in INSTALLED)
        if is_below(folder, ORDERS["root"]) and not is_installed:
            return True
    return False


def is_below(path, folder):
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


# With mutants


def mutated(request):
    text = SOURCES[request["file"]].encode()
    before, after = text[: request["start"]], text[request["end"] :]
    changed = before + request["replacement"].encode() + after
    return compile(changed.decode(), request["file"], "exec", dont_inherit=True)


def serve_swaps():
    originals = {}

    def use(tests, broken):
        live = live_functions()
        # Copies share what is never looked at again.
        gc.collect()
        gc.freeze()
        for request in requests():
            file = request["file"]
            if file not in originals:
                originals[file] = compile(SOURCES[file], file, "exec", dont_inherit=True)

            def work(request=request, original=originals[file]):
                if not swap(original, mutated(request), live):
                    return {"noticed": "not here"}
                return tried(tests, request["tests"])

            tell(**forked(work, request["seconds"], request["processor"]))

    collect(ORDERS["files"], use)


def live_functions():
    """All functions of the program that there are, by their code."""
    paths = set(SOURCES)
    live = {}
    for found in gc.get_objects():
        if type(found) is types.FunctionType:
            code = found.__code__
            if os.path.realpath(code.co_filename) in paths:
                live.setdefault(code, []).append(found)
    return live


def swap(original, changed, live):
    """Exchanges the code of functions; no if that is not enough."""
    pairs = {}
    if not differences(original, changed, pairs):
        return False
    functions = [(found, after) for before, after in pairs.items() for found in live.get(before, ())]
    try:
        for found, after in functions:
            found.__code__ = after
    except ValueError:
        return False  # it closes over other variables than before
    return bool(functions)


def differences(before, after, pairs):
    """Fills `pairs` with code that has changed; no if functions have come or gone."""
    if before == after:
        return True
    pairs[before] = after
    inner = [
        [part for part in code.co_consts if isinstance(part, types.CodeType)]
        for code in (before, after)
    ]
    if len(inner[0]) != len(inner[1]):
        return False
    return all(differences(one, other, pairs) for one, other in zip(*inner))


def serve_loads():
    for name in ORDERS["outside"]:
        try:
            importlib.import_module(name)
        except BaseException:
            continue  # whoever needs it will hear of it
    for request in requests():
        if CAN_FORK:
            tell(**forked(lambda r=request: load(r), request["seconds"], request["processor"]))
        else:
            # The only request of this process.
            tell(last=True, **load(request))
            return


def load(request):
    for name, module in list(sys.modules.items()):
        if is_own(module):
            del sys.modules[name]
    given = importlib.machinery.SourceFileLoader.get_code
    was_loaded = []

    def get_code(self, name):
        if os.path.realpath(self.path) != request["file"]:
            return given(self, name)
        was_loaded.append(name)
        return mutated(request)

    importlib.machinery.SourceFileLoader.get_code = get_code
    answers = []

    def use(tests, broken):
        answers.append(tried(tests, request["tests"], broken))

    collect(request["files"], use)
    if not answers:
        return {"noticed": "test", "message": "the tests cannot be collected"}
    if not was_loaded and answers[0]["noticed"] is None:
        return {"noticed": "not here"}
    return answers[0]


def be_silent():
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1) if ORDERS["way"] == "measure" else (0, 1, 2):
        os.dup2(nothing, stream)


be_silent()
os.chdir(ORDERS["start"])
testwright_guard.keep_inside(ORDERS["inside"])
{"measure": measure, "swap": serve_swaps, "load": serve_loads}[ORDERS["way"]]()
# Threads that a test has started must not keep this process.
os._exit(0)
