"""`async` and `await`."""

import asyncio


async def agen(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


class ACM:
    async def __aenter__(self):
        return self
    async def __aexit__(self, *a):
        return True


async def coro(n):
    total = 0
    async for x in agen(n):
        if x == 1:
            continue
        total += x
    else:
        total += 1
    async with ACM() as a:
        raise ValueError
    b = [x async for x in agen(2)]
    try:
        await failing()
    except ValueError:
        total = 3
    async with ACM():
        total += 1
    return total


async def failing():
    await asyncio.sleep(0)
    raise ValueError


asyncio.run(coro(3))
