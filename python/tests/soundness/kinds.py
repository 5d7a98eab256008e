"""Kinds of values that a generated system holds, and the ways in which it changes them.

Every kind has few values, and at least two of them are hard to tell apart: they are equal, or print the same, or differ
only in what happens later. `view` tells them apart as far as a program can without changing anything. A view never
contains an address.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """What a holder holds. The statements in `changes` read and may rebind the name `it`."""

    tags: tuple
    start: str
    changes: tuple
    view: str = "repr(it)"
    size: int = 3  # about how many states there are
    code: str = ""  # definitions that the expressions need
    in_place: bool = True  # whether changes keep the object
    uncapturable: bool = False  # whether an exploration may say that it cannot see the state


NODE = """\
class Node:
    def __init__(self, n, next=None):
        self.n = n
        self.next = next
"""

SLOTTED = """\
class Slotted:
    __slots__ = ("n", "late")

    def __init__(self):
        self.n = 0
"""

ALL_EQUAL = """\
class AllEqual:
    def __init__(self, n=0):
        self.n = n

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1
"""

ONE_FIELD = """\
@dataclasses.dataclass
class OneField:
    key: int = 0
    note: int = dataclasses.field(default=0, compare=False)
"""

TWO_CLASSES = """\
class One:
    pass


class Two(One):
    pass
"""

MARKED = """\
class Marked(list):
    mark = 0
"""

COLOR = """\
class Color(enum.IntEnum):
    RED = 1
    BLUE = 2
"""

PAIR = 'Pair = collections.namedtuple("Pair", "x y")\n'

WORD = """\
class Word(str):
    pass
"""

FUNCTIONS = """\
def first(x):
    return x


def other(x):
    return -x
"""

STUBBORN = """\
class Stubborn:
    def __init__(self):
        self.n = 0

    def __deepcopy__(self, memo):
        return self

    __copy__ = __deepcopy__

    def __reduce_ex__(self, protocol):
        return (Stubborn, ())
