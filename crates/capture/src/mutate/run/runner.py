"""Runs tests with mutants of a program, one after the other.

Started by Testwright in a process of its own.

Reads its options as JSON from the first argument's file, requests as JSON lines from standard
input, and replies in JSON lines on standard output. It works in one of three modes:

- `measure`: runs the tests without mutants, and reports the lines that each of them reaches and its
  duration.
- `swap`: collects the tests, then forks this process for each request. The fork exchanges the code
  of the functions that the mutant changes, and runs tests. Nothing is imported again, so this takes
  no longer than the tests.
- `load`: for code that runs when a module is imported. The fork is made before any module of the
  program is loaded, and loads the changed text instead of the file's. Modules that the program uses
  from elsewhere are loaded already.

No file is changed, and tests cannot change files outside of one folder (`guard.py`).
"""

import gc
import importlib
import importlib.machinery
import json
import os
import select
import signal
import sys
import time
import types

import testwright_guard
import testwright_lines

try:
    import resource
except ImportError:  # not on Windows
    resource = None

with open(sys.argv[1], encoding="utf-8") as options_file:
    OPTIONS = json.load(options_file)
#: The files of the program by path, in the order of their numbers.
SOURCES = dict(OPTIONS["sources"])
REQUESTS = os.dup(0)
REPLIES = os.fdopen(os.dup(1), "w", encoding="utf-8")
CAN_FORK = hasattr(os, "fork")

#: The time limit in seconds of a test without a mutant.
MAX_SECONDS = 60
#: The memory that a fork may allocate, in bytes.
MAX_MEMORY = 2 << 30
#: Folders whose modules are not the program's own, even below its folder.
INSTALLED = (sys.prefix, sys.base_prefix, OPTIONS["inside"])


def reply(**answer):
    REPLIES.write(json.dumps(answer) + "\n")
    REPLIES.flush()


def requests():
    """Yields all requests until standard input is closed."""
    buffer = b""
    while True:
        while b"\n" not in buffer:
            more = os.read(REQUESTS, 1 << 16)
            if not more:
                return
            buffer += more
        line, _, buffer = buffer.partition(b"\n")
        yield json.loads(line)


# Tests


def collect_by_pytest(files, use):
    """Collects tests. Calls `use` with a function for each, by name, and with collection errors."""
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

    arguments = ["-q", "-p", "no:cacheprovider", "-c", OPTIONS["settings"]]
    arguments += ["--rootdir", OPTIONS["root"], "--basetemp", OPTIONS["temporary"]]
    pytest.main([*arguments, *files], plugins=[Plugin()])


def collect_by_unittest(files, use):
    import unittest

    tests, broken = {}, []

    def run(test):
        result = unittest.TestResult()
        test.run(result)
        for _, text in result.errors + result.failures:
            return "failed", text.strip().splitlines()[-1][:200]
        return ("skipped", "") if result.skipped else ("passed", "")

    for path in files:
        file = os.path.relpath(path, OPTIONS["root"]).replace(os.sep, "/")
        try:
            module = import_file(path)
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


def import_file(path):
    """Imports the module in a file, by its name in the package that the file belongs to."""
    folder, name = os.path.split(path[: -len(".py")])
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        name = f"{package}.{name}"
    sys.path.insert(0, folder)
    return importlib.import_module(name)


def first_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return (lines[0] if lines else "")[:200]


collect = collect_by_pytest if OPTIONS["style"] == "pytest" else collect_by_unittest


# Forks of this process


def run_forked(work, seconds, processor):
    """Calls `work` in a fork of this process. Returns its result, or how the fork ended."""
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
    # No request comes before the reply, so readable requests mean that standard input is closed.
    ready = select.select([reader, REQUESTS], [], [], seconds)[0]
    if reader in ready:
        answer = os.read(reader, 1 << 16)
    else:
        is_late = True
    os.close(reader)
    if not answer:
        # The fork may have closed the pipe and still be running.
        is_late = is_late or not has_ended(child)
    status = kill(child)
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
    """Returns true if a process that has closed its side of the pipe ends within a second."""
    until = time.monotonic() + 1
    while time.monotonic() < until:
        if hasattr(os, "waitid"):
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return True
        time.sleep(0.002)
    return not hasattr(os, "waitid")


def kill(child):
    testwright_guard.lifted = True
    try:
        os.kill(child, signal.SIGKILL)
    finally:
        testwright_guard.lifted = False
    return os.waitpid(child, 0)[1]


def limit(processor):
    """Limits processor time, which does not depend on the load of the machine, and memory."""
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MAX_MEMORY, size + MAX_MEMORY))
    except OSError:
        pass  # this system has no such file, so there is no limit


def run_until_failure(tests, names, broken=()):
    """Runs tests until one fails, and returns the reply."""
    for name in names:
        if name not in tests:
            message = broken[0][1] if broken else "it is not there any more"
            return {"noticed": "test", "by": name, "message": message}
        outcome, message = tests[name]()
        if outcome == "failed":
            return {"noticed": "test", "by": name, "message": message}
    return {"noticed": None}


# Without mutants


