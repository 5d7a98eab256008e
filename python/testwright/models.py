"""Models, for the pytest files that `testwright model test` writes."""

from pathlib import Path

from testwright._native import replay_models

__all__ = ["replay"]


def replay(models, stepper, steps, timeout=5.0, run=0, tries=1, folder="."):
    """Plays steps through models while the stepper makes an implementation do the same.

    `models` and `stepper` are names of modules, or paths of their files, as for `testwright model test` in `folder`; a
    step is a name and a tuple of arguments. What goes wrong is an `AssertionError`. A step may take `timeout` seconds.

    With a suite among the models, `run` says which of its runs it is. An implementation that does not do the same each
    time is given several `tries`, and all of them have to go well.
    """
    names = [str(Path(folder, name)) for name in models]
    steps = [(name, tuple(arguments)) for name, arguments in steps]
    problem = replay_models(names, str(Path(folder, stepper)), steps, timeout, run, tries)
    if problem is not None:
        raise AssertionError(problem)
