"""Explores many generated systems or models, and prints how often the command was right, for each tag.

PYTHONPATH=python/tests python python/tests/soundness/survey.py --command .venv/bin/testwright --to 1000
PYTHONPATH=python/tests python python/tests/soundness/survey.py --models --to 300
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from soundness import agreement, model_agreement


@dataclass
class Result:
    """The judgements on one case: of the first way to explore it, and then of the others."""

    case: object
    judgements: list  # pairs of options and judgement

    @property
    def first(self):
        return self.judgements[0][1]

    @property
    def wrong(self):
        return [(options, one) for options, one in self.judgements if one.wrong]

    def __str__(self):
        lines = [str(self.case)]
        for options, one in self.wrong:
            lines.append(f"    {' '.join(map(str, options)) or 'plain'}: {one.wrong}: {one.detail}")
        return "\n".join(lines)


def survey(command, cases, is_thorough, jobs=2):
    """Yields the results for some cases, in order. While one is judged, the command works on the next."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        waiting = []
        for case in cases:
            place = Path(folder) / str(case.seed)
            case.write(place)
            ways = case.ways(is_thorough(case.seed))
            waiting.append(
                (case, ways, [pool.submit(case.ask, command, place, way) for way in ways])
            )
            if len(waiting) > 3:
                yield judged(*waiting.pop(0))
        for one in waiting:
            yield judged(*one)


def judged(case, ways, answers):
    return Result(case, [(way[0], answer.result()()) for way, answer in zip(ways, answers)])


#: Tags of cases in which nothing is special.
NEUTRAL = {
    "slot",
    "plain",
    "list",
    "hidden",
    "guard",
    "exception",
    "formula",
    "invariant",
    "dead states",
}


class Table:
    """Counts results for each tag and for each way to explore."""

    COLUMNS = ("cases", "agreed", "settled", "proof due", "proved", "wrong")

    def __init__(self):
        self.rows = {}
        self.kinds = Counter()

    def add(self, result):
        case, first = result.case, result.first
        counts = Counter(
            {
                "cases": 1,
                "agreed": not result.wrong,
                "wrong": bool(result.wrong),
                "settled": first.is_settled,
                "proof due": case.is_proof_due,
                "proved": case.is_proof_due and first.is_settled and not first.tests,
            }
        )
        group = "capturable" if case.is_capturable else "not capturable"
        special = set(case.tags) - NEUTRAL
        only = [f"only {tag}" for tag in special if len(special) == 1]
        for tag in ("all", group, *case.tags, *only):
            self.rows.setdefault(tag, Counter()).update(counts)
        for options, one in result.judgements[1:]:
            options = " ".join(str(option) for option in options if str(option).startswith("--"))
            row = Counter(
                {
                    "cases": 1,
                    "agreed": not one.wrong,
                    "wrong": bool(one.wrong),
                    "settled": one.is_settled,
                }
            )
            self.rows.setdefault(options, Counter()).update(row)
        self.kinds.update({one.wrong for _, one in result.wrong})

    def __str__(self):
        head = f"{'tag':22}" + "".join(f"{column:>11}" for column in self.COLUMNS)
        first = ["all", "capturable", "not capturable"]
        tags = [tag for tag in first if tag in self.rows] + sorted(set(self.rows) - set(first))
        lines = [
            f"{tag:22}" + "".join(f"{self.rows[tag][one]:11}" for one in self.COLUMNS)
            for tag in tags
        ]
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        return "\n".join([head, *lines, f"kinds of mistakes: {kinds or 'none'}"])

    def as_json(self, wrong):
        """Returns what the tests need to know."""
        counts = self.rows.get("capturable", Counter())
        known = {
            "cases": self.rows["all"]["cases"],
            "due": counts["proof due"],
            "proved": counts["proved"],
        }
        return json.dumps({**known, "wrong": wrong, "table": str(self)})


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default=f"{sys.executable} -m testwright")
    parser.add_argument("--models", action="store_true", help="models instead of systems")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--to", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="*", help="only these")
    parser.add_argument(
        "--thorough", type=int, default=5, help="all ways for every so many cases; 0 for none"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--runs", type=int, default=agreement.RUNS, help="tests that the reference runs of a system"
    )
    parser.add_argument("--as-json", action="store_true")
    parser.add_argument("--write", metavar="FOLDER", help="only write the first case there")
    return parser.parse_args()


def main():
    given = parsed()
    numbers = given.seeds or range(given.first, given.to)
    cases = (
        model_agreement.generate(n) if given.models else agreement.generate(n, given.runs)
        for n in numbers
    )
    if given.write:
        case = next(cases)
        case.write(Path(given.write))
        print(case, getattr(case, "formula_text", ""))
        return
    command = [os.path.abspath(word) if "/" in word else word for word in given.command.split()]
    table, wrong = Table(), []

    def is_thorough(seed):
        return given.thorough > 0 and seed % given.thorough == 0

    for one in survey(command, cases, is_thorough, given.jobs):
        table.add(one)
        if one.wrong:
            wrong.append(str(one))
            print(one, file=sys.stderr if given.as_json else sys.stdout, flush=True)
    print(table.as_json(wrong) if given.as_json else table)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    main()
