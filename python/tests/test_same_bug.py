"""One bug is one failure, in whatever ways it is seen, and two bugs stay two."""

import json

import pytest

CORRECT = {
    "add": "self.counts[x] = self.counts.get(x, 0) + 1",
    "merge": "self.counts = {x: self.counts.get(x, 0) + other.counts.get(x, 0)"
    " for x in {**self.counts, **other.counts}}",
    "count": "return self.counts.get(x, 0)",
    "total": "return sum(self.counts.values())",
    "least": "return min(self.counts.values(), default=0)",
}

BAG = """
import os, time

class {name}:
    def __init__(self):
        self.counts = {{}}
    def add(self, x):
        {add}
    def merge(self, other):
        {merge}
    def count(self, x):
        {count}
    def total(self):
        {total}
    def most(self):
        return max(self.counts.values(), default=0)
    def least(self):
        {least}
    def items(self):
        return sorted(self.counts.items())
    def text(self):
        return str(self.items())
"""

# A reference with other attributes: only observations can be compared.
LIST = """
class Right:
    def __init__(self):
        self.all = []
    def add(self, x):
        self.all.append(x)
    def merge(self, other):
        self.all = self.all + other.all
    def count(self, x):
        return self.all.count(x)
    def total(self):
        return len(self.all)
    def most(self):
        return max([n for _, n in self.items()], default=0)
    def least(self):
        return min([n for _, n in self.items()], default=0)
    def items(self):
        return sorted((x, self.all.count(x)) for x in set(self.all))
    def text(self):
        return str(self.items())
"""

REFERENCES = {"same": BAG.format(name="Right", **CORRECT), "list": LIST}

HARNESS = """\
@import bag
pool: <b> 2 REF
pool: <x> 2 CONST
<x> := <["p", "q"]>
<b> := bag.Bag()
~<b>.add(<x>)
~<b>.merge(<b>)
<b>.count(<x>)
<b>.total()
<b>.most()
<b>.least()
<b>.items()
<b>.text()
reference: bag\\.Bag ==> bag.Right
compare: count
compare: total
compare: most
compare: least
compare: items
compare: text
"""

MERGE_SELF = """if other is self:
            for x in list(self.counts)[:1]:
                self.counts[x] *= 2
            return
        for x, n in other.counts.items():
            self.counts[x] = self.counts.get(x, 0) + n"""


def write(testwright, bugs, reference="same", harness=HARNESS):
    bag = BAG.format(name="Bag", **{**CORRECT, **bugs})
    testwright.write("bag.py", bag + REFERENCES[reference])
    testwright.write("bag.tstl", harness)


def run(testwright, *options, tests=300):
    options = ("--seed", 1, "--tests", tests, "--keep-going", "--json", *options)
    return json.loads(testwright("run", "bag.tstl", *options, status=1).stdout)["failures"]


def triage(testwright, *options):
    arguments = ("testwright-out/bag", "--harness", "bag.tstl", *options)
    return testwright("triage", *arguments, status=1).stdout


@pytest.mark.soak(keep=2)
@pytest.mark.parametrize("jobs", [0, 1])
@pytest.mark.parametrize("reference", REFERENCES)
def test_one_bug_seen_by_six_observers_is_one_failure(testwright, reference, jobs):
    write(testwright, {"merge": MERGE_SELF}, reference)
    (bug,) = run(testwright, "--jobs", jobs)
    assert bug.get("culprit") == "b0.merge(b0)"
    # Nothing is deleted: each way has its test.
    assert len(bug["also_seen_as"]) >= 3
    for way in [bug, *bug["also_seen_as"]]:
        assert (testwright.folder / way["file"]).exists()
    # All tests show it, as they were found and reduced.
    (group,) = json.loads(triage(testwright, "--json"))["groups"]
    assert group["culprit"] == "b0.merge(b0)"
    assert group["count"] == 2 * (1 + len(bug["also_seen_as"]))


