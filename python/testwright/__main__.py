"""The `testwright` command."""

import os
import signal
import sys


def fix_hash_seed():
    """Restarts this program with a fixed hash seed, unless the user chose one.

    The order of a set of strings depends on the hash seed: without this, one `--seed` could give different tests.
    """
    if "PYTHONHASHSEED" in os.environ or os.name != "posix" or not sys.executable:
        return
    os.environ["PYTHONHASHSEED"] = "0"
    try:
        os.execv(sys.executable, own_command())
    except OSError:
        pass  # Continue with a random hash seed: it makes no difference to most systems.


def own_command():
    """Returns the command line that started this program, with the interpreter's own options if they are known."""
    if hasattr(sys, "orig_argv"):  # since Python 3.10
        return sys.orig_argv
    is_module = os.path.basename(sys.argv[0]) == "__main__.py"
    program = ["-m", "testwright"] if is_module else [sys.argv[0]]
    return [sys.executable, *program, *sys.argv[1:]]


def main():
    """Runs the command line in `sys.argv` and returns its exit status."""
    try:
        runs_a_program = sys.argv[1:2] in (["cover"], ["capture"])
        if not runs_a_program:
            fix_hash_seed()
        # While native code runs, Python's own handler only sets a flag. Commands that run tests install another handler;
        # the others have nothing to clean up.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        from testwright import _native

        status = _native.main(sys.argv[1:])
        if not runs_a_program:
            kill_children()
        exit_now(status)
    except KeyboardInterrupt:
        return 2


def kill_children():
    """Kills the processes that the system under test started and did not wait for."""
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children") as children:
                for child in children.read().split():
                    os.kill(int(child), signal.SIGKILL)
    except OSError:
        pass  # they ended already, or this is not Linux


def exit_now(status):
    """Ends the program at once.

    The system under test may leave threads, processes or exit handlers behind. They must not keep the program alive,
    add to its output, or change its exit status.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or a pipe without a reader
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
