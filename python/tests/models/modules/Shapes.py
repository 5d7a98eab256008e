"""State variables of every kind."""

import dataclasses
import enum


class Colour(enum.Enum):
    RED = 1
    GREEN = 2

    def __repr__(self):
        return f"Colour.{self.name}"


@dataclasses.dataclass
class Point:
    x: int
    y: list


class Odd:
    """Equal if both are odd or both are even."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Odd) and self.number % 2 == other.number % 2

    def __repr__(self):
        return f"Odd({self.number % 2})"


@dataclasses.dataclass(frozen=True)
class Pair:
    left: int


table = {"a": [0], "b": {1: {2}}}
nested = [[], ((), [1])]
colours = {Colour.RED}
point = Point(0, [])
odd = Odd(0)
pairs = frozenset({Pair(0)})
flag = 0
number = 1


def Table(key):
    table.setdefault(key, [0])
    table["b"][1] ^= {2}
    table["a"][0] = 1 - table["a"][0]


def Reorder():
    entries = list(table.items())
    table.clear()
    table.update(reversed(entries))


def Nested():
    nested[0].append(len(nested[0]))
    nested[1][1][0] *= 1
    return (nested[0][-1],)


def Paint(colour):
    colours.symmetric_difference_update({colour})
    return colour


def Point_(step):
    point.x = (point.x + step) % 2
    if not point.y:
        point.y.append(step)


def Count():
    odd.number += 2


def CountOne():
    odd.number += 1


def Pairs():
    global pairs
    pairs = frozenset({Pair((min(pairs, key=lambda one: one.left).left + 1) % 2)})


def Flag():
    global flag, number
    flag = [1, True, 1.0, 0, False][[0, False].count(flag) * 2]
    number = 1 if isinstance(number, float) else 1.0


def StateFilter():
    return len(nested[0]) < 2


state = ("table", "nested", "colours", "point", "odd", "pairs", "flag", "number")
actions = (Table, Reorder, Nested, Paint, Point_, Count, CountOne, Pairs, Flag)
domains = {
    Table: {"key": ["a", "c"]},
    Paint: {"colour": list(Colour)},
    Point_: {"step": {1, 2}},
}
