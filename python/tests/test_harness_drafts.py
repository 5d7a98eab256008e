"""A harness is drafted from signatures and recorded calls, runs at once, and covers what the recording covered."""

import json
import re
import shutil
import textwrap
from pathlib import Path

import pytest
from terminal import run

ROOT = Path(__file__).resolve().parents[2]

SHOP = """\
import enum
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Literal, Optional, Union


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class EmptyCart(Exception):
    pass


@dataclass
class Item:
    name: str
    price: float = 1.0
    tags: list[str] = field(default_factory=list)


class Cart:
    def __init__(self, owner, limit: int = 3):
        self.owner = owner
        self.limit = limit
        self.items = []
        self.is_open = True

    def __len__(self):
        return len(self.items)

    def __contains__(self, name):
        return any(item.name == name for item in self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __eq__(self, other):
        return isinstance(other, Cart) and self.items == other.items

    def add(self, item: Item):
        if len(self.items) >= self.limit:
            raise ValueError("full")
        self.items.append(item)

    def pop(self):
        return self.items.pop()

    def copy(self) -> "Cart":
        other = Cart(self.owner, self.limit)
        other.items = list(self.items)
        return other

    @property
    def total(self):
        return sum(item.price for item in self.items)

    @property
    def note(self):
        return getattr(self, "_note", "")

    @note.setter
    def note(self, text: str):
        self._note = text

    @classmethod
    def of(cls, *names):
        cart = cls("nobody", limit=9)
        for name in names:
            cart.add(Item(name))
        return cart

    @staticmethod
    def tax(amount: float, rate: float = 0.2):
        return amount * rate

    def checkout(self, color: Optional[Color] = None):
        if not self.items:
            raise EmptyCart("nothing to pay")
        return (self.total, color)

    def save(self, path):
        with open(path, "w") as stream:
            stream.write(str(self.total))


def paint(color: Color, mode: Literal["fast", "slow"], times: int = 1, *, loud: bool = False) -> Union[str, None]:
    if times < 0:
        raise ValueError("times")
    return color.name * times if mode == "fast" else None


def count(start: int):
    while True:
        yield start
        start += 1


async def later(number: int) -> int:
    return number + 1


def wipe(path: str):
    shutil.rmtree(path)


def listing(path: str):
    return subprocess.run(["ls", path])


def cleanup(path: str):
    wipe(os.path.join(path, "x"))


def mystery(thing):
    return thing.frobnicate()
"""

DAY = """\
import os
import tempfile

import shop

cart = shop.Cart("ann")
pear, plum = shop.Item("pear", 2.5), shop.Item("plum")
cart.add(pear)
cart.add(plum)
print(len(cart), "pear" in cart, cart[0], cart.total)
cart.add(shop.Item("fig", 0.5, ["dry"]))
try:
    cart.add(plum)
except ValueError as error:
    print(error)
cart.note = "quick"
print(cart.note, cart.copy() == cart, cart.checkout(shop.Color.RED), cart.pop(), cart.pop(), cart.pop())
try:
    cart.checkout()
except shop.EmptyCart as error:
    print(error)
print(shop.Cart.of("a", "b").total, shop.Cart.tax(10.0), shop.paint(shop.Color.BLUE, "fast", 2))
with tempfile.TemporaryDirectory() as folder:
    cart.save(os.path.join(folder, "cart.txt"))
print([number for number, _ in zip(shop.count(3), range(3))])
"""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "day.py").write_text(DAY, encoding="utf-8")
    return tmp_path


@pytest.fixture
def recorded(shop):
    done = run(["testwright", "capture", "--quiet", "--", "python", "day.py"], shop)
    assert done.returncode == 0, done.stdout
    return shop


def drafted(folder, *words):
    done = run(["testwright", "harness", *words], folder)
    assert done.returncode == 0, done.stdout
    return done.stdout


def refused(folder, *words):
    done = run(["testwright", "harness", *words], folder)
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stdout and "panicked" not in done.stdout
    return done.stdout


