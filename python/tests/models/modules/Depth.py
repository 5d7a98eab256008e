"""pymodel configuration: a stack of at most three."""

import Stack


def StateFilter():
    return len(Stack.stack) < 4


Stack.StateFilter = StateFilter
