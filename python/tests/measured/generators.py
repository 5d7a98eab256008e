"""Generators that continue, end, are closed, and receive exceptions."""


def gen(n):
    for i in range(n):
        x = yield i
        if x:
            yield x
    yield from range(2)
    return 5


def gen_close():
    try:
        yield 1
        yield 2
    finally:
        print("closed")


def gen_throw():
    while True:
        try:
            x = yield 1
        except ValueError:
            x = 2
        except KeyError:
            return


g = gen(3)
next(g)
g.send(5)
list(g)
g = gen_close()
next(g)
g.close()
g = gen_close()
next(g)
del g
g = gen_throw()
next(g)
g.throw(ValueError)
try:
    g.throw(KeyError)
except StopIteration:
    pass
g = gen_throw()
next(g)
try:
    g.throw(TypeError)
except TypeError:
    pass
g = gen(2)
try:
    g.throw(TypeError)
except TypeError:
    pass
