"""A rate limiter: each client has a number of calls per window of time. A client that is refused too often has to wait."""


class Limiter:
    def __init__(self, most=3, window=10, patience=2, wait=30):
        self.most = most
        self.window = window
        self.patience = patience
        self.wait = wait
        self.now = 0
        self.times = {}
        self.refused = {}
        self.blocked = {}

    def advance(self, seconds):
        self.now += seconds

    def allow(self, client):
        """Counts a call. Returns true if it is allowed."""
        if self.blocked.get(client, 0) > self.now:
            return False
        times = self.times.setdefault(client, [])
        while times and times[0] <= self.now - self.window:
            times.pop(0)
        if len(times) < self.most:
            times.append(self.now)
            self.refused[client] = 0
            return True
        self.refused[client] = self.refused.get(client, 0) + 1
        if self.refused[client] > self.patience:
            self.blocked[client] = self.now + self.wait
            self.refused[client] = 0
        return False

    def remaining(self, client):
        """Returns how many calls a client has left at this moment."""
        if self.blocked.get(client, 0) > self.now:
            return 0
        recent = [time for time in self.times.get(client, []) if time > self.now - self.window]
        return self.most - len(recent)

    def pardon(self, client):
        """Ends the waiting time of a client."""
        self.blocked.pop(client, None)
        self.refused.pop(client, None)

    def sweep(self):
        """Removes clients that have no state to keep."""
        for client in list(self.times):
            is_idle = all(time <= self.now - self.window for time in self.times[client])
            if is_idle and self.blocked.get(client, 0) <= self.now:
                del self.times[client]
                self.refused.pop(client, None)
                self.blocked.pop(client, None)

    def known(self):
        return len(self.times)
