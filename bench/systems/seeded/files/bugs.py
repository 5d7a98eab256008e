"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "files-same": (
        "a file that is moved to where it is gets lost",
        "        if there is node:\n            return\n",
        "",
    ),
    "files-replace": (
        "a file that is replaced by a move still counts",
        "            self._detach(new_parent, new_name)\n        self._detach(parent, name)\n",
        "            del new_parent.children[new_name]\n        self._detach(parent, name)\n",
    ),
    "files-total": (
        "what is taken away counts on in all directories but the one that it was in",
        "        self._add(parent, -node.total)\n",
        "        parent.total -= node.total\n",
    ),
}
