"""Advanced methods of a harness object: swarms, exploration, rules, bytes, settings, determinism."""

import copy
import json
import random
import struct
import sys

import pytest
import testwright
from conftest import BUGGY, SOUND, STACK

LOGGED = """\
@import stack

pool: <int> 2
pool: <stack> 1 REF
pool: <secret> 1 OPAQUE

<int> := <[1..3]>
<stack> := stack.Stack()
<secret> := 'hidden'
{IndexError} <stack>.pop()
~<stack>.push(<int>) => len(<stack,1>.items) == pre<(len(<stack,1>.items))> + 1
<stack>.items #ESSENTIAL
<secret>.upper()

reference: stack.Stack ==> stack.Stack
log: 1 len(<stack>)
log: POST 2 <int>
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "stack.py").write_text(STACK)
    (tmp_path / "stack.tstl").write_text(BUGGY)
    (tmp_path / "sound.tstl").write_text(SOUND)
    (tmp_path / "logged.tstl").write_text(LOGGED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sound(folder):
    return testwright.load("sound.tstl")


@pytest.fixture
def buggy(folder):
    return testwright.load("stack.tstl")


@pytest.fixture
def logged(folder):
    return testwright.load("logged.tstl")


def play(sut, *texts):
    return all([sut.safely(sut.playable(text)) and sut.check() for text in texts])


def texts(test):
    return list(map(str, test))


# Swarms and probabilities.


def test_a_swarm_keeps_the_lines_that_others_need(sound):
    all_actions = len(sound.actions())
    push, made, filled = (
        next(text for text in sound.action_classes() if part in text)
        for part in ("push", "Stack()", "<int> :=")
    )
    sizes = set()
    for seed in range(30):
        sound.standardSwarm(random.Random(seed), P=0.3)
        config = sound.swarmConfig()
        assert {sound.actionClass(action) for action in sound.actions()} == set(config)
        assert push not in config or {made, filled} <= set(config)
        test, _ = sound.makeTest(20, random.Random(seed))
        assert {sound.actionClass(step) for step in test} <= set(config)
        sizes.add(len(config))
    assert len(sizes) > 1
    sound.enableAll()
    assert sound.swarmConfig() is None and len(sound.actions()) == all_actions


def test_a_swarm_by_probabilities_of_a_table_or_a_file(sound, folder):
    classes = sound.action_classes()
    table = {text: 1.0 if "pop" in text else 0.0 for text in classes}
    sound.standardSwarm(random.Random(1), classProb=table, noDependencies=True)
    assert sound.swarmConfig() == [text for text in classes if "pop" in text]
    sound.writeProbFile("probs.txt", table)
    assert sound.readProbFile("probs.txt") == table
    assert (1.0, sound.swarmConfig()[0]) in sound.readProbFile("probs.txt", returnList=True)
    sound.standardSwarm(random.Random(1), file="probs.txt", noDependencies=True)
    assert sound.swarmConfig() == [text for text in classes if "pop" in text]
    (folder / "bad.txt").write_text("<int> := <[1..5]>  %%%% often\n")
    with pytest.raises(ValueError, match="bad.txt, line 1: `often` is not a number of at least 0"):
        sound.readProbFile("bad.txt")
    with pytest.raises(OSError, match=r"missing\.txt"):
        sound.standardSwarm(random.Random(1), file="missing.txt")
    with pytest.raises(ValueError, match=r"no line `x\(\)` .*action_classes"):
        sound.standardSwarm(random.Random(1), classProb={"x()": 0.5})
    with pytest.raises(TypeError, match=r"random\.Random or None, not int"):
        sound.standardSwarm(1)
    with pytest.raises(ValueError, match="from 0 to 1, not 3"):
        sound.standardSwarm(random.Random(1), P=3)


def test_essential_lines_are_always_in(logged):
    for seed in range(10):
        logged.standardSwarm(random.Random(seed), P=0.1)
        assert set(logged.essentialClasses()) <= set(logged.swarmConfig())


def test_high_and_low_probabilities(sound):
    for probs in (
        sound.highLowSwarm(random.Random(3), P=0.5, highProb=0.8),
        sound.highLowClassProbs(random.Random(3), highProb=0.8),
    ):
        assert [text for _, text in probs] == sound.action_classes()
        assert sum(number for number, _ in probs) == pytest.approx(1)
        assert sound.randomEnabledClassProbs(random.Random(1), probs) is not None
    different = [
        len({number for number, _ in sound.highLowClassProbs(random.Random(seed), highProb=0.8)})
        for seed in range(20)
    ]
    assert set(different) == {1, 2}
    # With all classes in, or none, all have the same probability.
    for p in (0.0, 1.0):
        probs = sound.highLowClassProbs(random.Random(1), P=p)
        assert sum(number for number, _ in probs) == pytest.approx(1)


def test_probabilities_by_the_length_of_code(sound):
    import stack

    lengths = sound.codeLOCs()
    assert ("pop", 4, ["stack", "Stack"]) in lengths and ("push", 2, ["stack", "Stack"]) in lengths
    assert ("Stack", 2, ["stack", "Stack"]) in lengths
    assert sound.objCodeLOCs(stack.Stack, ["here"])[0][2] == ["here"]
    probs = {text.strip(): number for number, text in sound.codeLOCProbs(baseline=0.2)}
    assert probs["{IndexError} <stack>.pop()"] == pytest.approx(2 * probs["<stack>.push(<int>)"])
    assert probs["<int> := <[1..5]>"] == pytest.approx(0.2)
    measured = sound.codeLOCProbs(baseline=0.5, codeLOCs=[("pop", 1, [])])
    assert dict((text, number) for number, text in measured)[
        next(text for _, text in measured if "pop" in text)
    ] == pytest.approx(0.5)


def test_single_actions_are_switched_off(sound):
    sound.disable(r"self.p_int\[0\] = [1-4]")
    left = [text for text in texts(sound.actions()) if text.startswith("int0")]
    assert left == ["int0 = 5"]
    drawn = {str(sound.randomEnabled(random.Random(seed))) for seed in range(300)}
    assert "int0 = 5" in drawn and not drawn & {f"int0 = {n}" for n in range(1, 5)}
    sound.disable("self.p_stack")
    sound.disable(r"self.p_int\[1\]")
    assert {str(sound.randomEnabled(random.Random(seed))) for seed in range(50)} == {"int0 = 5"}
    mutant = sound.mutate([sound.playable("int1 = 3")], random.Random(2), Pinsert=0)
    assert texts(mutant) == ["int0 = 5"]
    sound.enableAll()
    assert len(sound.enabled()) == 12


def test_filters_and_candidates(sound):
    rgen = random.Random(1)
    candidates = [sound.playable("int0 = 1"), sound.playable("stack0.pop()")]
    for _ in range(10):
        assert sound.randomEnabled(rgen, enabledActs=candidates) == candidates[0]
    assert sound.randomEnabled(rgen, actFilter=lambda a: "pop" in a[0]) is None


# Exploration from a state.


def test_exploration_from_a_state(sound):
    play(sound, "int0 = 1", "stack0 = stack.Stack()")
    here, before = repr(sound.state()), texts(sound.test())
    covering = []
    assert sound.exploreFromHere(2, gatherCover=covering) is True
    assert repr(sound.state()) == here and texts(sound.test()) == before
    assert covering and all(texts(test[:2]) == before for test in covering)
    assert any("stack0.push(int0)" in texts(test) for test in covering)


def test_exploration_stops_at_a_failure_or_gathers_all(buggy):
    play(buggy, "stack0 = stack.Stack()")
    assert buggy.exploreFromHere(2) is False
    assert buggy.failure()[0] is IndexError and str(buggy.test()[-1]) == "stack0.top()"
    assert buggy.fails(buggy.test())
    buggy.restart()
    failing = []
    assert buggy.exploreFromHere(2, stopFail=False, gatherFail=failing) is True
    assert {tuple(texts(test)) for test in failing} == {
        (f"stack{n} = stack.Stack()", f"stack{n}.top()") for n in (0, 1)
    }
    assert all(buggy.fails(test) for test in failing)


def test_exploration_stops_at_new_coverage(sound):
    assert sound.exploreFromHere(1, stopCover=True) is False
    assert "Stack" in str(sound.test()[-1]) and sound.newBranches()


def test_exploration_visits_each_state_once_if_told_so(folder, capsys):
    equal = "\n    def __eq__(self, other):\n        return repr(self) == repr(other)\n"
    (folder / "stack.py").write_text(STACK + equal)
    sound = testwright.load("sound.tstl")

    def steps(**options):
        sound.restart()
        sound.disable(r"self.p_int\[1\]|self.p_stack\[1\]|self.p_int\[0\] = [2-5]")
        assert sound.exploreFromHere(4, verbose=True, **options)
        return capsys.readouterr().out.count("STEP ")

    every = steps()
    known, listed, keyed = set(), [], {}
    assert steps(visited=known) == steps(visited=listed) == steps(visited=keyed) < every
    assert len(known) == len(listed) == len(keyed) > 2
    assert steps(visited=listed) == 0, "all of it was visited"
    with pytest.raises(TypeError, match="a dictionary, a set or a list"):
        sound.exploreFromHere(1, visited=3)


def test_exploration_may_begin_with_the_last_action(buggy):
    play(buggy, "stack0 = stack.Stack()")
    buggy.exploreFromHere(1, reverse=True)
    assert texts(buggy.test()) == ["stack0 = stack.Stack()", "stack0.top()"]


# Reduction and its options.


def failing_test(sut):
    for seed in range(100):
        test, passed = sut.makeTest(40, random.Random(seed))
        if passed is False:
            return test
    raise AssertionError("nothing fails")


def test_arguments_are_taken_in_the_order_of_the_old_scripts(buggy):
    test = failing_test(buggy)
    short = buggy.reduce(test, buggy.fails, True, True)
    assert short[-1] == test[-1] and len(short) == 2
    assert buggy.reduce(test, buggy.fails, pruneGuards=True, keepLast=False, verbose=False) == (
        buggy.reduce(test, buggy.fails, tryFast=False)
    )
    assert buggy.normalize(short, buggy.fails, True, True, False, "FAST") == buggy.alphaConvert(
        short, verbose=True
    )
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        buggy.reduce(test, buggy.fails, keepFirst=True)


def test_reduction_prints_saves_and_stops(buggy, folder, capsys):
    test = failing_test(buggy)
    calls = []
    short = buggy.reduce(
        test,
        buggy.fails,
        verbose="VERY",
        testHandler=lambda: calls.append(len(calls)),
        saveIntermediate="step",
        findLocations=True,
    )
    assert "reduced to 2 steps" in capsys.readouterr().out and len(calls) > 3
    assert [test[int(step[3])] for step in short] == buggy.replayable(
        "#!#!".join(buggy.serializable(test[int(step[3])]) for step in short)
    )
    saved = sorted(folder.glob("step.*.test"))
    assert saved and all(buggy.fails(buggy.loadTest(file)) for file in saved)
    first = buggy.reduce(test, buggy.fails, stopFound=True)
    assert len(short) < len(first) < len(test) and buggy.fails(first)
    assert buggy.reduce(test[:1], lambda test: False) == test[:1], "too short to be asked"


def test_reduction_can_maximise_a_number(sound):
    test, _ = sound.makeTest(40, random.Random(1))
    share = lambda test: sum("push" in step.text for step in test) / max(len(test), 1)  # noqa: E731
    best = sound.reduce(test, share, amplify=True, amplifyReplications=2)
    assert share(best) > share(test)


def test_how_often_a_predicate_holds(sound):
    answers = iter([True, False] * 50)
    sometimes = lambda test: next(answers)  # noqa: E731
    assert sound.P([], sometimes, samples=10) == 0.5
    assert sound.forceP([], sometimes, P=0.5, samples=4, replications=3)
    assert not sound.forceP([], sometimes, P=0.6, samples=4)


def test_single_rules(buggy):
    test = buggy.replayable(
        "int1 = 4#!#!stack1 = stack.Stack()#!#!stack1.push(int1)#!#!stack1.pop()"
    )
    pushes = lambda test: any("push" in step.text for step in test)  # noqa: E731
    assert buggy.replacePoolStep(test, pushes, True, False) == (
        True,
        buggy.replayable("int0 = 4#!#!stack0 = stack.Stack()#!#!stack0.push(int0)#!#!stack0.pop()"),
    )
    changed, simpler = buggy.replaceSingleStep(test, pushes)
    assert changed and "int1 = 1" in texts(simpler)
    near = lambda test: pushes(test) and "int1 = 4" not in texts(test)  # noqa: E731
    assert buggy.replaceSingleStep(simpler, near, distLimit=0) == (False, simpler)
    changed, swapped = buggy.swapActionOrderStep(
        buggy.replayable("stack0 = stack.Stack()#!#!int0 = 1#!#!stack0.push(int0)"), pushes
    )
    assert changed and texts(swapped)[0] == "int0 = 1"
    twice = buggy.replayable("int0 = 2#!#!stack0 = stack.Stack()#!#!stack0.push(int0)#!#!int0 = 1")
    assert buggy.numReassigns(twice) == 1
    changed, once = buggy.noReassignStep(twice, lambda test: len(test) == 4)
    assert changed and buggy.numReassigns(once) == 0
    for name in ("replaceAllStep", "swapPoolStep", "reduceLengthStep"):
        changed, other = getattr(buggy, name)(test, pushes)
        assert pushes(other) and (changed or other == test), name
    with pytest.raises(ValueError, match='rule must be one of "NoReassigns", "SimplifyAll"'):
        buggy.apply_rule("Prettify", test, pushes)


def test_small_tools(buggy):
    test = buggy.replayable(
        "int0 = 1#!#!stack0 = stack.Stack()#!#!stack0.push(int0)#!#!stack0.pop()"
    )
    halves = buggy.testCandidates(test, 2)
    assert halves == [test[2:], test[:2]]
    assert [len(rest) for rest in buggy.testCandidates(test, 4)] == [3] * 4
    assert buggy.levDist("int0 = 1 ", "int1 = 12 ") == 2
    name = test[0][0]
    assert buggy.actionReplace(test[0], name, "self.p_int[0] = 2 ").text == "int0 = 2"
    assert buggy.actionReplace(test[1], name, "self.p_int[0] = 2 ") == test[1]
    assert buggy.actionModify(test[2], "[0]", "[1]").text == "stack1.push(int1)"
    with pytest.raises(KeyError):
        buggy.actionModify(test[2], "[0]", "[7]")
    assert list(buggy.powerset([1, 2])) == [(), (1,), (2,), (1, 2)]
    enabled = buggy.getEnabled(test, True)
    assert list(enabled) == [0, 1, 2, 3]
    assert "self.p_stack[0].push(self.p_int[0]) " not in enabled[1]
    assert "self.p_stack[0].push(self.p_int[0]) " in enabled[2]
    assert len(buggy.getEnabled(test, False)[0]) == len(buggy.actions())
    fresh = buggy.freshSimpleVariants(test[2][0], test[:2], {0: ["self.p_int[0] = 2 "]})
    assert all(step == test[2] for _, step in fresh)
    made = [str(action) for action, _ in fresh]
    assert "int0 = 3" in made and "int0 = 2" not in made and "stack0 = stack.Stack()" not in made
    buggy.clearNormalizationCache()


def test_equivalent_tests_are_collected(buggy):
    test = buggy.replayable("int0 = 1#!#!stack0 = stack.Stack()#!#!stack0.top()")

    def collect(**options):
        return buggy.generalize(test, buggy.fails, returnCollect=True, silent=True, **options)

    found, which, cloud = collect(targets=[], depth=0)
    assert (found, which) == (False, None) and len(cloud) > 4
    for text in cloud:
        assert buggy.fails(buggy.replayable(text)) and buggy.replayable(text) != test
    target = list(cloud)[3]
    assert collect(targets={target})[:2] == (True, target)
    larger = collect(depth=1, collected={"one": True})[2]
    assert set(cloud) | {"one"} < set(larger)


def test_a_property_reduced_by_the_wrong_predicate_is_warned_about(buggy):
    test = buggy.replayable("int0 = 1#!#!int1 = 2")
    with pytest.warns(RuntimeWarning, match="fails_check"):
        assert buggy.reduce(test, buggy.fails, True, True) == test
    with pytest.warns(RuntimeWarning):
        assert "int0 = 1" in buggy.generalize(test, buggy.fails, silent=True)


# Coverage.


def test_coverage_is_paused_and_forgotten(sound):
    sound.stopCoverage()
    play(sound, "stack0 = stack.Stack()")
    assert sound.newBranches() == set() == sound.currBranches()
    before = sound.allBranches()
    sound.startCoverage()
    play(sound, "int0 = 1", "stack0.push(int0)")
    assert sound.newBranches() and sound.currBranches() == sound.newCurrBranches()
    play(sound, "stack1 = stack.Stack()")
    assert sound.newBranches(), "what was touched in the pause is still new"
    kept = sound.currBranches()
    sound.stopCoverage()
    sound.startCoverage()
    assert sound.currBranches() == kept
    sound.cleanCov()
    assert sound.currBranches() == set() == sound.newCurrBranches() == sound.newStatements()
    assert sound.allBranches() >= before | kept
    sound.resetCov()
    assert sound.allBranches() == set() == sound.allStatements()
    play(sound, "stack0.push(int0)")
    assert sound.newBranches() == sound.allBranches() != set()
    sound.silenceCoverage()


def test_predicates_about_more_coverage(sound):
    one = sound.replayable("stack0 = stack.Stack()#!#!stack0.pop()")
    two = one + sound.replayable("int0 = 1#!#!stack0.push(int0)")
    more = sound.coversMoreThan(one, catchUncaught=True, checkProp=False)
    assert more(two) and not more(one)
    sound.replay(one)
    wanted = sound.currStatements(), sound.currBranches()
    assert sound.coversMore(*wanted)(two) and not sound.coversMore(*wanted)(one)
    assert sound.coversAll(*wanted, checkProp=True)(one)
    assert sound.coversUnique(("self.p_stack", "Stack([1])"))(two)
    assert not sound.coversUnique(("self.p_stack", "Stack([1])"))(one)
    assert len(sound.reduce(two + one, more)) < 6


def test_a_test_is_decomposed(sound):
    test, _ = sound.makeTest(60, random.Random(3))
    sound.replay(test)
    branches = sound.currBranches()
    parts = sound.coverDecompose(test, verbose=False)
    covered = set()
    for part in parts:
        assert len(part) < 10
        sound.replay(part)
        covered |= sound.currBranches()
    assert covered >= branches


# Bytes.


def test_tests_are_bytes(sound, folder):
    test, _ = sound.makeTest(10, random.Random(1))
    data = sound.testToBytes(test)
    assert len(data) == 10 and sound.bytesToTest(data) == test
    assert data[0] == sound.actions().index(test[0])
    assert sound.bytesToTest(bytes([255])) == [sound.actions()[255 % len(sound.actions())]]
    sound.saveTest(test, "a.afl", afl=True)
    assert (folder / "a.afl").read_bytes() == data
    assert sound.loadTest("a.afl", afl=True) == test
    with pytest.raises(FileNotFoundError, match=r"b\.afl"):
        sound.loadTest("b.afl", afl=True)


def test_bytes_of_many_actions_are_wider(folder):
    (folder / "many.tstl").write_text("pool: <x> 2\n<x> := <[1..300]>\n")
    sut = testwright.load("many.tstl")
    test = sut.replayable("x1 = 300")
    assert sut.testToBytes(test) == struct.pack("<H", 599)
    assert sut.bytesToTest(b"\x57\x02\x00") == test


def test_bytes_with_a_swarm_are_what_a_script_makes(sound):
    rgen = random.Random(77)
    sound.standardSwarm(rgen)
    config = sound.swarmConfig()
    test, _ = sound.makeTest(5, rgen)
    data = struct.pack("<L", 77) + sound.testToBytes(test)
    sound.enableAll()
    assert sound.bytesToTest(data, swarm=True) == test and sound.swarmConfig() == config
    with pytest.raises(ValueError, match="first four bytes"):
        sound.bytesToTest(b"ab", swarm=True)
    everything = sound.replayable("int0 = 1#!#!stack0 = stack.Stack()")
    sound.disable("self.p_stack")
    with pytest.raises(ValueError, match="enable_all"):
        sound.testToBytes(everything)


# Settings.


def test_verbose_steps(logged, capsys):
    logged.verbose(True)
    play(logged, "int0 = 1", "stack0 = stack.Stack()", "stack0.push(int0)", "secret0 = 'hidden'")
    play(logged, "stack0.pop()", "stack0.pop()")
    out = capsys.readouterr().out
    assert "ACTION: int0 = 1\nint0 = None : NoneType\n=> int0 = 1 : int\n" + "=" * 50 in out
    assert "stack0 = Stack([]) : Stack\nstack_REF0 = Stack([]) : Stack\n" in out
    assert "=> stack0 = Stack([1]) : Stack" in out
    assert "REFERENCE ACTION: stack_REF0.push(int0)" in out
    assert "=> secret0 = 'hidden' : str" in out
    raised = "<class 'IndexError'> pop from an empty stack"
    assert f"RAISED EXPECTED EXCEPTION: {raised}" in out
    assert f"REFERENCE ACTION RAISED EXCEPTION: {raised}" in out
    logged.restart()
    logged.verboseOpaque(False)
    play(logged, "secret0 = 'hidden'")
    assert "=> secret0" not in capsys.readouterr().out
    logged.verbose(False)
    play(logged, "int0 = 2")
    assert capsys.readouterr().out == ""


def test_logs_go_to_a_chosen_function(logged, capsys):
    steps = ("int0 = 1", "stack0 = stack.Stack()", "stack0.push(int0)")
    logged.setLog(1)
    play(logged, *steps)
    assert "[ LOG stack0.push(int0)  :  len(stack0)] 0" in capsys.readouterr().out
    heard = []
    logged.setLogAction(lambda name, code, value, after: heard.append((name, code, value, after)))
    logged.logAll()
    logged.restart()
    play(logged, *steps)
    assert ("stack0.push(int0)", "len(stack0)", 0, False) in heard
    assert ("stack0.push(int0)", "int0", 1, True) in heard
    assert capsys.readouterr().out == ""
    logged.setLogAction(None)
    logged.logOff()
    logged.restart()
    play(logged, *steps)
    assert capsys.readouterr().out == ""
    logged.logPrint("stack0.push(int0) ", "int0", 1, True)
    assert capsys.readouterr().out == "[ POST LOG stack0.push(int0)  :  int0] 1\n"
    with pytest.raises(ValueError, match='"All" or None, not "loud"'):
        logged.setLog("loud")
    with pytest.raises(TypeError, match="a log level is"):
        logged.setLog([])
    with pytest.raises(TypeError, match="a function of"):
        logged.setLogAction(3)


def test_a_log_action_that_raises_is_reported(logged, capsys, monkeypatch):
    unraised = []
    monkeypatch.setattr(sys, "unraisablehook", unraised.append)
    logged.setLogAction(lambda: None)
    logged.logAll()
    assert play(logged, "int0 = 1", "stack0 = stack.Stack()", "stack0.push(int0)")
    assert unraised and unraised[0].exc_type is TypeError


def test_modules_are_run_again_or_not(folder):
    (folder / "counting.py").write_text("import builtins\nbuiltins.runs += 1\n")
    (folder / "counting.tstl").write_text("@import counting\npool: <x> 1\n<x> := 1\n")
    import builtins

    builtins.runs = 0
    sut = testwright.load("counting.tstl")
    before = builtins.runs
    sut.restart()
    assert builtins.runs == before + 1
    sut.setReload(False)
    sut.restart()
    assert builtins.runs == before + 1
    sut.setReload(True)
    sut.restart()
    assert builtins.runs == before + 2
    del builtins.runs


def test_actions_that_are_not_enabled_may_be_refused(sound, capsys):
    push = sound.playable("stack0.push(int0)")
    assert sound.safely(push) is False and sound.failure() is not None
    sound.restart()
    sound.setDebugSafelyMode(True)
    assert sound.safely(push) is False and sound.failure() is None and sound.test() == []
    assert "WARNING: `stack0.push(int0)` is not enabled" in capsys.readouterr().out


def test_settings_without_effect_are_accepted(sound):
    for setting in ("EnumerateEnabled", "UseDependencies", "ActionApproximation", "FastPoolStates"):
        getattr(sound, f"set{setting}")(True)
    assert sound.randomEnabled(random.Random(1)) is not None


def test_a_violated_assumption_is_cleared(folder):
    (folder / "assuming.tstl").write_text(
        "pool: <x> 1\nassume: <x> != 2\n<x> := <[1..3]>\nrepr(<x>)\n"
    )
    sut = testwright.load("assuming.tstl")
    sut.safely(sut.playable("x0 = 2"))
    assert sut.enabled() == []
    sut.enableAllAssume()
    assert texts(sut.enabled()) == ["repr(x0)"]


def test_pre_and_post_conditions_of_a_line(logged):
    push = "self.p_stack[0].push(self.p_int[0]) "
    assert logged.getPreCode(push) == "len(stack0.items)"
    assert "pre<(" in logged.getPropCode(push)
    assert logged.getPreCode("int0 = 1") is None


# Steps in the form of old scripts.


def test_steps_may_be_tuples_of_their_parts(sound, folder):
    test = sound.replayable("int0 = 1#!#!stack0 = stack.Stack()#!#!stack0.push(int0)")
    tuples = [(name, guard, act) for name, guard, act in test]
    assert sound.replay(tuples) is True and sound.test() == test
    assert sound.reduce(tuples, lambda test: len(test) >= 2) != []
    sound.saveTest(tuples, "a.test")
    assert sound.loadTest("a.test") == test
    sound.restart()
    sound.safely((*tuples[0], "a remark"))
    assert sound.test()[0].note == "a remark"
    with pytest.raises(TypeError, match="an action of the system"):
        sound.replay([("int0 = 1",)])
    with pytest.raises(KeyError):
        sound.replay([("int9 = 1", None, None)])


def test_a_test_that_was_made_does_not_grow(sound):
    test, _ = sound.makeTest(3, random.Random(1))
    sound.safely(sound.playable("int1 = 2"))
    assert len(test) == 3 and len(sound.test()) == 4
    assert copy.deepcopy(test) == test == copy.copy(test)
    assert sound.bytesToTest(bytearray(sound.testToBytes(test))) == test


def test_making_tests_stops_when_it_should(sound):
    test, ok = sound.makeTest(50, random.Random(1), stopWhen=lambda: len(sound.test()) >= 3)
    assert ok is True and len(test) == 3
    assert sound.makeTest(5, random.Random(1), stopWhen=lambda: True) == ([], True)


# Determinism.


def test_nondeterminism_within_a_process(folder):
    (folder / "clock.py").write_text("import itertools\nnow = itertools.count().__next__\n")
    (folder / "clock.tstl").write_text(
        "@import clock\npool: <x> 1\n<x> := clock.now()\nrepr(<x>)\n"
    )
    sut = testwright.load("clock.tstl", reset_modules=False)
    test = sut.replayable("x0 = clock.now()#!#!repr(x0)")
    assert sut.nondeterministic(test, delay=0.0, tries=2, reportEqualFail=False)
    assert sut.stepNondeterministic(test, delay=0.0, pools=["self.p_x"])
    assert not sut.nondeterministic(test, delay=0.0, pools=[])


def test_nondeterminism_between_processes(folder):
    (folder / "process.tstl").write_text(
        "@import os\npool: <x> 1\npool: <y> 1\n<y> := object()\n<x> := 1\n<x> := os.getpid()\nrepr(<x>)\nrepr(<y>)\n"
    )
    sut = testwright.load("process.tstl")
    same = sut.replayable("y0 = object()#!#!x0 = 1#!#!repr(x0)")
    assert sut.findProcessNondeterminism(same) == -1, "an address makes no difference"
    differs = sut.replayable("y0 = object()#!#!x0 = os.getpid()#!#!repr(x0)")
    assert sut.findProcessNondeterminism(differs, ignoreExceptions=True, verbose=False) == 1
    assert sut.iterateFindProcessNondeterminism(differs, double=True) == 1
    assert sut.processNondeterministic(differs, iterate=True)
    assert not sut.processNondeterministic(same)
    (folder / "process.tstl").write_text("what is this")
    with pytest.raises(RuntimeError, match="cannot be run in a new process"):
        sut.findProcessNondeterminism(same)


def test_the_module_that_scripts_import_has_all_names(folder, testwright):
    """Runs a script that uses all names, in its own process."""
    from test_names import ALL, DELIBERATELY_ABSENT

    names = sorted(set(ALL) - set(DELIBERATELY_ABSENT))
    (folder / "script.py").write_text(
        "import json, random, sys\n"
        "import sut as SUT\n"
        "sut = SUT.sut()\n"
        "missing = [name for name in json.loads(sys.argv[1]) if not callable(getattr(sut, name, None))]\n"
        "(t, ok) = sut.makeTest(20, random.Random(1), stopFail=True, checkProp=True)\n"
        "print(missing, ok, len(t), sut.replay(t, catchUncaught=True, extend=False), sut.p_int_used[0])\n"
    )
    testwright("compile", "sound.tstl")
    done = testwright.python("script.py", json.dumps(names))
    assert done.stdout.startswith("[] True 20 True ")
