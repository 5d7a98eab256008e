"""Runs the tests in one file, and reports the first failure as JSON.

Arguments: the file, `pytest`, `unittest` or `script`, and the path of the report.
"""

import atexit
import importlib.util
import json
import os
import runpy
import sys
import threading
import traceback

FILE, STYLE, REPORT = sys.argv[1:]


def note(error):
    """Writes the first failure to the report."""
    if os.path.exists(REPORT):
        return
    # A script turns an exit into an exception, so that it does not look like success.
    if isinstance(error.__cause__, SystemExit):
        error = error.__cause__
    places = [
        (frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    lines = [line for path, line in places if os.path.realpath(path) == FILE]
    name, line = os.path.basename(places[-1][0]) if places else "", places[-1][1] if places else 0
    found = {
        "exception": type(error).__qualname__,
        "text": text_of(error),
        "location": f"{name}:{line}",
        "lines": lines,
        "signature": getattr(error, "signature", None),
        "is_own": bool(places) and os.path.realpath(places[-1][0]) == FILE,
    }
    with open(REPORT, "w", encoding="utf-8") as report:
        json.dump(found, report)


def text_of(error):
    """Returns the message of an exception without what pytest adds to assertions."""
    try:
        text = str(error)[:5_000]
    except Exception:
        return "(its message cannot be shown)"
    if isinstance(error, AssertionError):
        text = f"\n{text}".partition("\nassert ")[0][1:]
    return text


def run_with_pytest(pytest):
    """Runs the file without the settings and plug-ins of the user."""

    class Watcher:
        def pytest_exception_interact(self, node, call, report):
            note(call.excinfo.value)

        def pytest_keyboard_interrupt(self, excinfo):
            note(excinfo.value)

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    folder = os.path.dirname(FILE)
    arguments = ["-q", "-c", os.devnull, "--rootdir", folder, "--noconftest", FILE]
    return pytest.main(["-p", "no:cacheprovider", *arguments], plugins=[Watcher()])


def run_functions():
    """Runs the test functions and test cases of the file."""
    import unittest

    name = os.path.splitext(os.path.basename(FILE))[0]
    spec = importlib.util.spec_from_file_location(name, FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)

    class Result(unittest.TestResult):
        def addError(self, test, error):
            note(error[1])

        addFailure = addError

    unittest.defaultTestLoader.loadTestsFromModule(module).run(Result())
    for name, function in list(vars(module).items()):
        if name.startswith("test_") and callable(function):
            function()
    return os.path.exists(REPORT)


def run():
    """Runs the file. Returns a true value if it fails."""
    del sys.path[0]
    sys.dont_write_bytecode = True
    sys.argv[:] = [FILE]
    if STYLE == "pytest":
        try:
            import pytest
        except ImportError:
            pass  # most files do not need it
        else:
            return run_with_pytest(pytest)
    sys.path.insert(0, os.path.dirname(FILE))
    if STYLE == "script":
        return runpy.run_path(FILE, run_name="__main__") and False
    return run_functions()


try:
    FAILED = run()
except BaseException as error:
    note(error)
    FAILED = True
STATUS = 1 if FAILED else 0
# Exit handlers end what the file has started, but they cannot hold up the end.
LIMIT = threading.Timer(5, os._exit, [STATUS])
LIMIT.daemon = True
LIMIT.start()
atexit._run_exitfuncs()
for stream in (sys.stdout, sys.stderr):
    stream.flush()
os._exit(STATUS)
