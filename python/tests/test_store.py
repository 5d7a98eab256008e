"""`testwright campaign`: a store is shown, exported and pruned; a bad one does no harm."""

import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sqlite3.sqlite_version_info < (3, 37),
    reason="this Python's SQLite is too old for strict tables",
)

SCHEMA = Path(__file__).resolve().parents[2] / "crates/campaign/src/store/schema.rs"
APPLICATION = 0x54577374
ESCAPE = "\x1b[2J\x1b]0;owned\x07"
TEST = "# testwright test 1\n# harness: stack.tstl\nstack0 = stack.Stack()\nstack0.top()\n"


def versions():
    """Returns the SQL statements of each version of the schema."""
    return [
        part.split('"', 2)[1]
        for part in SCHEMA.read_text(encoding="utf-8").split("const VERSION_")[1:]
    ]


def fill(database, harness="stack.tstl", message="IndexError: list index out of range"):
    database.execute(
        "INSERT INTO campaign (harness, digest, seed, words, version, python, jobs, started, ending, ended,"
        " noted, seconds, tests, steps, covered, streams) VALUES"
        " (?, 'd', '7', ?, '0.1.0', '3.12.1', 2, 1800000000000, 'complete', 1800000030000,"
        " 1800000030000, 30, 1234, 123400, 57, 4)",
        [harness, json.dumps(["run", harness, "--seed", "7"])],
    )
    for number, (seconds, covered) in enumerate([(0, 0), (1, 40), (10, 50), (30, 57)]):
        database.execute(
            "INSERT INTO standing VALUES (1, ?, ?, ?, 10, 100, 0, ?, 1)",
            [number, 1_800_000_000_000 + seconds * 1000, seconds, covered],
        )
    database.execute(
        "INSERT INTO failure (harness, found_in, found, seen, times, status, kind, message, signature,"
        " details, full_test, reduced_test) VALUES"
        " (?, 1, 1800000003000, 1800000009000, 12, 'open', 'uncaught-exception', ?, 's', ?, ?, ?)",
        [harness, message, "Traceback\n  more", "stack1 = stack.Stack()\n" + TEST, TEST],
    )
    database.execute("INSERT INTO sighting VALUES (1, 1, 12)")
    database.execute("INSERT INTO shared_text VALUES (1, 'stack.py'), (2, 'first')")
    database.execute("INSERT INTO place VALUES (1, 1, -4, 5, 2)")
    database.execute("INSERT INTO kept_test VALUES (1, ?, 1, ?, 3)", [harness, TEST])


class CraftedStore:
    """A store that is created without the command."""

    def __init__(self, testwright):
        self.testwright = testwright
        self.path = testwright.folder / ".testwright/store.db"
        self.path.parent.mkdir()

    def write(self, version=3, **words):
        first, *later = versions()
        with self.open() as database:
            database.executescript(first)
            fill(database, **words)
            for statements in later[: version - 1]:
                database.executescript(statements)
            database.execute(f"PRAGMA user_version = {version}")
            database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.close()
        return self

    def open(self):
        return sqlite3.connect(self.path)

    def change(self, statements):
        database = self.open()
        database.executescript(statements)
        database.close()

    def force(self, column, kind, statement):
        """Stores a value of the wrong type, which SQLite normally prevents."""
        database = self.open()
        database.execute("PRAGMA writable_schema = ON")
        database.execute(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, ?, ?), ') STRICT', ')')"
            " WHERE name = 'campaign'",
            [f"    {column} {kind} NOT NULL", f"    {column} BLOB NOT NULL"],
        )
        database.commit()
        database.close()
        database = self.open()
        database.execute(statement)
        database.commit()
        database.execute("PRAGMA writable_schema = ON")
        database.execute(
            "UPDATE sqlite_schema SET sql = replace(substr(sql, 1, length(sql) - 1), ?, ?) || ') STRICT'"
            " WHERE name = 'campaign'",
            [f"    {column} BLOB NOT NULL", f"    {column} {kind} NOT NULL"],
        )
        database.commit()
        database.close()

    def refused(self):
        """Checks that every command refuses the store and leaves it unchanged. Returns the message."""
        before = self.path.read_bytes() if self.path.is_file() else None
        words = set()
        for command in (["list"], ["show"], ["export"], ["prune", "--keep", 1], ["list", "--json"]):
            done = self.testwright("campaign", *command, status=2)
            assert done.stdout == ""
            assert "\x1b" not in done.stderr and "panicked" not in done.stderr
            words.add(done.stderr)
        assert before is None or self.path.read_bytes() == before
        assert len(words) == 1
        return words.pop()


