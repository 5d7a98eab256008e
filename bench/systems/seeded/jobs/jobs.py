"""A queue of jobs by priority: a binary heap that knows where each job is, so that priorities can change."""


class Jobs:
    def __init__(self):
        self.heap = []
        self.places = {}

    def push(self, job, priority):
        """Adds a job, or changes the priority of an existing one."""
        if job in self.places:
            self.change(job, priority)
            return
        self.heap.append((priority, job))
        self.places[job] = len(self.heap) - 1
        self._rise(len(self.heap) - 1)

    def pop(self):
        """Removes and returns the job with the lowest number; among equals, the first by name."""
        if not self.heap:
            raise IndexError("no jobs")
        job = self.heap[0][1]
        self.remove(job)
        return job

    def change(self, job, priority):
        if job not in self.places:
            raise KeyError(job)
        place = self.places[job]
        self.heap[place] = (priority, job)
        self._rise(place)
        self._sink(self.places[job])

    def remove(self, job):
        if job not in self.places:
            raise KeyError(job)
        place = self.places.pop(job)
        last = self.heap.pop()
        if place < len(self.heap):
            self._put(place, last)
            self._rise(place)
            self._sink(self.places[last[1]])

    def jobs(self):
        """Returns all jobs in the order of `pop`."""
        return [job for _, job in sorted(self.heap)]

    def is_heap(self):
        return all(self.heap[(i - 1) // 2] <= self.heap[i] for i in range(1, len(self.heap)))

    def _put(self, place, entry):
        self.heap[place] = entry
        self.places[entry[1]] = place

    def _rise(self, place):
        entry = self.heap[place]
        while place > 0 and entry < self.heap[(place - 1) // 2]:
            self._put(place, self.heap[(place - 1) // 2])
            place = (place - 1) // 2
        self._put(place, entry)

    def _sink(self, place):
        entry = self.heap[place]
        while 2 * place + 1 < len(self.heap):
            child = 2 * place + 1
            if child + 1 < len(self.heap) and self.heap[child + 1] < self.heap[child]:
                child += 1
            if entry <= self.heap[child]:
                break
            self._put(place, self.heap[child])
            place = child
        self._put(place, entry)
