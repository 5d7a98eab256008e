"""Testwright generates tests for Python code from small harnesses, and reduces what fails.

The command line is the way in: `testwright --help`. From Python, :func:`main` is the same command without a
new process: it takes the arguments and returns the exit status.
"""

from testwright._native import __version__, main

__all__ = ["__version__", "main"]
