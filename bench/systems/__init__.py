"""The systems under test: one folder for each, with its harness.

The AVL tree and its seeded bugs are those of `examples/avl`.
"""

import shutil
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
AVL = HERE.parents[1] / "examples" / "avl"

#: The name in tables, by system.
SHOWN = {
    "avl": "AVL tree against a set",
    "avl_thorough": "the same with thorough properties",
    "avl_simple": "a simple AVL tree, properties of the paper",
    "sorted": "`sortedcontainers` against list and dict",
    "append": "list append",
    "empty": "empty action",
}

#: The systems that the other tools can test as well.
SHARED = ["avl", "sorted", "append", "empty"]

#: Modules of `examples/avl` with one bug each, and the bug in words.
BUGS = {
    "avl_missing_rebalance": "deletion does not rebalance",
    "avl_wrong_delete": "deleted value stays",
    "avl_wrong_find": "search does not look at leaves",
}


class Systems:
    """Copies of the systems to run in, so that nothing is written into the source tree."""

    def __init__(self, work):
        self.work = work
        # Several threads may ask for the same folder at once.
        self.lock = threading.Lock()

    def folder(self, system, purpose):
        """Copies a system to a folder, one for each purpose. Returns the folder."""
        folder = self.work / f"{system}-{purpose}"
        with self.lock:
            if not folder.exists():
                folder.mkdir(parents=True)
                for file in (HERE / system).glob("*.*"):
                    shutil.copy(file, folder)
                if system.startswith("avl"):
                    for file in AVL.glob("*.py"):
                        shutil.copy(file, folder)
        return folder

    def harness(self, system, bug=None, purpose="ours"):
        """Returns the harness of a system; for the AVL tree, optionally with a bug."""
        folder = self.folder(system, purpose)
        plain = folder / f"{system}.tstl"
        if bug is None:
            return plain
        buggy = folder / f"{bug}.tstl"
        if not buggy.exists():
            text = plain.read_text(encoding="utf-8")
            text = text.replace("@import avl", f"@import {bug}").replace("avl.AVL", f"{bug}.AVL")
            buggy.write_text(text.replace("source: avl", f"source: {bug}"), encoding="utf-8")
        return buggy
