"""A machine that shares both actions, and has a cleanup action."""

from Ladder import Down, Up

initial = 0
accepting = [0]
cleanup = (Down,)
graph = ((0, (Up, (), None), 0), (0, (Down, (), None), 0))
