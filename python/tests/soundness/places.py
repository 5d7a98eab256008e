"""Places where a generated system holds a value.

A place is code with `{n}` for the number of the holder. It may call `start_{n}()`, which makes the first value. `get` is
an expression, and `put` a statement that stores the name `new`. Places in slots use the name `slot` for what is in the
slot. A *direct* place is written by the harness itself: `{target} = ...`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a holder keeps its value."""

    tags: tuple
    code: str = ""
    get: str = ""
    put: str = ""
    module: str = "system"  # the module with the code
    target: str = ""  # the place as the harness writes it, if it is direct
    slot: str = ""  # what to put into a slot at first
    imports: tuple = ()  # names that the harness imports from the module
    fresh: str = ""  # how a test starts afresh, besides importing the modules
    uncapturable: bool = False

    @property
    def is_slot(self):
        """Whether the value can be reached through a slot only."""
        return bool(self.slot)


BOX = """\
class Box_{n}:
    def __init__(self, value):
        self.value = value

    def change(self, function):
        self.value = function(self.value)
"""

PLACES = {
    "global": Place(
        ("module-global",),
        "value_{n} = start_{n}()",
        "value_{n}",
        "global value_{n}; value_{n} = new",
    ),
    "late global": Place(
        ("module-global",),
        "",
        'globals()["late_{n}"] if "late_{n}" in globals() else start_{n}()',
        'globals()["late_{n}"] = new',
    ),
    "global by the harness": Place(
        ("module-global",), "value_{n} = start_{n}()", target="system.value_{n}"
    ),
    "global of a submodule": Place(
        ("submodule", "module-global"),
        "value_{n} = start_{n}()",
        "value_{n}",
        "global value_{n}; value_{n} = new",
        module="parts.inner",
    ),
    "global of a base": Place(
        ("submodule", "module-global"),
        "value_{n} = start_{n}()",
        "value_{n}",
        "global value_{n}; value_{n} = new",
        module="base",
    ),
    "from-import": Place(
        ("from-import",),
        "store_{n} = [start_{n}()]",
        "store_{n}[0]",
        "store_{n}[0] = new",
        module="base",
    ),
    "from-import by the harness": Place(
        ("from-import",), "store_{n} = [start_{n}()]", target="store_{n}[0]", imports=("store_{n}",)
    ),
    "class attribute": Place(
        ("class-attribute",),
        "class Kept_{n}:\n    value = start_{n}()",
        "Kept_{n}.value",
        "Kept_{n}.value = new",
    ),
    "from-import of a class": Place(
        ("from-import", "class-attribute"),
        "class Kept_{n}:\n    value = start_{n}()",
        target="Kept_{n}.value",
        imports=("Kept_{n}",),
    ),
    "attribute of a metaclass": Place(
        ("class-attribute",),
        "class Meta_{n}(type):\n    value = start_{n}()\n\n\nclass Kept_{n}(metaclass=Meta_{n}):\n    pass",
        "Kept_{n}.value",
        "Meta_{n}.value = new",
    ),
    "attribute of a base class": Place(
        ("class-attribute",),
        "class Kept_{n}:\n    value = start_{n}()\n\n\nclass Heir_{n}(Kept_{n}):\n    pass\n\n\nheir_{n} = Heir_{n}()",
        "heir_{n}.value",
        "Kept_{n}.value = new",
    ),
    "object": Place(
        ("no-eq-class", "module-global"),
        BOX + "\n\nbox_{n} = Box_{n}(start_{n}())",
        "box_{n}.value",
        "box_{n}.value = new",
    ),
    "nested": Place(
        ("module-global",),
        'nest_{n} = {{"k": ([start_{n}()],)}}',
        'nest_{n}["k"][0][0]',
        'nest_{n}["k"][0][0] = new',
    ),
    "function attribute": Place(
        ("function-attribute",),
        "def keeper_{n}():\n    pass\n\n\nkeeper_{n}.value = start_{n}()",
        "keeper_{n}.value",
        "keeper_{n}.value = new",
    ),
    "default argument": Place(
        ("default-argument",),
        "def keep_{n}(*new, kept=[start_{n}()]):\n    kept[:] = new or kept\n    return kept[0]",
        "keep_{n}()",
        "keep_{n}(new)",
    ),
    "positional default": Place(
        ("default-argument",),
        "def keep_{n}(kept=[start_{n}()]):\n    return kept",
        "keep_{n}()[0]",
        "keep_{n}()[0] = new",
    ),
    "replaced default": Place(
        ("default-argument",),
        "def keep_{n}(kept=start_{n}()):\n    return kept",
        "keep_{n}()",
        "keep_{n}.__defaults__ = (new,)",
    ),
    "closure": Place(
        ("closure",),
        "def make_{n}():\n    value = start_{n}()\n\n    def keep(*new):\n        nonlocal value\n"
        "        if new:\n            (value,) = new\n        return value\n\n    return keep\n\n\nkeep_{n} = make_{n}()",
        "keep_{n}()",
        "keep_{n}(new)",
    ),
    "decorator": Place(
        ("closure",),
        "def kept_{n}(function):\n    kept = [function()]\n\n    @functools.wraps(function)\n    def wrapper(*new):\n"
        "        kept[:] = new or kept\n        return kept[0]\n\n    return wrapper\n\n\n"
        "@kept_{n}\ndef keep_{n}():\n    return start_{n}()",
        "keep_{n}()",
        "keep_{n}(new)",
    ),
    "closure in a slot": Place(
        ("closure",),
        "def make_{n}():\n    value = start_{n}()\n\n    def keep(*new):\n        nonlocal value\n"
        "        if new:\n            (value,) = new\n        return value\n\n    return keep",
        "slot()",
        "slot(new)",
        slot="make_{n}()",
    ),
    "dict cache": Place(
        ("cache",),
        "cache_{n} = {{}}",
        'cache_{n}["k"] if "k" in cache_{n} else start_{n}()',
        'cache_{n}["k"] = new',
    ),
    "cached property": Place(
        ("cache",),
        "class Kept_{n}:\n    @functools.cached_property\n    def value(self):\n        return start_{n}()\n\n\n"
        "kept_{n} = Kept_{n}()",
        "kept_{n}.value",
        "kept_{n}.value = new",
    ),
    "bound method": Place(
        ("bound-method",),
        BOX + "\n\nchange_by_{n} = Box_{n}(start_{n}()).change",
        "change_by_{n}.__self__.value",
        "change_by_{n}(lambda old: new)",
    ),
    "bound method in a slot": Place(
        ("bound-method",),
        BOX,
        "slot.__self__.value",
        "slot(lambda old: new)",
        slot="Box_{n}(start_{n}()).change",
    ),
    "method of the module's object in a slot": Place(
        ("bound-method", "sharing"),
        BOX + "\n\nbox_{n} = Box_{n}(start_{n}())",
        "box_{n}.value",
        "slot(lambda old: new)",
        slot="box_{n}.change",
    ),
    "partial": Place(
        ("bound-method",),
        "def keep_{n}(kept, *new):\n    kept[:] = new or kept\n    return kept[0]\n\n\n"
        "part_{n} = functools.partial(keep_{n}, [start_{n}()])",
        "part_{n}()",
        "part_{n}(new)",
    ),
    "partial in a slot": Place(
        ("bound-method",),
        "def keep_{n}(kept, *new):\n    kept[:] = new or kept\n    return kept[0]",
        "slot()",
        "slot(new)",
        slot="functools.partial(keep_{n}, [start_{n}()])",
    ),
    "built-in method in a slot": Place(
        ("bound-method",),
        "",
        'slot.__self__["k"]',
        "slot(k=new)",
        slot="dict(k=start_{n}()).update",
    ),
    "namespace": Place(
        ("no-eq-class",),
        "space_{n} = types.SimpleNamespace(value=start_{n}())",
        "space_{n}.value",
        "space_{n}.value = new",
    ),
    "module object": Place(
        ("module-global",),
        'made_{n} = types.ModuleType("made_{n}")\nmade_{n}.value = start_{n}()',
        "made_{n}.value",
        "made_{n}.value = new",
    ),
    "slot": Place(("slot",), target="<{pool}>", slot="start_{n}()"),
    "object in a slot": Place(
        ("slot", "no-eq-class"), BOX, "slot.value", "slot.value = new", slot="Box_{n}(start_{n}())"
    ),
    "list in a slot": Place(("slot",), "", "slot[-1]", "slot[-1] = new", slot="[0, start_{n}()]"),
    "slot and module": Place(
        ("sharing", "slot"),
        "kept_{n} = [start_{n}()]",
        "slot[0]",
        "kept_{n}[0] = new",
        slot="kept_{n}",
    ),
    # What an exploration cannot be expected to see or restore
    "generator": Place(
        ("generator",),
        "def run_{n}():\n    value = start_{n}()\n    while True:\n        new = yield value\n"
        "        if new:\n            (value,) = new\n\n\nrun_by_{n} = run_{n}()\nnext(run_by_{n})",
        "run_by_{n}.send(())",
        "run_by_{n}.send((new,))",
        uncapturable=True,
    ),
    "generator in a slot": Place(
        ("generator",),
        "def run_{n}():\n    value = start_{n}()\n    while True:\n        new = yield value\n"
        "        if new:\n            (value,) = new\n\n\ndef begin_{n}():\n    made = run_{n}()\n    next(made)\n"
        "    return made",
        "slot.send(())",
        "slot.send((new,))",
        slot="begin_{n}()",
        uncapturable=True,
    ),
    "lru_cache": Place(
        ("cache", "lru-cache"),
        "@functools.lru_cache(maxsize=None)\ndef kept_{n}():\n    return [start_{n}()]",
        "kept_{n}()[0]",
        "kept_{n}()[0] = new",
        uncapturable=True,
    ),
    "thread-local": Place(
        ("thread-local",),
        "local_{n} = threading.local()\nlocal_{n}.value = start_{n}()",
        "local_{n}.value",
        "local_{n}.value = new",
        uncapturable=True,
    ),
    "context variable": Place(
        ("context-variable",),
        'var_{n} = contextvars.ContextVar("var_{n}")',
        "var_{n}.get() if var_{n} in contextvars.copy_context() else start_{n}()",
        "var_{n}.set(new)",
        uncapturable=True,
    ),
    "foreign module": Place(
        ("foreign-module",),
        "import textwrap",
        'textwrap.kept_{n} if hasattr(textwrap, "kept_{n}") else start_{n}()',
        "textwrap.kept_{n} = new",
        fresh='import textwrap; textwrap.__dict__.pop("kept_{n}", None)',
        uncapturable=True,
    ),
    "weak dictionary": Place(
        ("weak-reference",),
        BOX
        + "\n\nkey_{n} = Box_{n}(0)\nweak_{n} = weakref.WeakKeyDictionary()\nweak_{n}[key_{n}] = start_{n}()",
        "weak_{n}[key_{n}]",
        "weak_{n}[key_{n}] = new",
        uncapturable=True,
    ),
    "global of the harness": Place(
        ("harness-global",),
        "",
        target="kept_{n}[0]",
        imports=("harness", "kept_{n} = [system.start_{n}()]"),
        uncapturable=True,
    ),
}

