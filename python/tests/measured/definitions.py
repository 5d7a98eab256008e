"""Decorators, classes, defaults."""

import functools


def decorator(f):
    @functools.wraps(f)
    def inner(*a):
        return f(*a)
    return inner


@decorator
@decorator
def decorated(x,
              y=2,
              z=(1,
                 2)):
    """doc"""
    return x + y


class C:
    """doc"""
    x = 1
    if x:
        y = 2
    for i in range(2):
        z = i
    def m(self): return 1
    @property
    def p(self):
        return self.x
    @staticmethod
    def s(): pass
    class Inner:
        pass


class D(C): pass


def globals_():
    global G
    G = 1
    del G


decorated(1)
C().p
C().m()
C.s()
globals_()