def measure():
    lines = testwright_lines.Lines(SOURCES)
    started = time.perf_counter()
    lines.begin()

    def use(tests, broken):
        for name, message in broken:
            reply(broken=name, message=message)
        # Functions that run during imports do not run again for each test.
        at_import = lines.found | lines.at_import
        reply(
            seconds=time.perf_counter() - started,
            lines=sorted(at_import),
            outside=outside(),
            forks=CAN_FORK,
        )
        wanted = OPTIONS["wanted"]
        for name, run in tests.items():
            if wanted is None or name.partition("[")[0] in wanted:
                measure_one(lines, name, run)

    collect(OPTIONS["files"], use)
    reply(done=True)


def measure_one(lines, name, run):
    def work():
        lines.restart()
        started = time.perf_counter()
        outcome, message = run()
        seconds = time.perf_counter() - started
        reached = lines.found | lines.at_import
        reply(test=name, outcome=outcome, message=message, seconds=seconds, lines=sorted(reached))
        return {}

    ended = run_forked(work, MAX_SECONDS, MAX_SECONDS) if CAN_FORK else work()
    if ended:
        message = ended.get("message") or f"it takes longer than {MAX_SECONDS} seconds"
        reply(test=name, outcome="failed", message=message, seconds=0, lines=[])


def outside():
    """Returns the loaded modules that are not the program's own, in the order of their import."""
    names = []
    for name, module in list(sys.modules.items()):
        if name != "__main__" and getattr(module, "__spec__", None) and not is_own(module):
            names.append(name)
    return names


def is_own(module):
    path = getattr(module, "__file__", None)
    folders = [path] if path else list(getattr(module, "__path__", ()))
    for folder in folders:
        is_installed = any(is_inside(folder, place) for place in INSTALLED)
        if is_inside(folder, OPTIONS["root"]) and not is_installed:
            return True
    return False


def is_inside(path, folder):
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


# With mutants


def compile_mutant(request):
    """Compiles the changed file; returns None if this version of Python rejects it."""
    text = SOURCES[request["file"]].encode()
    before, after = text[: request["start"]], text[request["end"] :]
    changed = before + request["replacement"].encode() + after
    try:
        return compile(changed.decode(), request["file"], "exec", dont_inherit=True)
    except SyntaxError:
        return None


def serve_swaps():
    originals = {}

    def use(tests, broken):
        live = live_functions()
        # Forks share the memory of frozen objects.
        gc.collect()
        gc.freeze()
        for request in requests():
            file = request["file"]
            if file not in originals:
                originals[file] = compile(SOURCES[file], file, "exec", dont_inherit=True)

            def work(request=request, original=originals[file]):
                if not swap(original, compile_mutant(request), live):
                    return {"noticed": "not here"}
                return run_until_failure(tests, request["tests"])

            reply(**run_forked(work, request["seconds"], request["processor"]))

    collect(OPTIONS["files"], use)


def live_functions():
    """Returns all existing functions of the program, by their code."""
    paths = set(SOURCES)
    live = {}
    for found in gc.get_objects():
        if type(found) is types.FunctionType:
            code = found.__code__
            if os.path.realpath(code.co_filename) in paths:
                live.setdefault(code, []).append(found)
    return live


def swap(original, changed, live):
    """Exchanges the code of functions. Returns false if that is impossible or not enough."""
    pairs = {}
    if changed is None or not differences(original, changed, pairs):
        return False
    functions = [
        (found, after) for before, after in pairs.items() for found in live.get(before, ())
    ]
    try:
        for found, after in functions:
            found.__code__ = after
    except ValueError:
        return False  # the changed code encloses other variables
    return bool(functions)


def differences(before, after, pairs):
    """Fills `pairs` with changed code. Returns false if functions were added or removed."""
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
    for name in OPTIONS["outside"]:
        try:
            importlib.import_module(name)
        except BaseException:
            continue  # the importing module will report it
    for request in requests():
        if CAN_FORK:
            reply(**run_forked(lambda r=request: load(r), request["seconds"], request["processor"]))
        else:
            # The only request of this process.
            reply(last=True, **load(request))
            return


def load(request):
    changed = compile_mutant(request)
    if changed is None:
        return {"noticed": "not here"}
    for name, module in list(sys.modules.items()):
        if is_own(module):
            del sys.modules[name]
    original_get_code = importlib.machinery.SourceFileLoader.get_code
    was_loaded = []

    def get_code(self, name):
        if os.path.realpath(self.path) != request["file"]:
            return original_get_code(self, name)
        was_loaded.append(name)
        return changed

    importlib.machinery.SourceFileLoader.get_code = get_code
    answers = []

    def use(tests, broken):
        answers.append(run_until_failure(tests, request["tests"], broken))

    collect(request["files"], use)
    if not answers:
        return {"noticed": "test", "message": "the tests cannot be collected"}
    if not was_loaded and answers[0]["noticed"] is None:
        return {"noticed": "not here"}
    return answers[0]


def silence_streams():
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1) if OPTIONS["way"] == "measure" else (0, 1, 2):
        os.dup2(nothing, stream)


silence_streams()
os.chdir(OPTIONS["start"])
testwright_guard.restrict_changes_to(OPTIONS["inside"])
{"measure": measure, "swap": serve_swaps, "load": serve_loads}[OPTIONS["way"]]()
# Threads started by a test must not keep this process alive.
os._exit(0)
