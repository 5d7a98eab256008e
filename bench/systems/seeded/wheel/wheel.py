"""Timers on a wheel: a slot for each moment, and for what is further away the number of turns to wait."""


class Wheel:
    def __init__(self, slots=8):
        self.slots = [[] for _ in range(slots)]
        self.now = 0
        #: For each timer its slot.
        self.where = {}

    def schedule(self, name, delay):
        """Sets a timer; one that is set already is set anew."""
        self.cancel(name)
        slot = (self.now + delay) % len(self.slots)
        turns = (delay - 1) // len(self.slots)
        self.slots[slot].append([turns, name])
        self.where[name] = slot

    def cancel(self, name):
        slot = self.where.pop(name, None)
        if slot is not None:
            self.slots[slot] = [timer for timer in self.slots[slot] if timer[1] != name]

    def tick(self):
        """Goes on by one moment; says whose time has come, in the order in which they were set."""
        self.now = (self.now + 1) % len(self.slots)
        due, later = [], []
        for timer in self.slots[self.now]:
            if timer[0] == 0:
                due.append(timer[1])
                del self.where[timer[1]]
            else:
                timer[0] -= 1
                later.append(timer)
        self.slots[self.now] = later
        return due

    def pending(self):
        return len(self.where)
