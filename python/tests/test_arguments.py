"""Near misses on the command line, and the ways out that the answers name."""

import pytest


@pytest.fixture
def folder(testwright):
    """A folder with a file of each kind."""
    steps = "# testwright test 1\n# harness: stack.tstl\nstack0 = stack.Stack()\nstack0.top()\n"
    testwright.write("short.test", steps)
    testwright.write("saved/long.test", steps)
    testwright.write("stack.feature", "Feature: stack\n")
    testwright.write("test_short.py", "def test_short(): pass\n")
    testwright.write("app.py", "print('app')\n")
    testwright.write("log.jsonl", "{}\n")
    testwright.write("app.recording", "{}\n")
    return testwright


def refuse(command, line, *expected):
    done = command(*line.split(), status=2)
    assert done.stdout == ""
    for words in expected:
        assert words in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("stack.tstl", "run stack.tstl"),
        ("short.test", "replay short.test"),
        ("stack.py", "run stack.tstl"),
        ("rnu stack.tstl", "run stack.tstl"),
        ("repaly short.test -v", "replay short.test -v"),
        ("model tset Stack", "model test Stack"),
        ("replay stack.tstl", "run stack.tstl"),
        ("reduce stack.tstl", "run stack.tstl"),
        ("triage short.test stack.tstl", "run stack.tstl"),
        ("model test stack.tstl", "run stack.tstl"),
        ("capture stack.tstl", "run stack.tstl"),
        ("cover stack.tstl", "run stack.tstl"),
        ("mutate stack.tstl", "run stack.tstl"),
        ("run short.test", "replay short.test"),
        ("check short.test", "replay short.test"),
        ("expand short.test", "replay short.test"),
        ("explore short.test", "replay short.test"),
        ("explain short.test", "feature short.test"),
        ("check stack.py", "check stack.tstl"),
        ("replay stack.py", "run stack.tstl"),
        ("run stack.feature", "run stack.tstl"),
        ("run .", "run ./sound.tstl"),
        ("reduce saved", "reduce saved/long.test"),
        ("replay short.test --harness stack.feature", "replay --harness stack.tstl"),
    ],
)
def test_what_was_probably_meant(folder, line, meant):
    refuse(folder, line, f"help: did you mean `testwright {meant}`?")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("check app.py", "draft a harness that tests it with `testwright harness app.py`"),
        ("feature stack.tstl", "`testwright explain stack.tstl` explains it"),
        ("replay test_short.py", "run it with `pytest test_short.py`"),
        ("replay stack.feature", "`testwright measure stack.feature` measures how readable it is"),
        ("replay log.jsonl", "compare it with a model: `testwright conform MODEL log.jsonl`"),
        ("run log.jsonl", "compare it with a model: `testwright conform MODEL log.jsonl`"),
        ("explore log.jsonl", "compare it with a model: `testwright conform MODEL log.jsonl`"),
        ("run app.recording", "`testwright show` shows what was recorded"),
        (
            "run stack.tstl --strategy sequences --from app.py",
            "`testwright run --from` takes saved tests; `app.py` is Python code",
        ),
        ("compat nosuch", "the commands of `testwright compat` are `tstl`, `tstl_rt`, "),
        ("compat tstl_rtt", "did you mean `testwright compat tstl_rt`?"),
        ("fly", "`testwright help` lists the commands"),
        ("model Stack", "the commands of `testwright model` are `check`, `lint`, `test`"),
        ("run stack.tstl --sed 1", "a similar argument exists: '--seed'"),
    ],
)
def test_what_can_be_done_instead(folder, line, advice):
    refuse(folder, line, advice)


def test_the_kinds_are_named(folder):
    refuse(
        folder,
        "replay stack.tstl",
        "`testwright replay` takes saved tests; `stack.tstl` is a harness",
    )
    done = refuse(
        folder, "check short.test stack.tstl stack.feature", "`short.test` is a saved test"
    )
    assert "`stack.feature` is a feature" in done.stderr


