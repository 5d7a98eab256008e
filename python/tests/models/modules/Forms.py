# A model without a docstring: all ways to give arguments and guards.
count = 0
log = ()


def note(*items):
    global log
    log = (log + items)[-2:]
    return len(items)


def add(number, times=1):
    global count
    count += number * times


def optional(number=7):
    global count
    count = number
    return number


def both(left, right):
    global log
    log = (left, right)


def together(left, right):
    return f"{left}{right}"


def plain():
    return None


def one_of_many_guards(left, right):
    return left != right


def any_guard(*anything):
    return "yes" if not anything else []


def always():
    return [0]


def never():
    return ""


def is_small():
    return count < 5


state = ("count", "log")
actions = [note, add, optional, both, together, plain]
enablers = {
    add: [is_small],
    both: [always, one_of_many_guards],
    together: (any_guard,),
    plain: [always, never],
}
domains = {
    note: {"items": [None, 1, "x"]},
    add: {"number": (1, 2), "times": {1, 3}},
    optional: {"number": [None, 0]},
    both: {"left": "ab", "right": "ab"},
    together: {"left": [1, 2, 3], "right": [4, 5]},
    plain: {},
}
combinations = {both: "all", together: "cases", plain: "cases"}


def accepting():
    return count == 0


def Accepting():
    return False


def state_filter():
    return count < 6


def stateinvariant():
    return False


def state_invariant():
    return count != 4
