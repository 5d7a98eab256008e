"""Exceptions, handlers and `finally`."""


def tries(x):
    try:
        if x == 0:
            raise ValueError("zero")
        if x == 1:
            raise KeyError("one")
        if x == 2:
            return 2
        y = 1 / (x - 3)
    except ValueError as error:
        y = str(error)
    except (KeyError, IndexError):
        y = "key"
        try:
            raise TypeError
        except TypeError:
            pass
    else:
        y = y + 1
    finally:
        z = x
        if z == 5:
            z = 6
    return y, z


def nested_finally(x):
    try:
        try:
            return 1 / x
        finally:
            x = 5
    finally:
        x = 6


def finally_continue(xs):
    out = []
    for x in xs:
        try:
            if x == 1:
                continue
            if x == 2:
                break
            out.append(1 // x)
        except ZeroDivisionError:
            out.append(0)
        finally:
            out.append(9)
    return out


def raising(x):
    if x == 1:
        raise ValueError(
            "multi",
            "line",
        )
    foo(
        x,
        1)
    return x


def foo(a, b):
    if a == 2:
        raise KeyError


def deep_raise(n):
    if n == 0:
        raise ValueError
    return deep_raise(n - 1)


def except_reraise():
    try:
        deep_raise(3)
    except ValueError as e:
        x = 1
        raise RuntimeError from e


def while_try():
    n = 0
    while n < 5:
        n += 1
        try:
            if n == 2: raise ValueError
            if n == 4: return n
        except ValueError: continue
        finally:
            n += 0


for x in (0, 1, 2, 3, 4, 5):
    try:
        tries(x)
    except ZeroDivisionError:
        pass
for x in (0, 1):
    try:
        nested_finally(x)
    except ZeroDivisionError:
        pass
finally_continue([0, 1, 3])
finally_continue([2])
for x in (1, 2, 3):
    try:
        raising(x)
    except (ValueError, KeyError):
        pass
try:
    except_reraise()
except RuntimeError:
    pass
while_try()
