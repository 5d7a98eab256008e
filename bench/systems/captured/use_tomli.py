"""Reads TOML as tools do that keep their settings in a pyproject.toml."""

import decimal
import io

import tomli

PROJECT = """\
# a project
[project]
name = "shop"
version = '1.2.0'
keywords = ["till", 'cart', "caf\\u00e9"]
description = \"\"\"
Sells \\
    things.\"\"\"
licence = '''
free
'''
[project.optional-dependencies]
test = ["pytest>=7", "coverage[toml]"] # for developers

[tool.till]
price = 2.50
big = 1_000_000
small = -17
hexadecimal = 0xDEADBEEF
octal = 0o755
binary = 0b1101
open = true
closed = false
rate = 5e-3
limit = inf
nothing = nan
opened = 1979-05-27T07:32:00Z
moved = 1979-05-27T00:32:00.999999-07:00
local = 1979-05-27T07:32:00
day = 1979-05-27
noon = 12:00:00.5
point = { x = 1, y = { z = "deep" } }
site."shop.example".port = 8080

[[tool.till.drawers]]
coin = 1
[[tool.till.drawers]]
coin = 2
mixed = [
  1,
  [2, 3], # nested
  { a = 1 },
]
"""

BROKEN = [
    "a = ",
    "a = 1\na = 2",
    "[a]\n[a]",
    "a = [1, 2",
    "a = {b = 1, b = 2}",
    'a = "open',
    "a = 'open",
    'a = """open',
    'a = "\\q"',
    'a = "\\uD800"',
    "a = 1979-02-30",
    "a 1",
    "[a\nb = 1",
    "[[a]\nb = 1",
    "a.b = 1\na.b.c = 2",
    "a = {b = 1}\n[a.c]\nd = 1",
    "a = [1]\n[[a]]\nb = 1",
    "# bad \x01 comment",
    "a = 1 b = 2",
    "= 1",
]


def read():
    found = tomli.loads(PROJECT)
    print(sorted(found["project"]), found["tool"]["till"]["moved"])
    print(tomli.loads("price = 2.50", parse_float=decimal.Decimal))
    print(tomli.load(io.BytesIO(b"[desk]\r\nheight = 72\r\n")))
    print(tomli.loads(""), tomli.loads("\n\n# only words\n"))
    print(tomli.loads("\"quoted key\" = 1\n'literal key' = 2\na.b.c = 3\na.b.d = 4"))


def refuse():
    for text in BROKEN:
        try:
            tomli.loads(text)
        except tomli.TOMLDecodeError as error:
            print(repr(text), error, error.lineno, error.colno)
    for wrong in (b"a = 1", 3):
        try:
            tomli.loads(wrong)
        except TypeError as error:
            print(error)
    try:
        tomli.load(io.StringIO("a = 1"))
    except TypeError as error:
        print(error)
    try:
        tomli.loads("a = 1.5", parse_float=lambda text: [text])
    except ValueError as error:
        print(error)


if __name__ == "__main__":
    read()
    refuse()
