"""Runs candidate tests and tells what became of each. Started by Testwright in a process of its own.

Reads its orders as JSON from the file named first, and writes a JSON line for each test to the file named second. Nothing
outside of the folder for temporary files may be changed, no connection opened and no process started (`guard.py`).
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

with open(sys.argv[1], encoding="utf-8") as orders_file:
    ORDERS = json.load(orders_file)
REPORT = open(sys.argv[2], "a", encoding="utf-8")  # noqa: SIM115 (stays open until the process ends)


class Vacuous(BaseException):
    """Raised in the place of a unit's body; no test expects it."""


def tell(test, outcome, message=""):
    REPORT.write(json.dumps({"test": test, "outcome": outcome, "message": message}) + "\n")
    REPORT.flush()


# What tests leave behind


def surroundings():
    """The state of the process that a test has to leave as it was."""
    # pytest keeps notes of its own there.
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    found = {"environment": variables, "folder": os.getcwd(), "path": list(sys.path)}
    found.update(settings())
    for name in ORDERS["modules"]:
        module = sys.modules.get(name)
        for key, value in list(vars(module).items()) if module else ():
            if not key.startswith("__"):
                found[f"{name}.{key}"] = pinned(value)
    return found


def settings():
    """What the interpreter as a whole is set to, as far as the modules for it are in use."""
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
        # Whether there is a logger makes no difference, but its level does.
        found["the level of a logger"] = {name: level for name, level in levels.items() if level}
    if "locale" in sys.modules:
        found["the locale"] = sys.modules["locale"].setlocale(sys.modules["locale"].LC_ALL)
    return found


def pinned(value):
    """Something that is equal later only if the value is the same object and, for plain containers, has the same parts."""
    if type(value) is dict:
        return id(value), [(id(key), id(item)) for key, item in value.items()]
    if type(value) in (list, set):
        return id(value), [id(item) for item in value]
    return id(value), None


def loaded():
    return {name for name in ORDERS["modules"] if name in sys.modules}


def leak(before, known):
    """What a test has left changed, apart from modules that it was the first to import."""
    after = surroundings()
    for name in list(before) + [name for name in after if name not in before]:
        is_known = name in before or name.rpartition(".")[0] in known
        is_same = before.get(name) == after.get(name)
        if is_known and not is_same and not (name not in before and is_import(name)):
            return name
    return None


def is_import(name):
    """Whether a variable of a module, by its whole name, holds a module: an import that waited until it was needed."""
    module, _, key = name.rpartition(".")
    return isinstance(getattr(sys.modules.get(module), key, None), types.ModuleType)


# Units without their body


def emptied(module, path):
    """Replaces the code of a unit by one that raises, and gives what puts it back."""
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
    """The code of a function that raises. A function takes only code that encloses as many variables as its own."""
    names = [f"variable_{number}" for number in range(enclosed)]
    lines = ["def around():"]
    lines += [f"    {name} = None" for name in names]
    # As the code of another function it has that function's globals.
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
    """Runs one test by a function that gives its outcome and a message, and tells."""
    tell(test, "started")
    restore = None
    if ORDERS["empty"]:
        # What the unit has given once may be remembered, by others as well, and then another test passes without it.
        outcome, message = run()
        if outcome != "passed":
            tell(test, outcome, message)
            return
        try:
            restore = emptied(*ORDERS["units"][test])
        except Exception as error:
            tell(test, "failed", f"cannot be emptied: {error}")
            return
    before, known = surroundings(), loaded()
    try:
        outcome, message = run()
    finally:
        if restore:
            restore()
    if outcome == "passed" and not ORDERS["empty"]:
        left = leak(before, known)
        if left:
            outcome, message = "leaked", left
    tell(test, outcome, message)


def alone(test, run):
    """As `run_one`, in a copy of this process if there is such a thing."""
    if not ORDERS["alone"] or not hasattr(os, "fork"):
        run_one(test, run)
        return
    child = os.fork()
    if child == 0:
        status = 1
        signal.alarm(ORDERS["seconds"])
        try:
            run_one(test, run)
            status = 0
        finally:
            os._exit(status)
    os.waitpid(child, 0)


def ordered(tests):
    tests = list(tests)
    if ORDERS["shuffle"] is not None:
        random.Random(ORDERS["shuffle"]).shuffle(tests)
    return tests


def short(error):
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]


def main_pytest():
    import pytest
    from _pytest.runner import runtestprotocol

    class Plugin:
        def pytest_collection_modifyitems(self, items):
            items[:] = ordered(items)

        def pytest_collectreport(self, report):
            if report.failed:
                message = getattr(
                    getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr)
                )
                tell(report.nodeid, "broken", message.strip().splitlines()[-1][:200])

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_protocol(self, item, nextitem):
            def run():
                reports = runtestprotocol(
                    item, log=False, nextitem=nextitem if not ORDERS["alone"] else None
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

            # The name as orders have it: the file, the class and the function, without the row of a table.
            function = getattr(item, "originalname", None) or item.name
            alone(f"{item.parent.nodeid}::{function}", run)
            return True

    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
    arguments += [
        "--continue-on-collection-errors",
        "-c",
        ORDERS["settings"],
        "--rootdir",
        ORDERS["folder"],
        "--basetemp",
        ORDERS["temporary"],
    ]
    pytest.main([*arguments, *ORDERS["files"]], plugins=[Plugin()])


def main_unittest():
    import unittest

    found = []
    for path in ORDERS["files"]:
        file = os.path.relpath(path, ORDERS["folder"])
        sys.path.insert(0, os.path.dirname(path))
        try:
            module = importlib.import_module(os.path.basename(path)[: -len(".py")])
        except Exception as error:
            tell(file, "broken", short(error))
            continue
        pending = [unittest.defaultTestLoader.loadTestsFromModule(module)]
        while pending:
            for test in pending.pop():
                if isinstance(test, unittest.TestSuite):
                    pending.append(test)
                else:
                    found.append((f"{file}::{type(test).__name__}::{test._testMethodName}", test))

    for name, test in ordered(found):

        def run(test=test):
            result = unittest.TestResult()
            test.run(result)
            for _, text in result.errors + result.failures:
                return "failed", text.strip().splitlines()[-1][:200]
            return ("skipped", "") if result.skipped else ("passed", "")

        alone(name, run)


os.chdir(ORDERS["start"])
testwright_guard.keep_inside(ORDERS["inside"])
if ORDERS["style"] == "pytest":
    main_pytest()
else:
    main_unittest()
REPORT.flush()
# Threads that a unit has started must not keep this process.
os._exit(0)