def runs_without_failure(folder, harness, *options):
    checked = run(["testwright", "check", harness], folder)
    assert checked.returncode == 0 and "no problems" in checked.stdout, checked.stdout
    done = run(["testwright", "run", harness, "--seed", "1", *options], folder)
    assert done.returncode == 0, done.stdout
    return done.stdout


def actions(text):
    """Returns the action lines of a draft, without comments."""
    lines = [line.split("  #")[0].rstrip() for line in text.splitlines()]
    keywords = ("#", "@", "<@", "pool:", "source:", "exception:")
    return [line for line in lines if line and not line.startswith(keywords)]


def test_a_draft_has_everything_that_was_recorded(recorded):
    drafted(recorded, "shop")
    text = (recorded / "shop.tstl").read_text(encoding="utf-8")
    lines = actions(text)
    for line in [
        "<cart> := shop.Cart(<owner>)",
        "len(<cart>)",
        "<name> in <cart>",
        "<item> := <cart>[<int>]",
        "<cart> == <cart>",
        "{ValueError} <cart>.add(<item>)",
        "<cart,1>.items -> <item> := <cart>.pop()",
        "<cart> := <cart>.copy()",
        "<cart>.total",
        '<cart>.note = <["quick","","a","two words"]>',
        "<cart> := shop.Cart.of(<names>, <names>)",
        "{shop.EmptyCart} <cart>.checkout()",
        "<cart>.checkout(<color>)",
        'shop.paint(<color>, <["fast","slow"]>, <int>)',
        "list(itertools.islice(shop.count(<int>), 100))",
        "asyncio.run(shop.later(<int>))",
    ]:
        assert line in lines, text
    assert "raised ValueError once" in text
    assert "observed, not proved" in text


def test_calls_with_outside_effects_are_commented_out_with_a_reason(recorded):
    drafted(recorded, "shop")
    text = (recorded / "shop.tstl").read_text(encoding="utf-8")
    assert "# Left out: it changes the file `cart.txt`.\n# <cart>.save(path)\n" in text
    assert (
        "# Left out: it may change files (`shutil.rmtree`).\n# shop.wipe(<str>)\n# shop.cleanup(<str>)\n"
        in text
    )
    assert (
        "# Left out: it may start another program (`subprocess.run`).\n# shop.listing(<str>)\n"
        in text
    )
    assert "# Left out: nothing is known about `thing`" in text
    assert not any(re.search(r"wipe|cleanup|listing|save|mystery", line) for line in actions(text))


def test_a_draft_runs_at_once_and_covers_what_the_recording_covered(recorded):
    drafted(recorded, "shop")
    driver = run(
        ["python", "-m", "coverage", "run", "--branch", "--include=shop.py", "day.py"], recorded
    )
    assert driver.returncode == 0, driver.stdout
    run(["python", "-m", "coverage", "json", "-q", "-o", "day.json"], recorded)
    reached_by_day = set(
        json.loads((recorded / "day.json").read_text())["files"]["shop.py"]["executed_lines"]
    )
    runs_without_failure(
        recorded, "shop.tstl", "--tests", "200", "--coverage-report", "data:drafted.data"
    )
    run(
        [
            "python",
            "-m",
            "coverage",
            "json",
            "-q",
            "--data-file=drafted.data",
            "-o",
            "drafted.json",
        ],
        recorded,
    )
    files = json.loads((recorded / "drafted.json").read_text())["files"]
    (file,) = [file for name, file in files.items() if name.endswith("shop.py")]
    only_outside = [number for number, line in enumerate(SHOP.splitlines(), 1) if "stream" in line]
    assert reached_by_day - set(only_outside) <= set(file["executed_lines"])