@pytest.fixture
def store(testwright):
    return CraftedStore(testwright)


def test_nothing_yet(testwright):
    for command in (["list"], ["show"], ["export"], ["prune", "--keep", 1]):
        done = testwright("campaign", *command)
        assert done.stdout == "No campaigns yet in `.testwright/store.db`.\n"
    assert not (testwright.folder / ".testwright").exists()
    assert json.loads(testwright("campaign", "list", "--json").stdout) == {"campaigns": []}
    assert json.loads(testwright("campaign", "show", "--json").stdout) is None
    done = testwright("campaign", "list", "--store", "other.db", status=2)
    assert "there is no file `other.db`" in done.stderr
    testwright.write("other.db", "")
    done = testwright("campaign", "list", "--store", "other.db")
    assert done.stdout == "No campaigns yet in `other.db`.\n"


def test_list(store, testwright):
    store.write()
    lines = testwright("campaign", "list").stdout.splitlines()
    assert (
        lines[0].split() == "number begun harness seed tests steps reached failures state".split()
    )
    assert lines[1].split() == (
        "1 2027-01-15 08:00:00 stack.tstl 7 1,234 123,400 57 1 complete".split()
    )
    deep = testwright.folder / "deep/er"
    deep.mkdir(parents=True)
    below = type(testwright)(deep)
    listed = json.loads(below("campaign", "list", "--harness", "../../stack.tstl", "--json").stdout)
    assert listed["campaigns"][0]["tests"] == 1234
    done = below("campaign", "list", "--harness", "stack.tstl")
    assert done.stdout == "No campaigns yet of `stack.tstl`.\n"


def test_show(store, testwright):
    store.write()
    shown = testwright("campaign", "show").stdout
    for words in [
        "Campaign 1 of stack.tstl: complete\n",
        "command   testwright run stack.tstl --seed 7\n",
        "versions  Testwright 0.1.0, Python 3.12.1\n",
        "searched  30s\n",
        "made      1,234 tests, 123,400 steps, 0 deadlocks\n",
        "Failure 1: open, seen 12 times, last 2027-01-15 08:00:09 UTC\n"
        "  open      2027-01-15 08:00:03 UTC, campaign 1\n",
        "  1  stack0 = stack.Stack()\n  2  stack0.top()\n"
        "     uncaught exception: IndexError: list index out of range\n",
    ]:
        assert words in shown, shown
    assert shown == testwright("campaign", "show", 1).stdout
    report = json.loads(testwright("campaign", "show", "--json").stdout)
    assert [point["reached"] for point in report["curve"]] == [0, 40, 50, 57]
    assert report["failures"][0]["test"] == TEST
    done = testwright("campaign", "show", 2, status=2)
    assert "there is no campaign 2 in the store" in done.stderr


def test_export(store, testwright):
    store.write(harness="../../../escape")
    done = testwright("campaign", "export", "--corpus")
    folder = testwright.folder / "testwright-out/campaign-1"
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))
    assert written == ["corpus/test-1.test", "failure-1.full.test", "failure-1.test"]
    assert "testwright-out/campaign-1/failure-1.test: open, IndexError" in done.stdout
    assert "testwright-out/campaign-1/corpus: 1 kept test" in done.stdout
    assert (folder / "failure-1.test").read_text(encoding="utf-8") == TEST
    # An exported test can be replayed.
    testwright("replay", folder / "failure-1.test", "--harness", "stack.tstl", status=1)
    report = json.loads(testwright("campaign", "export", 1, "--json").stdout)
    assert report["places"] == [{"file": "stack.py", "from": -4, "to": 5, "test": "first"}]
    assert report["corpus"] == [{"test": TEST, "new": 3}]


