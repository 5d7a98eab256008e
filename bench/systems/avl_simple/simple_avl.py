"""A simple AVL tree: subtrees are trees, and all heights are recomputed after a change."""


class AVLTree:
    """A set of values."""

    def __init__(self):
        self.value = None
        self.left = None
        self.right = None
        self.height = 0

    def is_empty(self):
        return self.left is None

    def levels(self):
        """Computes the height from the subtrees."""
        if self.is_empty():
            return 0
        return 1 + max(self.left.levels(), self.right.levels())

    def lean(self):
        """Returns the height of the left side minus that of the right side."""
        if self.is_empty():
            return 0
        return self.left.height - self.right.height

    def update(self):
        """Recomputes all heights, from the bottom up."""
        if not self.is_empty():
            self.left.update()
            self.right.update()
        self.height = self.levels()

    def insert(self, value):
        """Adds a value; does nothing if it is there already."""
        if self.is_empty():
            self.value, self.left, self.right = value, AVLTree(), AVLTree()
        elif value < self.value:
            self.left.insert(value)
        elif value > self.value:
            self.right.insert(value)
        self.rebalance()

    def delete(self, value):
        """Removes a value; does nothing if it is not there."""
        if self.is_empty():
            return
        if value < self.value:
            self.left.delete(value)
        elif value > self.value:
            self.right.delete(value)
        elif self.left.is_empty():
            self.become(self.right)
        elif self.right.is_empty():
            self.become(self.left)
        else:
            self.value = self.right.inorder()[0]
            self.right.delete(self.value)
        self.rebalance()

    def become(self, other):
        self.value, self.left, self.right = other.value, other.left, other.right

    def rebalance(self):
        self.update()
        if self.lean() > 1:
            if self.left.lean() < 0:
                self.left.rotate_left()
            self.rotate_right()
        elif self.lean() < -1:
            if self.right.lean() > 0:
                self.right.rotate_right()
            self.rotate_left()
        self.update()

    def rotate_right(self):
        top = self.left
        below = AVLTree()
        below.value, below.left, below.right = self.value, top.right, self.right
        self.value, self.left, self.right = top.value, top.left, below

    def rotate_left(self):
        top = self.right
        below = AVLTree()
        below.value, below.left, below.right = self.value, self.left, top.left
        self.value, self.left, self.right = top.value, below, top.right

    def find(self, value):
        """Returns true if a value is there."""
        if self.is_empty():
            return False
        if value == self.value:
            return True
        return (self.left if value < self.value else self.right).find(value)

    def inorder(self):
        """Returns all values, in ascending order."""
        if self.is_empty():
            return []
        return self.left.inorder() + [self.value] + self.right.inorder()

    def check_balanced(self):
        """Returns true if all heights are right, and the two sides of every node differ by at most one level."""
        if self.height != self.levels() or abs(self.lean()) > 1:
            return False
        return self.is_empty() or (self.left.check_balanced() and self.right.check_balanced())
