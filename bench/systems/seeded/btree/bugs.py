"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "btree-borrow": (
        "a value that is borrowed from the left brings no child along",
        "            if left.children:\n                child.children.insert(0, left.children.pop())\n",
        "",
    ),
    "btree-middle": (
        "a value that went up when its node was split can be added once more",
        "            if len(node.children[place].values) == 3:\n                self._split(node, place)\n                continue\n",
        "            if len(node.children[place].values) == 3:\n                self._split(node, place)\n                place += value > node.values[place]\n",
    ),
    "btree-merge": (
        "the last child of a node is merged with the wrong neighbour's value",
        "        self._merge(node, place - 1)\n        return node.children[place - 1]\n",
        "        self._merge(node, 0)\n        return node.children[place - 1]\n",
    ),
}