#: A small package with typical features: callbacks, printed errors, context managers, warnings.
ORCHARD = {
    "orchard/__init__.py": """\
        from ._ladders import Chain
        from ._trees import BadFruit, Tree, picked, ripe, season, slowly, sorted_by
        """,
    "orchard/_ladders.py": """\
        class Rung:
            def __init__(self, value):
                self.value = value
                self.next = None

            def unlink(self):
                following, self.next = self.next, None
                return following


        class Chain:
            def __init__(self):
                self.first = None

            def add(self, value):
                rung = Rung(value)
                rung.next = self.first
                self.first = rung

            def drop(self):
                if self.first is None:
                    return None
                rung = self.first
                self.first = rung.unlink()
                return rung.value
        """,
    "orchard/_trees.py": """\
        import contextlib
        import warnings


        class BadFruit(Exception):
            def __init__(self, name, spots):
                super().__init__(name)
                self.name = name
                self.spots = spots

            def __str__(self):
                if self.spots > 1:
                    return f"{self.name} has {self.spots} spots"
                return f"{self.name} has a spot"


        class Tree:
            def __init__(self, kind, *, age=1):
                self.kind = kind
                self.age = age
                self.fruit = []

            @property
            def is_old(self):
                return self.age > 20

            def grow(self, name, spots=0):
                if spots:
                    raise BadFruit(name, spots)
                self.fruit.append(name)
                return self

            def __iter__(self):
                for name in self.fruit:
                    yield name

            def graft(self, other):
                if other.kind != self.kind:
                    warnings.warn("another kind", stacklevel=2)
                self.fruit.extend(other.fruit)


        def sorted_by(key, names, **options):
            if key is None:
                return sorted(names)
            found = sorted(names, key=key)
            if options.get("backwards"):
                found.reverse()
            return found


        def picked(names, is_good):
            for name in names:
                if is_good(name):
                    yield name


        @contextlib.contextmanager
        def season(log):
            log.append("begins")
            try:
                yield log
            finally:
                log.append("ends")


        async def slowly(number):
            return number * 2


        def ripe(names):
            assert names, "there has to be something"
            return next(name for name in names if name.startswith("a"))
        """,
    "year.py": """\
        import asyncio
        import warnings

        import orchard

        warnings.simplefilter("ignore")


        def last_letter(name):
            return name[-1]


        def longer_than(length):
            def is_longer(name):
                return len(name) > length

            return is_longer


        tree = orchard.Tree("apple", age=30)
        tree.grow("ann").grow("bo")
        for spots in (1, 3):
            try:
                tree.grow("cox", spots)
            except orchard.BadFruit as error:
                print(error)
        print(tree.is_old, list(tree))
        tree.graft(orchard.Tree("pear"))
        print(orchard.sorted_by(last_letter, ["ab", "ba"], backwards=True))
        print(orchard.sorted_by(lambda name: -len(name), ["a", "bbb"]), orchard.sorted_by(None, ["b", "a"]))
        print(list(orchard.picked(["long", "s"], longer_than(2))))
        with orchard.season([]) as log:
            print(log)
        print(asyncio.run(orchard.slowly(4)), orchard.ripe(["pear", "apple"]))
        chain = orchard.Chain()
        chain.add(1)
        print(chain.drop(), chain.drop())
        """,
}


@pytest.mark.parametrize("has_guard", [True, False])
def test_a_draft_reaches_every_line_of_its_recording(tmp_path, has_guard):
    for name, text in ORCHARD.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        text = textwrap.dedent(text)
        if has_guard and name == "year.py":
            head, tail = text.split("tree = ", 1)
            tail = textwrap.indent("tree = " + tail, "    ")
            text = f"{head}if __name__ == '__main__':\n{tail}"
        path.write_text(text, encoding="utf-8")
    capture = ["testwright", "capture", "--quiet", "--scope", "orchard", "--", "python", "year.py"]
    assert run(capture, tmp_path).returncode == 0
    drafted(tmp_path, "orchard")
    text = (tmp_path / "orchard.tstl").read_text(encoding="utf-8")
    assert ("year.last_letter" in text) is has_guard, text
    measure = ["python", "-m", "coverage", "run", "--source=orchard", "--data-file=year.data"]
    assert run([*measure, "year.py"], tmp_path).returncode == 0
    runs_without_failure(
        tmp_path, "orchard.tstl", "--tests", "60", "--coverage-report", "data:drafted.data"
    )

    def reached(data):
        command = ["python", "-m", "coverage", "json", "-q", f"--data-file={data}"]
        run([*command, "-o", "lines.json"], tmp_path)
        files = json.loads((tmp_path / "lines.json").read_text(encoding="utf-8"))["files"]
        return {
            f"{Path(name).name}:{line}"
            for name, file in files.items()
            for line in file["executed_lines"]
        }

    assert reached("year.data") - reached("drafted.data") == set(), text


