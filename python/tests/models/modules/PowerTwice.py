"""On and off twice; states are strings."""

from Switch import PowerOff, PowerOn

initial = "new"
accepting = ["used", "new"]
graph = (
    ("new", (PowerOn, (), None), "first"),
    ("first", (PowerOff, (), None), "pause"),
    ("pause", (PowerOn, (), None), "second"),
    ("second", (PowerOff, (), None), "used"),
)
