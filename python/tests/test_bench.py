"""The benchmarks measure what they claim: the same work on both sides, in the same order. No test measures time."""

import dataclasses
import importlib
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from soak import SOAK, often

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
NAMES = [path.stem for path in BENCH.iterdir() if path.suffix == ".py" or path.is_dir()]


@pytest.fixture
def bench(monkeypatch):
    """Returns a function that imports a module of the folder `bench`."""
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module
    for name in [name for name in sys.modules if name.split(".")[0] in NAMES]:
        del sys.modules[name]


@pytest.fixture
def setting(bench, tmp_path):
    """Prepares a quick setting without peers."""
    pytest.importorskip("sortedcontainers")
    return bench("setting").Setting.prepare(tmp_path / "work", tmp_path, True, install=False)


@pytest.mark.parametrize("system", ["avl", "sorted", "append"])
def test_the_straight_line_program_does_the_same_work(bench, setting, system):
    recording = bench("limit").Recording(setting, system)
    assert recording.steps == 5 * 100
    assert sum(len(steps) for steps in recording.saved) == recording.steps
    by_us, by_the_program = recording.properties()
    assert by_us == by_the_program > 0
    # The programs fail if a guard is false, a result differs from the reference, or a property does not hold.
    limit = bench("limit")
    programs = (limit.ALL, limit.CHANGED)
    turns = recording.beside("--no-reset", programs=programs)
    assert {name: len(times) for name, times in turns.items()} == dict.fromkeys(
        ("search", *programs), 1
    )
    assert all(seconds > 0 for times in turns.values() for seconds in times)


def test_different_work_is_detected(bench, setting):
    """Shows that the comparison can fail."""
    recording = bench("limit").Recording(setting, "append")
    by_us, by_the_program = recording.properties()
    text = recording.harness.read_text(encoding="utf-8")
    recording.harness.write_text(text + "\nproperty: <list>\n", encoding="utf-8")
    assert recording.properties() == (2 * by_us, by_the_program)
    with pytest.raises(bench("measure").Failed, match="not the same work: 1099 and 1100 steps"):
        recording.beside("--steps", 1099)


def test_the_text_of_a_straight_line_program(bench):
    straight_line = bench("straight_line")
    harness = straight_line.read(
        "@import shop\n"
        "pools:\n  <int> 2\n  <shop> 2 REF\n"
        "properties:\n  <shop>.is_sane()\n"
        "actions:\n"
        "  <int> := <[-1..9]>\n"
        "  <shop> := shop.Shop()\n"
        "  len(<shop,1>) > 0 -> {KeyError} ~<shop>.sell(<int>)\n"
        "references:\n  shop.Shop\\(\\) ==> []\n  sell ==> remove\n"
        "compares:\n  sell\n"
    )
    steps = ["int0 = -1", "shop1 = shop.Shop()", "shop1.sell(int0)", "int1 = 9"]
    every = straight_line.program(harness, [steps])
    assert (every.steps, every.properties) == (4, 3)
    check = "    if not shop1.is_sane(): raise AssertionError('shop1.is_sane()')\n"
    assert (
        "def test_0():\n"
        "    int0 = -1\n"
        "    shop1 = shop.Shop()\n"
        "    shop1_twin = []\n"
        f"{check}"
        "    if not (len(shop1) > 0): raise AssertionError('len(shop1) > 0')\n"
        "    try:\n"
        "        result = shop1.sell(int0)\n"
        "    except KeyError:\n"
        "        result = RAISED\n"
        "    try:\n"
        "        other = shop1_twin.remove(int0)\n"
        "    except Exception:\n"
        "        other = RAISED\n"
        "    if result != other: raise AssertionError('shop1.sell(int0)')\n"
        f"{check}"
        "    int1 = 9\n"
        f"{check}"
    ) in every.text
    changed = straight_line.program(harness, [steps], only_changed=True)
    assert (changed.steps, changed.properties) == (4, 2)


def test_every_tool_takes_the_steps_it_is_asked_for(bench, tmp_path):
    """Uses the peers that an earlier `make bench` installed, if there are any."""
    module = bench("setting")
    setting = module.Setting.prepare(tmp_path / "work", ROOT / "target" / "bench", True, False)
    for tool in setting.searchers():
        for system in bench("systems").SHARED:
            taken = [tool.search(system, 3, check=check, length=20)[1] for check in (True, False)]
            if tool is setting.hypothesis:
                # Hypothesis ends some tests early and makes others instead.
                assert min(taken) >= 20, system
            else:
                assert taken == [60, 60], (tool.name, system)


