"""Keeps things sorted, as a scoreboard and a calendar would."""

import operator

from sortedcontainers import SortedDict, SortedKeyList, SortedList, SortedSet


def refused(action, *arguments):
    try:
        action(*arguments)
    except (IndexError, KeyError, NotImplementedError, TypeError, ValueError) as error:
        print(type(error).__name__, error)
    else:
        print("not refused")


def scores():
    board = SortedList([50, 10, 40, 10, 30])
    board.add(20)
    board.update([70, 60])
    print(board, len(board), 10 in board, 11 in board, board[0], board[-1], board[1:3])
    print(board.bisect_left(10), board.bisect_right(10), board.bisect(35), board.count(10))
    print(board.index(40), list(board.irange(20, 50)), list(board.irange(maximum=30, reverse=True)))
    print(list(board.islice(2, 5)), list(reversed(board)), board.pop(), board.pop(0))
    board.discard(99)
    board.discard(10)
    board.remove(40)
    del board[0]
    print(board, board + [5], board * 2, board == [30, 50, 60], board < [31], board >= [1])
    board += [55]
    board *= 2
    print(board.copy(), repr(board))
    del board[1:3]
    for action, *arguments in [
        (board.remove, 1000),
        (board.index, 1000),
        (board.pop, 1000),
        (board.append, 1),
        (board.insert, 0, 1),
        (board.reverse,),
        (board.extend, [1]),
        (operator.setitem, board, 0, 1),
        (operator.getitem, board, 99),
        (SortedList().pop,),
    ]:
        refused(action, *arguments)
    board.clear()
    print(board, bool(board))


def words():
    by_length = SortedKeyList(["pear", "fig", "banana", "kiwi"], key=len)
    by_length.add("date")
    by_length.update(["apple", "yam"])
    print(by_length, "fig" in by_length, "nut" in by_length, by_length.key is len)
    print(by_length.bisect_left("four"), by_length.bisect_key_right(4), by_length.bisect_key(5))
    print(list(by_length.irange("fig", "pear")), list(by_length.irange_key(5, 6)))
    print(by_length.index("kiwi"), by_length.count("yam"), by_length + ["melon"])
    by_length.remove("fig")
    by_length.discard("nut")
    refused(by_length.remove, "nut")
    refused(by_length.index, "nut")
    print(by_length.copy(), by_length * 2)
    by_length.clear()
    print(SortedList([3, 1], key=operator.neg))


def calendar():
    days = SortedDict({3: "wed", 1: "mon"})
    days[2] = "tue"
    days.update({5: "fri", 4: "thu"})
    print(days, list(days), days[2], days.get(9), days.peekitem(0), days.peekitem())
    print(days.keys()[1], days.values()[0:2], days.items()[-1], days.keys() & {1, 9})
    print(days.setdefault(6, "sat"), days.setdefault(1, "no"), days.pop(6), days.pop(9, None))
    print(days.popitem(), days.popitem(0), days.bisect_left(3), days.index(3), list(reversed(days)))
    print(list(days.irange(2, 3)), days.copy() == days, days | {7: "sun"}, 3 in days)
    del days[2]
    refused(days.pop, 99)
    refused(days.peekitem, 99)
    refused(SortedDict().popitem)
    refused(operator.delitem, days, 99)
    print(SortedDict.fromkeys("ba", 0), SortedDict(operator.neg, {1: "a", 2: "b"}))
    days.clear()
    print(days)


def tags():
    red = SortedSet(["ripe", "round", "red"])
    green = SortedSet(["round", "raw"])
    red.add("sweet")
    red.add("sweet")
    print(red, len(red), "red" in red, red[0], red[-2:], red.index("ripe"), red.count("red"))
    print(red & green, red | green, red - green, red ^ green, red.isdisjoint(green))
    print(red.union(green, ["tart"]), red.intersection(green), red.difference(green))
    print(red.symmetric_difference(green), red.issubset(green), red.issuperset(["red"]))
    print(red <= green, red > {"red"}, red == {"red"}, red != green, list(reversed(green)))
    red.update(green, ["tart"])
    red.difference_update(["tart"])
    red.intersection_update(["red", "raw", "round"])
    red.symmetric_difference_update(["raw", "new"])
    red.discard("nothing")
    red.remove("new")
    print(red, red.pop(), red.pop(0), red.copy(), list(red.islice(0, 1)), list(green.irange("rb")))
    refused(red.remove, "nothing")
    refused(red.pop)
    del green[0]
    green.clear()
    print(green, SortedSet([1, -3, 2], key=abs))


if __name__ == "__main__":
    scores()
    words()
    calendar()
    tags()