"""

KINDS = {
    # Order
    "dict": Kind(
        ("dict-order",),
        '{"a": 1, "b": 2}',
        ('it["a"] = it.pop("a")', 'it["b"] = it.pop("b")', 'it["a"] = 3 - it["a"]'),
        "list(it.items())",
        4,
    ),
    "dict of three": Kind(
        ("dict-order",),
        '{"a": 1, "b": 2, "c": 3}',
        ("key = next(iter(it)); it[key] = it.pop(key)", 'it["b"] = it.pop("b")'),
        "list(it)",
        6,
    ),
    "dict that grows": Kind(
        ("dict-order",),
        "{}",
        (
            'it.pop("x") if "x" in it else it.update(x=1)',
            'it.pop("y") if "y" in it else it.update(y=1)',
        ),
        "list(it)",
        5,
    ),
    "ordered dict": Kind(
        ("dict-order", "ordered-dict"),
        "collections.OrderedDict(a=1, b=2, c=3)",
        ('it.move_to_end("a")', 'it.move_to_end("b", last=False)', "it.update([it.popitem()])"),
        "list(it)",
        6,
    ),
    "counter": Kind(
        ("equal-unlike",),
        "collections.Counter()",
        ('it["a"] = 0', 'it.pop("a", None)', 'it["b"] = 1 - it["b"]'),
        "list(it.items())",
        7,
    ),
    "default dict": Kind(
        ("dict-order", "equal-unlike"),
        "collections.defaultdict(int)",
        (
            "it.default_factory = list if it.default_factory is int else int",
            'it["x"]',
            "it.clear()",
        ),
        "list(it.items())",
        6,
    ),
    "attributes": Kind(
        ("attribute-order", "no-eq-class"),
        "Node(0)",
        (
            'old = it.__dict__.pop("n"); it.n = old',
            'old = it.__dict__.pop("next"); it.next = old',
            "it.n = 1 - it.n",
        ),
        "list(vars(it).items())",
        4,
        NODE,
    ),
    "list": Kind(
        ("list",),
        "[]",
        ("it.append(len(it) % 2) if len(it) < 3 else it.clear()", "it.reverse()"),
        size=6,
    ),
    "deque": Kind(
        ("deque",),
        "collections.deque([0, 1], maxlen=2)",
        ("it.append(0)", "it.appendleft(1)", "it.rotate(1)"),
        "list(it)",
        4,
    ),
    "deque of other length": Kind(
        ("deque",),
        "collections.deque([0], maxlen=2)",
        (
            "it = collections.deque(it, 3 if it.maxlen == 2 else 2)",
            "it.append(1 - it[-1])",
            "it.clear(); it.append(0)",
        ),
        "list(it)",
        10,
        in_place=False,
    ),
    "set": Kind(
        ("set-order",),
        "{1, 2}",
        ("it ^= {3}", "it ^= {1}"),
        "list(it)",
        4,
    ),
    "colliding set": Kind(
        ("set-order",),
        "{0}",
        ("it ^= {8}", "it ^= {0}", "it ^= {16}"),
        "list(it)",
        10,
    ),
    "growing set": Kind(
        ("set-order", "set-history"),
        "{0, 8}",
        ("it.update(range(20))", "it.intersection_update({0, 8})", "it ^= {8}"),
        "list(it)",
        8,
        uncapturable=True,
    ),
    "grown set": Kind(
        ("set-order", "set-history"),
        "set()",
        (
            "it.update(range(1, 6)); it.difference_update(range(1, 6))",
            "it ^= {8}",
            "it ^= {1}",
        ),
        "list(it)",
        8,
        uncapturable=True,
    ),
    "popped set": Kind(
        ("set-order", "set-history"),
        "{1, 2, 3}",
        ("it and it.pop()", "it.add(1)", "it.add(3)"),
        "list(it)",
        12,
        uncapturable=True,
    ),
    "set of words": Kind(
        ("set-order",),
        '{"red", "green"}',
        ('it ^= {"blue"}', 'it ^= {"red"}', 'it ^= {"green"}'),
        "list(it)",
        16,
    ),
    "frozen set": Kind(
        ("set-order",),
        "frozenset([0, 8])",
        ("it = frozenset([8, 0])", "it = frozenset([0, 8])", "it = it ^ {1}"),
        "list(it)",
        4,
        in_place=False,
    ),
    # Type
    "number": Kind(
        ("number-type",),
        "1",
        ("it = float(it)", "it = bool(it)", "it = int(it)"),
        in_place=False,
    ),
    "zero": Kind(
        ("number-type", "negative-zero"),
        "0.0",
        ("it = -it", "it = abs(it)"),
        size=2,
        in_place=False,
    ),
    "hidden zero": Kind(
        ("number-type", "negative-zero"),
        "0.0",
        ("it = -it", "it = math.copysign(1.0, it)", "it = it * 0.0"),
        "it == 0.0 or it",
        4,
        in_place=False,
    ),
    "complex": Kind(
        ("number-type", "negative-zero"),
        "complex(0.0, 0.0)",
        ("it = it.conjugate()", "it = -it", "it = complex(it.real, abs(it.imag))"),
        "repr((it.real, it.imag))",
        4,
        in_place=False,
    ),
    "nan": Kind(
        ("nan",),
        'float("nan")',
        ('it = float("nan") if it == 1.0 else 1.0', "it = it * 1.0", "it = 2.0"),
        size=3,
        in_place=False,
    ),
    "nan in a list": Kind(
        ("nan",),
        '[float("nan")]',
        ('it[:] = [float("nan")] * (len(it) % 2 + 1)', "it.reverse()", "it[0] = 0.0"),
        size=5,
    ),
    "number in a list": Kind(
        ("number-type",),
        "[1, 1]",
        ("it[0] = True", "it[0] = 1.0", "it.reverse()"),
        size=7,
    ),
    "number as a key": Kind(
        ("number-type",),
        '{1: "x"}',
        ('it.clear(); it[True] = "x"', 'it.clear(); it[1.0] = "x"', "it[1] = it.pop(1)"),
        size=3,
    ),
    "number in a set": Kind(
        ("number-type",),
        "{1}",
        ("it.clear(); it.add(True)", "it.add(1)", "it.clear(); it.add(1.0)"),
        size=3,
    ),
    "decimal": Kind(
        ("number-type",),
        'decimal.Decimal("1")',
        (
            'it = decimal.Decimal("1.0")',
            "it = it.normalize() if isinstance(it, decimal.Decimal) else it",
            "it = fractions.Fraction(1)",
            "it = decimal.Decimal(1)",
        ),
        in_place=False,
    ),
    "enum": Kind(
        ("number-type",),
        "Color.RED",
        ("it = int(it)", "it = Color(it)", "it = 3 - it"),
        size=4,
        code=COLOR,
        in_place=False,
    ),
    "text": Kind(
        ("value-type",),
        '"a"',
        ("it = Word(it)", "it = str(it)", 'it = b"a" if it == "a" else "a"'),
        "(type(it).__name__, it)",
        3,
        WORD,
        in_place=False,
    ),
    "marked text": Kind(
        ("value-type", "no-eq-class"),
        'Word("a")',
        ("it.mark = 1 - getattr(it, 'mark', 0)", 'it = Word("a")'),
        "getattr(it, 'mark', None)",
        3,
        WORD,
        in_place=False,
    ),
    "bytes": Kind(
        ("value-type",),
        'b"a"',
        ("it = bytearray(it)", "it = bytes(it)", 'it = it + b"b" if len(it) < 2 else it[:1]'),
        size=4,
        in_place=False,
    ),
    "tuple": Kind(
        ("value-type",),
        "(1, 2)",
        (
            "it = Pair(*it)",
            "it = tuple(it)",
            "it = list(it)",
            "it = type(it)(it[::-1]) if type(it) is tuple else it",
        ),
        size=6,
        code=PAIR,
        in_place=False,
    ),
    "array": Kind(
        ("value-type",),
        'array.array("i", [0])',
        ('it = array.array("d" if it.typecode == "i" else "i", [1])', "it[0] = 1 - int(it[0])"),
        size=4,
        in_place=False,
    ),
    "function": Kind(
        ("value-type",),
        "first",
        ("it = other", "it = first if it is other else len"),
        "it.__name__",
        3,
        FUNCTIONS,
        in_place=False,
    ),
    "class": Kind(
        ("value-type",),
        "One",
        ("it = Two", "it = One if it is Two else int"),
        "it.__name__",
        3,
        TWO_CLASSES,
        in_place=False,
    ),
    # Objects
    "object": Kind(
        ("no-eq-class",),
        "Node(0)",
        ("it.n = (it.n + 1) % 3", "it = Node(it.n)"),
        "it.n",
        3,
        NODE,
        in_place=False,
    ),
    "linked objects": Kind(
        ("no-eq-class",),
        "Node(0, Node(1))",
        ("it = Node(it.next.n, Node(it.n))", "it.next.n = 1 - it.next.n"),
        "(it.n, it.next.n)",
        4,
        NODE,
        in_place=False,
    ),
    "ring": Kind(
        ("no-eq-class", "sharing"),
        "Node(0, Node(1))",
        ("it.next.next = it", "it = it.next if it.next.next else it", "it.n = 1 - it.n"),
        "(it.n, it.next.n, it.next.next is None)",
        8,
        NODE,
        in_place=False,
    ),
    "slotted": Kind(
        ("no-eq-class",),
        "Slotted()",
        ("it.n = 1 - it.n", "it.late = it.n", 'hasattr(it, "late") and delattr(it, "late")'),
        '(it.n, getattr(it, "late", None))',
        6,
        SLOTTED,
    ),
    "missing attribute": Kind(
        ("no-eq-class",),
        "Node(0)",
        ("it.late = None", 'vars(it).pop("late", None)', "it.n = 1 - it.n"),
        '(it.n, hasattr(it, "late"))',
        4,
        NODE,
    ),
    "all equal": Kind(
        ("equal-unlike",),
        "AllEqual()",
        ("it.n = (it.n + 1) % 3", "it = AllEqual(it.n)"),
        "it.n",
        3,
        ALL_EQUAL,
        in_place=False,
    ),
    "list of all equal": Kind(
        ("equal-unlike",),
        "[AllEqual(0), AllEqual(1)]",
        ("it.reverse()", "it[0] = it[1]", "it[0] = AllEqual(0)"),
        "[one.n for one in it]",
        5,
        ALL_EQUAL,
    ),
    "one field": Kind(
        ("equal-unlike",),
        "OneField()",
        ("it.note = 1 - it.note", "it.key = 1 - it.key"),
        "(it.key, it.note)",
        4,
        ONE_FIELD,
    ),
    "class of an object": Kind(
        ("no-eq-class",),
        "One()",
        ("it.__class__ = Two", "it.__class__ = One", "it.n = 1 - getattr(it, 'n', 0)"),
        "(type(it).__name__, getattr(it, 'n', None))",
        6,
        TWO_CLASSES,
    ),
    "marked list": Kind(
        ("equal-unlike",),
        "Marked()",
        ("it.mark = 1 - it.mark", "it.append(1) if not it else it.clear()"),
        "(it.mark, list(it))",
        6,
        MARKED,
    ),
    "stubborn": Kind(
        ("no-eq-class", "own-copy"),
        "Stubborn()",
        ("it.n = (it.n + 1) % 3", "it.n = 0"),
        "it.n",
        3,
        STUBBORN,
    ),
    # Sharing
    "shared inside": Kind(
        ("sharing",),
        "[[0], [0]]",
        ("it[1] = it[0]", "it[1] = list(it[0])", "it[0][0] = 1 - it[0][0]"),
        size=6,
    ),
    "shared in a dict": Kind(
        ("sharing",),
        '{"x": [], "y": []}',
        (
            'it["x"] = it["y"]',
            'it["x"] = []',
            'it["y"].append(1) if not it["y"] else it["y"].clear()',
        ),
        size=6,
    ),
    "shared objects": Kind(
        ("sharing", "no-eq-class"),
        "[Node(0), Node(0)]",
        ("it[1] = it[0]", "it[1] = Node(0)", "it[0].n = 1 - it[0].n"),
        "[one.n for one in it]",
        6,
        NODE,
    ),
    "cycle": Kind(
        ("sharing",),
        "[0]",
        ("it[1:] = [it]", "it[1:] = [[it[0]]]", "it[0] = 1 - it[0]"),
        "(it[0], it[1][0] if it[1:] else None)",
        8,
    ),
    "nested": Kind(
        ("list",),
        '{"x": [1, {"y": (1, [2])}]}',
        ('it["x"][1]["y"][1][0] ^= 1', 'it["x"].reverse(); it["x"].reverse()', 'it["x"][0] ^= 1'),
        size=4,
    ),
    # A plain number, to which nothing special applies
    "count": Kind(("plain",), "0", ("it = (it + 1) % 4", "it = max(it - 1, 0)"), in_place=False),
    # State outside of what a program can see
    "random": Kind(
        ("random",),
        "(0, 0)",
        (
            "it = (it[0] + 1, random.randint(0, 3)) if it[0] < 2 else it",
            "random.seed(1); it = (0, it[1])",
        ),
        size=20,
        in_place=False,
    ),
    "hidden random": Kind(
        ("random",),
        "0",
        ("random.seed(1); it = 0", "random.seed(2); it = 0", "it = it or random.randint(1, 5)"),
        size=6,
        in_place=False,
    ),
    "own random": Kind(
        ("random",),
        "[random.Random(1), 0]",
        (
            "it[0].seed(1); it[1] = 0",
            "it[0].seed(2); it[1] = 0",
            "it[1] = it[1] or it[0].randint(1, 5)",
        ),
        "it[1]",
        8,
        uncapturable=True,
    ),
    "iterator": Kind(
        ("iterator",),
        "[iter([1, 2, 3]), 0]",
        ("it[1] = next(it[0], 0)", "it[0] = iter([1, 2, 3])"),
        "it[1]",
        8,
        uncapturable=True,
    ),
    "endless iterator": Kind(
        ("iterator",),
        "[itertools.cycle([1, 2, 3]), 0]",
        ("it[1] = next(it[0])", "it[1] = 0"),
        "it[1]",
        12,
        uncapturable=True,
    ),
    "stream": Kind(
        ("iterator",),
        '[io.StringIO("abc"), ""]',
        ("it[1] = it[0].read(1)", "it[0].seek(0)"),
        "it[1]",
        10,
        uncapturable=True,
    ),
}