def test_what_was_recorded_can_be_replayed(recorded):
    told = drafted(recorded, "shop")
    tests = sorted(path.name for path in recorded.glob("shop-recorded-*.test"))
    assert f"repeated in {len(tests)} saved tests" in told
    done = run(["testwright", "regress", *tests], recorded)
    assert done.returncode == 0 and "all pass" in done.stdout, done.stdout
    steps = (recorded / "shop-recorded-1.test").read_text(encoding="utf-8")
    assert "item0 = shop.Item(name0, price=number0, tags=[])\ncart0.add(item0)\n" in steps
    assert run(["testwright", "replay", tests[0]], recorded).returncode == 0


def test_signatures_alone_make_a_draft(shop):
    told = drafted(shop, "shop.py", "--out", "first.tstl")
    assert "no calls were recorded; for a better draft run `testwright capture" in told
    text = (shop / "first.tstl").read_text(encoding="utf-8")
    assert "A recording would make it better" in text
    assert "<item> := shop.Item(<str>)" in actions(text)
    assert (
        "nothing is known about `owner`" in text
        and "nothing here makes an object of `Cart`" in text
    )
    assert not list(shop.glob("*.test"))
    runs_without_failure(shop, "first.tstl", "--tests", "50")


def test_no_code_of_the_module_runs(tmp_path):
    (tmp_path / "loud.py").write_text(
        "print('imported')\nopen('trace', 'w')\ndef f(x: int): pass\n", encoding="utf-8"
    )
    assert "imported" not in drafted(tmp_path, "loud")
    assert not (tmp_path / "trace").exists()


def test_recordings_can_be_named_and_are_merged(recorded):
    (recorded / "night.py").write_text(
        "import shop\nshop.Cart('bob', 7)\nshop.mystery\n", encoding="utf-8"
    )
    run(["testwright", "capture", "--quiet", "--", "python", "night.py"], recorded)
    files = sorted(str(path) for path in (recorded / ".testwright/capture").glob("*.recording"))
    assert len(files) == 2
    drafted(recorded, "shop", *files, "--out", "both.tstl")
    drafted(recorded, "shop", files[1], "--out", "second.tstl")
    both = (recorded / "both.tstl").read_text(encoding="utf-8")
    second = (recorded / "second.tstl").read_text(encoding="utf-8")
    assert '"ann"' in both and '"bob"' in both
    assert '"ann"' not in second and '"bob"' in second
    drafted(recorded, "--out", "all.tstl")
    assert (recorded / "all.tstl").read_text(encoding="utf-8").replace(
        "all", "both"
    ) == both.replace("all", "both")


def test_an_installed_package_can_be_drafted(tmp_path):
    drive = """\
        from operator import neg
        from sortedcontainers import SortedDict, SortedKeyList, SortedList, SortedSet

        numbers = SortedList([5, 1, 4])
        numbers.add(9)
        print(numbers.pop(), numbers[0], len(numbers), list(numbers.irange(1, 4)), numbers.bisect_left(3))
        print(SortedKeyList([1, 2], key=neg), SortedSet("abc").union("d"))
        items = SortedDict({"a": 1})
        items["b"] = 2
        print(items.popitem(), items.keys())
    """
    (tmp_path / "drive.py").write_text(textwrap.dedent(drive), encoding="utf-8")
    capture = [
        "testwright",
        "capture",
        "--quiet",
        "--scope",
        "sortedcontainers",
        "--",
        "python",
        "drive.py",
    ]
    assert run(capture, tmp_path).returncode == 0
    drafted(tmp_path, "sortedcontainers")
    text = (tmp_path / "sortedcontainers.tstl").read_text(encoding="utf-8")
    assert "<sorted_list> := sortedcontainers.SortedList(<iterable>)" in actions(text)
    assert "sortedcontainers.sortedlist" not in text
    runs_without_failure(tmp_path, "sortedcontainers.tstl", "--tests", "30")