def test_every_seeded_bug_is_found(bench, setting):
    for bug in bench("systems").BUGS:
        assert setting.ours.find(bug, seed=1, seconds=20), bug


def test_a_section_is_replaced_and_the_newest_comes_first(bench):
    page = bench("page")
    text = ""
    for version, words in (("3.9", "Then."), ("3.12", ""), ("3.11", ""), ("3.9", "Now.")):
        text = page.with_section(text, version, page.section(version, words, []))
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "Python 3.12",
        "Python 3.11",
        "Python 3.9",
    ]
    assert "Now." in text and "Then." not in text
    assert text.startswith(page.INTRODUCTION)


def test_chapters_are_replaced_or_added_with_their_date(bench):
    page = bench("page")

    def section(facts, **tables):
        made = [page.Table(title, words, ["n"], [["1"]]) for title, words in tables.items()]
        return page.section("3.12", facts, made)

    text = page.with_section("", "3.12", section("Then.", First="old", Second="old"))
    other = page.with_section(text, "3.9", page.section("3.9", "Long ago.", []))
    text = page.with_chapters(other, "3.12", section("Now.", Second="new", Third="new"))
    sizes = "\n\n| n |\n| --- |\n| 1 |\n"
    assert text == (
        f"{page.INTRODUCTION}\n## Python 3.12\n\nThen.\n\n"
        f"### First\n\nold{sizes}\n"
        f"### Second\n\nNow.\n\nnew{sizes}\n"
        f"### Third\n\nNow.\n\nnew{sizes}\n"
        "## Python 3.9\n\nLong ago.\n"
    )
    again = page.with_chapters(text, "3.12", section("Then.", Second="old"))
    assert f"### Second\n\nold{sizes}" in again
    alone = page.with_chapters("", "3.12", section("Now.", Third="new"))
    assert alone.count("Now.") == 1


def test_any_number_of_workers_takes_the_same_steps(bench, setting):
    """Checks that the speeds of one and two workers can be compared."""
    for system in bench("workers").SYSTEMS:
        harness = setting.systems.harness(system)
        for jobs in (0, 1, 2):
            _, report = bench("ours").search(harness, "--jobs", jobs, "--tests", 6)
            assert (report["tests"], report["steps"]) == (6, 600), (system, jobs)


#: A stand-in for PyModel: for Python 2, without relative imports, with a function that Python 3.11 does not have.
ANALYZER = """
import inspect
states, graph = ['begin'], []
def explore(model, most):
    arguments = inspect.getargspec(explore)[0]
    while len(graph) < most:
        graph.append((0, (model.name, arguments), 0))
"""
PMA = """
import sys
import Analyzer
def main():
    most, name = sys.argv[2:]
    model = __import__(name)
    Analyzer.explore(model, int(most))
    print '%s transitions' % len(Analyzer.graph)
"""


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """Returns a function that puts a package like PyModel into the only folder where pip looks."""
    pytest.importorskip("pip")
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

    def put(setup):
        source = tmp_path / "PyModel-1.0"
        (source / "pymodel").mkdir(parents=True)
        texts = {"__init__": "", "pma": PMA, "Analyzer": ANALYZER}
        for name, text in texts.items():
            (source / "pymodel" / f"{name}.py").write_text(text, encoding="utf-8")
        (source / "setup.py").write_text(setup, encoding="utf-8")
        with tarfile.open(folder / "PyModel-1.0.tar.gz", "w:gz") as archive:
            archive.add(source, source.name)

    return put


@pytest.mark.parametrize(
    "setup",
    [
        "from distutils.core import setup\nsetup(name='PyModel', version='1.0', packages=['pymodel'])\n",
        "print 'only for Python 2'\n",
    ],
    ids=["works", "breaks"],
)
def test_pymodel_is_installed_whether_or_not_its_setup_works(bench, registry, tmp_path, setup):
    """Uses the translated PyModel, so that the test does not depend on an installed Python 2."""
    pymodel = bench("peers.pymodel")
    registry(setup)
    home = bench("peers").home(tmp_path / "bench", "models")
    pymodel._download(home)
    assert sorted(file.name for file in home.iterdir()) == ["original", "ready"]
    try:
        peer = pymodel._translated(home)
    except bench("measure").Failed as reason:
        assert sys.version_info >= (3, 13), reason
        return
    (tmp_path / "model.py").write_text("name = 'nothing'\n", encoding="utf-8")
    done = peer.explore(tmp_path, "model", 7, 60)
    assert (done.states, done.transitions) == (1, 7)
    assert done.peak > 0
    assert "translated" in peer.in_words()
    assert pymodel.prepare(tmp_path / "bench", install=False)[0]


