"""`match`."""


def matching(x):
    match x:
        case 1:
            return "one"
        case 2 | 3:
            r = "two"
        case [a, b]:
            r = a
        case {"k": v} if v > 3:
            r = v
        case str() as s: r = s
        case _:
            r = None
    return r


def match_no_default(x):
    match x:
        case 1:
            y = 1
        case 2:
            y = 2
    return


for x in (1, 2, [1, 2], {"k": 5}, {"k": 1}, "s", None):
    matching(x)
match_no_default(1)
match_no_default(5)
