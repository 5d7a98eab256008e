"""What may be observed; the functions are its own, only names count."""


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
