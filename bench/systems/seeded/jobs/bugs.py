"""Seeded bugs: the name, a description, the correct text and the wrong one."""

BUGS = {
    "jobs-remove": (
        "what fills the place of a removed job may sink, but not rise",
        "            self._put(place, last)\n            self._rise(place)\n",
        "            self._put(place, last)\n",
    ),
    "jobs-last": (
        "a job that is removed from the end is still known",
        "        place = self.places.pop(job)\n        last = self.heap.pop()\n        if place < len(self.heap):\n",
        "        place = self.places[job]\n        last = self.heap.pop()\n        if place < len(self.heap):\n            del self.places[job]\n",
    ),
    "jobs-sink": (
        "a job that sinks looks only at its first child where there are two",
        "            if child + 1 < len(self.heap) and self.heap[child + 1] < self.heap[child]:\n",
        "            if child + 2 < len(self.heap) and self.heap[child + 1] < self.heap[child]:\n",
    ),
}