def test_the_texts_name_the_culprit_and_have_no_holes(testwright):
    write(testwright, {"merge": MERGE_SELF})
    options = ("--seed", 1, "--tests", 300, "--keep-going", "--jobs", 1)
    out = testwright("run", "bag.tstl", *options, status=1).stdout
    assert "it goes wrong in step 6, `b0.merge(b0)`, which is seen by `b0.count(x0)`" in out
    assert "The same bug as failure 1, seen in another way: it goes wrong in `b0.merge(b0)`" in out
    assert ": 1 failure found\n  failure 1 came up in " in out
    assert "goes wrong in `b0.merge(b0)`, also seen as: failure 2, 3" in out
    out = triage(testwright)
    assert "tests: goes wrong in b0.merge(b0)\n" in out
    assert "gave ," not in out and "gave \n" not in out


@pytest.mark.parametrize("reference", REFERENCES)
def test_two_bugs_in_one_function_stay_two(testwright, reference):
    merge = MERGE_SELF + "\n            if n > 2:\n                self.counts[x] -= 1"
    write(testwright, {"merge": merge}, reference)
    bugs = run(testwright, "--jobs", 1)
    assert sorted(bug["culprit"] for bug in bugs) == ["b0.merge(b0)", "b0.merge(b1)"]
    assert len(json.loads(triage(testwright, "--json"))["groups"]) == 2


def test_two_bugs_on_two_ways_through_one_function_stay_two(testwright):
    add = """n = self.counts.get(x, 0)
        if n == 3:
            n = 5
        elif x == "q" and n == 1:
            n = 0
        self.counts[x] = n + 1"""
    write(testwright, {"add": add})
    start = 'x0 = "{0}"\nb0 = bag.Bag()\n'
    for observer in ["items", "total"]:
        first = start.format("q") + "b0.add(x0)\n" * 2
        second = start.format("p") + "b0.add(x0)\n" * 4
        for number, test in [(1, first), (2, second)]:
            text = f"{test}b0.{observer}()\n"
            testwright.write(f"testwright-out/bag/{observer}-{number}.test", text)
    groups = json.loads(triage(testwright, "--json"))["groups"]
    folder = "testwright-out/bag"
    assert sorted(group["tests"] for group in groups) == [
        [f"{folder}/items-1.test", f"{folder}/total-1.test"],
        [f"{folder}/items-2.test", f"{folder}/total-2.test"],
    ]


@pytest.mark.parametrize("reference", REFERENCES)
def test_wrong_observers_do_not_blame_the_step_before_them(testwright, reference):
    # Both are seen right after the same step, which is innocent.
    bugs = {
        "count": 'return self.counts.get(x, 0) + (x == "q" and x in self.counts)',
        "total": 'return sum(self.counts.values()) + ("q" in self.counts)',
    }
    write(testwright, bugs, reference)
    found = run(testwright, "--jobs", 1)
    assert sorted(bug["test"][-1] for bug in found) == ["b0.count(x0)", "b0.total()"]
    assert [bug.get("culprit") for bug in found] == [None, None]


def test_bugs_in_two_functions_stay_two(testwright):
    bugs = {"merge": MERGE_SELF, "count": "return min(self.counts.get(x, 0), 3)"}
    write(testwright, bugs)
    found = run(testwright, "--jobs", 1)
    assert [bug.get("culprit") for bug in found].count("b0.merge(b0)") == 1
    (other,) = (bug for bug in found if bug.get("culprit") is None)
    assert other["test"][-1] == "b0.count(x0)"


@pytest.mark.parametrize("end", ["os.abort()", "time.sleep(9)"])
def test_a_bug_that_also_ends_the_process_is_one_failure(testwright, end):
    # Only the bug leads to this state within few steps.
    least = f"""if self.counts.get("p") == 2 and self.counts.get("q") == 1 and self.merged:
            {end}
        return min(self.counts.values(), default=0)"""
    merge = "self.merged = self.merged or other is self\n        " + MERGE_SELF
    write(testwright, {"merge": merge, "least": least})
    bag = (testwright.folder / "bag.py").read_text()
    first = bag.replace("self.counts = {}", "self.counts, self.merged = {}, False", 1)
    testwright.write("bag.py", first)
    (bug,) = run(testwright, "--jobs", 1, "--step-timeout", "1s", tests=60)
    assert bug.get("culprit") == "b0.merge(b0)"
    kinds = {way["kind"] for way in bug["also_seen_as"]} | {bug["kind"]}
    assert kinds & {"crash", "hang"}


