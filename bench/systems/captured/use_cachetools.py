"""Caches the results of slow work, as a small web service does."""

import cachetools
from cachetools import keys


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except (KeyError, ValueError) as error:
        print(type(error).__name__, error)


def kinds():
    for kind in (cachetools.FIFOCache, cachetools.LFUCache, cachetools.LRUCache):
        cache = kind(maxsize=2)
        cache["a"] = 1
        cache["b"] = 2
        print(cache["a"], cache.get("a"), cache.get("x", 0), "b" in cache, len(cache))
        cache["c"] = 3
        print(
            sorted(cache),
            cache.currsize,
            cache.maxsize,
            cache.popitem(),
            cache.pop("x", None),
            repr(cache),
        )
        cache.setdefault("d", 4)
        cache.update({"e": 5})
        del cache["e"]
        refused(cache.__getitem__, "nothing")
        cache.clear()
        refused(cache.popitem)
    sized = cachetools.LRUCache(maxsize=5, getsizeof=len)
    sized["one"] = "abc"
    sized["two"] = "de"
    sized["two"] = "d"
    print(sized.currsize, sized.getsizeof("abc"))
    refused(sized.__setitem__, "three", "too long")


def times():
    clock = Clock()
    cache = cachetools.TTLCache(maxsize=3, ttl=10, timer=clock)
    cache["a"] = 1
    clock.now = 5
    cache["b"] = 2
    clock.now = 12
    print(list(cache), "a" in cache, cache.get("b"), len(cache), cache.ttl)
    cache.expire()
    print(cache.currsize, cache.pop("b"), cache.popitem() if cache else None)
    lazy = cachetools.TLRUCache(maxsize=3, ttu=lambda key, value, now: now + value, timer=clock)
    lazy["short"], lazy["long"] = 1, 100
    clock.now += 2
    print(sorted(lazy), "short" in lazy)


def functions():
    calls = []

    @cachetools.cached(cache={}, key=lambda number: number % 10)
    def square(number):
        calls.append(number)
        return number * number

    print(square(3), square(13), square(4), calls)
    print(
        keys.hashkey(1, "a", b=2) == keys.hashkey(1, "a", b=2),
        keys.typedkey(1) == keys.typedkey(1.0),
    )
    print(
        keys.methodkey(None, 3) == keys.hashkey(3), hash(keys.hashkey(1)) == hash(keys.hashkey(1))
    )


if __name__ == "__main__":
    kinds()
    times()
    functions()
