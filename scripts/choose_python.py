"""Prints the Python to make the virtual environment from, or the reason why this one cannot be used.

`make` runs it with the chosen interpreter and keeps the output in a file: the path of the base interpreter (not
that of an active environment), then its version. Also runs on Pythons that are too old, so that it can say so.
"""

import os
import sys
import sysconfig

OLDEST, NEWEST = (3, 9), (3, 14)


def find_problem():
    """Returns the reason why this interpreter cannot be used, or None."""
    version = sys.version_info[:2]
    if not OLDEST <= version <= NEWEST:
        return (
            "Testwright needs Python %d.%d to %d.%d, but %s is Python %d.%d.\n"
            "Choose another one: make PYTHON=/path/to/python3.12"
            % (OLDEST + NEWEST + (sys.executable,) + version)
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return (
            "%s is a free-threaded build of Python, which Testwright does not support yet.\n"
            "Choose another one: make PYTHON=/path/to/python3.12" % sys.executable
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return (
            "%s cannot create virtual environments: its venv and ensurepip modules are missing.\n"
            "On Debian and Ubuntu: sudo apt install python3-venv" % sys.executable
        )
    return None


def base_executable():
    """Returns the path of the base interpreter, even if this one is in a virtual environment (perhaps ours)."""
    name = "python%d.%d" % sys.version_info[:2]
    usual = os.path.join(sys.base_prefix, "bin", name)
    return usual if os.path.exists(usual) else os.path.realpath(sys.executable)


message = find_problem()
if message:
    sys.exit(message)
print(base_executable())
print(sys.version.replace("\n", " "))
