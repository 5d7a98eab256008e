"""What tests may not do while Testwright runs them.

Nothing outside of one folder may be changed, no connection opened and no process started: whatever tries to is stopped by an
audit hook, and its test fails. Tests may be wrong, and so may be what they test, so neither is trusted.
"""

import os
import sys

#: For the moment in which a runner itself does what tests may not.
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


def keep_inside(folder):
    """Allows changes in this folder alone, from now on; a hook cannot be taken away."""
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
