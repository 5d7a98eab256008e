"""A scenario: on and off, and that was it."""

from power_switch import PowerOff, PowerOn

initial = "fresh"
accepting = ["used"]
graph = (
    ("fresh", (PowerOn, (), None), "running"),
    ("running", (PowerOff, (), None), "used"),
)
