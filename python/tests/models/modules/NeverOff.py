# Forbids an action by knowing it and never doing it.
from Switch import PowerOff

initial = 0
accepting = (0,)
actions = [PowerOff]
graph = ()
