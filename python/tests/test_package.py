"""The package itself: its module, its command, its stub."""

import ast
import subprocess
import sys
from pathlib import Path

import testwright


def test_main_is_the_command_without_a_process(tmp_path):
    harness = tmp_path / "a.tstl"
    harness.write_text("pool: <x> 1\n<x> := 1\n")
    assert testwright.main(["check", str(harness)]) == 0
    assert testwright.main(["check", str(tmp_path / "missing.tstl")]) == 2


def test_the_stub_names_what_the_module_has():
    from testwright import _native

    stub = ast.parse(Path(testwright.__file__).with_name("_native.pyi").read_text())
    present = {name for name in dir(_native) if not name.startswith("__")} | {"__version__"}
    assert named(stub) == present
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name in {"Action", "State", "Sut"}:
            methods = {name for name in vars(getattr(_native, node.name)) if name[0] != "_"}
            assert {name for name in named(node) if name[0] != "_"} == methods, node.name


def named(node):
    """What a part of a stub names, names of its own aside."""
    names = {
        part.target.id if isinstance(part, ast.AnnAssign) else part.name
        for part in node.body
        if isinstance(part, (ast.AnnAssign, ast.FunctionDef, ast.ClassDef))
    }
    return {name for name in names if not name.startswith("_") or name.startswith("__")}


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
