"""How start-up, memory and steps per second change with the number of actions and the length of tests."""

import ours
import page
from measure import Failed, alternately, median

#: Ten slots with a choice of `values` integers each: the same work, whatever the number of actions.
CHOSEN = """\
pool: <number> 10
pool: <list> 1
<list> := []
<number> := <[1..{values}]>
~<list>.append(<number>)
<list>.clear()
"""

#: The same number of actions, each tenth with a line of its own.
LISTED = """\
pool: <word> 10
{lines}
len(<word>)
"""

SIZES = [100, 1_000, 10_000, 100_000]
#: The ancestor writes Python for every action; beyond this its compilation takes minutes.
ANCESTOR_SIZES = [100, 1_000, 5_000]
LENGTHS = [10, 100, 1_000, 10_000]


def measure(setting):
    return [*_sizes(setting), _lengths(setting)]


def _sizes(setting):
    table = page.Table(
        "Growth with the number of actions",
        "Start-up is a search of one step. The ancestor compiles a harness before its first use, which is shown for itself.",
        ["actions", "tool", "compilation", "start-up", "peak memory", "steps per second"],
    )
    folder = setting.work / "growth"
    folder.mkdir(exist_ok=True)
    sizes = SIZES[:2] if setting.quick else SIZES
    chosen, listed = {}, {}
    for size in sizes:
        chosen[size] = folder / f"chosen_{size}.tstl"
        chosen[size].write_text(CHOSEN.format(values=size // 10), encoding="utf-8")
        listed[size] = folder / f"listed_{size}.tstl"
        lines = "\n".join(f"<word> := 'word {number}'" for number in range(size // 10))
        listed[size].write_text(LISTED.format(lines=lines), encoding="utf-8")
    works = {
        (name, size): lambda harness=harness: _ours(setting, harness)
        for name, harnesses in (("", chosen), (", a line for every ten", listed))
        for size, harness in harnesses.items()
    }
    for (name, size), results in alternately(min(3, setting.repeats), works).items():
        start, peak, pace = (median(column) for column in zip(*results))
        cells = f"{start:.2f} s", f"{peak:.0f} MB", page.rate(pace)
        table.add(f"{size:,}", ours.NAME + name, "", *cells)
    if setting.ancestor:
        for size in ANCESTOR_SIZES[:1] if setting.quick else ANCESTOR_SIZES:
            table.add(f"{size:,}", "ancestor", *_ancestor(setting, folder, size))
        for size in [] if setting.quick else SIZES[2:]:
            table.add(f"{size:,}", "ancestor", "not tried", "", "", "")
    return [table]


def _ours(setting, harness):
    """Start-up, peak memory, steps per second."""
    start, _ = ours.search(harness, "--tests", 1, "--length", 1)
    tests = 50 if setting.quick else 5000
    done, report = ours.search(harness, "--tests", tests)
    return start.cpu, done.peak, report["steps"] / max(done.cpu - start.cpu, 1e-6)


def _ancestor(setting, folder, size):
    """Compilation, start-up, peak memory, steps per second."""
    place = folder / f"ancestor_{size}"
    place.mkdir()
    harness = place / "chosen.tstl"
    harness.write_text(CHOSEN.format(values=size // 10), encoding="utf-8")
    limit = 90
    compiled = setting.ancestor.compile(harness, coverage=False, limit=limit)
    if compiled.too_long:
        return f"more than {limit} s", "", "", ""
    try:
        compiled.or_complain()
        options = ["--noCover", "--depth", 100]
        one, many = 1, 20 if setting.quick else 200
        runs = [
            setting.ancestor.rt(place, *options, "--maxTests", tests, limit=limit).or_complain()
            for tests in (one, many)
        ]
    except Failed as failed:
        return f"{compiled.cpu:.2f} s", str(failed).splitlines()[-1][:60], "", ""
    pace = (many - one) * 100 / max(runs[1].cpu - runs[0].cpu, 1e-6)
    memory = max(compiled.peak, *(done.peak for done in runs))
    return f"{compiled.cpu:.2f} s", f"{runs[0].cpu:.2f} s", f"{memory:.0f} MB", page.rate(pace)


def _lengths(setting):
    table = page.Table(
        "Growth with the length of tests",
        "The AVL tree with properties, always the same number of steps in all.",
        ["steps of a test", *(tool.name for tool in (setting.ours, setting.ancestor) if tool)],
    )
    steps = 10_000 if setting.quick else 50_000
    for length in LENGTHS[:2] if setting.quick else LENGTHS:
        works = {
            tool.name: lambda tool=tool, length=length: _pace(tool, steps // length, length)
            for tool in (setting.ours, setting.ancestor)
            if tool
        }
        results = alternately(min(3, setting.repeats), works)
        table.add(f"{length:,}", *(page.rate(median(rates)) for rates in results.values()))
    return table


def _pace(tool, tests, length):
    start, _ = tool.search("avl", 1, length=1)
    done, steps = tool.search("avl", tests, length=length)
    return steps / max(done.cpu - start.cpu, 1e-6)
