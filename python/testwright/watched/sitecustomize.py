"""Starts the recording in a process of `testwright capture`.

The interpreter imports this file before it runs the program, because its folder is the first on the path. Then the
path, the environment and the program's own `sitecustomize` are restored, so that the program sees no difference.
Child processes of the same interpreter are recorded in the same way.
"""

import os
import sys


def begin():
    """Starts the recording with the settings in the environment."""
    import json

    settings = json.loads(os.environ.pop("TESTWRIGHT_CAPTURE"))
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    if settings["python_path"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = settings["python_path"]
    try:
        import atexit

        _native = recorder(folder)
        # Each child process has its own recording.
        name = f"{settings['name']}_{os.getpid()}" if settings.get("is_child") else settings["name"]
        arguments = (
            settings["store"],
            name,
            settings["modules"],
            settings["folders"],
            settings["command"],
        )
        _native.start_capture(*arguments)
        # An `import testwright` of the program finds what it would find without the recording.
        del sys.modules["testwright._native"]
        atexit.register(_native.stop_capture)
        follow_children(folder, {**settings, "is_child": True})
    except Exception as error:
        if settings.get("is_child"):
            # Testwright cannot be loaded in this child: the program is recorded without it.
            return
        with open(os.path.join(settings["store"], settings["name"] + ".problem"), "w") as problem:
            problem.write(f"{sys.executable}: {error}")


def recorder(folder):
    """Loads the extension module that records, if there is one for this version of Python.

    It is loaded by its location beside this file, not from the path: the program's interpreter may not have Testwright
    installed, and the packages beside ours must not shadow its own.
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


def follow_children(folder, settings):
    """Records child processes of this interpreter. Other programs do not get the settings in their environment."""
    import _posixsubprocess
    import json
    import posix
    import subprocess

    fork_exec = _posixsubprocess.fork_exec

    def file_id(path):
        # Not with `os.stat`: calls of `os` are recorded.
        try:
            found = posix.stat(path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def is_this_interpreter(programs):
        files = filter(None, map(file_id, programs))
        return next(files, None) == own_program

    own_program = file_id(sys.executable)

    def recorded_environment(environment):
        # Not with `os.environ`: its reads are recorded, too.
        own = os.environ._data.items()
        entries = [key + b"=" + value for key, value in own]
        entries = entries if environment is None else list(environment)
        path = next((entry[11:] for entry in entries if entry.startswith(b"PYTHONPATH=")), None)
        words = {**settings, "python_path": None if path is None else os.fsdecode(path)}
        folders = [os.fsencode(folder)] + ([path] if path else [])
        return [
            *(entry for entry in entries if not entry.startswith(b"PYTHONPATH=")),
            b"PYTHONPATH=" + os.fsencode(os.pathsep).join(folders),
            b"TESTWRIGHT_CAPTURE=" + json.dumps(words).encode(),
        ]

    def fork_exec_recorded(arguments, programs, close_fds, pass_fds, cwd, environment, *rest):
        if is_this_interpreter(programs):
            environment = recorded_environment(environment)
        return fork_exec(arguments, programs, close_fds, pass_fds, cwd, environment, *rest)

    _posixsubprocess.fork_exec = fork_exec_recorded
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = fork_exec_recorded
    # `posix_spawn`, which `subprocess` prefers since 3.13, would bypass the function above.
    subprocess._USE_POSIX_SPAWN = False


def import_own_sitecustomize():
    """Imports the `sitecustomize` that the program would have without this one."""
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
    import_own_sitecustomize()
