"""The tree with a bug: the search stops as soon as it comes to a leaf, without looking at it."""

import avl


class AVLTree(avl.AVLTree):
    def find(self, value):
        node = self.root
        while node is not None and (node.left or node.right):
            if node.value == value:
                return True
            node = node.left if value < node.value else node.right
        return False
