"""The `testwright` command."""

import os
import signal
import sys


def fix_hash_seed():
    """Starts this program again with a fixed hash seed, unless one was chosen.

    The order of a set of strings depends on it, so without this the same `--seed` could give different tests.
    """
    if "PYTHONHASHSEED" in os.environ or os.name != "posix" or not sys.executable:
        return
    os.environ["PYTHONHASHSEED"] = "0"
    try:
        os.execv(sys.executable, own_command())
    except OSError:
        pass  # Go on with a random hash seed: most systems do not notice.


def own_command():
    """The command line that started this program, with the interpreter's own options where they are known."""
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
        # Python only notes Ctrl-C and goes on in native code. Where tests are run, a handler of ours takes over;
        # everywhere else there is nothing to tidy up.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        from testwright import _native

        status = _native.main(sys.argv[1:])
        if not runs_a_program:
            end_children()
        leave(status)
    except KeyboardInterrupt:
        return 2


def end_children():
    """Ends the processes that the system under test has started and not waited for."""
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children") as children:
                for child in children.read().split():
                    os.kill(int(child), signal.SIGKILL)
    except OSError:
        pass  # they have ended by themselves, or this is no Linux


def leave(status):
    """Ends the program at once.

    What the system under test has left behind, such as threads and processes that go on for ever or handlers to be
    called at the end, must not keep the program alive, add to what it printed, or change its exit status.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or a pipe that nobody reads
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
