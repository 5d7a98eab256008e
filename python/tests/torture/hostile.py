"""Everything that a system under test can do to its own process and to others."""

import ctypes
import os
import random
import re
import resource
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

LIBRARY = ctypes.CDLL(None)


# Ends of the process.


def segfault():
    ctypes.string_at(0)


def abort():
    os.abort()


def exit_with_status_0():
    os._exit(0)


def exit_with_status_3():
    os._exit(3)


def overflow():
    """Overflows the C stack, which no limit of the interpreter prevents."""
    sys.setrecursionlimit(10**6)
    nested = []
    for _ in range(100_000):
        nested = [nested]
    # In a thread, because the stack of the main thread may be large by now; and with a stack so small that it is full
    # before the limit for C calls of Python 3.12 and later.
    threading.stack_size(64 << 10)
    thread = threading.Thread(target=repr, args=(nested,))
    thread.start()
    thread.join()


def kill_group():
    assert os.getpgrp() == os.getpid(), "only a worker leads a group of its own"
    os.killpg(os.getpid(), signal.SIGTERM)


def spend_time():
    """Uses more CPU time than its limit, so that the operating system ends the process."""
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    while True:
        pass


# Hangs.


def spin():
    while True:
        pass


def spin_in_c():
    re.match("(a+)+$", "a" * 60 + "b")


def pause_in_c():
    """Waits while holding the GIL."""
    ctypes.PyDLL(None).pause()


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def spin_without_signals():
    ignore_signals()
    block_signals()
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass


def spin_in_the_group_of_the_parent():
    os.setpgid(0, os.getpgid(parent()))
    spin()


# Failures that Python reports.


def sys_exit():
    sys.exit(3)


def interrupt():
    raise KeyboardInterrupt


def exhaust_memory():
    eaten = []
    while True:
        eaten.append(bytearray(10 << 20))


def write_forever():
    with open(scratch() / "endless", "wb") as file:
        while True:
            file.write(bytes(1 << 20))


# Attacks on the tool.


def kill_parent():
    os.kill(parent(), signal.SIGTERM)


def kill_parent_at_once():
    os.kill(parent(), signal.SIGKILL)


def start_daemon_and_kill_parent():
    start_daemon()
    os.kill(parent(), signal.SIGKILL)


def start_daemon_and_fail():
    start_daemon()
    raise ValueError("a daemon is left")


def stop_parent():
    os.kill(parent(), signal.SIGSTOP)


def close_all():
    os.closerange(0, 100)


def reopen_all():
    """Replaces the tool's file descriptors with others."""
    os.closerange(0, 100)
    while os.open("/dev/null", os.O_RDWR) < 50:
        pass


def truncate_log():
    """Truncates a file that other processes have mapped."""
    for name in os.listdir("/proc/self/map_files"):
        path = f"/proc/self/map_files/{name}"
        try:
            if os.readlink(path).startswith("/memfd:testwright-log"):
                os.truncate(path, 0)
        except OSError:
            pass


def remove_the_folder():
    folder = scratch()
    os.chdir(folder.parent)
    shutil.rmtree(folder, ignore_errors=True)


# Harmless actions.


def close_standard():
    os.closerange(0, 3)


def close_streams():
    sys.stdout.close()
    sys.stderr.close()


def fork():
    os.fork()


def fork_in_c():
    LIBRARY.fork()


def fork_and_stay():
    if os.fork() == 0:
        time.sleep(600)


def start_daemon():
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
    os.waitpid(child, 0)


def fork_and_crash():
    """Crashes while a child keeps copies of all open file descriptors."""
    if os.fork() == 0:
        time.sleep(600)
    os.kill(os.getpid(), signal.SIGKILL)


def start_threads():
    for daemon in (False, True):
        threading.Thread(target=time.sleep, args=(600,), daemon=daemon).start()


def thread_that_spins():
    threading.Thread(target=spin, daemon=True).start()


def write_many_files():
    for number in range(1_000):
        (scratch() / f"file-{number}").touch()


def reseed():
    random.seed(1)


def touch_marker():
    """Creates a file that tells the test that a step was taken."""
    Path(os.environ["HOSTILE_MARKER"]).touch()


def print_5_megabytes():
    print("x" * (4 << 20))
    os.write(1, b"y" * (1 << 20))


def limit():
    """Sets the resource limits of the process very low."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def handle_signals():
    for number in catchable():
        signal.signal(number, lambda *_: None)


def ignore_signals():
    for number in catchable():
        signal.signal(number, signal.SIG_IGN)


def block_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def forget_modules():
    sys.modules.clear()


def parent():
    """Returns the process id of the fork server; never that of init, which adopts orphans."""
    number = os.getppid()
    assert number > 1 and b"testwright" in Path(f"/proc/{number}/cmdline").read_bytes()
    return number


def scratch():
    """Returns the folder of this worker, the only place for files."""
    folder = Path(os.environ["TMPDIR"])
    assert re.fullmatch(r"worker-\d+", folder.name)
    assert folder.parent.name.startswith("testwright-workers-")
    return folder


def catchable():
    return set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, 32, 33}
