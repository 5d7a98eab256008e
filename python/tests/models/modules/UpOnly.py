"""A machine that shares both actions, and has no cleanup action."""

from Ladder import Down, Up

initial = 0
accepting = [0]
graph = ((0, (Up, (), None), 0), (0, (Down, (), None), 0))
