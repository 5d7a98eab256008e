"""Measures which lines of some files run, by the cheapest interface of the interpreter."""

import os
import sys
import threading

#: The flag of code that has local variables: functions, but neither modules nor classes.
CO_OPTIMIZED = 0x1


class Lines:
    """The lines of the program that have run."""

    def __init__(self, paths):
        self.numbers = {path: number for number, path in enumerate(paths)}
        self.known = {}
        self.found = set()
        self.at_import = set()

    def number(self, code):
        """Returns the number of a code object's file, if it belongs to the program."""
        name = code.co_filename
        if name not in self.known:
            self.known[name] = self.numbers.get(os.path.realpath(name))
        return self.known[name]

    def note(self, code, line):
        found = self.found if code.co_flags & CO_OPTIMIZED else self.at_import
        found.add((self.number(code), line))

    def begin(self):
        """Starts measuring."""
        if not hasattr(sys, "monitoring"):
            threading.settrace(self.called)
            sys.settrace(self.called)
            return
        events = sys.monitoring.events
        tool = next(tool for tool in (4, 3, 1, 0) if sys.monitoring.get_tool(tool) is None)

        def started(code, offset):
            if self.number(code) is not None:
                sys.monitoring.set_local_events(tool, code, events.LINE)
            return sys.monitoring.DISABLE

        def reached(code, line):
            self.note(code, line)
            return sys.monitoring.DISABLE

        sys.monitoring.use_tool_id(tool, "testwright mutate")
        sys.monitoring.register_callback(tool, events.PY_START, started)
        sys.monitoring.register_callback(tool, events.LINE, reached)
        sys.monitoring.set_events(tool, events.PY_START)

    def restart(self):
        """Forgets the lines so far, and measures restart."""
        self.found.clear()
        self.at_import.clear()
        if hasattr(sys, "monitoring"):
            sys.monitoring.restart_events()
        else:
            self.begin()

    def called(self, frame, event, argument):
        return self.traced if self.number(frame.f_code) is not None else None

    def traced(self, frame, event, argument):
        if event == "line":
            self.note(frame.f_code, frame.f_lineno)
        return self.traced
