"""Compares what `testwright explore` says about generated models with the reference."""

import json
import random
import subprocess
from dataclasses import dataclass, field

from soundness import formulas, model_systems
from soundness.agreement import Answer, Judgement
from soundness.model_reference import Graph


@dataclass
class ModelCase:
    """Models with their graph and a formula about them."""

    seed: int
    system: object
    graph: Graph
    formula: tuple
    atoms: list
    holds: bool = field(init=False)

    def __post_init__(self):
        self.holds = self.graph.holds(self.formula, self.atoms)

    @property
    def formula_text(self):
        return formulas.text(self.formula, [text for text, _ in self.atoms])

    @property
    def tags(self):
        tags = {"formula", *self.system.tags}
        tags |= {"invariant"} if self.graph.unsafe else set()
        tags |= {"dead states"} if self.graph.dead else set()
        return sorted(tags)

    @property
    def has_hidden_state(self):
        """Whether an action that is possible changes what is no state variable."""
        labels = {label[0] for steps in self.graph.edges.values() for label, _ in steps}
        return self.system.hidden in labels

    @property
    def is_capturable(self):
        return not self.system.hidden

    @property
    def is_proof_due(self):
        return self.is_capturable and not self.graph.unsafe and not self.graph.dead

    def write(self, folder):
        self.system.write(folder)

    def ways(self, is_thorough):
        """Returns ways to explore: options, and whether the exploration goes on after a violation."""
        whole = ("--keep-going", "--formula", self.formula_text)
        if not is_thorough:
            return [(whole, True)]
        names = sorted({one.name for actions in self.system.programs.values() for one in actions})
        left_out = ("--keep-going", "--exclude", names[self.seed % len(names)])
        return [((), False), (whole, True), (left_out, True)]

    def ask(self, command, folder, way):
        options, is_whole = way
        answer = explore(command, folder, self, *options)
        if "--exclude" in options:
            return lambda: judge_left_out(self, answer, options[-1])
        return lambda: judge(self, answer, is_whole)

    def __str__(self):
        return (
            f"seed {self.seed}: {' '.join(self.system.modules)} [{', '.join(self.tags)}]: "
            f"{len(self.graph.edges)} states, {len(self.graph.unsafe)} unsafe, {len(self.graph.dead)} dead"
        )


def generate(seed):
    """Returns the case of a seed: models whose invariants forbid something, and a formula."""
    rng = random.Random(seed + 1)
    system = model_systems.generate(seed)
    graph = Graph(system)
    system = system.forbidding(
        {name: forbidden(rng, graph, place) for place, name in enumerate(system.programs)}
    )
    graph = Graph(system)
    all_atoms = graph.atoms()
    atoms = rng.sample(all_atoms, min(3, len(all_atoms)))
    shape = formulas.usual_formula if rng.random() < 0.6 else formulas.random_formula
    return ModelCase(seed, system, graph, shape(rng, len(atoms)), atoms)


