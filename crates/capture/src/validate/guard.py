"""An audit hook that restricts tests while Testwright runs them.

Tests may change files in one folder only, and may neither open connections nor start processes. The
hook raises an exception on every other attempt, so the test fails. Neither the tests nor the code
under test is trusted.
"""

import os
import sys

#: True while a runner itself does something that tests may not do.
lifted = False

FORBIDDEN = {
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.kill",
    "os.killpg",
}
CHANGES = {
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.utime",
    "shutil.rmtree",
    "shutil.move",
}


def restrict_changes_to(folder):
    """Restricts changes to this folder for good, since an audit hook cannot be removed."""
    folder = os.path.realpath(folder)

    def is_outside(path):
        if not isinstance(path, (str, bytes, os.PathLike)):
            return False
        path = os.path.realpath(os.fsdecode(path))
        return not (path == folder or path.startswith(folder + os.sep) or path == os.devnull)

    def guard(event, arguments):
        if lifted:
            return
        if event == "open":
            path, mode, flags = arguments
            written = isinstance(flags, int) and flags & (
                os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
            )
            if written and is_outside(path):
                raise PermissionError(f"a test may not write to {path!r}")
        elif event in CHANGES:
            for argument in arguments:
                if is_outside(argument):
                    raise PermissionError(f"a test may not do {event} with {argument!r}")
        elif event in FORBIDDEN:
            raise PermissionError(f"a test may not do {event}")

    sys.addaudithook(guard)