@pytest.mark.parametrize("package", ["sortedcontainers", "packaging"])
def test_the_draft_of_a_real_package_reaches_as_much_as_its_recording(tmp_path, package):
    driver = f"use_{package}.py"
    shutil.copy(ROOT / "bench/systems/captured" / driver, tmp_path)
    capture = ["testwright", "capture", "--quiet", "--scope", package, "--", "python", driver]
    assert run(capture, tmp_path).returncode == 0
    drafted(tmp_path, package)
    measure = [
        "python",
        "-m",
        "coverage",
        "run",
        f"--source={package}",
        "--data-file=driven.data",
        driver,
    ]
    assert run(measure, tmp_path).returncode == 0
    runs_without_failure(
        tmp_path, f"{package}.tstl", "--tests", "150", "--coverage-report", "data:drafted.data"
    )

    def reached(data):
        run(
            ["python", "-m", "coverage", "json", "-q", f"--data-file={data}", "-o", "lines.json"],
            tmp_path,
        )
        files = json.loads((tmp_path / "lines.json").read_text(encoding="utf-8"))["files"]
        return sum(len(file["executed_lines"]) for file in files.values())

    assert reached("drafted.data") >= reached("driven.data")


def test_a_source_folder_is_no_obstacle(tmp_path):
    (tmp_path / "src/pack").mkdir(parents=True)
    (tmp_path / "src/pack/__init__.py").write_text(
        "def f(x: int):\n    return x + 1\n", encoding="utf-8"
    )
    drafted(tmp_path, "pack")
    told = runs_without_failure(tmp_path, "pack.tstl", "--tests", "5", "--coverage")
    assert re.search(r"pack/__init__.py +2 +0 ", told), told


def test_a_program_that_was_run_as_a_script_can_be_drafted(tmp_path):
    program = """\
        class Box:
            def put(self, paper):
                return [paper]

        if __name__ == "__main__":
            Box().put("yes")
    """
    (tmp_path / "tally.py").write_text(textwrap.dedent(program), encoding="utf-8")
    run(["testwright", "capture", "--quiet", "--", "python", "tally.py"], tmp_path)
    drafted(tmp_path)
    text = (tmp_path / "tally.tstl").read_text(encoding="utf-8")
    assert '<box>.put("yes")' in actions(text) and "__main__" not in text
    runs_without_failure(tmp_path, "tally.tstl", "--tests", "5")


def test_files_are_not_replaced_unless_asked(recorded):
    drafted(recorded, "shop")
    (recorded / "shop.tstl").write_text("# mine\n", encoding="utf-8")
    assert "already exists; nothing was written" in refused(recorded, "shop")
    assert (recorded / "shop.tstl").read_text(encoding="utf-8") == "# mine\n"
    drafted(recorded, "shop", "--force")
    assert "# mine" not in (recorded / "shop.tstl").read_text(encoding="utf-8")
    # The same holds for a file named with `--out`.
    assert "already exists" in refused(recorded, "shop", "--out", "shop.tstl")


def test_bad_input_is_reported(shop):
    assert "there is no module `nowhere`" in refused(shop, "nowhere")
    assert "nothing was recorded in this folder, and no module is named" in refused(shop)
    assert "cannot read `lost.recording`" in refused(shop, "shop", "lost.recording")
    (shop / "odd.recording").write_text("odd\n", encoding="utf-8")
    assert "`odd.recording` cannot be used" in refused(shop, "shop", "odd.recording")
    (shop / "broken.py").write_text("def f(:\n", encoding="utf-8")
    assert "broken.py:1" in refused(shop, "broken")
    (shop / "empty.py").write_text("x = 1\n", encoding="utf-8")
    assert "has no public functions or classes" in refused(shop, "empty")
    assert "is not the name of a file" in refused(shop, "shop", "--out", ".")
    assert "cannot write" in refused(shop, "shop", "--out", "shop.py/first.tstl")