def test_without_a_reference_post_conditions_are_observers(testwright):
    harness = HARNESS.split("reference:")[0].replace(" REF", "")
    for name in ["most", "least"]:
        harness = harness.replace(f"<b>.{name}()\n", "")
    harness = harness.replace("<b>.total()", "<b>.total() => <b>.total() == <b>.adds")
    harness = harness.replace("<b>.items()", "<b>.items() => len(<b>.items()) == <b>.kinds")
    add = "self.adds += 1; self.kinds += x not in self.counts; " + CORRECT["add"]
    merge = """self.adds += other.adds
        self.kinds = len({*self.counts, *other.counts})
        if other is self:
            self.counts.popitem() if self.counts else None
            return
        for x, n in other.counts.items():
            self.counts[x] = self.counts.get(x, 0) + n"""
    write(testwright, {"add": add, "merge": merge}, harness=harness)
    bag = (testwright.folder / "bag.py").read_text()
    attributes = "self.counts, self.adds, self.kinds = {}, 0, 0"
    testwright.write("bag.py", bag.replace("self.counts = {}", attributes, 1))
    (bug,) = run(testwright, "--jobs", 1)
    assert bug.get("culprit") == "b0.merge(b0)"
    assert len(bug["also_seen_as"]) == 1


def test_a_known_bug_is_still_one_in_the_next_campaign(testwright):
    write(testwright, {"merge": MERGE_SELF})
    (bug,) = run(testwright, "--jobs", 1)
    options = ("--tests", 1, "--keep-going", "--json", "--jobs", 1)
    again = testwright("run", "bag.tstl", *options, status=1).stdout
    (known,) = json.loads(again)["failures"]
    assert known["culprit"] == "b0.merge(b0)"
    assert len(known["also_seen_as"]) >= len(bug["also_seen_as"])


def test_the_key_of_a_key_error_makes_no_second_bug(testwright):
    testwright.write("shop.py", "def find(x):\n    return {}[x]\n")
    harness = "@import shop\npool: <x> 1\n<x> := <['a','b','c']>\nshop.find(<x>)\n"
    testwright.write("shop.tstl", harness)
    options = ("--seed", 1, "--tests", 50, "--keep-going", "--json")
    (bug,) = json.loads(testwright("run", "shop.tstl", *options, status=1).stdout)["failures"]
    assert bug["times"] == 50


SHOP = """
def fail(message):
    raise AssertionError(message)

class Bag:
    def __init__(self):
        self.counts, self.log = {}, []
    def add(self, x):
        self.log.append(x)
        self.counts[x] = self.counts.get(x, 0) + 1
    def drop(self, x):
        if x in self.counts:
            del self.counts[x]  # all of them
            self.log.remove(x)
    def check(self):
        if sum(self.counts.values()) != len(self.log):
            CHECK
"""

CHECK = """\
@import bag
pool: <b> 1
pool: <x> 2 CONST
<x> := <["p", "q", "rr", "sss"]>
<b> := bag.Bag()
~<b>.add(<x>)
~<b>.drop(<x>)
<b>.check()
"""


@pytest.mark.parametrize("raises", ["raise AssertionError({})", "fail({})"])
def test_values_in_the_message_of_an_exception_make_no_second_bug(testwright, raises):
    message = """'{} of {}'.format(' and '.join(self.log), self.counts)"""
    testwright.write("bag.py", SHOP.replace("CHECK", raises.format(message)))
    testwright.write("bag.tstl", CHECK)
    (bug,) = run(testwright, "--jobs", 1, tests=60)
    assert "also_seen_as" not in bug and bug["times"] > 10
    assert len(json.loads(triage(testwright, "--json"))["groups"]) == 1


