"""A scenario that a stack must not allow: something else is popped than was pushed."""

from stack_model import Pop, Push

initial, accepting = 0, [2]
graph = (
    (0, (Push, (1,), None), 1),
    (1, (Pop, (), 0), 2),
)
