"""Comprehensions and lambdas."""


def comprehensions(n):
    a = [i for i in range(n) if i % 2]
    b = {i: i * 2
         for i in range(n)
         if i > 1}
    c = {i for i in range(n)}
    d = list(
        x
        for x in range(n)
        if x
    )
    e = [
        (i, j)
        for i in range(2)
        for j in range(2)
        if i != j
    ]
    f = sum(i for i in range(n))
    return a, b, c, d, e, f


def lambdas():
    f = lambda x: x + 1
    g = lambda x: (
        x + 1
    )
    h = (lambda: 1) if f else 2
    return f(1) + g(2)


comprehensions(4)
lambdas()
