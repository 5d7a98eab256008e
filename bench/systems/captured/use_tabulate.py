"""Prints tables as reports of a command line tool do."""

import dataclasses
import inspect

from tabulate import SEPARATING_LINE, simple_separated_format, tabulate, tabulate_formats

PLANETS = [["Sun", 696000, 1989100000], ["Earth", 6371, 5973.6], ["Moon", 1737, 73.5]]


def known(**options):
    """Returns the formats of this version: the one for Python 3.9 lacks some."""
    names = inspect.signature(tabulate).parameters
    return {name: value for name, value in options.items() if name in names}


@dataclasses.dataclass
class Coin:
    name: str
    value: float


def formats():
    for name in tabulate_formats:
        print(tabulate(PLANETS, headers=["planet", "radius", "mass"], tablefmt=name))
    for name in ("latex_raw", "textile", "tsv", "html", "moinmoin"):
        print(tabulate(PLANETS[1:], tablefmt=name))
    print(tabulate(PLANETS, tablefmt=simple_separated_format(";")), len(tabulate_formats))


def shapes():
    print(tabulate({"name": ["ann", "bob"], "age": [31, None]}, headers="keys"))
    print(tabulate([{"name": "ann", "age": 31}, {"age": 4}], headers="keys", missingval="?"))
    print(tabulate([{"a": 1}], headers={"a": "first"}))
    print(tabulate([["name", "age"], ["ann", 31]], headers="firstrow", showindex="always"))
    print(tabulate([Coin("dime", 0.1), Coin("cent", 0.01)], headers="keys"))
    print(tabulate([], headers=["a", "b"]), tabulate([]), tabulate(["one", "two"]))
    print(tabulate([["a", 1], SEPARATING_LINE, ["b", 2]], tablefmt="simple"))
    print(tabulate(zip("ab", range(2)), headers=["letter"], showindex=["x", "y"]))
    print(tabulate({3: [1], 1: [2]}, headers=["three", "one"]))


def numbers():
    rows = [["eggs", 451.0], ["spam", 41.9999], ["ham", "12.5"], ["none", None]]
    print(tabulate(rows, floatfmt=".1f", numalign="right", stralign="center"))
    print(tabulate(rows, numalign="decimal", missingval="-"), tabulate(rows, numalign=None))
    print(tabulate([[1000000, 0.12345]], intfmt=",", floatfmt=("", ".2f")))
    print(tabulate([["0x10", "1e3", "nan", True, b"raw"]], disable_numparse=True))
    print(tabulate([["1", "2"], ["3", "x"]], disable_numparse=[0], colalign=("right", "left")))
    print(
        tabulate(
            [[1, "a"]],
            headers=["n", "s"],
            **known(headersglobalalign="center", colglobalalign="left"),
        )
    )
    print(tabulate([["1,234", "-5"], ["10,000", "+6"]]))


def text():
    long = "a tool that prints tables which people like to read"
    print(tabulate([[1, long]], headers=["n", "words"], maxcolwidths=[None, 20], tablefmt="grid"))
    print(tabulate([["two\nlines", "x"], ["one", "y\nz"]], tablefmt="grid", rowalign="bottom"))
    print(tabulate([["two\nlines", "x"]], tablefmt="plain"), tabulate([[long]], maxcolwidths=12))
    print(tabulate([["a", 1]], headers=["a long header here", "n"], maxheadercolwidths=8))
    print(tabulate([["\x1b[31mred\x1b[0m", 1], ["plain", 22]], headers=["colour", "n"]))
    print(tabulate([["  spaces ", 1]], **known(preserve_whitespace=True)))
    print(tabulate([["<b>", "a&b"]], tablefmt="html"), tabulate([["50%", "a_b"]], tablefmt="latex"))


def refuse():
    for arguments in (
        {"tabular_data": 5},
        {"tabular_data": [{"a": 1}], "headers": ["a"]},
        {"tabular_data": [[1]], "headers": "nonsense"},
        {"tabular_data": [[1], [2]], "showindex": ["only one"]},
        {"tabular_data": [[1]], "colalign": "middle"},
    ):
        try:
            print(tabulate(**arguments))
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            print(type(error).__name__, error)


if __name__ == "__main__":
    formats()
    shapes()
    numbers()
    text()
    refuse()
