"""All that a system under test can do to the process that it lives in, and to those around it."""

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


def leave():
    os._exit(0)


def leave_with_three():
    os._exit(3)


def overflow():
    """Fills a stack of C, which no limit of the interpreter knows of."""
    sys.setrecursionlimit(10**6)
    nested = []
    for _ in range(100_000):
        nested = [nested]
    # A thread's, because that of the process may have become large by now; and so little that it is full before the
    # limit for calls in C, which Python 3.12 and later have.
    threading.stack_size(64 << 10)
    thread = threading.Thread(target=repr, args=(nested,))
    thread.start()
    thread.join()


def kill_group():
    assert os.getpgrp() == os.getpid(), "only a worker leads a group of its own"
    os.killpg(os.getpid(), signal.SIGTERM)


def spend_time():
    """The operating system ends who uses more than a second of the processor."""
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
    """Waits with the interpreter's lock held."""
    ctypes.PyDLL(None).pause()


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def spin_deaf():
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


# What Python tells of.


def leave_politely():
    sys.exit(3)


def interrupt():
    raise KeyboardInterrupt


def eat_memory():
    eaten = []
    while True:
        eaten.append(bytearray(10 << 20))


def write_without_end():
    with open(scratch() / "endless", "wb") as file:
        while True:
            file.write(bytes(1 << 20))


# Attacks on the tool.


def kill_parent():
    os.kill(parent(), signal.SIGTERM)


def kill_parent_at_once():
    os.kill(parent(), signal.SIGKILL)


def leave_a_daemon_and_kill_parent():
    leave_a_daemon()
    os.kill(parent(), signal.SIGKILL)


def stop_parent():
    os.kill(parent(), signal.SIGSTOP)


def close_all():
    os.closerange(0, 100)


def reopen_all():
    """The numbers that were those of the tool's files are those of others now."""
    os.closerange(0, 100)
    while os.open("/dev/null", os.O_RDWR) < 50:
        pass


def cut_the_log():
    """Takes memory away that others look at."""
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


# What does no harm.


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


def leave_a_daemon():
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
    os.waitpid(child, 0)


def fork_and_crash():
    """The child has a copy of all that the process has open, and keeps it."""
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


def give_a_sign():
    """Tells the test that a step was taken."""
    Path(os.environ["RACK_SIGN"]).touch()


def shout():
    print("x" * (4 << 20))
    os.write(1, b"y" * (1 << 20))


def limit():
    """Allows itself next to nothing."""
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
    """The nursery; never the first process of the machine, which adopts those whose parent is gone."""
    number = os.getppid()
    assert number > 1 and b"testwright" in Path(f"/proc/{number}/cmdline").read_bytes()
    return number


def scratch():
    """The folder of this worker. Nothing is written anywhere else."""
    folder = Path(os.environ["TMPDIR"])
    assert re.fullmatch(r"worker-\d+", folder.name)
    assert folder.parent.name.startswith("testwright-workers-")
    return folder


def catchable():
    return set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, 32, 33}