def test_prune(store, testwright):
    store.write()
    done = testwright("campaign", "prune", status=2)
    assert "say what to delete" in done.stderr
    done = testwright("campaign", "prune", "--older-than", "30d", "--dry-run")
    assert done.stdout in {
        "There is nothing to delete.\n",
        "Would delete 1 campaign (1), 1 kept test.\n",
    }
    done = testwright("campaign", "prune", "--keep", 0, "--dry-run")
    assert done.stdout == "Would delete 1 campaign (1), 1 kept test.\n"
    assert "stack.tstl" in testwright("campaign", "list").stdout
    done = testwright("campaign", "prune", "--keep", 0)
    assert done.stdout.startswith("Deleted 1 campaign (1), 1 kept test.\nThe store takes ")
    assert "No campaigns yet" in testwright("campaign", "list").stdout
    with store.open() as database:
        assert database.execute("SELECT count(*) FROM failure").fetchone() == (1,)
    done = testwright("campaign", "prune", "--open")
    assert done.stdout.startswith("Deleted 1 failure (1).\n")


def test_a_campaign_that_was_killed(store, testwright):
    store.write().change("UPDATE campaign SET ending = NULL, ended = NULL")
    os.mkfifo(store.path.with_name("store.db-campaign-1"))
    assert "Campaign 1 of stack.tstl: broken off\n" in testwright("campaign", "show").stdout


def test_an_earlier_version_is_brought_up_to_date(store, testwright):
    store.write(version=1)
    assert "open      2027-01-15 08:00:03 UTC, campaign 1" in testwright("campaign", "show").stdout
    with store.open() as database:
        assert database.execute("PRAGMA user_version").fetchone() == (3,)


def test_a_newer_version_is_refused(store):
    store.write(version=4)
    words = store.refused()
    assert "was written by a newer Testwright: it has version 4 of the form" in words
    assert "help: update Testwright" in words


@pytest.mark.parametrize(
    "statement, what",
    [
        ("CREATE TABLE other (id)", "table `other`"),
        ("CREATE VIEW v AS SELECT load_extension('x')", "view `v`"),
        ("CREATE TRIGGER t AFTER DELETE ON failure BEGIN DELETE FROM campaign; END", "trigger `t`"),
        ("CREATE INDEX i ON failure (abs(id))", "index `i`"),
        (f'CREATE TABLE "{ESCAPE}\'; DROP TABLE campaign" (id)', "table `\\u{1b}[2J"),
        ("DROP TABLE place", "has no table `place`"),
        (
            "ALTER TABLE failure ADD COLUMN x TEXT GENERATED ALWAYS AS (upper(kind))",
            "table `failure`",
        ),
    ],
)
def test_foreign_schemas_are_refused(store, statement, what):
    store.write().change(statement)
    words = store.refused()
    assert "is not a store of Testwright" in words and what in words


def test_a_malformed_schema_is_refused(store):
    database = store.write().open()
    database.execute("PRAGMA writable_schema = ON")
    database.execute(
        "INSERT INTO sqlite_schema VALUES ('table', ?1, ?1, 3, 'CREATE TABLE of nonsense')",
        [ESCAPE],
    )
    database.commit()
    database.close()
    assert "is damaged: malformed database schema (\\u{1b}[2J" in store.refused()


def test_other_files_are_refused(store, testwright):
    generator = random.Random(1)
    for size in (1, 16, 100, 4096, 10_000):
        store.path.write_bytes(generator.randbytes(size))
        assert "is not a store of Testwright" in store.refused()
    store.path.unlink()
    store.change("CREATE TABLE mine (id)")
    assert "it has other data in it" in store.refused()
    store.path.unlink()
    store.path.mkdir()
    done = testwright("campaign", "list", "--store", store.path, status=2)
    assert "it is a folder" in done.stderr
    os.mkfifo(testwright.folder / "pipe")
    done = testwright("campaign", "list", "--store", "pipe", status=2)
    assert "it is no file" in done.stderr


