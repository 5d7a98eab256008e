"""Small stand-ins for behave and pytest-bdd, as far as generated step files use them.

They follow what the documentation of the two promises, and run features by the texts of their steps. The real ones are
not needed to see whether steps are found and do what they say.
"""

import os
import re
import sys
import types


def scenarios_of(path):
    """(name, steps) of each scenario, where a step is its keyword and text; rows of outlines become scenarios."""
    found, steps, headings = [], None, None
    keyword = None
    with open(path, encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            if line.startswith(("Scenario:", "Scenario Outline:")):
                steps, headings = [], None
                found.append((line.split(": ", 1)[1], steps, []))
            elif line.startswith("|") and steps is not None:
                cells = [
                    cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]
                ]
                if headings is None:
                    headings = cells
                else:
                    found[-1][2].append(dict(zip(headings, cells)))
            elif steps is not None and line.split(" ")[0] in ("Given", "When", "Then", "And"):
                word, text = line.split(" ", 1)
                keyword = keyword if word == "And" else word.lower()
                steps.append((keyword, text))
    for name, steps, rows in found:
        for row in rows or [{}]:
            filled = []
            for word, text in steps:
                for heading, cell in row.items():
                    text = text.replace(f"<{heading}>", cell)
                filled.append((word, text))
            yield name, filled


class FakeBehave:
    """Finds steps as behave does: the first pattern that matches the whole text, of any file in `steps`."""

    def __init__(self, folder):
        self.folder = folder
        self.steps = {"given": [], "when": [], "then": []}
        sys.modules.pop("testwright_step_bodies", None)
        module = types.ModuleType("behave")
        module.use_step_matcher = lambda name: self.use(name)
        for keyword in self.steps:
            setattr(module, keyword, self.decorator(keyword))
        self.module = module
        self.load()

    def use(self, name):
        assert name == "re"

    def decorator(self, keyword):
        def of_pattern(pattern):
            assert not pattern.startswith("^") and not pattern.endswith("$"), (
                "behave refuses anchors"
            )
            known = [other for other, _ in self.steps[keyword]]
            assert pattern not in known, f"behave refuses what it knows already: {pattern}"

            def register(function):
                self.steps[keyword].append((pattern, function))
                return function

            return register

        return of_pattern

    def load(self):
        before = sys.modules.get("behave"), list(sys.path)
        sys.modules["behave"] = self.module
        try:
            for name in sorted(os.listdir(self.folder / "steps")):
                path = self.folder / "steps" / name
                if name.endswith(".py"):
                    exec(
                        compile(path.read_text(encoding="utf-8"), str(path), "exec"),
                        {"__file__": str(path)},
                    )
            self.environment = {}
            path = self.folder / "environment.py"
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), self.environment)
        finally:
            sys.modules["behave"], sys.path[:] = before
            if before[0] is None:
                del sys.modules["behave"]

    def run(self, feature):
        """{name of scenario: the error it ended with, or None}."""
        results = {}
        for name, steps in scenarios_of(self.folder / feature):
            context = types.SimpleNamespace()
            context.feature = types.SimpleNamespace(filename=str(self.folder / feature))
            context.scenario = types.SimpleNamespace(name=name)
            self.environment["before_scenario"](context, context.scenario)
            results[name] = outcome(lambda context=context, steps=steps: self.all(context, steps))
        return results

    def all(self, context, steps):
        for keyword, text in steps:
            matches = (
                (re.fullmatch(pattern, text), function) for pattern, function in self.steps[keyword]
            )
            match, function = next(
                ((match, function) for match, function in matches if match), (None, None)
            )
            assert match, f"no step for {keyword} {text}"
            function(context, **match.groupdict())


class FakePytestBdd:
    """Finds steps as pytest-bdd does: a plain text matches itself, `parsers.re` in full."""

    def __init__(self, folder, name):
        self.folder = folder
        self.steps = {"given": [], "when": [], "then": []}
        self.features = []
        module = types.ModuleType("pytest_bdd")
        module.scenarios = self.features.append
        module.parsers = types.SimpleNamespace(re=re.compile)
        for keyword in self.steps:
            setattr(module, keyword, self.decorator(keyword))
        before = sys.modules.get("pytest_bdd"), list(sys.path)
        sys.modules["pytest_bdd"] = module
        path = folder / name
        names = {"__file__": str(path)}
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        finally:
            sys.modules["pytest_bdd"], sys.path[:] = before
            if before[0] is None:
                del sys.modules["pytest_bdd"]
        self.fixture = names["kept"]

    def decorator(self, keyword):
        def of_text(text):
            def register(function):
                self.steps[keyword].append((text, function))
                return function

            return register

        return of_text

    def run(self):
        """{name of scenario: the error it ended with, or None}."""
        results = {}
        for feature in self.features:
            for name, steps in scenarios_of(self.folder / feature):
                kept = {"_scenario": name}
                results[name] = outcome(lambda kept=kept, steps=steps: self.all(kept, steps))
        return results

    def all(self, kept, steps):
        for keyword, text in steps:
            found = []
            for pattern, function in self.steps[keyword]:
                if pattern == text:
                    found.append((function, {}))
                elif not isinstance(pattern, str) and pattern.fullmatch(text):
                    found.append((function, pattern.fullmatch(text).groupdict()))
            assert len(found) == 1, f"{len(found)} steps for {keyword} {text}"
            function, groups = found[0]
            function(kept, **groups)


def outcome(action):
    try:
        action()
    except Exception as error:
        return error
    return None
