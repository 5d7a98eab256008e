"""A stepper that reports observations: at once, or later from a thread."""

import os
import threading
import time

import observation_queue
from pymodel.observation_queue import queue

assert queue is observation_queue.queue
assert observation_queue.asynch is False
HOW = os.environ.get("STEPPER", "at once")
OBSERVED = {
    "too many": ["Tick", "Tick", "Tick", "Elapsed"],
    "unknown": ["Tick", "Boom"],
    "nothing": [],
    "no wait": [],
}.get(HOW, ["Tick", "Tick", "Elapsed"])
observation_queue.asynch = HOW in ("later", "nothing", "no wait")
came = threading.Condition()


def observe(delay):
    for name in OBSERVED:
        time.sleep(delay)
        with came:
            queue.append((name, (0,) if name == "Elapsed" else ()))
            came.notify()


def testaction(name, arguments, expected):
    assert (name, arguments) == ("Start", (2,))
    if HOW == "later":
        threading.Thread(target=observe, args=(0.02,)).start()
    else:
        observe(0)


if HOW != "no wait":

    def wait(seconds):
        with came:
            came.wait_for(lambda: queue, seconds)


def Reset():
    if HOW == "left in reset":
        queue.append(("Boom", ()))