def test_the_reason_for_a_missing_pymodel_is_reported(bench, registry, tmp_path):
    pymodel = bench("peers.pymodel")
    assert pymodel.prepare(tmp_path, install=False) == (None, "it is not installed")
    peer, reason = pymodel.prepare(tmp_path, install=True)
    assert peer is None
    assert re.match("pip could not download PyModel==1.0: .*No matching distribution", reason)


def test_a_broken_pymodel_leaves_the_rest_of_its_table(bench, setting):
    failed = bench("measure").Failed

    class Slow:
        def explore(self, folder, model, most, limit):
            return None

        def in_words(self):
            return "PyModel"

    class Broken(Slow):
        def explore(self, folder, model, most, limit):
            raise failed("exit status 1:\nImportError: no")

    for number, (peer, reason) in enumerate(
        [
            (Slow(), "PyModel took more than 600 s for 1 transitions."),
            (Broken(), "PyModel does not run: ImportError: no."),
        ]
    ):
        work = setting.work / str(number)
        changed = dataclasses.replace(setting, pymodel=peer, work=work)
        (table,) = bench("beside_pymodel").measure(changed)
        (row,) = table.rows
        assert row[:2] == ["1,000", "– (1)"] and all(row[2::3])
        assert table.notes[0] == reason


def test_both_explore_the_same_model(bench, tmp_path):
    """Uses the PyModel that an earlier `make bench` installed, if there is one."""
    models = bench("models")
    states = (3**4 - 1) // 2
    folder = models.prepare(tmp_path, 3)
    done = models.explore(folder)
    assert (done.states, done.transitions) == (states, 2 * (states - 1))
    part = models.explore(folder, 50)
    assert part.transitions == 50
    assert models.pace(folder, part, 1) > 0
    peer, _ = bench("peers.pymodel").prepare(ROOT / "target" / "bench", install=False)
    if peer:
        theirs = peer.explore(models.prepare(tmp_path / "other", 3), models.MODEL, 1_000, 60)
        assert (theirs.states, theirs.transitions) == (done.states, done.transitions)


def test_numbers_about_explorations(bench):
    models, pymodel = bench("models"), bench("peers.pymodel")
    same_size = bench("beside_pymodel").same_size
    least = pymodel.Explored(1, 1, 0.1, 20.0)
    most = pymodel.Explored(1_024, 3_000, 2.0, 30.0)
    assert models.bytes_per_state(most, least) == 10 * 1024
    assert models.bytes_per_state(least, most) == 0
    assert models.slower([80, 100, 90]) == pytest.approx(0.2)
    same_size(most, most)
    with pytest.raises(bench("measure").Failed, match="not the same work: 3000 and 1 transitions"):
        same_size(most, least)


def test_a_quick_run_writes_a_well_formed_page(tmp_path):
    pytest.importorskip("sortedcontainers")
    written = tmp_path / "page.md"
    command = [sys.executable, BENCH / "run.py", "--quick", "--no-install"]
    if not SOAK:
        command += ["--only", "growth"]
    done = subprocess.run(
        [*command, "--folder", tmp_path, "--page", written],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    well_formed(written.read_text(encoding="utf-8"), often(15, 1))
    if SOAK:
        assert "PyModel could not be compared with: it is not installed." in done.stdout
    assert done.stdout.strip() in written.read_text(encoding="utf-8")


def test_the_page_in_the_documentation_is_well_formed():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    # Only the chapters that depend on the interpreter have to be measured with each version.
    well_formed(page, 3)
    assert page.count("### Executions to shrink a failing test") > 0


def well_formed(text, least):
    """Checks that every section has every table, and every row as many cells as its head."""
    sections = re.split(r"^## Python \d+\.\d+\n", text, flags=re.MULTILINE)[1:]
    assert sections
    for section in sections:
        tables = re.findall(r"(?:^\|.*\|\n)+", section, re.MULTILINE)
        assert len(tables) == section.count("\n### ") >= least
        for table in tables:
            rows = [row.strip("|\n").split("|") for row in table.splitlines()]
            assert len(rows) > 2
            assert {len(row) for row in rows} == {len(rows[0])}, table
        for mark in re.findall(r" \((\d)\)", section):
            assert f"\n({mark}) " in section, f"there is no note {mark}"
