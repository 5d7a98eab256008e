"""Measures everything and writes `docs/benchmarks.md`: `make bench`.

Each chapter of the page is a file here: `steps_per_second.py`, `limit.py`, `coverage_overhead.py`, `growth.py`,
`seeded_bugs.py`, `strategies.py`, `shrinking.py`, `workers.py`, `models.py`, `beside_pymodel.py`, `capture.py` (with
`captured_package.py`), `recording.py`.
They share `setting.py`, `measure.py` and `page.py`; `ours.py` and `peers` run the tools, `systems` has the systems under test.
"""

import argparse
import datetime
import os
import platform
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import beside_pymodel
import capture
import coverage_overhead
import growth
import limit
import models
import ours
import page
import peers
import recording
import seeded_bugs
import shrinking
import steps_per_second
import strategies
import workers
from measure import Failed
from setting import Setting

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = [
    limit,
    steps_per_second,
    coverage_overhead,
    workers,
    seeded_bugs,
    strategies,
    shrinking,
    growth,
    beside_pymodel,
    models,
    capture,
    recording,
]

#: Chapters that count, or whose ratios are in the thousands. They run in parallel, since other work makes no difference.
#: The longest come first, so that all end at about the same time.
COUNTED = [capture, shrinking, beside_pymodel, strategies]

#: Chapters whose ratios depend on the interpreter. The others count steps and executions, or compare start-up.
BRIEF = [limit, steps_per_second, coverage_overhead]


def main():
    arguments = _arguments()
    work = arguments.folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    started = time.monotonic()
    is_alone = len(arguments.only or []) == 1
    setting = Setting.prepare(
        work, arguments.folder, arguments.quick, not arguments.no_install, is_alone
    )
    chosen = [
        chapter
        for chapter in (BRIEF if arguments.brief else CHAPTERS)
        if not arguments.only or chapter.__name__ in arguments.only
    ]

    def measured(chapter):
        """Measures a chapter. Returns its tables, or None if it failed, so that the other chapters are kept."""
        print(f"{time.monotonic() - started:5.0f} s: {chapter.__name__} ...", file=sys.stderr, flush=True)  # fmt: skip
        try:
            return chapter.measure(setting)
        except Failed as problem:
            print(f"{chapter.__name__} failed: {problem}", file=sys.stderr, flush=True)
            return None

    results = {chapter: measured(chapter) for chapter in chosen if chapter not in COUNTED}
    counted = [chapter for chapter in COUNTED if chapter in chosen]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results.update(zip(counted, pool.map(measured, counted)))
    tables = [table for chapter in chosen for table in results[chapter] or []]
    failed = [chapter.__name__ for chapter in chosen if results[chapter] is None]
    print(f"{time.monotonic() - started:5.0f} s: done", file=sys.stderr, flush=True)
    version = ".".join(platform.python_version_tuple()[:2])
    new = page.section(version, _facts(setting), tables)
    print(new)
    file = arguments.page
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    put = page.with_chapters if arguments.only or failed else page.with_section
    file.write_text(put(old, version, new), encoding="utf-8")
    print(f"Written to {file}", file=sys.stderr)
    if failed:
        sys.exit(f"Not measured: {', '.join(failed)}")


def _facts(setting):
    """Returns a sentence with the date, the machine and the versions."""
    packages = ["tstl"] if setting.tstl else []
    packages += ["hypothesis", "coverage", "slipcover"] if setting.programs else []
    versions = [f"{package} {peers.version(package)}" for package in packages]
    versions += [setting.pymodel.in_words()] if setting.pymodel else []
    versions = ", ".join([f"testwright {ours.version()}", *versions])
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quick = " A quick run: the numbers mean nothing." if setting.quick else ""
    return (
        f"Measured on {datetime.date.today()} with Python {platform.python_version()} on {platform.system()} "
        f"({platform.machine()}, {cpus} CPUs); {versions}. Medians of {setting.repeats} repeats.{quick}"
    )


def _arguments():
    parser = argparse.ArgumentParser(
        description="Measures everything and writes docs/benchmarks.md."
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a little of everything, in a minute; writes no page unless asked",
    )
    parser.add_argument(
        "--brief",
        action="store_true",
        help="only what depends on the interpreter, for the page to have more than one",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=[chapter.__name__ for chapter in CHAPTERS],
        help="only this chapter; the others of the section stay as they are",
    )
    parser.add_argument(
        "--no-install", action="store_true", help="compare only with what an earlier run installed"
    )
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "target" / "bench", help="where to install and work"
    )
    parser.add_argument(
        "--page", type=Path, help="the page to write, docs/benchmarks.md by default"
    )
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()
    if arguments.page is None:
        quick = arguments.folder / "quick.md"
        arguments.page = quick if arguments.quick else ROOT / "docs" / "benchmarks.md"
    return arguments


if __name__ == "__main__":
    main()
