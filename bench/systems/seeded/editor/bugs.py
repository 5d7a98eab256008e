"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "editor-grow": (
        "when the buffer grows, what is after the cursor is torn from the end",
        '        self.cells[self.right : self.right] = [""] * more\n',
        '        self.cells += [""] * more\n',
    ),
    "editor-redo": (
        "a new change does not forget what was undone",
        "        self.done.append(change)\n        self.undone.clear()\n",
        "        self.done.append(change)\n",
    ),
    "editor-memory": (
        "a full memory of changes forgets the newest",
        "            self.done.pop(0)\n",
        "            self.done.pop()\n",
    ),
}
