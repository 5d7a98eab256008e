"""Runs a command and writes what it used to a file: CPU seconds and peak memory in MB.

A process of its own, since on Linux a command counts the memory of the process that started it among its own. This one
has little.
"""

import os
import sys


def main():
    file, *command = sys.argv[1:]
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    # On a Mac it is bytes.
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    with open(file, "w") as result:
        result.write(f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss / unit}")
    # A negative status is that of a signal.
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


main()
