"""Says nothing about arguments, as its partners do."""


def go():
    pass


def stay():
    pass


initial = "here"
accepting = ("here", "there")
graph = (
    ("here", (go, (), None), "there"),
    ("there", (stay, (), None), "here"),
    ("there", (go, (True,), None), "here"),
)
