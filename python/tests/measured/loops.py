"""Loops with every kind of exit."""


def loops(n):
    total = 0
    for i in range(n):
        if i == 3:
            continue
        if i == 8:
            break
        total += i
    else:
        total = -1
    while total > 0:
        total -= 5
    else:
        total = 7
    while True:
        total += 1
        if total > 10: break
    for i in range(3): total += i
    while total > 3: total -= 1
    return total


def multi_return(x):
    for i in range(x):
        if i == 2:
            return i
    return -1


def walrus(xs):
    while (x := xs.pop()) > 2:
        print(x)
    if (y := x) > 1: return y
    return None


for n in (0, 2, 5, 20):
    loops(n)
for n in (1, 5):
    multi_return(n)
walrus([1, 3, 4])
walrus([2, 5])
