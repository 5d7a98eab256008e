"""Code objects that are copied and changed."""

import types
@types.coroutine
def gen():
    yield 1

async def foo():
    await gen()

coro = foo()
try:
    coro.send(None)
    coro.throw(StopIteration(3))
except StopIteration:
    pass
except RuntimeError:
    pass
coro = foo()
coro.send(None)
try:
    coro.send(None)
except StopIteration:
    pass
def bad():
    raise ValueError
def a(x):
    try:
        raise ValueError()
    except Exception as exc:
        try:
            if x: bad()
        except Exception:
            pass

    return 1
a(0); a(1)
def loop(xs):
    for x in xs:
        try:
            if x:
                bad()
        except BaseException as e:
            y = e
    return 2
loop([0, 1, 0])