def test_the_same_message_from_two_places_is_two_bugs(testwright):
    check = "pass\n        if len(self.log) == 3:\n            fail('broken')"
    add = "self.log.append(x)\n        if x == 'q' and len(self.log) == 2: fail('broken')"
    bag = SHOP.replace("CHECK", check).replace("self.log.append(x)", add)
    testwright.write("bag.py", bag)
    testwright.write("bag.tstl", CHECK)
    found = run(testwright, "--jobs", 1, tests=60)
    assert sorted(bug["test"][-1] for bug in found) == ["b0.add(x0)", "b0.check()"]
    assert {bug["message"] for bug in found} == {"AssertionError: broken"}


LOOK_ALIKES = """if x == "p" and self.counts.get("p") == 1:
            self.counts["q"] = 7
        self.counts[x] = self.counts.get(x, 0) + 1
        if x == "q" and len(self.counts) == 2:
            self.counts["p"] = 9"""


@pytest.mark.soak(keep=2)
@pytest.mark.parametrize("options", [("--jobs", 0), ("--jobs", 1), ("--jobs", 2), ("--no-reduce",)])
def test_two_bugs_that_look_alike_stay_two(testwright, options):
    # Only one line compares, so that all failures have the same kind and the same line.
    names = ["total", "most", "least", "count", "text"]
    harness = "".join(
        line for line in HARNESS.splitlines(True) if not any(name in line for name in names)
    )
    write(testwright, {"add": LOOK_ALIKES}, harness=harness)
    found = run(testwright, *(options if "--jobs" in options else ("--jobs", 1, *options)))
    assert len(found) == 2
    assert all(".add(" in bug["culprit"] for bug in found)
    assert all((testwright.folder / bug["file"]).exists() for bug in found)
    assert len(json.loads(triage(testwright, "--json"))["groups"]) == 2


BUFFER = """
class Bag:
    def __init__(self):
        self.pending, self.out = [], []
    def push(self, x):
        self.pending.append(x)
        if len(self.pending) == 3:
            self.pending[0] = x
    def flush(self):
        self.out += self.pending
        self.pending = []
    def items(self):
        return list(self.out)
    def total(self):
        return "".join(self.out)

class Right(Bag):
    def push(self, x):
        self.pending.append(x)
"""

PUSH = """\
@import bag
pool: <x> 2 CONST
pool: <b> 2 REF
<x> := <["p", "q", "rr"]>
<b> := bag.Bag()
~<b>.push(<x>)
~<b>.flush()
<b>.items()
<b>.total()
reference: bag\\.Bag ==> bag.Right
compare: items
compare: total
"""


def test_the_culprit_is_the_first_step_that_spoils_contents(testwright):
    # No observer sees it before the next step.
    testwright.write("bag.py", BUFFER)
    testwright.write("bag.tstl", PUSH)
    (bug,) = run(testwright, "--jobs", 1, tests=60)
    assert bug["culprit"].startswith("b0.push(")
    (group,) = json.loads(triage(testwright, "--json"))["groups"]
    assert group["culprit"].startswith("b")


@pytest.mark.parametrize("reference", ["dict", "bag.Other"])
def test_constants_are_neither_culprits_nor_make_two_bugs(testwright, reference):
    bag = """
class Dict(dict):
    def setdefault(self, k, v):
        if len(self) == 2:
            dict.__setitem__(self, k, "wrong")
        return dict.setdefault(self, k, v)

class Other:
    def __init__(self):
        self.pairs = []
    def get(self, k):
        return dict(self.pairs).get(k)
    def setdefault(self, k, v):
        if self.get(k) is None:
            self.pairs.append((k, v))
    def values(self):
        return dict(self.pairs).values()
    def __len__(self):
        return len(self.pairs)
"""
    harness = """\
@import bag
pool: <x> 2 CONST
pool: <d> 2 REF
<x> := <["p", "q", "rr", "sss"]>
<d> := bag.Dict()
~<d>.setdefault(<x>, <x>)
<d>.get(<x>)
sorted(<d>.values())
reference: bag\\.Dict ==> REFERENCE
compare: get
compare: sorted
"""
    testwright.write("bag.py", bag)
    testwright.write("bag.tstl", harness.replace("REFERENCE", reference))
    (bug,) = run(testwright, "--jobs", 1, tests=60)
    assert ".setdefault(" in bug["culprit"]


