"""Recorded calls become unit tests that pass, check something, and keep the edits of users."""

import json
import re
import sys
import textwrap

import pytest
import soak
from terminal import run

ZOO = """\
import os
import random
import sys
import time
from dataclasses import dataclass, field
from enum import Enum

calls_made = 0
registry = {}


class AppError(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: int
    y: int = 0
    tags: list = field(default_factory=list)


class Plain:
    def __init__(self, name):
        self.name = name
        self.next = None


class Singleton:
    instance = None

    def __init__(self):
        Singleton.instance = self


class Cart:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, item):
        if len(self.items) >= 2:
            raise AppError(9, "full")
        self.items.append(item)
        return self

    @property
    def size(self):
        return len(self.items)

    @classmethod
    def of(cls, owner, *items):
        cart = cls(owner)
        for item in items:
            cart.add(item)
        return cart

    @staticmethod
    def price(item):
        return len(item) * 2

    def __len__(self):
        return len(self.items)


def count_call():
    global calls_made
    calls_made += 1
    return calls_made


def register(name, value):
    registry[name] = value


def swap_first(items):
    items[0], items[-1] = items[-1], items[0]
    return items


def classify(number):
    if number < 0:
        return "negative"
    if number == 0:
        return "zero"
    return "positive"


def guess(number):
    if number < 0:
        raise AppError(7, "negative")
    return number * 2


def ring(length):
    first = last = Plain("n0")
    for index in range(1, length):
        last.next = Plain(f"n{index}")
        last = last.next
    last.next = first
    return first


def countdown(start):
    while start > 0:
        yield start
        start -= 1
    return "done"


def append_line(path, line):
    with open(path, "a") as file:
        file.write(line + "\\n")
    return os.path.getsize(path)


def ask_name():
    name = input("Name? ")
    print("Hello,", name)
    print("warned", file=sys.stderr)
    return name.upper()


def stamp(kind):
    return random.random() if kind == "random" else time.time()


def set_mode(mode):
    os.environ["ZOO_MODE"] = mode
    return mode


def twice(function, value):
    return function(function(value))


def thrice(function, value):
    return function(function(function(value)))


def move(point, dx):
    return Point(point.x + dx, point.y, point.tags + ["moved"])


def paint(colour):
    return Colour.BLUE if colour is Colour.RED else Colour.RED


def total(*numbers, scale=1, **more):
    return sum(numbers) * scale + sum(more.values())


def touch(value):
    pass
"""

DRIVE = """\
import io
import os
import sys
import tempfile

import zoo as z

z.count_call()
z.register("a", 1)
z.swap_first([1, 2, 7, 9])
for number in (-5, 0, 5, 7):
    z.classify(number)
z.guess(4)
z.ring(3)
list(z.countdown(2))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "log.txt")
    z.append_line(path, "one")
    z.append_line(path, "two")
sys.stdin = io.StringIO("ann\\n")
z.ask_name()
z.stamp("random")
z.stamp("time")
z.set_mode("fast")
z.twice(lambda x: x + number, 1)
z.thrice(lambda x: x + 1, 1)
cart = z.Cart("ann")
cart.add("apple").add("pear")
for wrong in (lambda: z.guess(-1), lambda: cart.add("kiwi")):
    try:
        wrong()
    except z.AppError:
        pass
cart.size
len(cart)
z.Cart.of("bob", "x")
z.Cart.price("apple")
z.Singleton()
z.move(z.Point(1, 2), 3)
z.paint(z.Colour.RED)
z.total(1, 2, scale=3, extra=4)
z.touch(1)
"""


def command(folder, *words):
    return run([sys.executable, "-m", "testwright", *words], folder)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "zoo.py").write_text(ZOO)
    (folder / "drive.py").write_text(DRIVE)
    capture = command(folder, "capture", "--", sys.executable, "drive.py")
    assert capture.returncode == 0, capture.stdout
    return folder


@pytest.fixture(scope="module", params=["pytest", "unittest"])
def generated(request, recorded):
    """Generates tests in one style. Returns the style, the report and the folder."""
    out = f"tests_{request.param}"
    report = command(recorded, "generate", "zoo", "--style", request.param, "--out", out, "--json")
    assert report.returncode == 0, report.stdout
    return request.param, json.loads(report.stdout.splitlines()[-1]), recorded / out


