"""Begins a capture in a process that `testwright capture` has started.

The interpreter imports this before it runs the program, because the folder of this file is the first on its path. The
program finds everything as if this had never been: the path, the environment, and a `sitecustomize` of its own.
"""

import os
import sys


def begin():
    """Starts to record, as the environment asks."""
    import json

    wish = json.loads(os.environ.pop("TESTWRIGHT_CAPTURE"))
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    if wish["python_path"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = wish["python_path"]
    try:
        import atexit

        from testwright import _native

        arguments = (wish["store"], wish["name"], wish["modules"], wish["folders"], wish["command"])
        _native.start_capture(*arguments)
        atexit.register(_native.stop_capture)
    except Exception as error:
        with open(os.path.join(wish["store"], wish["name"] + ".problem"), "w") as problem:
            problem.write(f"{sys.executable}: {error}")


def go_on():
    """Imports the `sitecustomize` that would have been found without this one."""
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


if "TESTWRIGHT_CAPTURE" in os.environ:
    begin()
    go_on()
