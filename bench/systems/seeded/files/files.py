"""A file system in memory: a tree of directories that store their total size."""


class Node:
    def __init__(self, size=None):
        #: The size of a file; a directory has children instead.
        self.size = size
        self.children = {} if size is None else None
        self.parent = None
        self.total = size or 0

    def is_directory(self):
        return self.children is not None


class Files:
    def __init__(self):
        self.root = Node()

    def mkdir(self, path):
        parent, name = self._place(path)
        if name in parent.children:
            raise FileExistsError(path)
        self._attach(parent, name, Node())

    def write(self, path, size):
        """Creates a file, or replaces it."""
        parent, name = self._place(path)
        old = parent.children.get(name)
        if old is not None:
            if old.is_directory():
                raise IsADirectoryError(path)
            self._detach(parent, name)
        self._attach(parent, name, Node(size))

    def remove(self, path):
        """Removes a file or an empty directory."""
        parent, name = self._place(path)
        node = self._child(parent, name, path)
        if node.is_directory() and node.children:
            raise OSError("not empty")
        self._detach(parent, name)

    def rename(self, old, new):
        """Moves a file or a directory. Only a file may replace something, and only a file."""
        parent, name = self._place(old)
        node = self._child(parent, name, old)
        new_parent, new_name = self._place(new)
        above = new_parent
        while above is not None:
            if above is node:
                raise OSError("into itself")
            above = above.parent
        there = new_parent.children.get(new_name)
        if there is node:
            return
        if there is not None:
            if there.is_directory() or node.is_directory():
                raise FileExistsError(new)
            self._detach(new_parent, new_name)
        self._detach(parent, name)
        self._attach(new_parent, new_name, node)

    def usage(self, path):
        """Returns the total size of a directory."""
        return self._find(path.split("/")[1:], path).total

    def tree(self):
        """Returns every path with its size; None for a directory."""
        found, todo = [], [("", self.root)]
        while todo:
            path, node = todo.pop()
            for name, child in (node.children or {}).items():
                found.append((f"{path}/{name}", child.size))
                todo.append((f"{path}/{name}", child))
        return sorted(found)

    def _find(self, names, path):
        node = self.root
        for name in names:
            if not node.is_directory():
                raise NotADirectoryError(path)
            node = self._child(node, name, path)
        return node

    def _child(self, parent, name, path):
        if name not in parent.children:
            raise FileNotFoundError(path)
        return parent.children[name]

    def _place(self, path):
        """Returns the parent directory of a path, and its name there."""
        *names, name = path.split("/")[1:]
        parent = self._find(names, path)
        if not parent.is_directory():
            raise NotADirectoryError(path)
        return parent, name

    def _attach(self, parent, name, node):
        parent.children[name] = node
        node.parent = parent
        self._add(parent, node.total)

    def _detach(self, parent, name):
        node = parent.children.pop(name)
        node.parent = None
        self._add(parent, -node.total)

    def _add(self, node, size):
        while node is not None:
            node.total += size
            node = node.parent
