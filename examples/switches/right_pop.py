"""A scenario that a stack must allow: what was pushed is popped."""

from stack_model import Pop, Push

initial, accepting = 0, [2]
graph = (
    (0, (Push, (1,), None), 1),
    (1, (Pop, (), 1), 2),
)