def run_tests(style, folder, root):
    words = [
        sys.executable,
        "-m",
        *(["pytest", "-q"] if style == "pytest" else ["unittest", "discover"]),
    ]
    return run([*words, str(folder.relative_to(root))], root)


def test_everything_that_was_recorded_is_checked(generated, recorded):
    style, report, folder = generated
    by_outcome = {}
    for test in report["tests"]:
        by_outcome.setdefault(test["outcome"], []).append(test["unit"])
    assert by_outcome.pop("smoke") == ["zoo.touch"]
    assert by_outcome.pop("stub") == ["zoo.twice"]
    assert set(by_outcome) == {"full"}, report
    units = set(by_outcome["full"])
    for name in (
        "count_call",
        "ring",
        "countdown",
        "append_line",
        "ask_name",
        "stamp",
        "set_mode",
        "Cart.size",
        "thrice",
        "move",
    ):
        assert f"zoo.{name}" in units
    ran = run_tests(style, folder, recorded)
    assert ran.returncode == 0, ran.stdout


def test_the_text_is_short_and_has_no_machine_paths(generated, recorded):
    _, _, folder = generated
    text = (folder / "test_zoo.py").read_text()
    assert str(recorded) not in text
    assert " at 0x" not in text
    assert max(map(len, re.findall(r"def (test\w+)", text))) <= 60
    assert max(map(len, text.splitlines())) <= 88


def test_tests_notice_a_change(generated, recorded):
    style, _, folder = generated
    source = recorded / "zoo.py"
    changes = [
        ("items[0], items[-1] = items[-1], items[0]", "items[0] = items[-1]"),
        ('return "zero"', 'return "nought"'),
        ("last.next = first", "last.next = None"),
        ('"moved"', '"shifted"'),
        ("self.items.append(item)", "self.items.insert(0, [item])"),
        ('print("Hello,", name)', 'print("Bye,", name)'),
        ("Singleton.instance = self", "pass"),
        ("registry[name] = value", "registry.setdefault(name)"),
        ('file.write(line + "\\n")', "file.write(line)"),
        ("raise AppError(7", "raise AppError(8"),
    ]
    try:
        assert all(before in ZOO for before, _ in changes)
        for before, after in soak.some(changes, 4, style):
            source.write_text(ZOO.replace(before, after))
            assert run_tests(style, folder, recorded).returncode != 0, f"no test noticed {after}"
    finally:
        source.write_text(ZOO)


def small(
    folder, text="def double(x):\n    return x * 2\n", drive="import small\nsmall.double(2)\n"
):
    (folder / "small.py").write_text(text)
    (folder / "drive.py").write_text(drive)
    capture = command(folder, "capture", "--quiet", "--", sys.executable, "drive.py")
    assert capture.returncode == 0, capture.stdout


def test_edits_of_users_stay(tmp_path):
    small(tmp_path)
    first = command(tmp_path, "generate")
    assert "1 new test written" in first.stdout, first.stdout
    path = tmp_path / "tests/test_small.py"
    text = path.read_text()
    assert (
        "0 new tests written" in command(tmp_path, "generate", "--force").stdout
        or path.read_text() == text
    )

    path.write_text(text.replace("== 4", "== 2 + 2"))
    again = command(tmp_path, "generate", "--force")
    assert "edited by hand" in again.stdout
    assert "== 2 + 2" in path.read_text()

    path.unlink()
    again = command(tmp_path, "generate", "--force")
    assert "deleted by hand" in again.stdout
    assert not path.exists()


def test_an_intended_change_is_accepted(tmp_path):
    small(tmp_path)
    command(tmp_path, "generate")
    same = command(tmp_path, "changes")
    assert (same.returncode, same.stdout) == (0, "nothing has changed: 1 generated test\n")
    # A test that is skipped gives no answer.
    path = tmp_path / "tests/test_small.py"
    text = path.read_text()
    skip = '@__import__("unittest").skip("later")'
    path.write_text(re.sub(r"^( *)(?=def test_)", rf"\1{skip}\n\1", text, flags=re.MULTILINE))
    unknown = command(tmp_path, "changes")
    assert unknown.returncode == 2, unknown.stdout
    assert "test_returns_4_for_2 was skipped" in unknown.stdout
    assert "nothing has changed" not in unknown.stdout
    path.write_text(text)
    small(tmp_path, text="def double(x):\n    return x * 2 + 1\n")
    told = command(tmp_path, "changes")
    assert told.returncode == 1
    assert "TestDouble.test_returns_4_for_2" in told.stdout
    assert "5 == 4" in told.stdout
    shown = command(tmp_path, "generate", "--force", "--diff")
    assert re.search(r"^-.* == 4$", shown.stdout, re.MULTILINE), shown.stdout
    assert re.search(r"^\+.* == 5$", shown.stdout, re.MULTILINE)
    path = tmp_path / "tests/test_small.py"
    assert "== 4" in path.read_text(), "a diff changes nothing"
    command(tmp_path, "generate", "--force")
    assert "== 5" in path.read_text()


