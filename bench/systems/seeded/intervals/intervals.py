"""A map from ranges of numbers to values: sorted spans that do not overlap; equal neighbours are joined."""

from bisect import bisect_left, bisect_right


class IntervalMap:
    def __init__(self):
        self.starts = []
        self.ends = []
        self.values = []

    def assign(self, start, end, value):
        """Assigns a value to the numbers from `start` up to, but without, `end`."""
        if start >= end:
            return
        place = self.erase(start, end)
        self.starts.insert(place, start)
        self.ends.insert(place, end)
        self.values.insert(place, value)
        self._join(place)
        if place > 0:
            self._join(place - 1)

    def erase(self, start, end):
        """Removes the values of a range. Returns the index at which a span for it would be inserted."""
        if start >= end:
            return bisect_left(self.starts, start)
        first = bisect_right(self.ends, start)
        last = bisect_left(self.starts, end)
        pieces = []
        if first < last:
            if self.starts[first] < start:
                pieces.append((self.starts[first], start, self.values[first]))
            if self.ends[last - 1] > end:
                pieces.append((end, self.ends[last - 1], self.values[last - 1]))
        self.starts[first:last] = [piece[0] for piece in pieces]
        self.ends[first:last] = [piece[1] for piece in pieces]
        self.values[first:last] = [piece[2] for piece in pieces]
        return bisect_left(self.starts, start)

    def get(self, number):
        place = bisect_right(self.starts, number) - 1
        if place >= 0 and number < self.ends[place]:
            return self.values[place]
        return None

    def shift(self, start, distance):
        """Makes room: everything from `start` on moves up."""
        place = bisect_right(self.starts, start) - 1
        if place >= 0 and self.starts[place] < start < self.ends[place]:
            self.starts.insert(place + 1, start)
            self.ends.insert(place, start)
            self.values.insert(place, self.values[place])
        first = bisect_left(self.starts, start)
        for index in range(first, len(self.starts)):
            self.starts[index] += distance
            self.ends[index] += distance

    def spans(self):
        return list(zip(self.starts, self.ends, self.values))

    def _join(self, place):
        """Joins a span with the next one if they touch and have the same value."""
        after = place + 1
        if after >= len(self.starts):
            return
        if self.ends[place] == self.starts[after] and self.values[place] == self.values[after]:
            self.ends[place] = self.ends[after]
            del self.starts[after], self.ends[after], self.values[after]
