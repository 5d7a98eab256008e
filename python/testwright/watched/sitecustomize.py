"""Begins a capture in a process that `testwright capture` has started.

The interpreter imports this before it runs the program, because the folder of this file is the first on its path. The
program finds everything as if this had never been: the path, the environment, and a `sitecustomize` of its own. Processes
of the same interpreter that the program starts are watched in the same way.
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

        _native = recorder(folder)
        # A process that the program started has a recording of its own.
        name = f"{wish['name']}_{os.getpid()}" if wish.get("is_child") else wish["name"]
        arguments = (wish["store"], name, wish["modules"], wish["folders"], wish["command"])
        _native.start_capture(*arguments)
        # The program finds Testwright as it would without us, or does not find it.
        del sys.modules["testwright._native"]
        atexit.register(_native.stop_capture)
        follow_children(folder, {**wish, "is_child": True})
    except Exception as error:
        if wish.get("is_child"):
            # An interpreter without Testwright. The program is recorded, this part of it is not.
            return
        with open(os.path.join(wish["store"], wish["name"] + ".problem"), "w") as problem:
            problem.write(f"{sys.executable}: {error}")


def recorder(folder):
    """The part of Testwright that records, if it is of this version of Python.

    It is found beside this file and not by the path: the interpreter of the program may have no Testwright, and none of
    what is installed with ours is to be put before its own packages.
    """
    from importlib import machinery, util

    for suffix in machinery.EXTENSION_SUFFIXES:
        path = os.path.join(os.path.dirname(folder), "_native" + suffix)
        if os.path.exists(path):
            spec = util.spec_from_file_location("testwright._native", path)
            module = sys.modules[spec.name] = util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    version = ".".join(map(str, sys.version_info[:2]))
    raise ImportError(f"Testwright is installed for another Python than {version}")


def follow_children(folder, wish):
    """Has processes of this interpreter begin like this one, and no others: they would see it in their environment."""
    import _posixsubprocess
    import json
    import posix
    import subprocess

    fork_exec = _posixsubprocess.fork_exec

    def file_at(path):
        # Not by `os`, which is watched itself.
        try:
            found = posix.stat(path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def is_same(programs):
        files = filter(None, map(file_at, programs))
        return next(files, None) == own_program

    own_program = file_at(sys.executable)

    def watched(environment):
        # Not by asking `os.environ`, for the same reason.
        own = os.environ._data.items()
        entries = [key + b"=" + value for key, value in own]
        entries = entries if environment is None else list(environment)
        path = next((entry[11:] for entry in entries if entry.startswith(b"PYTHONPATH=")), None)
        words = {**wish, "python_path": None if path is None else os.fsdecode(path)}
        folders = [os.fsencode(folder)] + ([path] if path else [])
        return [
            *(entry for entry in entries if not entry.startswith(b"PYTHONPATH=")),
            b"PYTHONPATH=" + os.fsencode(os.pathsep).join(folders),
            b"TESTWRIGHT_CAPTURE=" + json.dumps(words).encode(),
        ]

    def started(arguments, programs, close_fds, pass_fds, cwd, environment, *rest):
        if is_same(programs):
            environment = watched(environment)
        return fork_exec(arguments, programs, close_fds, pass_fds, cwd, environment, *rest)

    _posixsubprocess.fork_exec = started
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = started
    # The other way in which `subprocess` starts a program where it can, since 3.13 mostly; it would go past this.
    subprocess._USE_POSIX_SPAWN = False


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