def forbidden(rng, graph, place):
    """Chooses a view of a program that its invariant forbids: mostly one far from the start, or none."""
    program = graph.programs[place]
    if rng.random() < 0.4:
        return "never"
    numbers = sorted({state[place] for state in graph.edges})
    if rng.random() < 0.3:
        numbers = range(len(program.states))  # Perhaps the scenario never lets it come to that.
    number = rng.choice(list(numbers)[len(numbers) // 2 :])
    view = program.states[number].view
    return view if view != program.states[0].view else "never"


def explore(command, folder, case, *options):
    line = [*command, "explore", *case.system.modules, "--json", "--most-states", "2000", *options]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=600)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {}
    return Answer(done.returncode, report, done.stderr)


def judge(case, answer, is_whole):
    """Compares an answer with the graph. `is_whole` if the exploration goes on after a violation."""
    graph = case.graph
    if answer.status not in (0, 1) or not answer.report:
        nothing = answer.status == 2 and not graph.edges[graph.start]
        return Judgement(
            "" if nothing else "error", f"exit status {answer.status}: {answer.first_error}"
        )
    if case.has_hidden_state:
        kinds = [caveat["kind"] for caveat in answer.report["caveats"]]
        # A search that ends at its first state has not taken the action yet.
        is_told = "outside-state" in kinds or answer.report["transitions"] == 0
        return Judgement("" if is_told else "hidden state", f"not told: {kinds}")
    found = judge_unsafe(graph, answer, is_whole)
    if not found.wrong and is_whole:
        found = judge_whole(case, answer)
    if not found.wrong:
        found.is_settled = bool(answer.report["complete"] or answer.report["unsafe"])
        found.tests = answer.report["unsafe"]
    return found


def judge_left_out(case, answer, name):
    """Compares an answer about the models without an action with their graph."""
    graph = Graph(case.system.without(name))
    if answer.status not in (0, 1) or not answer.report:
        nothing = answer.status == 2 and not graph.edges[graph.start]
        return Judgement("" if nothing else "error", f"exit status {answer.status}")
    kinds = [caveat["kind"] for caveat in answer.report["caveats"]]
    if "left-out-actions" not in kinds:
        return Judgement("left out", f"`{name}` was left out, and that is not told: {kinds}")
    if answer.report["complete"] and answer.report["states"] != len(graph.edges):
        return Judgement("count", f"{answer.report['states']} states instead of {len(graph.edges)}")
    return judge_unsafe(graph, answer, True)


def judge_unsafe(graph, answer, is_whole):
    report = answer.report
    shortest = min((graph.distance[state] for state in graph.unsafe), default=None)
    if not report["unsafe"]:
        if shortest is None:
            return Judgement()
        kind = "missed" if report["complete"] or not answer.has_caveats else ""
        return Judgement(kind, f"no unsafe state is told; one is {shortest} steps away")
    way = report["unsafe"][0]["way"]
    if all(graph.is_safe(state) for state in graph.follow(way)):
        return Judgement("invented", f"{' | '.join(way)} leads to no unsafe state")
    if len(way) > shortest:
        return Judgement("longer", f"{len(way)} steps to an unsafe state instead of {shortest}")
    if is_whole and report["complete"] and len(report["unsafe"]) != min(100, len(graph.unsafe)):
        return Judgement(
            "count", f"{len(report['unsafe'])} unsafe states instead of {len(graph.unsafe)}"
        )
    return Judgement()


def judge_whole(case, answer):
    graph, report = case.graph, answer.report
    if report["complete"]:
        wanted = {"states": len(graph.edges), "transitions": graph.transitions}
        wanted["accepting"] = sum(map(graph.is_accepting, graph.edges))
        for name, number in wanted.items():
            if report[name] != number:
                return Judgement("count", f"{report[name]} {name} instead of {number}")
        if len(report["dead"]) != min(100, len(graph.dead)):
            return Judgement(
                "dead", f"{len(report['dead'])} dead states instead of {len(graph.dead)}"
            )
    for dead in report["dead"]:
        if not set(graph.follow(dead["way"])) & set(graph.dead):
            return Judgement("dead", f"{' | '.join(dead['way'])} leads to no dead state")
    return judge_formula(case, answer)


def judge_formula(case, answer):
    text, report = case.formula_text, answer.report
    if report["formula"] == "holds" and not case.holds:
        return Judgement("formula missed", f"holds, it says: {text}")
    if report["formula"] == "violated":
        if case.holds:
            return Judgement(
                "formula invented", f"violated, it says: {text} by {report['violation']}"
            )
        if not case.graph.is_violated_by(case.formula, case.atoms, report["violation"]):
            return Judgement("formula run", f"{report['violation']} does not violate {text}")
    if report["formula"] not in ("holds", "violated") and not answer.has_caveats:
        return Judgement("formula open", f"{report['formula']} without a caveat: {text}")
    return Judgement()
