"""Exceptions thrown into suspended code."""

import asyncio
class Bad:
    def __setitem__(self, k, v):
        raise StopAsyncIteration(42)
tgt = Bad()
async def source():
    yield 10
class CM:
    def __enter__(self): return self
    def __exit__(self, *a): return True
async def run_for():
    with CM() as cm:
        async for tgt[0] in source():
            pass
    return 'end'
asyncio.run(run_for())
def g():
    yield 1
x = g()
try:
    x.throw(ValueError)
except ValueError: pass
class X:
    def __enter__(self): return self
    def __exit__(self, *a): return True
def gg():
    with X():
        yield 1
    yield 2
x = gg(); next(x); x.throw(ValueError); x.close()
