"""Bookings of a room, as intervals of hours."""

from intervaltree import Interval, IntervalTree


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except (KeyError, ValueError, IndexError) as error:
        print(type(error).__name__, error)


def bookings():
    room = IntervalTree()
    room[9:11] = "ann"
    room[10:12] = "bob"
    room.addi(14, 16, "cleo")
    room.add(Interval(15, 18, "dan"))
    room.update([Interval(20, 21, "eve"), Interval(20, 22, "fay")])
    print(len(room), room.begin(), room.end(), room.span(), room.is_empty())
    print(sorted(room[10]), sorted(room[13:15]), room.overlaps(12, 14), room.overlaps_point(9))
    print(sorted(room.at(20)), sorted(room.envelop(9, 13)), Interval(9, 11, "ann") in room)
    room.remove_overlap(10)
    room.chop(15, 17)
    print(sorted(room))
    room.slice(21)
    room.discard(Interval(1, 2, "x"))
    room.removei(14, 15, "cleo")
    print(sorted(room), repr(IntervalTree([Interval(1, 2)])))
    refused(room.removei, 1, 2, "x")
    refused(room.addi, 3, 3)
    refused(room.remove, Interval(100, 101))


def sets():
    one = IntervalTree.from_tuples([(0, 5, "a"), (3, 8, "b"), (10, 12, "c")])
    two = IntervalTree([Interval(3, 8, "b"), Interval(11, 15, "d")])
    print(len(one | two), len(one & two), len(one - two), len(one ^ two), one == two)
    merged = one.copy()
    merged.merge_overlaps(data_reducer=lambda left, right: left + right)
    print(sorted(merged), merged.items() == set(merged))
    parts = one.copy()
    parts.split_overlaps()
    print(sorted(parts), one.find_nested())
    parts.clear()
    print(parts.is_empty(), bool(parts), parts.begin(), len(list(one)))
    print(one.difference(two), one.union(two) == two.union(one))


def intervals():
    day, night = Interval(8, 20, "day"), Interval(20, 32, "night")
    print(
        day < night,
        day.length(),
        day.overlaps(night),
        day.overlaps(10, 11),
        day.contains_point(9),
        day.distance_to(night),
        day.gt(night),
        day.range_matches(night),
        day.contains_interval(Interval(9, 10)),
        day.is_null(),
        day.copy(),
        str(night),
        hash(day) == hash(Interval(8, 20, "day")),
    )
    refused(Interval(3, 3).lt, Interval(1, 2))


if __name__ == "__main__":
    bookings()
    sets()
    intervals()
