"""The package itself: its module, its command, its stub."""

import ast
import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path

import testwright


def test_main_is_the_command_without_a_process(tmp_path):
    harness = tmp_path / "a.tstl"
    harness.write_text("pool: <x> 1\n<x> := 1\n")
    assert testwright.main(["check", str(harness)]) == 0
    assert testwright.main(["check", str(tmp_path / "missing.tstl")]) == 2


def test_the_stub_has_the_names_of_the_module():
    from testwright import _native

    stub = ast.parse(Path(testwright.__file__).with_name("_native.pyi").read_text())
    present = {name for name in dir(_native) if not name.startswith("__")} | {"__version__"}
    assert named(stub) == present
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name in {"Action", "State", "Sut"}:
            methods = {name for name in vars(getattr(_native, node.name)) if name[0] != "_"}
            assert {name for name in named(node) if name[0] != "_"} == methods, node.name


def named(node):
    """Returns the public names that a part of a stub defines."""
    names = {
        part.target.id if isinstance(part, ast.AnnAssign) else part.name
        for part in node.body
        if isinstance(part, (ast.AnnAssign, ast.FunctionDef, ast.ClassDef))
    }
    return {name for name in names if not name.startswith("_") or name.startswith("__")}


def test_library_modules_are_imported_on_first_use():
    program = (
        "import sys, testwright\n"
        "assert not {'testwright.sut', 'testwright.test'} & set(sys.modules)\n"
        "assert {*testwright.__all__} <= {*dir(testwright)}\n"
        "from testwright import *\n"
        "assert Sut is testwright.Sut is sys.modules['testwright.sut'].Sut\n"
        "assert Test is testwright.Test is sys.modules['testwright.test'].Test\n"
        "try:\n"
        "    testwright.nothing\n"
        "except AttributeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("module 'testwright' has no attribute 'nothing'\n", "")


def test_the_command_is_installed():
    command = Path(sys.executable).with_name("testwright")
    done = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert done.stdout == f"testwright {testwright.__version__}\n"


def test_files_beside_the_user_do_not_shadow_the_package(testwright):
    testwright.write("testwright.py", "raise SystemExit('shadowed')\n")
    command = Path(sys.executable).with_name("testwright")
    done = subprocess.run(
        [command, "check", "stack.tstl"], cwd=testwright.folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_stub_has_the_arguments_that_the_methods_have():
    from testwright import _native

    stub = ast.parse(Path(testwright.__file__).with_name("_native.pyi").read_text())
    (sut,) = (node for node in stub.body if getattr(node, "name", None) == "Sut")
    for method in sut.body:
        if not isinstance(method, ast.FunctionDef) or method.name.startswith("_"):
            continue
        found = getattr(_native.Sut, method.name)
        if not callable(found):
            continue  # a property
        words = method.args.args
        defaults = [None] * (len(words) - len(method.args.defaults)) + method.args.defaults
        written = {
            word.arg: ast.literal_eval(default) if default else inspect.Parameter.empty
            for word, default in zip(words, defaults)
            if word.arg != "self"
        }
        real = {
            name: each.default
            for name, each in inspect.signature(found).parameters.items()
            if name != "self"
        }
        assert written == real, method.name


# Sends Ctrl-C while the package is imported.
IMPATIENT = """\
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "testwright._native":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


def test_ctrl_c_while_the_command_is_loaded_shows_no_traceback(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(IMPATIENT)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run(*words):
        return subprocess.run(
            [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=600
        )

    done = run("-m", "testwright", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
    # A program that uses the library handles Ctrl-C itself.
    program = "try:\n    import testwright\nexcept KeyboardInterrupt:\n    print('stopped')"
    assert run("-c", program).stdout == "stopped\n"
    # So does a program that is started by `-m` and imports Testwright in its package.
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "__init__.py").write_text(program)
    (tmp_path / "tool" / "__main__.py").write_text("")
    assert run("-m", "tool").stdout == "stopped\n"
