"""The observable actions. Only the names of the functions matter."""


def Tick():
    pass


def Elapsed():
    pass


initial = "idle"
accepting = ["idle"]
graph = (
    ("idle", (Tick, (), None), "ticking"),
    ("ticking", (Tick, (), None), "ticking"),
    ("ticking", (Elapsed, (1,), 1), "idle"),
    ("idle", (Elapsed, (), None), "idle"),
)