def test_new_tests_are_added_to_an_existing_file(tmp_path):
    small(tmp_path)
    (tmp_path / "tests").mkdir()
    path = tmp_path / "tests/small_test.py"
    old = b"\xef\xbb\xbf# mine\r\nimport small\r\n\r\nclass TestDouble:\r\n\tdef test_mine(self):\r\n\t\tpass"
    path.write_bytes(old)
    report = command(tmp_path, "generate", "--style", "pytest")
    assert report.returncode == 0, report.stdout
    new = path.read_bytes()
    assert new.startswith(
        b"\xef\xbb\xbf# mine\r\nimport small\r\nfrom small import double\r\n\r\nclass TestDouble:\r\n\tdef test_mine"
    )
    assert b"\r\n\tdef test_returns_4_for_2(self):\r\n\t\t# tw:" in new
    assert b"\n" not in new.replace(b"\r\n", b"")
    ran = run([sys.executable, "-m", "pytest", "-q", "tests"], tmp_path)
    assert "2 passed" in ran.stdout, ran.stdout


def test_a_file_that_is_not_python_is_left_alone(tmp_path):
    small(tmp_path)
    (tmp_path / "tests").mkdir()
    path = tmp_path / "tests/test_small.py"
    path.write_text("def broken(:\n")
    report = command(tmp_path, "generate")
    assert report.returncode == 1
    assert "is left alone: line 1" in report.stdout
    assert path.read_text() == "def broken(:\n"
    assert not (tmp_path / ".testwright/generated").exists()


def test_varying_values_are_not_checked(tmp_path):
    text = """
        import itertools

        def ticket(name):
            return name, id(object())

        def order(names):
            return list(set(names))
    """
    small(
        tmp_path,
        textwrap.dedent(text),
        'import small\nsmall.ticket("a")\nsmall.order(["x", "y", "z", "w"])\n',
    )
    report = command(tmp_path, "generate", "--json")
    outcomes = {
        test["unit"]: test["outcome"]
        for test in json.loads(report.stdout.splitlines()[-1])["tests"]
    }
    assert outcomes == {"small.ticket": "partial", "small.order": "partial"}, report.stdout
    for _ in range(3):
        ran = run([sys.executable, "-m", "pytest", "-q", "tests"], tmp_path)
        assert ran.returncode == 0, ran.stdout


SETTINGS = """\
class Settings:
    def __init__(self, path):
        self.path = path
        with open(path) as file:
            self.lines = file.read().splitlines()

    def title(self):
        return f"settings in {self.path}"

    def find(self, name):
        for line in self.lines:
            if line.startswith(name + "="):
                return line[len(name) + 1 :]
        return None
"""

READING = """\
import os, tempfile
import small
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "shop.ini")
    with open(path, "w") as file:
        file.write("port=80\\n")
    settings = small.Settings(path)
    print(settings.find("port"), settings.find("host"), settings.title())
"""


def test_temporary_folders_are_not_in_tests(tmp_path):
    small(tmp_path, SETTINGS, READING)
    report = command(tmp_path, "generate", "--json")
    tests = json.loads(report.stdout.splitlines()[-1])["tests"]
    assert {test["outcome"] for test in tests} == {"full"}, report.stdout
    text = (tmp_path / "tests/test_small.py").read_text()
    assert "/tmp/" not in text
    assert 'str(tmp_path / "shop.ini")' in text
    assert 'f"settings in {tmp_path}/shop.ini"' in text
    assert "def test_find_returns_none_for_host(" in text
    ran = run([sys.executable, "-m", "pytest", "-q", "tests"], tmp_path)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["generate"], "nothing was recorded"),
        (["changes"], "no generated tests"),
        (["generate", "--style", "nose"], "invalid value"),
    ],
)
def test_impossible_requests_are_reported(tmp_path, words, message):
    report = command(tmp_path, *words)
    assert report.returncode == 2
    assert message in report.stdout