@pytest.mark.parametrize("command", ["run", "explore", "quick"])
@pytest.mark.parametrize("name", ["stack.py", "stack"])
def test_python_code_that_is_no_model(folder, command, name):
    answer = f"help: did you mean `testwright {command} stack.tstl`?"
    done = refuse(folder, f"{command} {name}", f"there is no model in `{name}`", answer)
    assert done.stderr.count("error: ") == 1, done.stderr


def test_python_code_without_a_harness(folder):
    refuse(folder, "run app.py", "with `testwright harness app.py`")


def test_models_are_still_named_like_modules(folder):
    folder.write(
        "Light.py",
        "on = False\ndef Toggle():\n    global on\n    on = not on\n"
        "state = ('on',)\nactions = (Toggle,)\ninitial = 0\n",
    )
    folder.write("Light.tstl", "pool: <x> 1\n<x> := 1\n")
    folder.write("package/__init__.py", "")
    folder.write("package/test.py", (folder.folder / "Light.py").read_text())
    for name in ("Light", "Light.py", "package.test"):
        folder("run", name, "--tests", 1, "--seed", 1)


def test_a_harness_may_have_any_ending(folder):
    text = (folder.folder / "stack.tstl").read_text(encoding="utf-8")
    folder.write("stack.harness", text)
    folder("check", "stack.harness")
    folder("run", "stack.harness", "--seed", "1", "--tests", "20", "--no-store", status=1)


def test_a_misspelt_file_name(folder):
    folder.write("failure-1.full.test", "")
    for line, meant in [
        ("run stakc.tstl", "stack.tstl"),
        ("check ./stck.tstl", "./stack.tstl"),
        ("replay shrot.test", "short.test"),
        ("replay failure-1.ful.test", "failure-1.full.test"),
        ("capture ap.py", "app.py"),
    ]:
        refuse(folder, line, "error: there is no file", f"help: did you mean `{meant}`?")
    assert "help" not in refuse(folder, "replay other.test", "there is no file `other.test`").stderr


def test_a_failing_test_without_its_folder(folder):
    folder.write("testwright-out/stack/failure-1.test", "")
    meant = "help: did you mean `testwright-out/stack/failure-1.test`?"
    refuse(folder, "replay failure-1.test", "there is no file `failure-1.test`", meant)


def test_an_unknown_option_gets_no_advice_that_cannot_help(folder):
    done = refuse(folder, "run stack.tstl -t", "unexpected argument '-t'")
    assert "tip:" not in done.stderr


def test_names_of_files_with_blanks(folder):
    folder.write("my stack.tstl", "pool: <x> 1\n<x> := 1\n")
    done = folder("replay", "my stack.tstl", status=2)
    assert "did you mean `testwright run 'my stack.tstl'`?" in done.stderr


def test_a_script_needs_no_dashes(folder):
    assert folder("capture", "app.py").stdout == "app\n"


@pytest.mark.parametrize("option", ["--out", "--output", "-o"])
def test_one_spelling_of_the_output(folder, option):
    folder("reduce", "short.test", option, "reduced.test", status=1)
    folder("normalize", "short.test", option, "normal.test", status=1)
    folder("markov", "short.test", "--order", 1, option, "stack.markov")
    folder("standalone", "short.test", option, "test_it.py")
    folder("compile", "stack.tstl", option, "stack_sut.py")
    written = ("reduced.test", "normal.test", "stack.markov", "test_it.py", "stack_sut.py")
    assert all((folder.folder / name).is_file() for name in written)


@pytest.mark.parametrize("option", ["--out", "--write"])
def test_where_explanations_go(folder, option):
    folder("explain", "stack.tstl", option, "docs")
    assert (folder.folder / "docs/stack.explanation.md").is_file()


def test_old_spellings_are_not_shown(folder):
    for command in ("reduce", "normalize", "markov", "standalone", "compile", "explain"):
        shown = folder("help", command).stdout
        assert "--out <" in shown
        assert "--output" not in shown
        assert "--write" not in shown
