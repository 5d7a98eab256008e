"""A set of values in a B-tree: nodes have one to three values, and all leaves are on one level."""


class Node:
    def __init__(self, values, children=()):
        self.values = list(values)
        self.children = list(children)

    def is_leaf(self):
        return not self.children


class BTree:
    def __init__(self):
        self.root = Node([])

    def add(self, value):
        if len(self.root.values) == 3:
            self.root = Node([], [self.root])
            self._split(self.root, 0)
        node = self.root
        while True:
            if value in node.values:
                return
            place = position(node, value)
            if node.is_leaf():
                node.values.insert(place, value)
                return
            if len(node.children[place].values) == 3:
                self._split(node, place)
                continue
            node = node.children[place]

    def discard(self, value):
        self._discard(self.root, value)
        if not self.root.values and self.root.children:
            self.root = self.root.children[0]

    def contains(self, value):
        node = self.root
        while value not in node.values:
            if node.is_leaf():
                return False
            node = node.children[position(node, value)]
        return True

    def items(self):
        return list(walk(self.root))

    def is_even(self):
        """Returns true if all leaves are on one level and nodes have one child more than values; only the root may be empty."""
        return depth(self.root) is not None or self.root.is_leaf()

    def _split(self, parent, place):
        """Splits a full child into two nodes; its middle value moves up."""
        full = parent.children[place]
        right = Node(full.values[2:], full.children[2:])
        parent.values.insert(place, full.values[1])
        parent.children.insert(place + 1, right)
        full.values, full.children = full.values[:1], full.children[:2]

    def _discard(self, node, value):
        """Removes a value. Every node that it visits, except for the root, has at least two values."""
        place = position(node, value)
        if node.is_leaf():
            if value in node.values:
                node.values.remove(value)
            return
        if place < len(node.values) and node.values[place] == value:
            before, after = node.children[place], node.children[place + 1]
            if len(before.values) > 1:
                node.values[place] = last(before)
                self._discard(before, node.values[place])
            elif len(after.values) > 1:
                node.values[place] = first(after)
                self._discard(after, node.values[place])
            else:
                self._merge(node, place)
                self._discard(before, value)
            return
        self._discard(self._filled(node, place), value)

    def _filled(self, node, place):
        """Returns a child, after adding a value if it had only one."""
        child = node.children[place]
        if len(child.values) > 1:
            return child
        if place > 0 and len(node.children[place - 1].values) > 1:
            left = node.children[place - 1]
            child.values.insert(0, node.values[place - 1])
            node.values[place - 1] = left.values.pop()
            if left.children:
                child.children.insert(0, left.children.pop())
            return child
        if place + 1 < len(node.children) and len(node.children[place + 1].values) > 1:
            right = node.children[place + 1]
            child.values.append(node.values[place])
            node.values[place] = right.values.pop(0)
            if right.children:
                child.children.append(right.children.pop(0))
            return child
        if place + 1 < len(node.children):
            self._merge(node, place)
            return child
        self._merge(node, place - 1)
        return node.children[place - 1]

    def _merge(self, node, place):
        """Merges two children and the value between them into one node."""
        right = node.children.pop(place + 1)
        left = node.children[place]
        left.values += [node.values.pop(place), *right.values]
        left.children += right.children


def position(node, value):
    return sum(other < value for other in node.values)


def first(node):
    return node.values[0] if node.is_leaf() else first(node.children[0])


def last(node):
    return node.values[-1] if node.is_leaf() else last(node.children[-1])


def walk(node):
    for place, value in enumerate(node.values):
        if node.children:
            yield from walk(node.children[place])
        yield value
    if node.children:
        yield from walk(node.children[-1])


def depth(node):
    """Returns the number of levels below a node, or None if it is invalid."""
    if node.is_leaf():
        return 0 if node.values else None
    depths = {depth(child) for child in node.children}
    even = len(depths) == 1 and None not in depths and len(node.children) == len(node.values) + 1
    return depths.pop() + 1 if even else None