def test_wrong_names_are_reported(tmp_path):
    small(tmp_path)
    report = command(tmp_path, "generate", "smal")
    assert report.returncode == 2
    assert "no module `smal`" in report.stdout
    report = command(tmp_path, "generate", "--python", "no-such-python")
    assert report.returncode == 2
    assert "no-such-python" in report.stdout


def test_a_module_is_named_by_path_or_name(tmp_path):
    package = tmp_path / "src/shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "cart.py").write_text("def double(x):\n    return x * 2\n")
    (package / "other.py").write_text("def triple(x):\n    return x * 3\n")
    (tmp_path / "drive.py").write_text(
        'import sys\nsys.path.insert(0, "src")\nfrom shop import cart, other\ncart.double(2)\nother.triple(1)\n'
    )
    command(tmp_path, "capture", "--", sys.executable, "drive.py")
    report = command(tmp_path, "generate", "src/shop/cart.py", "--style", "unittest")
    assert "tests/test_shop_cart.py: 1 test" in report.stdout, report.stdout
    report = command(tmp_path, "generate", "shop.other", "--style", "unittest")
    assert "tests/test_shop_other.py: 1 test" in report.stdout, report.stdout


PACK = """\
import itertools
import re


def _kind(text):
    if text.isdigit():
        return "number"
    if text.isupper():
        return "shout"
    return "word"


def tell(text):
    return f"{text}: {_kind(text)}"


def apply(function, value):
    return function(value)


def length(match):
    return len(match.group())


def find(text):
    return re.search("[0-9]+", text)


def joined(lists):
    return itertools.chain.from_iterable(map(reversed, lists))


class Bag:
    def __init__(self, items):
        self.items = set(items)
        self.has = self.items.issuperset

    @classmethod
    def of(cls, items):
        bag = object.__new__(cls)
        bag.note = "made of a set"
        bag.__init__(items)
        return bag

    def __contains__(self, item):
        return item in self.items

    def __getitem__(self, key):
        return sorted(self.items)[key]

    def __setitem__(self, key, item):
        raise NotImplementedError("bags have no order")
"""

USE = """\
import pack


def twice(value):
    return value * 2


if __name__ == "__main__":
    for word in [*"abcdefghijkl", "12", "LOUD"]:
        pack.tell(word)
    pack.apply(twice, 4)
    pack.length(pack.find("room 101"))
    list(pack.joined([[1, 2], (3,)]))
    bag = pack.Bag.of("xyz")
    "x" in bag, bag[:2]
    try:
        bag[0] = "w"
    except NotImplementedError:
        pass
"""


@pytest.mark.parametrize("has_guard", [True, False])
def test_a_package_in_another_folder(tmp_path, monkeypatch, has_guard):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pack.py").write_text(PACK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    project = tmp_path / "project"
    project.mkdir()
    program = USE if has_guard else USE.replace('if __name__ == "__main__":', "if True:")
    (project / "use.py").write_text(program)
    words = ["capture", "--quiet", "--scope", "pack", "--", sys.executable, "use.py"]
    assert command(project, *words).returncode == 0
    report = command(project, "generate", "--style", "pytest", "--json")
    report = json.loads(report.stdout.splitlines()[-1])
    assert {test["outcome"] for test in report["tests"]} == {"full"}, report
    text = (project / "tests" / "test_pack.py").read_text()
    # The function is defined in the program; it is copied if importing it would run the program.
    assert ("def twice(value):" in text) is not has_guard, text
    for line in [
        '[("a", "a: word"), ("12", "12: number"), ("LOUD", "LOUD: shout")]',
        "assert tell(text) == expected",
        'assert length(re.search(re.compile("[0-9]+"), "room 101")) == 3',
        "assert list(joined([[1, 2], (3,)])) == [2, 1, 3]",
        'assert ("x" in bag) is True',
        'assert bag[:2] == ["x", "y"]',
        'bag[0] = "w"',
    ]:
        assert line in text, text
    assert str(tmp_path) not in text
    ran = run([sys.executable, "-m", "pytest", "-q", "tests"], project)
    assert ran.returncode == 0, ran.stdout
    broken = PACK.replace("text.isupper()", "text.islower()")
    (tmp_path / "elsewhere" / "pack.py").write_text(broken)
    ran = run([sys.executable, "-m", "pytest", "-q", "tests"], project)
    assert ran.returncode == 1, ran.stdout


