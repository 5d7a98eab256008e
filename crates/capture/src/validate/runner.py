"""Runs candidate tests and reports the outcome of each.

Started by Testwright in a process of its own.

Reads its options as JSON from the first argument's file, and appends a JSON line for each test to
the second one's. Tests may neither change files outside of the folder for temporary files nor open
connections nor start processes (`guard.py`).
"""

import importlib
import inspect
import json
import os
import random
import signal
import sys
import types

import testwright_guard

with open(sys.argv[1], encoding="utf-8") as options_file:
    OPTIONS = json.load(options_file)
REPORT = open(sys.argv[2], "a", encoding="utf-8")  # noqa: SIM115 (open until the process ends)


class Vacuous(BaseException):
    """Raised instead of running a unit's body; no test expects it."""


def report_outcome(test, outcome, message=""):
    REPORT.write(json.dumps({"test": test, "outcome": outcome, "message": message}) + "\n")
    REPORT.flush()


# Leaks: changes that a test does not undo


def process_state():
    """Returns the state of the process that a test must leave unchanged."""
    # pytest uses variables of its own.
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    found = {"environment": variables, "folder": os.getcwd(), "path": list(sys.path)}
    found.update(interpreter_settings())
    for name in OPTIONS["modules"]:
        module = sys.modules.get(name)
        for key, value in list(vars(module).items()) if module else ():
            if not key.startswith("__"):
                found[f"{name}.{key}"] = identity_key(value)
    return found


def interpreter_settings():
    """Returns global settings of the interpreter whose modules are in use."""
    found = {
        "the recursion limit": sys.getrecursionlimit(),
        "a signal handler": [signal.getsignal(number) for number in range(1, 32)],
    }
    if "decimal" in sys.modules:
        context = sys.modules["decimal"].getcontext()
        found["the decimal context"] = (context.prec, context.rounding, context.capitals)
    if "logging" in sys.modules:
        logging = sys.modules["logging"]
        loggers = logging.Logger.manager.loggerDict.items()
        levels = {name: getattr(logger, "level", 0) for name, logger in loggers}
        # Creating a logger has no effect, but its level has.
        found["the level of a logger"] = {name: level for name, level in levels.items() if level}
    if "locale" in sys.modules:
        found["the locale"] = sys.modules["locale"].setlocale(sys.modules["locale"].LC_ALL)
    return found


def identity_key(value):
    """Returns a key that stays equal only for the same object with the same items."""
    if type(value) is dict:
        return id(value), [(id(key), id(item)) for key, item in value.items()]
    if type(value) in (list, set):
        return id(value), [id(item) for item in value]
    return id(value), None


def loaded_modules():
    return {name for name in OPTIONS["modules"] if name in sys.modules}


def find_leak(before, known):
    """Returns the name of something that a test left changed, apart from newly imported modules."""
    after = process_state()
    for name in list(before) + [name for name in after if name not in before]:
        is_known = name in before or name.rpartition(".")[0] in known
        is_same = before.get(name) == after.get(name)
        if is_known and not is_same and not (name not in before and is_import(name)):
            return name
    return None


def is_import(name):
    """Returns true if a variable of a module holds a module: the result of a late import."""
    module, _, key = name.rpartition(".")
    return isinstance(getattr(sys.modules.get(module), key, None), types.ModuleType)


# Units with an empty body


def empty_unit(module, path):
    """Replaces the code of a unit by one that raises. Returns a function that restores it."""
    owner = importlib.import_module(module)
    *owners, last = path.split(".")
    for name in owners:
        owner = getattr(owner, name)
    found = inspect.getattr_static(owner, last)
    functions = []
    for part in (
        found,
        *(getattr(found, name, None) for name in ("fget", "fset", "fdel", "func", "__func__")),
    ):
        while part is not None:
            if inspect.isfunction(part):
                functions.append(part)
            part = getattr(part, "__wrapped__", None)
    saved = [(function, function.__code__) for function in functions]
    for function, code in saved:
        function.__code__ = empty_code(len(code.co_freevars))

    def restore():
        for function, code in saved:
            function.__code__ = code

    return restore


def empty_code(enclosed):
    """Returns the code of a function that raises, with this number of enclosed variables."""
    names = [f"variable_{number}" for number in range(enclosed)]
    lines = ["def around():"]
    lines += [f"    {name} = None" for name in names]
    # The code runs with the globals of the function that it is put into.
    lines += [
        "    def empty(*args, **kwargs):",
        f"        [{', '.join(names)}]",
        "        __import__('sys').modules['__main__'].fail()",
        "    return empty",
    ]
    made = {}
    exec("\n".join(lines), made)
    return made["around"]().__code__


