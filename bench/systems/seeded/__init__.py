"""Small systems with seeded bugs, one folder each: the correct system, its harness, and its bugs.

A bug is a piece of the correct text and its replacement (`bugs.py`). So the change is easy to see, the rest of the
module is the same for all bugs, and one harness serves all of them. TSTL accepts each harness as well. The bugs are
modelled on real ones, without regard to which strategy would find them.
"""

import runpy
import shutil
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = sorted(folder.name for folder in HERE.iterdir() if (folder / "bugs.py").exists())


@dataclass(frozen=True)
class Bug:
    system: str
    name: str
    words: str
    right: str
    wrong: str


def bugs(system=None):
    """Returns all bugs, or those of one system."""
    found = []
    for name in NAMES if system is None else [system]:
        for bug, texts in runpy.run_path(str(HERE / name / "bugs.py"))["BUGS"].items():
            found.append(Bug(name, bug, *texts))
    return found


def prepare(folder, system, bug=None):
    """Copies a system into a folder, with or without a bug. Returns the path of its harness."""
    folder.mkdir(parents=True, exist_ok=True)
    harness = folder / f"{system}.tstl"
    module = folder / f"{system}.py"
    shutil.copy(HERE / system / harness.name, harness)
    text = (HERE / system / module.name).read_text(encoding="utf-8")
    if bug is not None:
        if text.count(bug.right) != 1:
            raise ValueError(f"{bug.name}: the right text stands {text.count(bug.right)} times")
        text = text.replace(bug.right, bug.wrong)
    module.write_text(text, encoding="utf-8")
    return harness