SIGNS = """\
def sign(number):
    if number < 0:
        return "minus"
    if number == 0:
        return "zero"
    if number > 99:
        return "many"
    return "plus"


def check(text):
    if not text.isalpha():
        raise ValueError("not a word: " + text)
    return text


def make_counter(step):
    total = 0

    def add():
        nonlocal total
        total += step
        return total

    return add


def thrice(function, value):
    return [function(value), function(value), function(value)]


if __name__ == "__main__":
    for number in (-3, 0, 7, 100):
        sign(number)
    for text in ("1", "a b", "?", "word"):
        try:
            check(text)
        except ValueError:
            pass

    def program():
        seen = []

        def remember(value):
            seen.append(value)
            return len(seen)

        thrice(remember, "x")

    program()
"""


@pytest.mark.parametrize("style", ["pytest", "unittest"])
def test_calls_that_differ_only_in_values_share_a_test(tmp_path, style):
    (tmp_path / "signs.py").write_text(SIGNS)
    assert command(tmp_path, "capture", "--", sys.executable, "signs.py").returncode == 0
    told = command(tmp_path, "generate", "--style", style, "--json")
    report = json.loads(told.stdout.splitlines()[-1])
    # A function in the main module cannot be imported.
    tests = [test for test in report["tests"] if not test["unit"].endswith(".program")]
    assert {test["outcome"] for test in tests} == {"full"}, report
    text = (tmp_path / "tests/test_signs.py").read_text()
    assert text.count("def test_returns_text_for_each_number(") == 1
    assert '(-3, "minus"), (0, "zero"), (7, "plus"), (100, "many")' in text
    # The function of the program is in the test, with its closure.
    assert "seen = []" in text
    assert "def remember(value):" in text
    done = run_tests(style, tmp_path / "tests", tmp_path)
    assert done.returncode == 0, done.stdout
    # Nothing is written twice, and a failure names its row of the table.
    again = command(tmp_path, "generate", "--style", style)
    assert "0 new tests written" in again.stdout
    program = tmp_path / "signs.py"
    program.write_text(program.read_text().replace('"zero"', '"nought"'))
    changed = command(tmp_path, "changes")
    assert changed.returncode == 1
    assert "TestSign.test_returns_text_for_each_number" in changed.stdout
    assert "nought" in changed.stdout


def test_tests_with_the_same_name_get_different_names(tmp_path):
    program = """
class Shape:
    def __init__(self, side):
        self.side = side

    def corners(self):
        return 4


class Square(Shape):
    pass


class Kite(Shape):
    def __init__(self, side, tail):
        super().__init__(side)
        self.tail = tail
"""
    (tmp_path / "shapes.py").write_text(program)
    drive = "from shapes import Kite, Square\nSquare(2).corners()\nKite(2, 'ribbon').corners()\n"
    (tmp_path / "drive.py").write_text(drive)
    assert command(tmp_path, "capture", "--", sys.executable, "drive.py").returncode == 0
    assert command(tmp_path, "generate", "--style", "pytest").returncode == 0
    text = (tmp_path / "tests/test_shapes.py").read_text()
    assert "def test_corners_returns_4_on_square(self):" in text
    assert "def test_corners_returns_4_on_kite(self):" in text
    done = run_tests("pytest", tmp_path / "tests", tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("existing", [None, "import os\n\n\ndef nothing(): ..."])
def test_helpers_are_found_where_pytest_imports_tests_by_their_paths(tmp_path, existing):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    (tmp_path / "tests").mkdir()
    conftest = tmp_path / "tests/conftest.py"
    if existing:
        conftest.write_text(existing)
    program = "class Node:\n    def __init__(self, name):\n        self.name = name\n\n\ndef node(name):\n    return Node(name)\n"
    (tmp_path / "trees.py").write_text(program)
    (tmp_path / "drive.py").write_text("import trees\ntrees.node('a')\n")
    assert command(tmp_path, "capture", "--", sys.executable, "drive.py").returncode == 0
    assert command(tmp_path, "generate", "--style", "pytest").returncode == 0
    assert "testwright_helpers" in (tmp_path / "tests/test_trees.py").read_text()
    assert conftest.read_text().startswith(existing or "import pathlib\n")
    done = run_tests("pytest", tmp_path / "tests", tmp_path)
    assert done.returncode == 0, done.stdout
    before = conftest.read_text()
    assert command(tmp_path, "generate", "--style", "pytest", "--force").returncode == 0
    assert conftest.read_text() == before
