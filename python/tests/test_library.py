"""A harness as an object: `testwright.load`, tests as values, and the scripts of the TSTL papers."""

import copy
import gc
import glob
import importlib
import random
import sys
import time
import weakref

import pytest
import testwright
from conftest import BUGGY, SOUND, STACK

COUNTER = """\
@import counter

pool: <int> 2
pool: <counter> 1 REF
pool: <name> 1 OPAQUE

property: <counter>.value < 90

<int> := <[1..9]>
<counter> := counter.Counter()
<name> := 'some name'
~<counter>.add(<int>)
{ValueError} <counter>.fail()
{!KeyError} <counter>.warn()
<counter>.get()

reference: counter.Counter ==> counter.Plain
compare: get
hint: <counter>.value
"""

COUNTER_MODULE = """\
class Plain:
    def __init__(self):
        self.value = 0

    def add(self, number):
        self.value += number

    def get(self):
        return self.value

    def fail(self):
        raise ValueError("no")

    def warn(self):
        raise KeyError("careful")

    def __eq__(self, other):
        return self.value == other.value

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


class Counter(Plain):
    def add(self, number):
        if self.value > 20:
            self.value += 1  # The bug.
        super().add(number)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "stack.py").write_text(STACK)
    (tmp_path / "stack.tstl").write_text(BUGGY)
    (tmp_path / "sound.tstl").write_text(SOUND)
    (tmp_path / "counter.py").write_text(COUNTER_MODULE)
    (tmp_path / "counter.tstl").write_text(COUNTER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sound(folder):
    return testwright.load("sound.tstl")


@pytest.fixture
def buggy(folder):
    return testwright.load("stack.tstl")


@pytest.fixture
def counter(folder):
    return testwright.load("counter.tstl")


def play(sut, *texts):
    """Takes steps by their texts. Returns true if all pass."""
    return all([sut.safely(sut.playable(text)) and sut.check() for text in texts])


def test_actions_are_values(sound):
    first, second = sound.enabled()[:2]
    assert str(first) == "int0 = 1" and repr(first) == "<int0 = 1>"
    assert first == sound.playable("int0 = 1") and first != second
    assert first < second and len({first, second, sound.playable("int0 = 1")}) == 2
    name, guard, act = first
    assert name == "self.p_int[0] = 1 " and guard() is True
    act()
    assert sound.p_int[0] == 1 and guard() is False
    assert first[0] == first.name and len(first) == 3
    with pytest.raises(IndexError, match="a name, a guard and an act"):
        first[5]


def test_tests_are_lists(sound):
    rgen = random.Random(1)
    test, passed = sound.make_test(20, rgen)
    assert passed is True and len(test) == 20 and isinstance(test, list)
    assert isinstance(test[2:5], testwright.Test) and isinstance(test + test, testwright.Test)
    assert isinstance([test[0]] + test[1:], testwright.Test) and [test[0]] + test[1:] == test
    assert str(test[:1]) == str(test[0])
    test[0] = sound.playable("int1 = 3")
    assert sound.replay(test) is True
    assert copy.copy(test) == test


def test_the_current_test_is_live_and_old_ones_stay(sound):
    test = sound.test()
    play(sound, "int0 = 1", "stack0 = stack.Stack()")
    assert list(map(str, test)) == ["int0 = 1", "stack0 = stack.Stack()"]
    sound.restart()
    assert len(test) == 2 and sound.test() == []


def test_a_failure_is_kept(buggy):
    assert play(buggy, "stack0 = stack.Stack()")
    assert buggy.failure() is None
    assert buggy.safely(buggy.playable("stack0.top()")) is False
    kind, value, traceback = buggy.failure()
    assert kind is IndexError and isinstance(value, IndexError) and traceback is not None
    assert buggy.error()[0] is IndexError and buggy.raised() is value
    assert "list index out of range" in buggy.failure_text
    with pytest.raises(IndexError):
        buggy.playable("stack0.top()")[2]()
    buggy.restart()
    assert buggy.failure() is None


def test_a_false_property_is_a_failure(counter):
    play(counter, "counter0 = counter.Counter()", "int0 = 9")
    counter.p_counter[0].value = 95
    assert counter.check() is False
    assert counter.failure()[0] is AssertionError
    assert "counter0.value < 90" in str(counter.failure()[1])


def test_expected_exceptions_warnings_and_references(counter):
    assert play(counter, "counter0 = counter.Counter()", "counter0.fail()")
    assert isinstance(counter.raised(), ValueError) and isinstance(counter.ref_raised(), ValueError)
    assert play(counter, "counter0.warn()")
    assert isinstance(counter.warning(), KeyError)
    counter.p_counter[0].value = 7
    assert not counter.safely(counter.playable("counter0.get()"))
    assert "the reference" in counter.failure_text


def test_states_are_copied_and_gone_back_to(counter):
    play(counter, "int0 = 4", "counter0 = counter.Counter()", "counter0.add(int0)")
    state = counter.state()
    play(counter, "counter0.add(int0)")
    assert counter.p_counter[0].value == 8 and state != counter.state()
    counter.backtrack(state)
    assert counter.p_counter[0].value == 4 and state == counter.state()
    assert counter.p_counter_REF[0].value == 4 and len(counter.test()) == 3
    play(counter, "counter0.add(int0)")
    counter.backtrack(state)
    assert counter.p_counter[0].value == 4, "a state can be gone back to again"
    counter.set_replay_backtrack(True)
    state = counter.state()
    counter.restart()
    counter.backtrack(state)
    assert counter.p_counter[0].value == 4 and len(counter.test()) == 3


def test_queries(counter):
    assert counter.sut_name() == "counter"
    assert counter.pools() == ["self.p_int", "self.p_counter", "self.p_counter_REF", "self.p_name"]
    assert counter.opaque() == ["self.p_name"]
    assert counter.pretty_name("self.p_int[1] + self.p_counter_REF[0]") == "int1 + counter_REF0"
    assert counter.pool_uses("self.p_int[1] = self.p_int[0]") == [
        ("self.p_int[1]", "1"),
        ("self.p_int[0]", "0"),
    ]
    get = counter.playable("counter0.get()")
    assert counter.action_class(get).strip() == "<counter>.get()"
    assert counter.get_ref_code(get) == "result_REF = self.p_counter_REF[0].get()"
    assert counter.get_ok_exceptions(counter.playable("counter0.fail()")) == "ValueError"
    assert counter.act_order(counter.playable("int0 = 1")) == 1
    assert counter.p_int_used == {0: True, 1: True}
    play(counter, "int0 = 4", "counter0 = counter.Counter()")
    assert counter.p_int_used == {0: False, 1: True} and counter.hints() == [0]
    empty, fresh = counter.get_pool_states()
    assert "self.p_int[1]" in empty and fresh[0] == "self.p_int[0]"
    assert ("self.p_int", "4") in counter.unique_vals()
    with pytest.raises(AttributeError, match="p_nothing"):
        _ = counter.p_nothing


def test_saved_tests_are_read_again(sound, folder):
    test, _ = sound.make_test(30, random.Random(3))
    sound.save_test(test, folder / "a.test")
    assert sound.load_test("a.test") == test
    assert sound.replayable(sound.capture_replay(test)) == test
    assert sound.replayable("") == []
    with pytest.raises(KeyError):
        sound.playable("int7 = 1")
    (folder / "bad.test").write_text("int0 = 1\nint7 = 1\n")
    with pytest.raises(KeyError, match="line 2"):
        sound.load_test("bad.test")
    sound.safely(test[0])
    sound.annotate("just so")
    assert sound.test()[0].note == "just so" and sound.test()[0][3] == "just so"
    sound.save_test(sound.test(), "b.test")
    assert sound.load_test("b.test")[0].note == "just so"


def test_choosing(sound):
    rgen = random.Random(7)
    chosen = {str(sound.random_enabled(rgen)) for _ in range(300)}
    assert chosen == set(map(str, sound.enabled()))
    only = sound.random_enabled(rgen, lambda action: action.text.endswith("= 4"))
    assert str(only) in {"int0 = 4", "int1 = 4"}
    assert sound.random_enabled(rgen, lambda action: False) is None
    assert len(set(sound.random_enableds(rgen, 5))) == 5
    found = sound.random_enabled_pred(rgen, 100, lambda action: "Stack" in action.text)
    assert "Stack" in found.text
    classes = sound.action_classes()
    probable = [(1.0, classes[1]), (0.0, classes[0])]
    assert "Stack" in sound.random_enabled_class_probs(rgen, probable).text
    sound.disable("self.p_int")
    assert all("Stack" in action.text for action in sound.enabled())
    assert "Stack" in sound.random_enabled(rgen).text
    sound.enable_all()
    assert len(sound.enabled()) == 12
    assert play(sound, "int0 = 1")
    assert "int0 = 2" not in map(str, sound.enabled())
    sound.relax()
    assert "int0 = 2" in map(str, sound.enabled())
    sound.stop_relax()
    assert "int0 = 2" not in map(str, sound.enabled())


def test_generators(sound):
    wanted = ["int0 = 3", "stack0 = stack.Stack()", "stack0.push(int0)"]
    test, passed = sound.make_test(3, generator=lambda number: sound.playable(wanted[number]))
    assert list(map(str, test)) == wanted and passed is True

    def alternate(state, sut):
        return sut.playable(wanted[state]), state + 1

    test, passed = sound.make_test(2, sgenerator=alternate, initial=0)
    assert list(map(str, test)) == wanted[:2]
    assert sound.make_test(5, generator=lambda number: None) == ([], "DEADLOCK")


def test_coverage_is_counted_by_step_by_test_and_in_all(sound):
    start = sound.all_branches()
    play(sound, "int0 = 1", "stack0 = stack.Stack()")
    assert sound.new_branches() and sound.new_branches() <= sound.curr_branches()
    assert sound.new_curr_branches() >= sound.new_branches()
    assert sound.all_branches() >= start | sound.curr_branches()
    file, (before, after) = sorted(sound.new_branches())[0]
    assert file.endswith("stack.py") and before < 0 < after
    play(sound, "int1 = 1")
    assert sound.new_branches() == set() == sound.new_statements()
    sound.restart()
    assert sound.curr_branches() == set() == sound.new_curr_branches()
    play(sound, "int0 = 1", "stack0 = stack.Stack()")
    assert sound.new_branches() == set() and sound.curr_branches()
    assert {file for file, _ in sound.all_statements()} == set(sound.module_locations())


def test_coverage_can_be_left_out(folder):
    sut = testwright.load("sound.tstl", coverage=False)
    assert not sut.measures_coverage
    with pytest.raises(RuntimeError, match="coverage=True"):
        sut.all_branches()


def test_reports(sound, folder, capsys):
    sound.make_test(50, random.Random(1))
    assert 0 < sound.report("coverage.txt") <= 100
    assert "stack.py" in (folder / "coverage.txt").read_text()
    assert sound.html_report("html") == sound.report("coverage.txt")
    assert (folder / "html/index.html").exists()
    sound.internal_report()
    assert "stack.py ARCS:" in capsys.readouterr().out


def test_predicates_of_coverage(sound):
    test, _ = sound.make_test(40, random.Random(5), check_prop=False)
    branches = sound.curr_branches()
    covers = sound.covers_branches(branches)
    assert covers(test) and not covers(test[:1])
    assert sound.covers_same(test)(test) and sound.covers_statements(set())([])


def test_errors_are_reported(folder):
    with pytest.raises(FileNotFoundError, match="nothing.tstl"):
        testwright.load("nothing.tstl")
    (folder / "bad.tstl").write_text("pool: <x> 2\n<y> := 3\n")
    with pytest.raises(testwright.HarnessError, match="no pool named `<y>`"):
        testwright.load("bad.tstl")
    (folder / "worse.tstl").write_text("@import nowhere\npool: <x> 1\n<x> := 1\n")
    with pytest.raises(testwright.HarnessError, match="nowhere"):
        testwright.load("worse.tstl")
    with pytest.raises(ValueError, match="checks must be one of"):
        testwright.load("sound.tstl", checks="some")
    sut = testwright.load("sound.tstl")
    with pytest.raises(TypeError, match="a step of a test is an action"):
        sut.safely("int0 = 1")


def test_an_action_of_another_object_is_found_by_its_text(folder):
    one, other = testwright.load("sound.tstl"), testwright.load("sound.tstl")
    action = one.playable("int0 = 2")
    assert other.safely(action) and other.p_int[0] == 2 and one.p_int[0] is None
    assert action != other.playable("int0 = 2")


def test_the_caller_keeps_its_process(folder, capsys):
    random.seed(1)
    expected = random.Random(1).random()
    sut = testwright.load("sound.tstl")
    assert random.random() == expected
    print("still here")
    sut.restart()
    assert capsys.readouterr().out == "still here\n"


def test_ctrl_c_reaches_the_caller(folder):
    (folder / "impatient.tstl").write_text("pool: <x> 1\n<x> := exec('raise KeyboardInterrupt')\n")
    sut = testwright.load("impatient.tstl")
    with pytest.raises(KeyboardInterrupt):
        sut.safely(sut.enabled()[0])


def test_a_system_that_exits_is_a_failure(folder):
    (folder / "leaving.tstl").write_text("pool: <x> 1\n<x> := exec('raise SystemExit(3)')\n")
    sut = testwright.load("leaving.tstl")
    assert sut.safely(sut.enabled()[0]) is False
    assert sut.failure()[0] is SystemExit


def test_an_object_in_use_refuses_other_calls(folder):
    """Covers code under test that calls the object that runs it, and calls from another thread."""
    (folder / "busy.tstl").write_text("@import holder\npool: <x> 1\n<x> := holder.use()\n")
    (folder / "holder.py").write_text("sut = None\ndef use():\n    return USES[0]()\nUSES = []\n")
    sut = testwright.load("busy.tstl", reset_modules=False)
    holder = sys.modules["holder"]
    action = sut.enabled()[0]
    for use in (sut.restart, sut.enabled, lambda: sut.playable("x0 = 1"), lambda: action.act()):
        holder.USES[:] = [use]
        sut.restart()
        assert sut.safely(action) is False
        assert sut.failure()[0] is RuntimeError and "in the middle of a step" in sut.failure_text
    holder.USES[:] = [lambda: 1]
    sut.restart()
    assert sut.safely(action), "afterwards it is as good as before"


def test_objects_are_released(folder):
    sut = testwright.load("sound.tstl")
    sut.make_test(5, random.Random(1))
    gone = weakref.ref(sut)
    del sut
    gc.collect()
    assert gone() is None


def test_the_module_that_scripts_import(folder, monkeypatch):
    (folder / "scripts").mkdir()
    assert testwright.main(["compile", "sound.tstl", "--out", "scripts/sut.py"]) == 0
    monkeypatch.syspath_prepend(folder / "scripts")
    sut = importlib.import_module("sut").sut()
    assert isinstance(sut, testwright.Sut) and sut.sut_name() == "sound"
    assert testwright.main(["compile", "sound.tstl", "--out", "sound.tstl"]) == 2
    assert testwright.main(["compile", "sound.tstl", "-c", "not a name"]) == 2
    sys.modules.pop("sut", None)


def failing_test(sut, length=60):
    """Returns a long test that fails in its last step."""
    for seed in range(100):
        test, passed = sut.make_test(length, random.Random(seed))
        if passed is False:
            return test
    raise AssertionError("nothing fails")


def test_reduction_by_any_predicate(buggy, counter):
    test = failing_test(buggy)
    short = buggy.reduce(test, buggy.fails)
    assert list(map(str, short)) == ["stack0 = stack.Stack()", "stack0.top()"]
    assert buggy.reduce(test, lambda test: buggy.fails_check(test)) == short

    test = failing_test(counter)
    both = lambda test: sum("add" in step.text for step in test) >= 2  # noqa: E731
    assert len(counter.reduce(test, both)) == 2
    for simpler in (counter.reduce, counter.normalize):
        with pytest.warns(RuntimeWarning, match="does not satisfy"):
            assert simpler(test, lambda test: False) == test

    def angry(test):
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        counter.reduce(test, angry)


def test_reduction_for_coverage(sound):
    test, _ = sound.make_test(80, random.Random(1), check_prop=False)
    branches = sound.curr_branches()
    short = sound.reduce(test, sound.covers_branches(branches))
    assert len(short) < 12
    sound.replay(short)
    assert sound.curr_branches() >= branches


def test_normalize_and_generalize(counter, capsys):
    tests = [
        counter.reduce(failing_test(counter, length), counter.fails_check) for length in (60, 90)
    ]
    normal = [counter.normalize(test, counter.fails_check) for test in tests]
    assert normal[0] == normal[1] and counter.fails_check(normal[0])
    text = counter.generalize(normal[0], counter.fails_check)
    assert "#  or " in text and capsys.readouterr().out.strip() == text.strip()


def test_several_reductions_and_essential_steps(buggy):
    test = failing_test(buggy)
    short = buggy.reduce(test, buggy.fails)
    assert short in buggy.reductions(test, buggy.fails)
    dispensable, essential = buggy.reduce_essentials(short, test, buggy.fails)
    assert dispensable or essential


def test_tests_are_renamed_mutated_and_crossed(sound):
    test = sound.replayable("int1 = 3#!#!stack1 = stack.Stack()#!#!stack1.push(int1)")
    renamed = sound.alpha_convert(test)
    assert list(map(str, renamed)) == ["int0 = 3", "stack0 = stack.Stack()", "stack0.push(int0)"]
    assert sound.swap_pools(renamed, "int0", "int1")[0].text == "int1 = 3"
    assert sound.swap_pools(renamed, "int0", "int1", after=1)[0].text == "int0 = 3"
    with pytest.raises(ValueError, match="different pools"):
        sound.swap_pools(test, "int0", "stack0")
    rgen = random.Random(1)
    assert len(sound.mutate(test, rgen, Pinsert=1.0)) == 4
    assert len(sound.mutate(test, rgen, Pinsert=0.0)) == 3
    for two_point in (False, True):
        crossed = sound.crossover(test, renamed, rgen, twoPoint=two_point)
        assert set(crossed) <= set(test) | set(renamed)


# The scripts printed in the papers, with Python 3 syntax and smaller numbers.


def test_the_random_tester(counter, capsys):
    sut, rgen = counter, random.Random(3)
    NUM_TESTS, TEST_LENGTH = 10, 200
    for _t in range(0, NUM_TESTS):
        sut.restart()
        for _s in range(0, TEST_LENGTH):
            action = sut.randomEnabled(rgen)
            r = sut.safely(action)
            if len(sut.newBranches()) > 0:
                print(time.time(), "NEW BRANCHES:", sut.newBranches())
            if (not r) or (not sut.check()):
                pred = sut.failsCheck if r else sut.fails
                print("TEST FAILED:", sut.error())
                R = sut.reduce(sut.test(), pred)
                N = sut.normalize(R, pred)
                sut.generalize(N, pred)
                break
        else:
            continue
        break
    out = capsys.readouterr().out
    assert "NEW BRANCHES:" in out and "TEST FAILED:" in out and "# STEP 0" in out


def test_the_interactive_session(sound, capsys):
    sut, r = sound, random.Random(8)
    (t1, ok) = sut.makeTest(100, r)
    assert ok is True
    sut.prettyPrintTest(t1)
    assert "# STEP 99" in capsys.readouterr().out
    place = next(number for number, step in enumerate(t1) if step.text.startswith("int0 = "))
    t1[place] = sut.playable(t1[place][0].replace(t1[place].text[-1], "5"))
    (t2, ok) = sut.makeTest(100, r)
    t3 = t1 + t2
    sut.replay(t3)
    bc = sut.currBranches()
    t4 = sut.reduce(t3, sut.coversBranches(bc))
    assert len(t4) < 20


def test_the_loop_of_a_breadth_first_search(counter):
    visited, queue = {}, [counter.state()]
    for _ in range(3):
        sut = counter
        sut.backtrack(queue.pop(0))
        old = sut.state()
        for act in sut.enabled():
            sut.safely(act)
            new = sut.state()
            absNew = repr(sut.abstract(new))
            if absNew not in visited:
                queue.append(new)
                visited[absNew] = True
            sut.backtrack(old)
    assert len(visited) > 30


def test_the_strategy_that_extends_good_tests(sound):
    sut, rgen = sound, random.Random(2)
    MEMORY, PEXTEND, TEST_LENGTH, TIMEOUT = 5, 0.2, 20, 0.3
    goodTests = []
    startTime = time.time()
    while time.time() - startTime <= TIMEOUT:
        if (len(goodTests) > 0) and (rgen.random() < PEXTEND):
            sut.backtrack(rgen.choice(goodTests)[1])
        else:
            sut.restart()
        for _s in range(0, TEST_LENGTH):
            action = sut.randomEnabled(rgen)
            sut.safely(action)
            if len(sut.newBranches()) > 0:
                if MEMORY > 0:
                    goodTests.append((sut.currBranches(), sut.state()))
                    goodTests = sorted(goodTests, reverse=True)[:MEMORY]
    assert 0 < len(goodTests) <= MEMORY


def test_the_regression_runner(sound, folder, capsys):
    (folder / "regressions").mkdir()
    for number in range(3):
        test, _ = sound.make_test(10, random.Random(number))
        sound.saveTest(test, folder / f"regressions/{number}.test")
    sut = sound
    failed = 0
    total = 0
    for testFile in glob.glob("regressions/*.test"):
        t = sut.loadTest(testFile)
        total += 1
        if sut.failsAny(t):
            failed += 1
            print(testFile, "FAILED:", sut.failure())
    print(total, "TESTS EXECUTED")
    print(failed, "TESTS FAILED")
    print(len(sut.allBranches()), "BRANCHES COVERED")
    print(len(sut.allStatements()), "STATEMENTS COVERED")
    print(sut.report("coverage.txt"), "% STATEMENTS COVERED")
    out = capsys.readouterr().out
    assert "3 TESTS EXECUTED\n0 TESTS FAILED\n" in out and "BRANCHES COVERED" in out


def test_the_generator_that_repeats(sound):
    sut, r = sound, random.Random(4)

    def repeatGen(state, sut):
        (lastAction, r) = state
        if (lastAction is not None) and (len(sut.newBranches()) > 0) and (lastAction[1]()):
            return (lastAction, lastAction)
        newAction = sut.randomEnabled(r)
        return ((newAction, r), newAction)

    (t5, ok) = sut.makeTest(100, sgenerator=repeatGen, initial=(None, r))
    assert ok is True and len(t5) == 100
