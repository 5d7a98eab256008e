"""A scenario: one way to start, one way to end. It does not mention `Turn`, which is free in between."""

from fan import Check, Plug, PowerOff, PowerOn, Unplug

initial = 0
accepting = [5]
graph = (
    (0, (Plug, (), None), 1),
    (1, (Check, (), None), 2),
    (2, (PowerOn, (), None), 3),
    (3, (PowerOff, (), None), 4),
    (4, (Unplug, (), None), 5),
)
