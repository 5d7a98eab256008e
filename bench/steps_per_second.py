"""Measures steps per second, with and without coverage and properties: Testwright, TSTL, Hypothesis."""

import page
from measure import alternately, median
from peers import tstl_tools
from setting import Pace
from systems import SHARED, SHOWN

#: (properties, coverage)
VARIANTS = [(True, False), (False, False), (True, True)]

SLOW_TRACER = "TSTL needs coverage.py 4.5.2, whose tracer in C cannot be built for this Python; it uses the one in Python."


def variants(system):
    """Returns the variants for a system. Those with coverage need code outside the harness."""
    return [variant for variant in VARIANTS if not variant[1] or system in ("avl", "sorted")]


def in_words(check, coverage):
    words = ["with properties" if check else "without properties"]
    return ", ".join(words + ["branch coverage"] * coverage)


def measure(setting):
    tools = setting.searchers()
    table = page.Table(
        "Steps per second",
        "Tests of 100 steps. The ratio in brackets is the speed of Testwright relative to the tool. A step of Hypothesis does about the same work as a step of the others: its state machines have the same actions, references and checks, but Hypothesis chooses among rules, the others among actions. Hypothesis does not measure coverage itself; it runs under coverage.py with branches.",
        ["system", "", *(tool.name for tool in tools)],
        words_in=2,
    )
    table.notes += setting.missing()
    for system in SHARED:
        shown = SHOWN[system]
        for check, coverage in variants(system):
            cells, paces = {}, {}
            for tool in tools:
                reason = tool.why_not(system, coverage)
                if reason:
                    cells[tool.name] = "not available" + table.note(reason + ".")
                else:
                    paces[tool.name] = Pace(setting, tool, system, check=check, coverage=coverage)
            taken = alternately(setting.repeats, paces)
            seconds = {name: median(measured) for name, measured in taken.items()}
            own = seconds.get(setting.ours.name)
            for name, value in seconds.items():
                cells[name] = page.rate(1 / value)
                if own and name != setting.ours.name:
                    cells[name] += f" ({page.times(value / own)})"
                if coverage and name == tstl_tools.NAME and not setting.tstl.has_c_tracer():
                    cells[name] += table.note(SLOW_TRACER)
            table.add(shown, in_words(check, coverage), *(cells[tool.name] for tool in tools))
    return [table]
