"""A test as a value: a list of actions that can be sliced, joined, edited and saved."""

from __future__ import annotations


class Test(list):
    """A list of actions. Everything that works on lists works on tests, and parts of a test are tests.

    >>> print(test[:1] + test[-1:])
    stack0 = stack.Stack()
    stack0.top()
    >>> 2 * test[:1]
    Test([<stack0 = stack.Stack()>, <stack0 = stack.Stack()>])
    """

    # Tells pytest that this is not a class of unit tests.
    __test__ = False

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return Test(found) if isinstance(index, slice) else found

    def __add__(self, other):
        return Test(super().__add__(list(other)))

    def __radd__(self, other):
        return Test(list(other) + list(self))

    def __mul__(self, times):
        return Test(super().__mul__(times))

    __rmul__ = __mul__

    def copy(self):
        """Returns a copy of the test, which can be edited without changing this one.

        >>> other = test.copy()
        >>> del other[1:]
        >>> len(test), other
        (6, Test([<stack0 = stack.Stack()>]))
        """
        return Test(self)

    def __str__(self):
        return "\n".join(map(str, self))

    def __repr__(self):
        return f"Test([{', '.join(map(repr, self))}])"
