"""Compares the verdict of `testwright explore` on a generated system with the reference."""

import json
import random
import subprocess
from dataclasses import dataclass, field

from soundness import brute_force, systems

#: About how many tests the reference runs for a system.
RUNS = 4000
#: More states than any generated system has. An exploration that reaches them takes equal states for different ones.
MOST_STATES = 4000

#: Caveats that are part of the question.
HARMLESS_CAVEATS = {"filtered-states", "hash-order", "never-taken", "unchecked-properties"}


@dataclass
class Truth:
    """What the reference knows about a system."""

    depth: int  # the length up to which it ran all tests
    test: list = None  # a shortest failing test up to there
    walk: list = None  # a failing test beyond

    @property
    def shortest(self):
        return len(self.test) if self.test else None

    @property
    def fails(self):
        """The length of the shortest failing test that is known."""
        return len(self.test or self.walk or ()) or None


def truth(system, runtime, seed, runs):
    depth = brute_force.affordable_depth(len(system.steps), runs)
    test = brute_force.shortest_failure(runtime, depth)
    walk = None if test else runtime.failing_walk(random.Random(seed), 300, 30)
    return Truth(depth, test, walk)


@dataclass
class Answer:
    """What the command said."""

    status: int
    report: dict
    errors: str = ""

    @property
    def first_error(self):
        lines = [line for line in self.errors.splitlines() if line.startswith("error")]
        return "; ".join(lines[:1] or self.errors.splitlines()[:2])

    @property
    def has_caveats(self):
        """Whether the answer names something that it does not cover, apart from what was asked for."""
        caveats = self.report.get("caveats", ())
        return any(caveat["kind"] not in HARMLESS_CAVEATS for caveat in caveats)

    def tells(self, kind):
        """Whether the answer has a caveat of a kind."""
        return any(caveat["kind"] == kind for caveat in self.report.get("caveats", ()))

    @property
    def is_proof(self):
        return bool(self.report.get("complete")) and not self.report["failures"]


def explore(command, folder, *options):
    """Explores the system in a folder."""
    # On a busy machine, a step may take long. No system hangs.
    limits = ("--most-states", MOST_STATES, "--step-timeout", "60s")
    line = [*command, "explore", "system.tstl", "--json", *limits, *options]
    done = subprocess.run(
        list(map(str, line)), cwd=folder, capture_output=True, text=True, timeout=600
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {"failures": [], "complete": False}
    return Answer(done.returncode, report, done.stderr)


@dataclass
class Judgement:
    """Whether the command was right, and how much it knew."""

    wrong: str = ""  # the class of the mistake
    detail: str = ""
    is_settled: bool = False  # a proof, or a failure that is real
    tests: list = field(default_factory=list)


def judge(answer, runtime, known, is_capturable, is_breadth=True, limit=None):
    """Compares an answer with what is known. `limit` is the length of the longest test that was asked for."""
    if answer.status not in (0, 1) or "internal error" in answer.errors:
        wrong = "error" if is_capturable or answer.status != 2 else ""
        return Judgement(wrong, f"exit status {answer.status}: {answer.first_error}")
    if answer.report["failures"]:
        claims_shortest = is_breadth and (is_capturable or not answer.has_caveats)
        return judge_failure(answer.report["failures"][0], runtime, known, claims_shortest)
    fails = known.fails
    if limit is not None:
        fails = fails if fails and fails <= limit else None
    if fails and answer.is_proof:
        return Judgement("missed", f"claims that no test fails; one fails after {fails} steps")
    covered = answer.report.get("all_tests_up_to")
    if fails and not answer.has_caveats and covered is not None and covered >= fails:
        return Judgement(
            "missed", f"claims all tests up to {covered} steps; one fails after {fails}"
        )
    if fails and known.shortest and is_capturable:
        return Judgement("unfound", f"says nothing of a failure after {fails} steps")
    return Judgement(is_settled=answer.is_proof or limit is not None)


def judge_failure(failure, runtime, known, claims_shortest):
    steps = failure["test"]
    taken = runtime.run(steps)
    if taken != len(steps):
        how = "does not fail" if taken is None else f"fails after {taken} steps"
        return Judgement("invented", f"{' | '.join(steps)} {how}", tests=steps)
    if claims_shortest and known.shortest and len(steps) > known.shortest:
        return Judgement("longer", f"{len(steps)} steps instead of {known.shortest}", tests=steps)
    assert not len(steps) <= known.depth or known.shortest, "the reference misses a failure"
    assert not known.shortest or len(steps) >= known.shortest, "the reference misses a failure"
    return Judgement(is_settled=True, tests=steps)


@dataclass
class SystemCase:
    """A generated system with what the reference knows about it."""

    seed: int
    design: systems.Design
    system: brute_force.System
    runtime: brute_force.Runtime
    known: Truth

    @property
    def tags(self):
        return self.design.tags

    @property
    def is_capturable(self):
        return self.design.is_capturable

    @property
    def is_proof_due(self):
        return not self.known.fails

    def write(self, folder):
        self.system.write(folder)

    def ways(self, is_thorough):
        """Returns ways to explore: options, whether they find shortest tests, and the longest tests they try."""
        ways = [((), True, None)]
        if is_thorough:
            some = min(self.known.depth, 3)
            ways += [
                (("--small-scope", some), True, some),
                (("--no-matching", "--depth", some), True, some),
                (("--order", "depth"), False, None),
                (("--order", "deepening"), True, None),
                (("--order", "best", "--heuristic", "0"), False, None),
                (("--going-back", "replay"), True, None),
                (("--going-back", "copy"), True, None),
                (("--symmetry",), True, None),
            ]
        return ways

    def ask(self, command, folder, way):
        options, is_breadth, limit = way
        answer = explore(command, folder, *options)
        is_answer = limit is None and answer.status in (0, 1)
        if self.design.is_abstract and is_answer and not answer.tells("abstraction"):
            return lambda: Judgement("untold", "says nothing of the abstraction")
        return lambda: judge(
            answer, self.runtime, self.known, self.is_capturable, is_breadth, limit
        )

    def __str__(self):
        holders = "; ".join(f"{one.kind_name} in {one.place_name}" for one in self.design.holders)
        lines = [f"seed {self.seed}: {holders} [{', '.join(self.tags)}]"]
        if self.known.fails:
            lines.append(f"    this fails: {' | '.join(self.known.test or self.known.walk)}")
        return "\n".join(lines)


def generate(seed, runs=RUNS):
    """Returns the case of a seed."""
    design, system = systems.generate(seed)
    runtime = system.fresh_runtime()
    return SystemCase(seed, design, system, runtime, truth(system, runtime, seed, runs))
