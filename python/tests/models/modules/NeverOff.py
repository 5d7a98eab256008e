# Forbids an action: it is in the vocabulary, but no edge has it.
from Switch import PowerOff

initial = 0
accepting = (0,)
actions = [PowerOff]
graph = ()
