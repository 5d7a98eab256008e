"""Groups of exceptions."""


def f(x):
    try:
        if x == 0:
            raise ExceptionGroup("a", [ValueError(1), TypeError(2)])
        if x == 1:
            raise ValueError
        if x == 2:
            raise ExceptionGroup("b", [OSError()])
    except* ValueError as e:
        y = 1
    except* TypeError:
        y = 2
    else:
        y = 3
    finally:
        z = 1
    return y

for x in range(4):
    try:
        f(x)
    except ExceptionGroup:
        pass
