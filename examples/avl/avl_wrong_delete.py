"""The tree with a bug: the value that replaces a deleted one also stays in its old node."""

import avl
from avl import rebalance, smallest


class AVLTree(avl.AVLTree):
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
            self._delete(node.right, node.value)
        return rebalance(node)
