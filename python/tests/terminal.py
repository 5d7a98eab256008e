"""Runs shell commands with the `testwright` of the Python that runs the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

# The progress lines of a search, printed every few seconds if the output is not a terminal.
PROGRESS = re.compile(
    r"^[\d,]+ (?:of [\d,]+ )?tests?, .* (?:left|so far|to be reduced)\n", re.MULTILINE
)


def run(command, folder):
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONHASHSEED", None)
    scripts = Path(sys.executable).parent
    environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=600,
    )
    # A slow machine prints more of them.
    done.stdout = PROGRESS.sub("", done.stdout)
    return done
