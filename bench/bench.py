"""Measures what matters and prints it as a Markdown table: `make bench`.

Everything is a ratio of medians, measured alternately in one run, because machines are noisy.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

REPEATS = 5
COMMAND = [sys.executable, "-m", "testwright"]

#: The same work, whatever the number of actions: a choice of `values` integers for each of ten slots.
MANY_ACTIONS = """\
pool: <number> 10
pool: <list> 1
<list> := []
<number> := <[1..{values}]>
~<list>.append(<number>)
<list>.clear()
"""

#: The ancestor writes half a gigabyte of Python for a harness of this size.
LISTED_ACTIONS = """\
pool: <word> 10
{lines}
print(<word>)
"""


def run(harness, *arguments):
    started = time.perf_counter()
    finished = subprocess.run(
        [*COMMAND, *arguments, str(harness)], capture_output=True, text=True, cwd=harness.parent
    )
    seconds = time.perf_counter() - started
    if finished.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)} failed:\n{finished.stderr}")
    return seconds, finished.stdout


def steps_per_second(harness):
    _, output = run(harness, "run", "--json", "--seed", "1", "--tests", "2000")
    summary = json.loads(output)
    return summary["steps"] / summary["seconds"]


def main():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        small, large, listed = folder / "small.tstl", folder / "large.tstl", folder / "listed.tstl"
        small.write_text(MANY_ACTIONS.format(values=100))
        large.write_text(MANY_ACTIONS.format(values=10_000))
        lines = (f"<word> := 'word {number}'" for number in range(10_000))
        listed.write_text(LISTED_ACTIONS.format(lines="\n".join(lines)))

        rates = {small: [], large: []}
        for _ in range(REPEATS):
            for harness, measured in rates.items():
                measured.append(steps_per_second(harness))
        rate = {harness: statistics.median(measured) for harness, measured in rates.items()}
        rows.append(("steps per second, 1,000 actions", f"{rate[small]:,.0f}"))
        rows.append(("steps per second, 100,000 actions", f"{rate[large]:,.0f}"))
        rows.append(("ratio", f"{rate[large] / rate[small]:.2f}"))
        for name, harness in [
            ("100,000 actions from 4 lines", large),
            ("100,000 actions from 10,001 lines", listed),
        ]:
            for arguments in (["check"], ["expand", "--count"]):
                seconds = statistics.median(run(harness, *arguments)[0] for _ in range(REPEATS))
                rows.append((f"`{' '.join(arguments)}`, {name}", f"{seconds:.2f} s"))
    print("| measured | result |\n| --- | --- |")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
