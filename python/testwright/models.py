"""Models, for the pytest files that `testwright run` and `testwright model test` write."""

from pathlib import Path

from testwright._native import replay_models

__all__ = ["replay"]


def replay(models, stepper, steps, timeout=5.0, run=0, tries=1, folder=".", check=True):
    """Replays steps in models while the stepper makes an implementation do the same.

    `models` and `stepper` are names of modules, or paths of their files, as for `testwright model test` in `folder`; a
    step is a name and a tuple of arguments. A failure raises `AssertionError`. A step may take `timeout` seconds.

    If one of the models is a suite, `run` is the number of its run. For an implementation that is not deterministic,
    `tries` repeats the replay: every repetition has to pass. Without `check`, invariants of the models may be false.
    """
    names = [str(Path(folder, name)) for name in models]
    steps = [(name, tuple(arguments)) for name, arguments in steps]
    problem = replay_models(names, str(Path(folder, stepper)), steps, timeout, run, tries, check)
    if problem is not None:
        error = AssertionError(problem[0])
        error.signature = problem[1]
        raise error
