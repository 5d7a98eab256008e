"""A scenario: an answer is lost at most once, a message never. Everything else is up to the protocol."""

from protocol import LoseAnswer, LoseMessage

# `LoseMessage` is in the vocabulary and has no edge, so it never happens.
actions = (LoseAnswer, LoseMessage)
initial = "before"
accepting = ["before", "after"]
graph = (("before", (LoseAnswer, (), None), "after"),)