# Places that are easily overlooked. Only some systems have one, so that all others stay as they are.
RARE_PLACES = {
    "attribute of a list": Place(
        ("rare-place",),
        "class Kept_{n}(list):\n    pass\n\n\nkept_{n} = Kept_{n}()\nkept_{n}.value = start_{n}()",
        "kept_{n}.value",
        "kept_{n}.value = new",
    ),
    "slot of a set": Place(
        ("rare-place",),
        'class Kept_{n}(set):\n    __slots__ = ("value",)\n\n\nkept_{n} = Kept_{n}()\nkept_{n}.value = start_{n}()',
        "kept_{n}.value",
        "kept_{n}.value = new",
    ),
    "slot of a second base": Place(
        ("rare-place",),
        'class Base_{n}:\n    __slots__ = ("value",)\n\n\nclass Mixin_{n}:\n    pass\n\n\n'
        "class Kept_{n}(Mixin_{n}, Base_{n}):\n    pass\n\n\nkept_{n} = Kept_{n}()\nkept_{n}.value = start_{n}()",
        "kept_{n}.value",
        "kept_{n}.value = new",
    ),
    "keyword default": Place(
        ("rare-place",),
        "def keep_{n}(*, kept=start_{n}()):\n    return kept",
        "keep_{n}()",
        'keep_{n}.__kwdefaults__ = {{"kept": new}}',
    ),
    "attribute of a method": Place(
        ("rare-place",),
        "class Kept_{n}:\n    def method(self):\n        pass\n\n\nKept_{n}.method.value = start_{n}()",
        "Kept_{n}.method.value",
        "Kept_{n}.method.value = new",
    ),
    "cause of an exception": Place(
        ("rare-place",),
        "error_{n} = ValueError()\nerror_{n}.__cause__ = KeyError(start_{n}())",
        "error_{n}.__cause__.args[0]",
        "error_{n}.__cause__ = KeyError(new)",
    ),
    "attribute of an enum member": Place(
        ("rare-place",),
        'Kept_{n} = enum.Enum("Kept_{n}", "ONE TWO")\nKept_{n}.TWO.kept = start_{n}()',
        "Kept_{n}.TWO.kept",
        "Kept_{n}.TWO.kept = new",
    ),
    "registry of subclasses": Place(
        ("rare-place",),
        "class Base_{n}:\n    made = [start_{n}()]\n\n    def __init_subclass__(cls, value):\n"
        "        Base_{n}.made.append(value)",
        "Base_{n}.made[-1]",
        'type("Heir", (Base_{n},), {{}}, value=new); del Base_{n}.made[:-1]',
    ),
    "chain of dictionaries": Place(
        ("rare-place",),
        'chain_{n} = collections.ChainMap({{}}, {{"k": start_{n}()}})',
        'chain_{n}["k"]',
        'chain_{n}.maps[1]["k"] = new',
    ),
    "descriptor": Place(
        ("rare-place",),
        "class Field_{n}:\n    def __get__(self, owner, kind):\n        return self.kept\n\n"
        "    def __set__(self, owner, kept):\n        self.kept = kept\n\n\n"
        "class Kept_{n}:\n    value = Field_{n}()\n\n\nkept_{n} = Kept_{n}()\nkept_{n}.value = start_{n}()",
        "kept_{n}.value",
        "kept_{n}.value = new",
    ),
    "annotation": Place(
        ("rare-place",),
        'def keeper_{n}():\n    pass\n\n\nkeeper_{n}.__annotations__["kept"] = start_{n}()',
        'keeper_{n}.__annotations__["kept"]',
        'keeper_{n}.__annotations__["kept"] = new',
        uncapturable=True,
    ),
}
