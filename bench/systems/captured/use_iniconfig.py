"""Reads settings as tools do that keep them in an ini file."""

import pathlib
import tempfile

from iniconfig import IniConfig, ParseError, iscommentline

SETTINGS = """\
# how the shop runs
[server]
host = localhost
port = 8080  # above 1024
paths =
    /srv/shop
    /srv/static

[limits]
users = 12
rate: 0.5
strict = yes
; the end
"""

BROKEN = {
    "no section": "name = value\n",
    "twice": "[a]\nx = 1\nx = 2\n",
    "section twice": "[a]\n[b]\n[a]\n",
    "no equals": "[a]\nvalue\n",
    "continued from nowhere": "[a]\n    value\n",
}


def number_of_workers(text):
    return int(text) // 4 or 1


def read():
    config = IniConfig("shop.ini", SETTINGS)
    server = config["server"]
    print(server["host"], server.get("port"), server.get("missing", default="none"))
    print(server.get("paths").split())
    print(config.get("limits", "users", convert=int), config.get("limits", "rate", 1.0, float))
    print(config.get("limits", "workers", default=2, convert=int))
    print(config.get("limits", "users", convert=number_of_workers))
    print("limits" in config, "colours" in config)
    print([section.name for section in config], list(server), dict(config["limits"].items()))
    print(config.lineof("server"), config.lineof("server", "port"), server.lineof("host"))
    print(config.lineof("colours"), config.lineof("limits", "colour"))
    for wanted in ("colours", "server"):
        try:
            print(config[wanted]["port"])
        except KeyError as error:
            print("no section", error)


#: Not in the versions for Python 3.9.
CAN_STRIP = hasattr(IniConfig, "parse")


def strip():
    text = "[ a ]\n x = 1 # one\ny = 2 ; two\n"
    for comments in (True, False):
        try:
            config = IniConfig.parse("a.ini", text, strip_inline_comments=comments)
        except ParseError as error:
            print(error)
            continue
        print(list(config[" a "].items()))
    text = "[ a ]\nx = 1 # one\n"
    print(list(IniConfig.parse("a.ini", text, strip_section_whitespace=True)["a"].items()))


def refuse():
    for name, text in BROKEN.items():
        try:
            IniConfig("broken.ini", text)
        except ParseError as error:
            print(name, error, error.lineno, error.msg)


def from_a_file():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "settings.ini"
        path.write_text("[desk]\nheight = 72\n", encoding="utf-8")
        print(IniConfig(path)["desk"]["height"])
        if CAN_STRIP:
            print(IniConfig.parse(str(path)).get("desk", "height"))


if __name__ == "__main__":
    read()
    if CAN_STRIP:
        strip()
    refuse()
    from_a_file()
    print([line for line in SETTINGS.splitlines() if iscommentline(line)])
