"""Commands as a person types them, with the `testwright` of the Python that runs the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

# How far a search has come: told every few seconds where nobody looks at a terminal.
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
    # On a slow machine there is more of it.
    done.stdout = PROGRESS.sub("", done.stdout)
    return done
