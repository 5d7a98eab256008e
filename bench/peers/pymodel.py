"""Runs PyModel's analyzer, as it is on PyPI. PyModel defined the format of our models.

It is written for Python 2. If there is none, it is translated by lib2to3, which Python had up to version 3.12. It needs
only the standard library, so its environment is a folder with its source.
"""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from measure import Failed, run

import peers

NAME = "PyModel"
ANALYZER = Path(__file__).with_name("pymodel_analyzer.py")

#: Interpreters that may have lib2to3, after the current one.
TRANSLATORS = ["python3.12", "python3.11", "python3.10", "python3.9"]

#: The time limit of each command in seconds, so that the other benchmarks do not wait for long.
DOWNLOAD, TRANSLATION, ANSWER = 120, 120, 20


@dataclass(frozen=True)
class Explored:
    """The result of an exploration."""

    states: int
    transitions: int
    #: CPU seconds of the exploration itself.
    seconds: float
    #: Peak memory of the process, in MB.
    peak: float


@dataclass(frozen=True)
class PyModel:
    """Explores models."""

    python: str
    #: The version of that Python.
    version: str
    source: Path
    translated: bool

    def in_words(self):
        translated = "translated and " if self.translated else ""
        return f"{NAME} {peers.version(NAME)} ({translated}run by Python {self.version})"

    def explore(self, folder, model, most, limit):
        """Explores a model up to a number of transitions. None if it takes more than `limit` seconds."""
        path = os.pathsep.join([str(self.source), str(self.source.parent)])
        command = [self.python, ANALYZER, "-m", most, model]
        done = run(command, folder, limit, PYTHONPATH=path)
        if done.too_long:
            return None
        report = json.loads(done.checked().output.splitlines()[-1])
        return Explored(**report, peak=done.peak)


def prepare(folder, install):
    """Prepares PyModel. Returns it, or None and the reason as a part of a sentence."""
    home = peers.home(folder, "models")
    try:
        if not (home / "ready").exists():
            if not install:
                return None, "it is not installed"
            _download(home)
        return _python_2(home) or _translated(home), None
    except (Failed, OSError, shutil.ReadError) as reason:
        print(f"... which is not possible: {reason}", file=sys.stderr, flush=True)
        return None, _last_line(str(reason))


def _download(home):
    """Fetches the source and unpacks it."""
    (pin,) = peers.pins("models")
    print(f"Installing {pin} ...", file=sys.stderr, flush=True)
    shutil.rmtree(home, ignore_errors=True)
    fetched = home / "fetched"
    fetched.mkdir(parents=True)
    # Only the source is needed. After unpacking, pip runs the package's `setup.py`, which may fail with a newer Python;
    # the unpacked files are kept.
    options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--no-clean"]
    options += ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(fetched), pin]
    done = run(command, None, DOWNLOAD, TMPDIR=str(fetched))
    for archive in [*fetched.glob("*.tar.gz"), *fetched.glob("*.zip")]:
        shutil.unpack_archive(str(archive), str(fetched))
    found = sorted(fetched.rglob("pymodel/pma.py"))
    if not found:
        said = f"{DOWNLOAD} s were not enough" if done.too_long else _last_line(done.output)
        raise Failed(f"pip could not download {pin}: {said}")
    shutil.copytree(found[0].parent, home / "original" / "pymodel")
    shutil.rmtree(fetched)
    (home / "ready").touch()


def _python_2(home):
    """Returns PyModel for Python 2, or None if there is no Python 2."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    known = [shutil.which(name) for name in ("python2.7", "python2")]
    known += sorted(map(str, pyenv.glob("versions/2.7*/bin/python2.7")))
    for python in filter(None, known):
        version = _version(python)
        if version and version.startswith("2.7"):
            return PyModel(python, version, home / "original" / "pymodel", False)
    return None


def _translated(home):
    """Translates PyModel for Python 3."""
    for python in filter(None, [sys.executable, *map(shutil.which, TRANSLATORS)]):
        version = _version(python, "import lib2to3.main")
        if version:
            break
    else:
        raise Failed("there is neither Python 2.7 nor a Python up to 3.12 to translate it")
    translated = home / f"translated-by-{version}"
    if not (translated / "ready").exists():
        shutil.rmtree(translated, ignore_errors=True)
        shutil.copytree(home / "original", translated)
        # Its modules import each other as top-level modules, so they are run that way.
        options = ["--write", "--nobackups", "--no-diffs", "--nofix", "import"]
        command = [python, "-W", "ignore", "-m", "lib2to3", *options, str(translated / "pymodel")]
        run(command, None, TRANSLATION).checked()
        (translated / "ready").touch()
    return PyModel(python, version, translated / "pymodel", True)


def _version(python, also=""):
    """Returns the version of a Python, or None if it does not start or fails at the code in `also`."""
    program = f"import platform\n{also}\nprint(platform.python_version())"
    done = run([python, "-W", "ignore", "-c", program], None, ANSWER)
    return done.output.strip() if done.status == 0 else None


def _last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip()[:200] if lines else "it did not say why"
