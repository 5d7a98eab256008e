"""The mean of the last few readings of a sensor, kept up to date without adding them all up again."""


class RollingMean:
    def __init__(self, window):
        self.window = window
        self.readings = []
        self.total = 0

    def add(self, reading):
        self.readings.append(reading)
        self.total += reading
        if len(self.readings) > self.window:
            self.readings.pop(0)
            self.total -= self.readings[0]

    def mean(self):
        return self.total / len(self.readings)

    def __repr__(self):
        return f"<mean of {self.readings}, total {self.total}>"
