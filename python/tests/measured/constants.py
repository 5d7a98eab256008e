"""Conditions that the compiler evaluates."""


def bare():
    try:
        int("x")
    except:
        pass
    try:
        pass
    finally:
        pass
    if 0:
        x = 1
    while 0:
        x = 2
    if 1: x = 3
    if __debug__:
        x = 4
    return x


bare()