def test_the_store_counts_bugs_as_run_does(testwright):
    write(testwright, {"merge": MERGE_SELF})
    (bug,) = run(testwright, "--jobs", 1)
    ways = len(bug["also_seen_as"])
    (campaign,) = json.loads(testwright("campaign", "list", "--json").stdout)["campaigns"]
    assert campaign["failures"] == 1
    shown = json.loads(testwright("campaign", "show", "--json").stdout)["failures"]
    assert len(shown) == 1 + ways
    others = [failure["same_bug_as"] for failure in shown if "same_bug_as" in failure]
    assert len(others) == ways and len(set(others)) == 1
    out = testwright("campaign", "show").stdout
    assert out.count(f"  the same bug as failure {others[0]}, seen in another way\n") == ways


QUEUE = """
items = []
def Put(x):
    items.append(x)
def PutEnabled(x):
    return len(items) < 4
def All():
    return list(items)
def Size():
    return len(items)
def Accepting():
    return True
def Reset():
    items.clear()
state = ("items",)
actions = (Put, All, Size)
enablers = {Put: (PutEnabled,)}
domains = {Put: {"x": ["ada", "bob", "cy"]}}
"""

QUEUE_STEPPER = """
got = []
calls = 0
def TestAction(name, args, expected):
    global calls
    calls += 1
    if name == "Put":
        got.append(args[0])
        if len(got) == 2:  # kept twice
            got.append(args[0])
    elif name == "All" and got != expected:
        texts = (calls, object(), " ".join(got), " ".join(expected))
        COMPLAIN("call %s, %s: %s is not like %s" % texts)
    elif name == "Size" and len(got) != expected:
        COMPLAIN("size\\n is " + "x" * len(got))
def Reset():
    got.clear()
"""


@pytest.mark.parametrize("complaint", ["return (", "raise LookupError("])
def test_the_text_of_a_stepper_makes_no_second_bug(testwright, complaint):
    testwright.write("Queue.py", QUEUE)
    testwright.write("Stepper.py", QUEUE_STEPPER.replace("COMPLAIN(", complaint))
    options = ("--seed", 1, "--tests", 40, "--keep-going", "--json", "--jobs", 1)
    done = testwright("run", "Queue", "--stepper", "Stepper", *options, status=1)
    (bug,) = json.loads(done.stdout)["failures"]
    assert bug["culprit"].startswith("Put(")
    assert len(bug["also_seen_as"]) == 1


def test_messages_have_no_holes(testwright):
    testwright.write(
        "bag.py",
        """
class Empty:
    def __repr__(self):
        return ""
class Long:
    def __repr__(self):
        return f"Long(\\n  {type(self).__mro__[-2].__name__},\\n)"
class Bag:
    def empty(self):
        return Empty()
    def long(self):
        return Long()
    def lines(self):
        raise ValueError("\\n\\nfirst\\nsecond")
class Right(Bag):
    pass
""",
    )
    testwright.write(
        "bag.tstl",
        """\
@import bag
pool: <b> 1 REF
<b> := bag.Bag()
<b>.empty()
<b>.long()
<b>.lines()
len("a") => False, "a\\n  b"
len("b") => False, ""
reference: bag\\.Bag ==> bag.Right
compare: empty
compare: long
""",
    )
    long = "Long( Long, )"
    assert sorted(bug["message"] for bug in run(testwright, "--jobs", 1, tests=60)) == [
        "ValueError: first …",
        "`b0.empty()` gave a value without text, the reference `b_REF0.empty()` gave a value"
        " without text",
        f"`b0.long()` gave {long}, the reference `b_REF0.long()` gave {long}",
        'after `len("a")`, `False` is false: a b',
        'after `len("b")`, `False` is false',
    ]
