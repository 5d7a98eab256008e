"""Lines and code objects that are too long for the short forms of the tables."""


def far(x):
    return max(                                                                                                                                                          x, x + 1, x + 2,
               (x if x > 3 else                                                                                                                                          x + 3))  # fmt: skip


def many(x):
    total = 0
    for _ in range(2):
        if x:
            total += sum([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
            total += sum([x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real])
            total += sum([x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real])
            total += sum([x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real])
            total += sum([x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real])
            total += sum([x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real, x.imag, x.real])
        elif total:
            total = 5
        total -= 1
    return total


for x in (0, 1, 5):
    far(x)
    many(x)
