"""The tree with a bug: the search stops at a leaf without looking at its value."""

import avl


class AVLTree(avl.AVLTree):
    def find(self, value):
        node = self.root
        while node is not None and (node.left or node.right):
            if node.value == value:
                return True
            node = node.left if value < node.value else node.right
        return False
