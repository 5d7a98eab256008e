"""Measures how start-up, memory and steps per second grow with the number of actions and the length of tests."""

import ours
import page
from measure import alternately, median

#: Ten slots with a choice of `values` integers each: the work is the same for any number of actions.
CHOSEN = """\
pool: <number> 10
pool: <list> 1
<list> := []
<number> := <[1..{values}]>
~<list>.append(<number>)
<list>.clear()
"""

#: The same number of actions, with one line for every ten.
LISTED = """\
pool: <word> 10
{lines}
len(<word>)
"""

SIZES = [100, 1_000, 10_000, 100_000]
#: Sizes for TSTL, which evaluates every action before each step.
TSTL_SIZES = [100, 1_000, 5_000]
#: The time limit for TSTL, in seconds.
LIMIT = 20
LENGTHS = [10, 100, 1_000, 10_000]


def measure(setting):
    folder = setting.work / "growth"
    folder.mkdir()
    return [_sizes(setting, folder), _lengths(setting, folder / "chosen_100.tstl")]


def _sizes(setting, folder):
    table = page.Table(
        "Growth with the number of actions",
        "Start-up is a search of one step. Testwright chooses actions uniformly, as TSTL does, or with its default strategy, `auto`. TSTL compiles a harness before its first use; this has its own column.",
        ["actions", "tool", "compilation", "start-up", "peak memory", "steps per second"],
        words_in=2,
    )
    sizes = SIZES[:2] if setting.quick else SIZES
    chosen, listed = {}, {}
    for size in sizes:
        chosen[size] = folder / f"chosen_{size}.tstl"
        chosen[size].write_text(CHOSEN.format(values=size // 10), encoding="utf-8")
        listed[size] = folder / f"listed_{size}.tstl"
        lines = "\n".join(f"<word> := 'word {number}'" for number in range(size // 10))
        listed[size].write_text(LISTED.format(lines=lines), encoding="utf-8")
    works = {
        (name, size): lambda harness=harness, strategy=strategy: _ours(setting, harness, strategy)
        for name, harnesses, strategy in (
            ("", chosen, "random"),
            (", a line for every ten", listed, "random"),
            (", a line for every ten, `auto`", listed, "auto"),
        )
        for size, harness in harnesses.items()
    }
    for (name, size), results in alternately(setting.repeats, works).items():
        start, peak, pace = (median(column) for column in zip(*results))
        cells = f"{start:.2f} s", f"{peak:.0f} MB", page.rate(pace)
        table.add(f"{size:,}", ours.NAME + name, "", *cells)
    if setting.tstl:
        for size in TSTL_SIZES[:1] if setting.quick else TSTL_SIZES:
            table.add(f"{size:,}", "TSTL", *_tstl(setting, folder, size))
        for size in [] if setting.quick else SIZES[2:]:
            table.add(f"{size:,}", "TSTL", "not tried", "", "", "")
    return table


def _ours(setting, harness, strategy):
    """Returns start-up time, peak memory and steps per second of Testwright."""
    options = ["--strategy", strategy]
    start, _ = ours.search(harness, "--tests", 1, "--length", 1, *options)
    # Enough steps that the variation of start-up does not matter.
    steps = {"random": 2_000_000, "auto": 500_000}[strategy]
    steps = 5_000 if setting.quick else steps
    done, report = ours.search(harness, "--steps", steps, *options)
    return start.cpu, done.peak, report["steps"] / max(done.cpu - start.cpu, 1e-6)


def _tstl(setting, folder, size):
    """Returns compilation time, start-up time, peak memory and steps per second of TSTL."""
    place = folder / f"tstl_{size}"
    place.mkdir()
    harness = place / "chosen.tstl"
    harness.write_text(CHOSEN.format(values=size // 10), encoding="utf-8")
    many = 20 if setting.quick else 200
    runs = [lambda: setting.tstl.compile(harness, coverage=False, limit=LIMIT)]
    for options in (["--maxTests", 1, "--depth", 1], ["--maxTests", many, "--depth", 100]):
        runs.append(
            lambda options=options: setting.tstl.rt(place, "--noCover", *options, limit=LIMIT)
        )
    cells, peak = [], 0
    for run in runs:
        done = run()
        if done.too_long:
            cells.append(f"more than {LIMIT} s")
            break
        done.checked()
        peak = max(peak, done.peak)
        cells.append(f"{done.cpu:.2f} s")
    else:
        start = float(cells[1].split()[0])
        cells[2] = page.rate(many * 100 / max(done.cpu - start, 1e-6))
    cells += [""] * (len(runs) - len(cells))
    return cells[0], cells[1], f"{peak:.0f} MB" if peak else "", cells[2]


def _lengths(setting, harness):
    """Measures tests of different lengths. The steps of the harness cost the same at every position."""
    tools = [tool for tool in (setting.ours, setting.tstl) if tool]
    table = page.Table(
        "Growth with the length of tests",
        "Steps per second with the 100 actions of the table above. The total number of steps is always the same.",
        ["steps of a test", *(tool.name for tool in tools)],
    )
    steps = 5_000 if setting.quick else 2_000_000
    for length in LENGTHS[:2] if setting.quick else LENGTHS:
        works = {ours.NAME: lambda length=length: _pace(_search_of_ours(harness), steps, length)}
        if setting.tstl:
            works["TSTL"] = lambda length=length: _pace(
                _search_of_tstl(setting.tstl, harness.parent / "tstl_100"),
                steps // 100,
                length,
            )
        results = alternately(setting.repeats, works)
        table.add(f"{length:,}", *(page.rate(median(rates)) for rates in results.values()))
    return table


def _search_of_ours(harness):
    return lambda tests, length: ours.search(harness, "--tests", tests, "--length", length)[0]


def _search_of_tstl(tstl, compiled):
    def search(tests, length):
        options = ["--noCover", "--maxTests", tests, "--depth", length]
        return tstl.rt(compiled, *options).checked()

    return search


def _pace(search, steps, length):
    """Returns steps per second, without start-up."""
    start = search(1, 1)
    done = search(max(1, steps // length), length)
    return max(1, steps // length) * length / max(done.cpu - start.cpu, 1e-6)
