from collections.abc import Sequence

__version__: str

def main(argv: Sequence[str]) -> int:
    """Runs the command line with these arguments (without the program's name).

    Returns 0 if nothing was found, 1 if a failure was found, 2 if what was asked could not be done.
    """
