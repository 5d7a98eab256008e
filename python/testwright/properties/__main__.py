"""Answers requests, one JSON object per line, until standard input ends."""

import json
import os
import queue
import sys
import threading
import traceback

from testwright.properties import run, values
from testwright.properties.probes import Probes


class Worker:
    """Dispatches requests, and keeps the loaded module between them."""

    def __init__(self, send):
        self.send = send
        self.module = None
        self.probes = None

    def answer(self, request):
        """Dispatches a request to the method for it."""
        getattr(self, "do_" + request.pop("do"))(**request)

    def do_load(self, path, folder, name, root):
        self.probes = Probes(root)
        self.module = run.load(path, folder, name)
        self.send({"version": sys.version.split()[0]})

    def do_sample(self, name, tries, seed, seconds):
        self.property(name, seconds).sample(tries, seed, self.send)
        self.send({"done": True})

    def do_try(self, name, arguments, seconds):
        made = {argument: values.evaluate(recipe, self.module) for argument, recipe in arguments}
        self.send({"case": self.property(name, seconds).case(made, recipes=arguments)})

    def do_shrink(self, name, record, features, error, seed, seconds):
        features = set(features)

        def wanted(tried):
            if error is not None:
                return (
                    tried["outcome"] == "fails" and [tried.get("error"), tried.get("line")] == error
                )
            met = features.intersection(tried["branches"] + tried["conditions"])
            return tried["outcome"] == "passes" and met == features

        self.send({"case": self.property(name, seconds).shrink(record, wanted, seed)})

    def do_steps(self, prelude, steps, store, seconds):
        self.send({"steps": run.run_steps(prelude, steps, store, seconds)})

    def do_branches(self):
        self.send({"branches": self.probes.branches})

    def property(self, name, seconds):
        return run.Property(self.module, name, self.probes, seconds)


def incoming(requests):
    """Yields requests as they arrive. The process exits when standard input ends, even while code under test runs."""
    waiting = queue.SimpleQueue()

    def read_requests():
        for line in requests:
            waiting.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read_requests, daemon=True).start()
    while True:
        yield waiting.get()


def main():
    """Reads requests from standard input. Output of the code under test is discarded."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)

    def send(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    worker = Worker(send)
    for request in incoming(requests):
        try:
            worker.answer(request)
        except BaseException as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            send(
                {
                    "problem": f"{type(error).__name__}: {error}",
                    "file": frame.filename,
                    "line": frame.lineno,
                }
            )


main()
