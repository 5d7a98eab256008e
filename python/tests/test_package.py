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
    stub = Path(testwright.__file__).with_name("_native.pyi").read_text()
    named = {
        node.target.id if isinstance(node, ast.AnnAssign) else node.name
        for node in ast.parse(stub).body
        if isinstance(node, (ast.AnnAssign, ast.FunctionDef))
    }
    from testwright import _native

    present = {name for name in dir(_native) if not name.startswith("__")} | {"__version__"}
    assert named == present


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
