"""Simplifies a generated system about which the command is wrong, and prints it.

PYTHONPATH=python/tests python python/tests/soundness/simplify.py --command .venv/bin/testwright 17 42
"""

import argparse
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from soundness import agreement, systems


def smaller(design):
    """Yields simpler designs, the most radical changes first."""
    holders = design.holders
    for number in range(len(holders)):
        rest = [one for one in holders if one.number != number]
        if rest:
            yield replace(design, holders=renumbered(rest), shares=())
    for changes in (
        {"shares": ()},
        {"splits": False},
        {"style": "import"},
        {"detector": "property"},
    ):
        yield replace(design, **changes)
    for number, holder in enumerate(holders):
        for simpler in simpler_holders(holder):
            others = (*holders[:number], simpler, *holders[number + 1 :])
            yield replace(design, holders=others, shares=still_shared(design.shares, others))


def still_shared(shares, holders):
    """Leaves out holders that no longer have two slots to share something between."""
    return tuple(
        (first, second)
        for first, second in shares
        if first != second or systems.can_share_within(holders[first])
    )


def renumbered(holders):
    return tuple(replace(holder, number=number) for number, holder in enumerate(holders))


def simpler_holders(holder):
    plain = {
        "is_hidden": False,
        "resets": False,
        "raises": -1,
        "guarded": -1,
        "is_made": False,
        "slots": 1,
    }
    for name, value in plain.items():
        yield replace(holder, **{name: value})
    for change in holder.changes:
        if len(holder.changes) > 1:
            left = tuple(one for one in holder.changes if one != change)
            yield replace(holder, changes=left)
    places = ["slot", "global"] if holder.place.is_slot else ["global"]
    for place in places:
        yield replace(holder, place_name=place, is_made=holder.is_made and place == "slot")
    for kind in ("count", "list"):
        yield replace(holder, kind_name=kind, changes=(0, 1))


def mistake(command, design, target, options=()):
    """Returns the case and the judgement, if the command is wrong about it."""
    system = systems.build(design, target)
    runtime = system.fresh_runtime()
    known = agreement.truth(system, runtime, design.seed, agreement.RUNS)
    case = agreement.SystemCase(design.seed, design, system, runtime, known)
    with tempfile.TemporaryDirectory() as folder:
        case.write(Path(folder))
        judgement = case.ask(command, Path(folder), (options, True, None))()
    return (case, judgement) if judgement.wrong else None


def targets(design):
    """Returns some views that may be forbidden."""
    seeds = range(design.seed, design.seed + 4)
    chosen = [
        systems.choose_target(replace(design, seed=seed, target=kind))
        for seed in seeds
        for kind in systems.TARGETS[::3]
    ]
    return list(dict.fromkeys(chosen))


def simplify(command, seed, options=()):
    """Returns the simplest case found about which the command is wrong in the same way."""
    design = systems.design(seed)
    best = mistake(command, design, systems.choose_target(design), options)
    if best is None:
        return None
    kind = best[1].wrong
    tried = set()
    progress = True
    while progress:
        progress = False
        for candidate in smaller(best[0].design):
            if candidate == best[0].design or candidate in tried:
                continue
            tried.add(candidate)
            found = next(
                filter(
                    None, (mistake(command, candidate, one, options) for one in targets(candidate))
                ),
                None,
            )
            if found and found[1].wrong == kind:
                best, progress = found, True
                break
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default=f"{sys.executable} -m testwright")
    parser.add_argument("--options", default="", help="further options of explore")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("seeds", type=int, nargs="+")
    given = parser.parse_args()
    command = [os.path.abspath(word) if "/" in word else word for word in given.command.split()]
    for seed in given.seeds:
        found = simplify(command, seed, tuple(given.options.split()))
        if found is None:
            print(f"seed {seed}: no mistake")
            continue
        case, judgement = found
        print(f"{case}\n    {judgement.wrong}: {judgement.detail}\n\n{case.system.harness}")
        for name, text in case.system.texts.items():
            print(f"--- {name}\n{text}")
        if given.write:
            case.write(Path(given.write))


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    main()
