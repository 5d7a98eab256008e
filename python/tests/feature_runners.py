"""Parses features with four Gherkin parsers, and runs them with behave and pytest-bdd."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import behave.parser
import gherkin.parser
import pytest_bdd.parser

#: The environment without the variables of the surrounding pytest run.
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def read_by_all(path):
    """Returns the scenarios of a feature file as `(name, description, steps, rows)`, after checking that all parsers agree.

    A step is its keyword, `given`, `when` or `then`, and its text.
    """
    path = Path(path)
    official = by_cucumber(path)
    assert official, f"{path.name} has no scenarios"
    assert by_behave(path) == official
    assert rust_reader() is None or by_rust(path) == official
    # pytest-bdd keeps neither headings apart from rows nor the indentation of a description.
    assert by_pytest_bdd(path) == official
    return official


def by_cucumber(path):
    """Parses a feature with the parser of the Cucumber project."""
    feature = gherkin.parser.Parser().parse(path.read_text(encoding="utf-8"))["feature"]
    found = []
    for child in feature["children"]:
        inner = child["rule"]["children"] if "rule" in child else [child]
        found.extend(part["scenario"] for part in inner)
    return [
        (
            scenario["name"],
            lines(scenario["description"]),
            steps((step["keyword"], step["text"]) for step in scenario["steps"]),
            [
                [cell["value"] for cell in row["cells"]]
                for examples in scenario["examples"]
                for row in examples["tableBody"]
            ],
        )
        for scenario in found
    ]


def by_behave(path):
    feature = behave.parser.parse_file(str(path))
    return [
        (
            scenario.name,
            lines("\n".join(scenario.description)),
            steps((step.keyword, step.name) for step in scenario.steps),
            [
                list(row.cells)
                for examples in getattr(scenario, "examples", [])
                for row in examples.table.rows
            ],
        )
        for scenario in feature.walk_scenarios(with_outlines=True)
        # behave lists an outline, then a scenario for each of its rows.
        if not getattr(scenario, "_row", None)
    ]


def by_pytest_bdd(path):
    feature = pytest_bdd.parser.FeatureParser(str(path.parent), path.name).parse()
    return [
        (
            scenario.name,
            lines(scenario.description),
            steps((step.keyword, step.name) for step in scenario.steps),
            [list(row) for examples in scenario.examples for row in examples.examples],
        )
        for scenario in feature.scenarios.values()
    ]


@functools.cache
def rust_reader():
    """Builds the program with the parser of the Rust crate. Returns its path, or None if cargo cannot build it."""
    if not shutil.which("cargo"):
        return None
    root = Path(__file__).resolve().parents[2]
    # With `--workspace`, cargo reuses the build of `cargo test`.
    workspace = ["--workspace", "--exclude", "testwright-extension"]
    command = ["cargo", "build", "--quiet", *workspace, "--example", "read_feature"]
    subprocess.run(command, cwd=root, check=True)
    return root / "target" / "debug" / "examples" / "read_feature"


def by_rust(path):
    done = subprocess.run([rust_reader(), path], capture_output=True, check=True)
    found = []
    for line in filter(None, done.stdout.decode("utf-8").split("\n")):
        kind, *parts = line.split("\t")
        if kind == "scenario":
            found.append((parts[0], [], [], []))
        elif kind == "description":
            found[-1][1].extend(parts if parts[0] else [])
        elif kind == "step":
            found[-1][2].append(tuple(parts))
        else:
            found[-1][3].append(parts)
    return found


def lines(description):
    return [line.strip() for line in description.splitlines() if line.strip()]


def steps(pairs):
    """Gives each step that begins with `And` the keyword of the step before."""
    found = []
    for keyword, text in pairs:
        word = keyword.strip().lower()
        found.append((found[-1][0] if word in ("and", "but") else word, text))
    return found


def run_behave(folder, feature):
    """Runs a feature with behave. Returns {name of a scenario or of a row of an outline: its failure message, or None}."""
    read_by_all(Path(folder) / feature)
    written = Path(folder) / "behave.json"
    done = start(
        ["behave", "--no-color", "--no-summary", "-f", "json", "-o", written, feature], folder
    )
    features = told(written, done)
    results = {}
    for part in features:
        for element in part["elements"]:
            inner = element["elements"] if element["type"] == "rule" else [element]
            for scenario in inner:
                results[scenario["name"]] = message(scenario["steps"])
    expected = 1 if any(results.values()) else 0
    assert results and done.returncode == expected, done.stdout + done.stderr
    return results


def run_pytest_bdd(folder, test):
    """Runs a feature with pytest-bdd. Returns {name of a scenario: its failure message, or None}; all rows of an outline share a name."""
    written = Path(folder) / "pytest-bdd.json"
    command = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "no:testwright"]
    # Unregistered marks are errors here, as in many projects.
    (Path(folder) / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers\nmarkers =\n    property: a\n    counterexample: b\n",
        encoding="utf-8",
    )
    done = start([*command, f"--cucumberjson={written}", test], folder)
    results = {}
    for part in told(written, done):
        read_by_all(Path(folder) / part["uri"].split("/")[-1])
        for scenario in part["elements"]:
            failed = message(scenario["steps"])
            results[scenario["name"]] = results.get(scenario["name"]) or failed
    expected = 1 if any(results.values()) else 0
    assert results and done.returncode == expected, done.stdout + done.stderr
    return results


def start(command, folder):
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=folder,
        env=PLAIN,
        capture_output=True,
        text=True,
        timeout=600,
    )


def told(written, done):
    assert written.exists(), done.stdout + done.stderr
    results = json.loads(written.read_text(encoding="utf-8"))
    written.unlink()
    return results


def message(steps):
    """Returns the message of the first step that did not pass."""
    for step in steps:
        result = step.get("result", {"status": "undefined"})
        if result["status"] != "passed":
            text = result.get("error_message", "")
            text = "\n".join(text) if isinstance(text, list) else text
            return f"{result['status']}: {step['name']}: {text}"
    return None
