"""Conditions, on one line and on several."""


def ifs(x):
    if x > 3 and x != 7:
        y = 1
    elif x == 2: y = 2
    else:
        y = 3
    if x: y += 1
    if y > 100:
        y = 0
    return y


def ternaries(x):
    a = 1 if x else 2
    b = (
        1
        if x > 2
        else 2
    )
    c = x and (
        x > 1
    ) or (
        x < -1
    )
    d = not x
    assert a, "no"
    return (a,
        b,
        c)


def one_liners(x):
    if x: return 1
    else: return 2


def oneline(x): return x if x else 0


def never():
    x = 1
    return x


for x in (0, 1, 2, 3, 4, 7):
    ifs(x)
for x in (0, 1, 5):
    ternaries(x)
one_liners(1)
oneline(2)
