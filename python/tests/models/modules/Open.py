"""Leaves arguments open, like the models that it is composed with."""


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
