"""The tools that Testwright is compared with, installed by pip in separate environments."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

#: TSTL needs an old version of coverage.py, so it has its own environment.
TSTL = ["tstl==1.2.39", "sortedcontainers==2.4.0"]

#: The newest versions for an interpreter.
OTHERS = {
    (3, 9): ["hypothesis==6.141.1", "coverage==7.10.7"],
    (3, 10): ["hypothesis==6.170.15", "coverage==7.17.2"],
}
ON_EVERY_PYTHON = ["slipcover==1.1.0", "sortedcontainers==2.4.0"]


#: The peer for models.
MODELS = ["PyModel==1.0"]

#: The packages to record, and pytest to run the generated tests. The newest versions for an interpreter.
CAPTURED = {
    (3, 9): [
        "bidict==0.23.1",
        "cachetools==6.2.6",
        "humanize==4.13.0",
        "iniconfig==2.1.0",
        "Markdown==3.9",
        "prettytable==3.16.0",
        "python-dateutil==3.0.0",
        "semver==3.0.4",
        "tabulate==0.9.0",
    ],
    (3, 10): [
        "bidict==0.24.1",
        "cachetools==8.0.0",
        "humanize==4.16.0",
        "iniconfig==2.3.1",
        "Markdown==3.11.3",
        "prettytable==3.18.0",
        "python-dateutil==4.0.0",
        "semver==3.1.1",
        "tabulate==0.10.0",
    ],
}
CAPTURED_ON_EVERY_PYTHON = [
    "anytree==2.13.0",
    "inflection==0.5.1",
    "intervaltree==3.2.1",
    "isodate==0.7.2",
    "jmespath==1.1.0",
    "packaging==26.3",
    "parse==1.22.4",
    "pytest==8.4.2",
    "schedule==1.2.2",
    "simpleeval==1.0.8",
    "sortedcontainers==2.4.0",
    "tomli==2.5.0",
    "xmltodict==1.0.4",
]

#: Packages whose wheels are compiled, so that calls cannot be recorded. Built from source they are plain Python.
FROM_SOURCE = ["tomli"]

#: The peer for recording.
TYPES = ["MonkeyType==23.3.0"]

GROUPS = ["tstl", "others", "models", "captured", "types"]


def pins(group):
    """Returns the pinned packages of a group."""
    if group == "tstl":
        return TSTL
    if group == "models":
        return MODELS
    if group == "types":
        return TYPES
    newest = _newest(OTHERS)
    if group == "captured":
        measuring = [pin for pin in newest if pin.startswith("coverage")]
        return _newest(CAPTURED) + CAPTURED_ON_EVERY_PYTHON + measuring
    return newest + ON_EVERY_PYTHON


def _newest(pins_by_version):
    return pins_by_version[max(known for known in pins_by_version if known <= sys.version_info[:2])]


def _from_source(wanted):
    named = [name for name in FROM_SOURCE if any(pin.startswith(f"{name}==") for pin in wanted)]
    return ["--no-binary", ",".join(named)] if named else []


def version(package):
    """Returns the pinned version of a package."""
    pinned = dict(pin.split("==") for group in GROUPS for pin in pins(group))
    return pinned[package]


def home(folder, group):
    """Returns the folder of a group, which depends on the versions."""
    fingerprint = hashlib.sha256(" ".join(pins(group)).encode()).hexdigest()[:8]
    python = ".".join(map(str, sys.version_info[:3]))
    return Path(folder).resolve() / f"{group}-{python}-{fingerprint}"


def environment(folder, group, install):
    """Returns the folder with the programs of a group, or None if they are missing and cannot or must not be installed."""
    wanted = pins(group)
    here = home(folder, group)
    programs = here / "bin"
    if (here / "ready").exists():
        return programs
    if not install:
        return None
    print(f"Installing {', '.join(wanted)} ...", file=sys.stderr, flush=True)
    quiet = ["--quiet", "--disable-pip-version-check"]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(here)],
        [str(programs / "python"), "-m", "pip", "install", *quiet, *_from_source(wanted), *wanted],
    ):
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables
        )
        if done.returncode != 0:
            print(f"... which is not possible:\n{done.stdout}", file=sys.stderr, flush=True)
            return None
    (here / "ready").touch()
    return programs