def fail():
    raise Vacuous("the unit was called, as it should be")


# Running


def run_one(test, run):
    """Runs one test by a function that returns its outcome and a message, and reports them."""
    report_outcome(test, "started")
    restore = None
    if OPTIONS["empty"]:
        # A first run fills caches, so that a test that passes only by a cached result is detected.
        outcome, message = run()
        if outcome != "passed":
            report_outcome(test, outcome, message)
            return
        try:
            restore = empty_unit(*OPTIONS["units"][test])
        except Exception as error:
            report_outcome(test, "failed", f"cannot be emptied: {error}")
            return
    before, known = process_state(), loaded_modules()
    try:
        outcome, message = run()
    finally:
        if restore:
            restore()
    if outcome == "passed" and not OPTIONS["empty"]:
        left = find_leak(before, known)
        if left:
            outcome, message = "leaked", left
    report_outcome(test, outcome, message)


def run_isolated(test, run):
    """Runs one test like `run_one`, in a fork of this process if the system has forks."""
    if not OPTIONS["alone"] or not hasattr(os, "fork"):
        run_one(test, run)
        return
    child = os.fork()
    if child == 0:
        status = 1
        signal.alarm(OPTIONS["seconds"])
        try:
            run_one(test, run)
            status = 0
        finally:
            os._exit(status)
    os.waitpid(child, 0)


def in_order(tests):
    tests = list(tests)
    if OPTIONS["shuffle"] is not None:
        random.Random(OPTIONS["shuffle"]).shuffle(tests)
    return tests


def short(error):
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]


def main_pytest():
    import pytest
    from _pytest.runner import runtestprotocol

    class Plugin:
        def pytest_collection_modifyitems(self, items):
            items[:] = in_order(items)

        def pytest_collectreport(self, report):
            if report.failed:
                message = getattr(
                    getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr)
                )
                report_outcome(report.nodeid, "broken", message.strip().splitlines()[-1][:200])

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_protocol(self, item, nextitem):
            def run():
                reports = runtestprotocol(
                    item, log=False, nextitem=nextitem if not OPTIONS["alone"] else None
                )
                for report in reports:
                    if report.failed:
                        crash = getattr(report.longrepr, "reprcrash", None)
                        message = crash.message if crash else str(report.longrepr)
                        row = f"[{item.callspec.id}] " if hasattr(item, "callspec") else ""
                        return "failed", row + message.strip().splitlines()[0][:200]
                    if report.skipped:
                        return "skipped", ""
                return "passed", ""

            # The name as in the options: file, class and function, without the row of a table.
            function = getattr(item, "originalname", None) or item.name
            run_isolated(f"{item.parent.nodeid}::{function}", run)
            return True

    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
    arguments += [
        "--continue-on-collection-errors",
        "-c",
        OPTIONS["settings"],
        "--rootdir",
        OPTIONS["folder"],
        "--basetemp",
        OPTIONS["temporary"],
    ]
    pytest.main([*arguments, *OPTIONS["files"]], plugins=[Plugin()])


def main_unittest():
    import unittest

    found = []
    for path in OPTIONS["files"]:
        file = os.path.relpath(path, OPTIONS["folder"])
        sys.path.insert(0, os.path.dirname(path))
        try:
            module = importlib.import_module(os.path.basename(path)[: -len(".py")])
        except Exception as error:
            report_outcome(file, "broken", short(error))
            continue
        pending = [unittest.defaultTestLoader.loadTestsFromModule(module)]
        while pending:
            for test in pending.pop():
                if isinstance(test, unittest.TestSuite):
                    pending.append(test)
                else:
                    found.append((f"{file}::{type(test).__name__}::{test._testMethodName}", test))

    for name, test in in_order(found):

        def run(test=test):
            result = unittest.TestResult()
            test.run(result)
            for _, text in result.errors + result.failures:
                return "failed", text.strip().splitlines()[-1][:200]
            return ("skipped", "") if result.skipped else ("passed", "")

        run_isolated(name, run)


os.chdir(OPTIONS["start"])
testwright_guard.restrict_changes_to(OPTIONS["inside"])
if OPTIONS["style"] == "pytest":
    main_pytest()
else:
    main_unittest()
REPORT.flush()
# Threads started by a unit must not keep this process alive.
os._exit(0)
