"""The same action with an argument and with an open one: alone, the machine takes its steps as written."""


def A():
    pass


def B():
    pass


initial = "a"
accepting = ["a"]
graph = (
    ("b", (B, (), None), "a"),
    ("a", (A, (), None), "b"),
    ("b", (A, (True,), True), "b"),
    ("b", (B, ("x",), None), "b"),
)
