"""A timer wheel: a slot for each tick, and the number of turns to wait for timers that are further away."""


class Wheel:
    def __init__(self, slots=8):
        self.slots = [[] for _ in range(slots)]
        self.now = 0
        #: The slot of each timer.
        self.where = {}

    def schedule(self, name, delay):
        """Sets a timer, or resets an existing one."""
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
        """Advances by one tick. Returns the timers that expired, in the order in which they were set."""
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