def test_a_store_that_was_cut_off_is_an_error(store, testwright):
    whole = store.write().path.read_bytes()
    for length in (10, 99, 100, 1000, 4096, 8192, len(whole) - 4096):
        store.path.write_bytes(whole[:length])
        store.refused()
    store.path.write_bytes(whole)
    testwright("campaign", "list")


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_are_an_error_at_worst(store, testwright, seed):
    whole = store.write().path.read_bytes()
    generator = random.Random(seed)
    for _ in range(4):
        changed = bytearray(whole)
        for _ in range(generator.randrange(1, 30)):
            changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
        store.path.write_bytes(changed)
        for command in ("list", "show"):
            done = subprocess.run(
                testwright.line("campaign", command), cwd=testwright.folder, capture_output=True
            )
            assert done.returncode in {0, 2}, done.stderr
            assert b"internal error" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "column, kind, statement",
    [
        ("tests", "INTEGER", "UPDATE campaign SET tests = 'many'"),
        ("harness", "TEXT", "UPDATE campaign SET harness = 7"),
        ("harness", "TEXT", "UPDATE campaign SET harness = x'ff00'"),
        ("steps", "INTEGER", "UPDATE campaign SET steps = 1.5"),
    ],
)
def test_a_value_of_the_wrong_type_is_reported(store, column, kind, statement):
    store.write().force(column, kind, statement)
    words = store.refused()
    assert "is damaged" in words and f"campaign.{column}" in words


@pytest.mark.parametrize(
    "statement, what",
    [
        ("UPDATE campaign SET seed = 'seven'", "`campaign.seed` has no seed"),
        ("UPDATE campaign SET words = '{}'", "`campaign.words` has no list of words"),
        ("UPDATE campaign SET tests = -1", "`campaign.tests` has a negative number"),
        ("UPDATE campaign SET ending = 'x'", "`campaign.ending` has no way to end"),
        ("UPDATE campaign SET ended = NULL", "`campaign.ended` has nothing"),
        ("UPDATE campaign SET seconds = 9e999", "`campaign.seconds` has no number of seconds"),
        ("UPDATE campaign SET harness = CAST(x'ff' AS TEXT)", "`campaign.harness` has a text"),
        ("UPDATE campaign SET digest = hex(zeroblob(40000000))", "a value that is too long"),
    ],
)
def test_an_invalid_value_is_reported(store, statement, what):
    store.write().change(statement)
    assert what in store.refused()


def test_escape_sequences_and_sql_are_only_shown(store, testwright):
    hostile = ESCAPE + "'; DROP TABLE campaign; --\n\u202e"
    store.write(harness=hostile, message=hostile)
    store.change(
        f"UPDATE failure SET kind = '{ESCAPE}', details = '{ESCAPE}', reduced_test = '{ESCAPE}'"
    )
    store.change(f"UPDATE campaign SET version = '{ESCAPE}', python = '{ESCAPE}'")
    for command in ("list", "show", "export"):
        done = testwright("campaign", command)
        assert (
            "\x1b" not in done.stdout and "\x07" not in done.stdout and "\u202e" not in done.stdout
        )
        assert "\\u{1b}[2J" in done.stdout
    assert json.loads(testwright("campaign", "show", "--json").stdout)["harness"] == hostile
    assert "\x1b" not in testwright("campaign", "show", "--json").stdout


def test_strange_times_and_numbers_are_shown(store, testwright):
    most = 2**63 - 1
    store.write().change(
        f"UPDATE campaign SET started = {most}, tests = {most}, seconds = 1e300, jobs = 0;"
        f"UPDATE standing SET covered = {most}, seconds = 1e300 WHERE number = 3;"
        f"UPDATE failure SET times = {most}, found_in = -5"
    )
    for command in ("list", "show", "export"):
        done = subprocess.run(
            testwright.line("campaign", command),
            cwd=testwright.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode in {0, 2} and "internal error" not in done.stderr, done.stderr


def test_no_room_to_write(store, testwright):
    store.write()
    before = json.loads(testwright("campaign", "show", "--json").stdout)

    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = testwright("campaign", "prune", "--keep", 0, status=2, preexec_fn=no_room)
    assert "error: cannot" in done.stderr and "store.db" in done.stderr
    assert json.loads(testwright("campaign", "show", "--json").stdout) == before


def test_a_read_only_store_can_be_shown(store, testwright):
    store.write()
    store.path.chmod(0o444)
    store.path.parent.chmod(0o555)
    line = testwright.line
    if os.geteuid() == 0:
        # Root may write anywhere, unless it drops that capability.
        setpriv = shutil.which("setpriv") or pytest.skip("needs setpriv, or another user than root")
        testwright.line = lambda *words: [setpriv, "--bounding-set=-dac_override", *line(*words)]
    try:
        assert "stack.tstl" in testwright("campaign", "list").stdout
        done = testwright("campaign", "prune", "--keep", 0, status=2)
        assert "it can only be read" in done.stderr
    finally:
        store.path.parent.chmod(0o755)
