"""Runs a command, and writes its CPU seconds and peak memory in MB to a file.

This is a separate, small process: on Linux the peak memory of a command includes that of the process that started it.
"""

import os
import sys


def main():
    file, *command = sys.argv[1:]
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    # macOS reports bytes.
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    with open(file, "w") as result:
        result.write(f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss / unit}")
    # A negative status is a signal.
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


main()
