"""Answers requests, one JSON object per line, until there are no more."""

import json
import os
import queue
import sys
import threading
import traceback

from testwright.properties import run, values
from testwright.properties.probes import Probes


class Worker:
    """What one request leaves behind for the next."""

    def __init__(self, tell):
        self.tell = tell
        self.module = None
        self.probes = None

    def answer(self, request):
        """Does what a request asks for."""
        getattr(self, "do_" + request.pop("do"))(**request)

    def do_load(self, path, folder, name, root):
        self.probes = Probes(root)
        self.module = run.load(path, folder, name)
        self.tell({"version": sys.version.split()[0]})

    def do_sample(self, name, tries, seed, seconds):
        self.property(name, seconds).sample(tries, seed, self.tell)
        self.tell({"done": True})

    def do_try(self, name, arguments, seconds):
        made = {argument: values.made(recipe, self.module) for argument, recipe in arguments}
        self.tell({"case": self.property(name, seconds).case(made, recipes=arguments)})

    def do_shrink(self, name, record, features, error, seed, seconds):
        features = set(features)

        def wanted(tried):
            if error is not None:
                return (
                    tried["outcome"] == "fails" and [tried.get("error"), tried.get("line")] == error
                )
            met = features.intersection(tried["branches"] + tried["conditions"])
            return tried["outcome"] == "passes" and met == features

        self.tell({"case": self.property(name, seconds).shrink(record, wanted, seed)})

    def do_steps(self, prelude, steps, store, seconds):
        self.tell({"steps": run.run_steps(prelude, steps, store, seconds)})

    def do_branches(self):
        self.tell({"branches": self.probes.branches})

    def property(self, name, seconds):
        return run.Property(self.module, name, self.probes, seconds)


def all_of(requests):
    """The requests, as they come. When nobody is left to ask, the process ends, whatever code under test is doing."""
    waiting = queue.SimpleQueue()

    def listen():
        for line in requests:
            waiting.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield waiting.get()


def main():
    """Reads requests from standard input; what code under test prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)

    def tell(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    worker = Worker(tell)
    for request in all_of(requests):
        try:
            worker.answer(request)
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            tell(
                {
                    "problem": f"{type(error).__name__}: {error}",
                    "file": place.filename,
                    "line": place.lineno,
                }
            )


main()
