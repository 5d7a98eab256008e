"""A set of values in an AVL tree: a search tree in which the two sides of a node never differ by more than one level."""


class Node:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None
        self.height = 0


def height(node):
    """Returns the number of levels below a node; -1 for no node."""
    return -1 if node is None else node.height


def update(node):
    node.height = 1 + max(height(node.left), height(node.right))


def lean(node):
    """Returns the height of the left side minus that of the right side."""
    return height(node.left) - height(node.right)


def rotate_right(node):
    top = node.left
    node.left, top.right = top.right, node
    update(node)
    update(top)
    return top


def rotate_left(node):
    top = node.right
    node.right, top.left = top.left, node
    update(node)
    update(top)
    return top


def rebalance(node):
    """Rebalances a subtree. Returns its root."""
    update(node)
    if lean(node) > 1:
        if lean(node.left) < 0:
            node.left = rotate_left(node.left)
        return rotate_right(node)
    if lean(node) < -1:
        if lean(node.right) > 0:
            node.right = rotate_right(node.right)
        return rotate_left(node)
    return node


class AVLTree:
    def __init__(self, values=()):
        self.root = None
        for value in values:
            self.insert(value)

    def insert(self, value):
        """Adds a value; does nothing if it is there already."""
        self.root = self._insert(self.root, value)

    def _insert(self, node, value):
        if node is None:
            return Node(value)
        if value < node.value:
            node.left = self._insert(node.left, value)
        elif value > node.value:
            node.right = self._insert(node.right, value)
        return rebalance(node)

    def delete(self, value):
        """Removes a value; does nothing if it is not there."""
        self.root = self._delete(self.root, value)

    def _delete(self, node, value):
        if node is None:
            return None
        if value < node.value:
            node.left = self._delete(node.left, value)
        elif value > node.value:
            node.right = self._delete(node.right, value)
        elif node.left is None:
            return node.right
        elif node.right is None:
            return node.left
        else:
            node.value = smallest(node.right)
            node.right = self._delete(node.right, node.value)
        return rebalance(node)

    def find(self, value):
        """Returns true if a value is there."""
        node = self.root
        while node is not None and node.value != value:
            node = node.left if value < node.value else node.right
        return node is not None

    def inorder(self):
        """Returns all values, in ascending order."""
        return list(walk(self.root))

    def tree_height(self):
        """Returns the number of levels below the root; -1 for an empty tree."""
        return height(self.root)

    def check_balanced(self):
        """Returns true if the two sides of every node differ by at most one level."""
        return is_balanced(self.root)

    def display(self):
        """Prints the tree, turned on its side: the root is on the left."""
        show(self.root, 0)


def smallest(node):
    while node.left is not None:
        node = node.left
    return node.value


def walk(node):
    if node is not None:
        yield from walk(node.left)
        yield node.value
        yield from walk(node.right)


def levels(node):
    return -1 if node is None else 1 + max(levels(node.left), levels(node.right))


def is_balanced(node):
    if node is None:
        return True
    difference = abs(levels(node.left) - levels(node.right))
    return difference <= 1 and is_balanced(node.left) and is_balanced(node.right)


def show(node, depth):
    if node is not None:
        show(node.right, depth + 1)
        print("    " * depth + str(node.value))
        show(node.left, depth + 1)
