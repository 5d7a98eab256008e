"""Helpers of the backend that are written in Python.

Loaded once per harness; nothing here runs per step.
"""

import ast
import builtins
import collections
import dis
import importlib.util
import linecache
import os
import random
import re
import signal
import string
import sys
import sysconfig
import tokenize
import types
import warnings


class PostConditionFailed(AssertionError):
    """The post-condition after ``=>`` does not hold."""


class ReferenceMismatch(AssertionError):
    """The reference implementation returned something else."""

    def __init__(self, result, reference):
        self.result, self.reference = result, reference
        super().__init__("the result differs from the reference's")


class ExceptionMismatch(AssertionError):
    """System and reference raise different exceptions."""

    def __init__(self, raised, reference_raised):
        self.raised, self.reference_raised = raised, reference_raised
        super().__init__("the exception differs from the reference's")


class Unset:
    """Marks a result that is missing because of an exception."""


HAS_QUALNAME = hasattr(compile("", "", "exec"), "co_qualname")

PRELUDE = """\
import copy, glob, inspect, os, os.path, random, re, struct, subprocess, sys, time, traceback
from importlib import reload
from itertools import chain, combinations
"""


class HarnessLoader:
    """The loader of the module for raw code, which runs in parts and not by an import."""

    def __init__(self, path):
        self.path = path

    def create_module(self, spec):
        """Leaves the creation of the module to Python."""

    def exec_module(self, module):
        """Runs nothing: the raw code is run later."""

    def get_filename(self, name=None):
        """Returns the path of the harness."""
        return self.path

    def get_source(self, name=None):
        """Returns the text of the harness."""
        with tokenize.open(self.path) as file:
            return file.read()

    def is_package(self, name=None):
        """Returns false: a harness has no submodules."""
        return False


def new_namespace(name, path):
    """Creates the module for raw code and actions, with the names that every harness may use."""
    path = os.path.abspath(os.fspath(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=HarnessLoader(path))
    module = importlib.util.module_from_spec(spec)
    module.__cached__ = None
    # Classes defined in raw code are looked up through their module, for example to be pickled.
    sys.modules[name] = module
    exec(PRELUDE, module.__dict__)
    return module


def compile_code(text, path):
    """Compiles a text or a syntax tree without warnings."""
    with warnings.catch_warnings(module=warnings):
        warnings.simplefilter("ignore")
        return compile(text, path, "exec", dont_inherit=True)


def make_function(text, line, path, namespace):
    """Returns the function that `text` defines. Tracebacks show everything in it at `line`."""
    made = {}
    if text.count("\n") == 2:
        # Head and one statement: most functions are like that, and moving them is much faster.
        exec(compile_code(text, path), namespace, made)
        (function,) = made.values()
        function.__code__ = moved(function.__code__, line - 2)
        return function
    tree = placed(ast.parse(text, path), line)
    exec(compile_code(tree, path), namespace, made)
    (function,) = made.values()
    return function


def placed(tree, line):
    """Moves all nodes of a tree to one line, without columns: tracebacks underline nothing."""
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = -1
    return tree


def make_checks(statements, lines, path, namespace, places=None):
    """Returns a function that runs these statements, each at its line.

    Also returns the positions of the slots that it reads. The function takes the list of all slots,
    or the values of those at `places`.
    """
    slots = SlotsAsVariables()
    checks = []
    for text, line in zip(statements, lines):
        checks += placed(slots.visit(ast.parse(text, path)), line).body
    if places is None:
        parameters, loads = "_tw_p", placed(slots.loads(path), lines[0]).body
    else:
        parameters, loads = ", ".join(map(slot_variable, places)), []
    tree = ast.parse(f"def line({parameters}): pass", path)
    (function,) = tree.body
    function.body = loads + checks or function.body
    made = {}
    exec(compile_code(tree, path), namespace, made)
    return made["line"], sorted(slots.places)


def slot_variable(place):
    """Returns the variable for the slot at a position."""
    return f"_tw_p{place}"


class SlotsAsVariables(ast.NodeTransformer):
    """Replaces each lookup of a slot in the list by a variable, so that it is read only once."""

    def __init__(self):
        self.places = set()

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "_tw_p":
            place = node.slice.value
            self.places.add(place)
            return ast.copy_location(ast.Name(slot_variable(place), node.ctx), node)
        return self.generic_visit(node)

    def loads(self, path):
        """Returns the assignments that read the slots."""
        texts = (f"{slot_variable(place)} = _tw_p[{place}]" for place in sorted(self.places))
        return ast.parse("\n".join(texts), path)


def copy_function(function, name, distance, constants):
    """Copies a function with another name, other constants and other lines."""
    code = function.__code__
    first_line = max(code.co_firstlineno + distance, 0)
    names = {"co_name": name, "co_qualname": name} if HAS_QUALNAME else {"co_name": name}
    code = code.replace(co_firstlineno=first_line, co_consts=constants, **names)
    return types.FunctionType(code, function.__globals__)


def moved(code, distance):
    """Returns a copy of a code object, and of those in it, moved by some lines."""
    constants = tuple(
        moved(constant, distance) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    first_line = max(code.co_firstlineno + distance, 0)
    return code.replace(co_firstlineno=first_line, co_consts=constants)


class HarnessLines(list):
    """The lines of a harness for tracebacks, and its raw code for what reads the lines as Python.

    Joined, iterated or sliced, they are the raw code, with blank lines for the others. That is what
    `inspect` does to find the source of classes and functions.
    """

    def __init__(self, lines, raw):
        super().__init__(lines)
        self.raw = raw

    def __iter__(self):
        return iter(self.raw)

    def __getitem__(self, place):
        return self.raw[place] if isinstance(place, slice) else super().__getitem__(place)


def run_raw_code(text, harness, path, entry_values, namespace, observe=None):
    """Runs raw code, which stands in the text of the harness at the same lines.

    `entry_values` are (name, expression, line): values to compute on entry to the function around
    the line. `observe` converts code objects to ones that are measured.
    """
    texts = (code.replace("\r\n", "\n").split("\n") for code in (harness, text))
    lines = HarnessLines(*([f"{line}\n" for line in code] for code in texts))
    # Without a time, the entry is never replaced by what is in the file.
    linecache.cache[path] = (len(harness), None, lines, path)
    with warnings.catch_warnings(module=warnings):
        warnings.simplefilter("ignore")
        tree = ast.parse(text, path)
        for name, expression, line in entry_values:
            function = function_around(tree, line)
            assignment = ast.parse(f"{name} = ({expression}\n)", path).body[0]
            body = function.body
            for node in ast.walk(assignment):
                ast.copy_location(node, body[0])
            body.insert(1 if ast.get_docstring(function) is not None else 0, assignment)
        code = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    exec(code if observe is None else observe(code), namespace)


def prefer_local(names):
    """Forgets imported modules that the project under test replaces by its own of the same name.

    A project may have a module called `queue` or `random`, and this process may have imported the
    standard one.
    """
    for name in names:
        loaded = getattr(sys.modules.get(name), "__file__", None)
        if loaded is None:
            continue
        for folder in sys.path[:2]:
            for own in (
                os.path.join(folder, name + ".py"),
                os.path.join(folder, name, "__init__.py"),
            ):
                if os.path.isfile(own) and not os.path.samefile(own, loaded):
                    sys.modules.pop(name, None)


def function_around(tree, line):
    """Returns the innermost function around a line."""
    found = None
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.lineno <= line <= node.end_lineno
        ):
            found = node
    if found is None:
        raise SyntaxError(f"pre<(...)> in line {line} stands outside of any function")
    return found


def with_entry_values(text, entry_values):
    """Returns raw code with values on entry to a function as assignments at its top."""
    lines = text.split("\n")
    additions = []
    tree = ast.parse(text)
    for name, expression, line in entry_values:
        body = function_around(tree, line).body
        documented = (
            isinstance(body[0], ast.Expr)
            and isinstance(getattr(body[0], "value", None), ast.Constant)
            and len(body) > 1
        )
        first = body[1] if documented else body[0]
        additions.append((first.lineno - 1, " " * first.col_offset + f"{name} = {expression}"))
    for number, addition in sorted(additions, reverse=True):
        lines.insert(number, addition)
    return "\n".join(lines)


def home_of(name):
    """Returns the folder of a module of the project under test; None for other modules."""
    module = sys.modules.get(name.split(".")[0])
    path = getattr(module, "__file__", None)
    if path is None or is_installed(os.path.abspath(path)):
        return None
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.dirname(folder) if hasattr(module, "__path__") else folder


def uses_random(name):
    """Returns true if a module of the project under test imports the `random` module."""
    return home_of(name) is not None and random in vars(sys.modules[name.split(".")[0]]).values()


def is_under(path, folder):
    """Returns true if a file is in a folder or below."""
    return os.path.normcase(path).startswith(os.path.normcase(folder) + os.sep)


def is_installed(path):
    """Returns true if a file belongs to the standard library or to an installed package."""
    parts = path.replace("\\", "/").split("/")
    return "site-packages" in parts or "dist-packages" in parts or is_of_python(path)


# Finding it takes longer than anything that is asked about it.
STANDARD_LIBRARY = sysconfig.get_path("stdlib")


def is_of_python(path):
    """Returns true if a file belongs to the standard library."""
    is_package = "-packages" in path.replace("\\", "/")
    return is_under(path, STANDARD_LIBRARY) and not is_package


def modules_of_state(namespace, imported, sources):
    """Returns the namespaces of the modules whose contents belong to a state, and names of others.

    These are the modules of the project that the harness reaches, and installed packages that it
    imports. Packages that are too large to look at are only named.
    """
    own, packages = {}, {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if type(module) is not types.ModuleType or type(path) is not str or name == "__main__":
            continue
        top = name.split(".")[0]
        if top.startswith("testwright"):
            continue
        if not is_installed(os.path.abspath(path)) or name in sources:
            own[name] = module
        elif top in imported and ("site-packages" in path or "dist-packages" in path):
            packages.setdefault(top, []).append(module.__dict__)
    found = modules_reached(namespace, own)
    large = []
    for top, namespaces in packages.items():
        if sum(map(len, namespaces)) > 5000:
            large.append(top)
        else:
            found += namespaces
    return found, large


def modules_reached(namespace, own):
    """Returns the namespaces of those modules that a namespace refers to, directly or not."""
    by_last_name = {}
    for name in own:
        by_last_name.setdefault(name.rpartition(".")[2], []).append(name)
    reached, waiting = {}, [namespace]

    def reach(name):
        while name and type(name) is str:
            if name in own and name not in reached:
                reached[name] = own[name].__dict__
                waiting.append(own[name].__dict__)
            name = name.rpartition(".")[0]

    while waiting:
        for value in list(waiting.pop().values()):
            if type(value) is types.ModuleType:
                reach(value.__name__)
                continue
            reach(type(value).__module__)
            if isinstance(value, (type, types.FunctionType)):
                reach(value.__module__)
                codes = codes_of(value)
            else:
                codes = ()
            for code in codes:
                # Modules may also be imported when a function runs.
                for name in code.co_names:
                    for full_name in by_last_name.get(name.rpartition(".")[2], ()):
                        reach(full_name)
    return [reached[name] for name in own if name in reached]


def foreign_objects(namespaces):
    """Returns (name, object) for the modules and classes of others that code of the project names.

    Their attributes belong to no state.
    """
    own = {id(namespace) for namespace in namespaces}
    found = {"builtins": builtins, "os.environ": vars(os.environ)["_data"]}

    def add_module(module):
        name = getattr(module, "__name__", None)
        is_foreign = type(module) is types.ModuleType and id(module.__dict__) not in own
        if is_foreign and sys.modules.get(name) is module and name not in UNWATCHED:
            if not name.startswith("testwright"):
                found[name] = module

    for namespace in namespaces:
        if is_installed(str(namespace.get("__file__"))):
            continue
        for value in list(namespace.values()):
            add_module(value)
            if type(value) is type and value.__module__ in sys.modules:
                if id(sys.modules[value.__module__].__dict__) not in own:
                    found[f"{value.__module__}.{value.__qualname__}"] = value
            if isinstance(value, (type, types.FunctionType)):
                for code in codes_of(value):
                    for name in code.co_names:
                        add_module(sys.modules.get(name))
    for name, module in list(found.items()):
        if type(module) is types.ModuleType:
            found.update(parts_of_foreign(name, module))
    return list(found.items())


def parts_of_foreign(name, module):
    """Returns the classes of a module of others by their names, and its collections."""
    if name not in PARTS_OF_FOREIGN:
        PARTS_OF_FOREIGN[name] = {
            f"{name}.{attribute}": value
            for attribute, value in list(vars(module).items())
            if (type(value) is type and value.__module__ == name)
            or (type(value) in (dict, list, set) and not attribute.startswith("_"))
            if f"{name}.{attribute}" not in UNWATCHED
        }
    return PARTS_OF_FOREIGN[name]


PARTS_OF_FOREIGN = {}

# Modules and collections that the interpreter and the tool change, or that are restored anyway.
UNWATCHED = set(
    (
        "__main__ random sys.modules sys.path_importer_cache linecache.cache linecache.lazycache "
        "inspect.modulesbyfile warnings.onceregistry mimetypes.types_map mimetypes.encodings_map "
        "mimetypes.suffix_map mimetypes.common_types mimetypes.knownfiles weakref.finalize"
    ).split()
)


def codes_of(value):
    """Returns the code objects of a function, or of the functions of a class."""
    functions = [value] if type(value) is types.FunctionType else list(TYPE_DICT(value).values())
    waiting = [
        function.__code__
        for function in (getattr(function, "__func__", function) for function in functions)
        if type(function) is types.FunctionType
    ]
    found = []
    while waiting:
        code = waiting.pop()
        found.append(code)
        waiting += [inner for inner in code.co_consts if type(inner) is types.CodeType]
    return found


# Functions whose results no state contains, by module.
OUTSIDE = {
    "time": {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"},
    "datetime": {"now", "utcnow", "today"},
    "os": {"environ", "getenv", "putenv", "urandom"},
    "uuid": {"uuid1", "uuid4"},
    "secrets": {"token_bytes", "token_hex", "token_urlsafe", "randbelow", "choice"},
    "gc": {"collect", "get_objects", "get_referrers"},
}
# Attributes whose values no state contains.
HIDDEN = {"cache_info", "__annotations__", "__traceback__"}
SINGLETONS = (None, True, False, Ellipsis, NotImplemented)


def code_outside_state(functions):
    """Returns (asks for identity, what, file, line) for code that asks for what no state contains.

    Only code of the project is looked at.
    """
    found, seen = [], set()
    waiting = [(function.__code__, function.__globals__) for function in functions]
    while waiting:
        code, names = waiting.pop()
        if code in seen or is_installed(code.co_filename):
            continue
        seen.add(code)
        waiting += [(inner, names) for inner in code.co_consts if type(inner) is types.CodeType]
        if not may_ask_outside(code):
            continue
        line, steps = code.co_firstlineno, []
        for step in dis.get_instructions(code):
            if step.starts_line not in (None, False, True):
                line = step.starts_line
            elif step.starts_line is True:
                line = step.line_number  # from Python 3.13 on
            if step.opname not in IGNORED:
                steps.append((step, line))
        place = os.path.basename(code.co_filename)
        for (step, line), (after, _) in zip(steps, steps[1:] + steps[-1:]):
            what = outside_name(step, after, names)
            if what is not None:
                found.append((what == "id(…)", what, place, line))
        for (before, _), (step, line) in zip(steps, steps[1:]):
            is_constant = before.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
            if step.opname == "IS_OP" and is_constant:
                if not any(before.argval is singleton for singleton in SINGLETONS):
                    found.append((True, f"is {before.argval!r}", place, line))
    return sorted(set(found))


def may_ask_outside(code):
    """Returns true if the names in code, or its operators, may lead outside of the state."""
    names = set(code.co_names)
    return (
        not names.isdisjoint(HIDDEN)
        or not names.isdisjoint({"id", "open", "datetime", "date"})
        or not names.isdisjoint(OUTSIDE)
        or any(not names.isdisjoint(attributes) for attributes in OUTSIDE.values())
        or any(type(constant) in (int, str, float, bytes, tuple) for constant in code.co_consts)
        and dis.opmap.get("IS_OP") in code.co_code[::2]
    )


def outside_name(step, after, names):
    """Returns the function outside of the state that an instruction loads, if it is one."""
    name = step.argval
    if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and name in HIDDEN:
        return name
    if step.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
        return None
    if name in ("id", "open") and name not in names:
        return "id(…)" if name == "id" else "open(…)"
    value = names.get(name)
    attribute = after.argval if after.opname in ("LOAD_ATTR", "LOAD_METHOD") else None
    if type(value) is types.ModuleType:
        if attribute in OUTSIDE.get(value.__name__, ()):
            return f"{name}.{attribute}"
    elif isinstance(value, type):
        if value.__module__ == "datetime" and attribute in OUTSIDE["datetime"]:
            return f"{name}.{attribute}"
    elif isinstance(value, types.BuiltinFunctionType):
        if value.__name__ in OUTSIDE.get(value.__module__, ()):
            return f"{name}"
    return None


# Modules written in C whose functions and classes have no effect but on objects, which a state contains.
PURE_MODULES = set(
    (
        "_abc _ast _asyncio _bisect _blake2 _codecs _collections _collections_abc _contextvars _csv "
        "_datetime _decimal _elementtree _functools _hashlib _heapq _json _md5 _opcode _operator _pickle "
        "_queue _random _sha1 _sha2 _sha256 _sha3 _sha512 _sre _stat _statistics _string _struct _symtable "
        "_thread _tokenize _typing _warnings _weakref _zoneinfo abc array binascii builtins cmath "
        "collections contextvars copy datetime decimal enum errno functools hashlib itertools marshal math "
        "operator pyexpat random re string struct sys threading types typing unicodedata weakref "
        "xml.etree.ElementTree zlib zoneinfo"
    ).split()
)
# Functions in these modules that do more, and functions elsewhere that do not, by module or class.
IMPURE = {
    "builtins": {"input", "breakpoint"},
    "datetime.datetime": {"now", "utcnow", "today"},
    "datetime.date": {"today"},
    "sys": {
        *(
            "setrecursionlimit",
            "setswitchinterval",
            "set_int_max_str_digits",
            "settrace",
            "setprofile",
        ),
        *("addaudithook", "getrefcount", "setdlopenflags", "_current_frames", "getallocatedblocks"),
    },
    "_thread": {"start_new_thread", "start_joinable_thread", "interrupt_main", "stack_size"},
    "decimal": {"getcontext", "setcontext"},
}
PURE = {
    "time": {"sleep", "strftime", "mktime", "strptime", "struct_time"},
    "posix": {
        "fspath",
        "strerror",
        "getcwd",
        "cpu_count",
        "uname",
        "sysconf",
        "fsencode",
        "fsdecode",
    },
    "gc": {"isenabled", "is_tracked", "is_finalized", "get_threshold", "get_count"},
    # Opening a file is an audit event.
    "io": {"open", "open_code", "text_encoding"},
    "_io": {"open", "open_code", "text_encoding"},
    "_io.StringIO": None,
    "_io.BytesIO": None,
    # A file that was opened earlier is an object that no state contains.
    "_io.TextIOWrapper": {
        *("write", "writelines", "flush", "isatty", "fileno", "detach", "close", "seek", "tell"),
    },
    "_imp": None,
    "_locale": {"localeconv", "getencoding"},
}
# Libraries that look outside for their own purposes only.
ON_ITS_OWN_ACCOUNT = set(
    (
        "_strptime abc argparse ast asyncio codecs copyreg dataclasses dis encodings enum functools "
        "gettext importlib inspect linecache logging reprlib token tokenize traceback typing warnings "
        "weakref zipimport"
    ).split()
)
# Actions that even these take for their callers.
FOR_OTHERS = (
    *("subprocess.", "socket.connect", "socket.bind", "socket.getaddrinfo", "os.system", "os.exec"),
    *("os.fork", "os.posix_spawn", "thread."),
)


class OutsideWatch:
    """Notes what code does outside of the state: with files, processes, the clock, or settings."""

    def __init__(self):
        self.found = set()

    def name(self, function):
        """Returns the name of a function in C that may look or act outside; None for others."""
        owner, name = getattr(function, "__self__", None), function.__name__
        if owner is None or type(owner) is types.ModuleType:
            module, group = function.__module__, function.__module__
        else:
            kind = owner if isinstance(owner, type) else type(owner)
            # The class that defines the method, not one that inherits it.
            kind = next((base for base in kind.__mro__ if name in vars(base)), kind)
            module, group = kind.__module__, f"{kind.__module__}.{kind.__qualname__}"
        if module is None or module.startswith("testwright"):
            return None
        known = PURE.get(group, PURE.get(module, ()))
        if known is None or name in known:
            return None
        if module in PURE_MODULES and name not in IMPURE.get(group, ()):
            return None
        return "os." + name if group == "posix" else f"{group}.{name}"

    def note(self, name):
        """Notes that code of the project, or of a library that it calls, did something outside."""
        frame = sys._getframe(1)
        if name == "builtins.id" and is_installed(frame.f_code.co_filename):
            return  # libraries use it to find objects again
        name = {"open": "open(…)", "builtins.id": "id(…)"}.get(name, name.lstrip("_"))
        while frame is not None:
            names = frame.f_globals
            module, path = str(names.get("__name__")), frame.f_code.co_filename
            if path.startswith(("testwright/", "<frozen importlib")):
                return
            if not path.startswith("<") and not is_installed(path):
                place = os.path.basename(path)
                self.found.add((name, place, frame.f_lineno))
                return
            if module.split(".")[0] in ON_ITS_OWN_ACCOUNT and not name.startswith(FOR_OTHERS):
                return
            frame = frame.f_back


NAMES_OF = {}

# Functions that take the name of an attribute, and the instructions between them and their call.
NAME_TAKING = {"getattr", "hasattr", "setattr", "delattr"}
SIMPLE_LOADS = {"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_CONST"}
IGNORED = {"EXTENDED_ARG", "PRECALL", "PUSH_NULL"}


def are_constants(statements):
    """Returns whether all of these assignments assign constants."""
    try:
        for statement in statements:
            (assignment,) = ast.parse(statement).body
            ast.literal_eval(assignment.value)
    except (AttributeError, SyntaxError, TypeError, ValueError, RecursionError):
        return False
    return True


def compare_with_twin(value, twin):
    """Returns the attributes in which a value and its twin differ, and whether they are alike.

    Objects hold the same data if their attributes do, whatever their classes. Values of different
    make, such as a list and a set, may differ although all is well, unless they say themselves
    that they are equal.
    """
    differences, is_comparable = set(), True
    seen, waiting = set(), [("", value, twin)]
    while waiting:
        path, one, other = waiting.pop()
        if one is other or (id(one), id(other)) in seen:
            continue
        seen.add((id(one), id(other)))
        try:
            (kind, parts), (other_kind, other_parts) = parts_of(one), parts_of(other)
            if kind == other_kind and parts.keys() == other_parts.keys():
                if kind in ("mapping", "sequence", "object"):
                    for name, part in parts.items():
                        inner = path or (f".{name}" if kind == "object" else "[…]")
                        waiting.append((inner, part, other_parts[name]))
                elif parts != other_parts:
                    differences.add(path)
            elif kind == other_kind != "object" or one is None or other is None:
                differences.add(path)
            elif (one == other) is not True:
                differences.add(path)
                is_comparable = False
        except Exception:  # raised by code under test, so nothing is known
            differences.add(path)
            is_comparable = False
    return sorted(differences), is_comparable


def parts_of(value):
    """Returns what kind of value it is, and its parts by name.

    The order of a dictionary does not count, nor does that of a set.
    """
    if isinstance(value, dict):
        return "mapping", {repr(key): part for key, part in dict.items(value)}
    for kind in (list, tuple, collections.deque):
        if isinstance(value, kind):
            return "sequence", dict(enumerate(kind.__iter__(value)))
    if isinstance(value, (set, frozenset)):
        return "set", dict.fromkeys(sorted(map(repr, value)))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, range)):
        is_number = isinstance(value, (int, float, complex)) and not value != value
        return "value", {"": value if is_number else repr(value)}
    kinds = [kind for kind in type(value).__mro__ if not kind.__flags__ & HEAP_TYPE]
    if kinds != [object] or isinstance(value, (type, types.FunctionType)):
        has_equality = type(value).__eq__ is not object.__eq__
        return f"other {type(value).__qualname__}", {"": repr(value)} if has_equality else {}
    slots = [name for kind in type(value).__mro__ for name in vars(kind).get("__slots__", ())]
    parts = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return "object", {**parts, **getattr(value, "__dict__", {})}


# Marks classes that were defined in Python.
HEAP_TYPE = 1 << 9


def names_of(code):
    """Returns the names in code: globals, attributes, and imported modules.

    Also returns whether it computes attribute names, and which of the functions that take such
    names it calls with constant names only.
    """
    known = NAMES_OF.get(code)
    if known is None:
        globals_, attributes, imported, makes_up_names = set(), set(), set(), False
        named, unnamed = set(), set()
        waiting = [code]
        while waiting:
            current = waiting.pop()
            attributes.update(current.co_names)
            for constant in current.co_consts:
                if isinstance(constant, types.CodeType):
                    waiting.append(constant)
                elif isinstance(constant, str) and constant.startswith("__"):
                    attributes.add(constant)  # as in getattr(function, "__globals__")
            instructions = dis.get_instructions(current)
            instructions = [step for step in instructions if step.opname not in IGNORED]
            for place, instruction in enumerate(instructions):
                name, value = instruction.opname, instruction.argval
                if name == "IMPORT_NAME":
                    # The instructions before it load the number of packages to go up, then the names.
                    is_absolute = place >= 2 and instructions[place - 2].argval == 0
                    imported.add(value if is_absolute else f".{value}")
                elif name == "MATCH_CLASS":
                    makes_up_names = True
                elif name in ("LOAD_ATTR", "LOAD_METHOD") and value == "format":
                    before = instructions[place - 1]
                    if before.opname == "LOAD_CONST" and not instruction.is_jump_target:
                        attributes.update(names_in_format(str(before.argval)))
                    else:
                        makes_up_names = True
                elif name.endswith(("_GLOBAL", "_NAME")) or "FROM_DICT_OR_GLOBALS" in name:
                    globals_.add(value)
                    if value in NAME_TAKING:
                        constant = constant_name(instructions[place + 1 : place + 5])
                        (unnamed if constant is None else named).add(value)
                        attributes.update(() if constant is None else (constant,))
        known = NAMES_OF[code] = (
            sorted(globals_),
            sorted(attributes),
            sorted(imported),
            makes_up_names,
            sorted(named - unnamed),
        )
    return known


def constant_name(following):
    """Returns the constant name in a call whose arguments start with a variable and that name.

    `following` are the instructions after the one that loads the function.
    """
    for count in (2, 3):
        *arguments, call = following[: count + 1] or [None]
        if (
            len(arguments) == count
            and call.opname in ("CALL", "CALL_FUNCTION")
            and call.arg == count
            and all(argument.opname in SIMPLE_LOADS for argument in arguments)
            and not any(step.is_jump_target for step in following[: count + 1])
            and arguments[1].opname == "LOAD_CONST"
            and type(arguments[1].argval) is str
        ):
            return arguments[1].argval
    return None


def names_in_format(text):
    """Returns the attributes that `text.format` reads."""
    names = set()
    try:
        for _, field, specification, _ in string.Formatter().parse(text):
            names.update(re.findall(r"\.([^.\[]+)", field or ""))
            names.update(names_in_format(specification or ""))
    except ValueError:
        pass  # the call itself will raise
    return names


class Libraries:
    """Modules of the standard library, by name, whose code is trusted without analysis."""

    FOLDER = os.path.join(os.path.dirname(os.__file__), "")

    def __init__(self, names):
        self.names = names
        self.asked = {}

    def namespace(self, name):
        """Returns the namespace of one of the modules.

        None if it is not loaded, or if another module has its name.
        """
        module = sys.modules.get(name)
        if type(module) is not types.ModuleType or name not in self.names:
            return None
        origin = getattr(vars(module).get("__spec__"), "origin", None)
        if origin not in ("built-in", "frozen"):
            if type(origin) is not str or not origin.startswith(self.FOLDER):
                return None
            if "site-packages" in origin or "dist-packages" in origin:
                return None
        return vars(module)

    def has(self, owner):
        """Returns true if a namespace or a class belongs to one of the modules."""
        if type(owner) is dict:
            return any(self.namespace(name) is owner for name in self.names)
        found = self.namespace(TYPE_MODULE(owner))
        for name in TYPE_QUALNAME(owner).split("."):
            if issubclass(type(found), type):
                found = TYPE_DICT(found)
            if found is None:
                return False
            found = found.get(name)
        return found is owner

    def asked_by(self, owner):
        """Returns the names in the code of the owner's module and of the modules it uses."""
        name = owner.get("__name__") if type(owner) is dict else TYPE_MODULE(owner)
        if name not in self.asked:
            names, seen = set(), {}
            waiting = [owner if type(owner) is dict else self.namespace(name)]
            while waiting:
                thing = waiting.pop()
                if id(thing) in seen:
                    continue
                seen[id(thing)] = thing  # kept alive, or another object could get its id
                kind = type(thing)
                if kind is dict or kind is types.MappingProxyType:
                    # Dictionaries in a dictionary are data.
                    waiting.extend(value for value in thing.values() if type(value) is not dict)
                elif kind is types.FunctionType:
                    waiting.append(thing.__code__)
                elif kind is types.CodeType:
                    names.update(thing.co_names)
                    waiting.extend(thing.co_consts)
                elif kind in (staticmethod, classmethod):
                    waiting.append(thing.__func__)
                elif kind is property:
                    waiting.extend((thing.fget, thing.fset, thing.fdel))
                elif kind is types.ModuleType:
                    waiting.append(self.namespace(thing.__name__))
                elif issubclass(kind, type):
                    waiting.append(TYPE_DICT(thing))
            self.asked[name] = sorted(names)
        return self.asked[name]


# Attributes of a class, read without its metaclass.
TYPE_MODULE = type.__dict__["__module__"].__get__
TYPE_QUALNAME = type.__dict__["__qualname__"].__get__
TYPE_DICT = type.__dict__["__dict__"].__get__


class ProcessRestorer:
    """The process state that a system under test may change, restored on every reset."""

    def __init__(self, on_interrupt, announce_signals, in_child):
        """Records the current state.

        Without a descriptor to announce signals on, they have their default effect.
        """
        self.builtins = dict(builtins.__dict__)
        try:
            self.directory = os.getcwd()
        except OSError:
            self.directory = os.path.abspath(os.sep)  # the current folder was removed
        self.is_moved = False
        self.search_path = list(sys.path)
        self.modules = dict(sys.modules)
        self.recursion_limit = sys.getrecursionlimit()
        self.own_streams = (sys.stdin, sys.stdout, sys.stderr)
        self.streams = [None, None, None]
        if announce_signals is None:
            self.handlers = {
                signal.SIGINT: signal.default_int_handler,
                signal.SIGTERM: signal.SIG_DFL,
            }
        else:
            self.handlers = {signal.SIGINT: on_interrupt, signal.SIGTERM: on_interrupt}
            os.set_blocking(announce_signals, False)
        self.announce_signals = announce_signals
        self.own_handlers = {}
        self.in_child = in_child
        self.has_ended = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self.hold_signals,
                after_in_parent=self.release_signals,
                after_in_child=self.detach_child,
            )
        for number, handler in self.handlers.items():
            try:
                self.own_handlers[number] = signal.signal(number, handler)
            except ValueError:
                pass  # not the main thread, which handles signals

    def hold_signals(self):
        """Blocks signals during a fork.

        Until a child has removed our handlers, its signals would reach us.
        """
        if not self.has_ended:
            self.held = signal.pthread_sigmask(signal.SIG_BLOCK, self.own_handlers)

    def release_signals(self):
        """Unblocks signals after a fork."""
        if not self.has_ended:
            signal.pthread_sigmask(signal.SIG_SETMASK, self.held)

    def detach_child(self):
        """Detaches a child process: it must neither report its signals to us nor go on testing."""
        if not self.has_ended:
            if self.announce_signals is not None:
                signal.set_wakeup_fd(-1)
                for number in self.own_handlers:
                    signal.signal(number, signal.SIG_DFL)
            self.in_child()
            signal.pthread_sigmask(signal.SIG_SETMASK, self.held)

    def restore(self):
        """Restores everything to the recorded state."""
        # Builtins first, without using any of them.
        if builtins.__dict__ != self.builtins:
            builtins.__dict__.clear()
            builtins.__dict__.update(self.builtins)
        if len(sys.modules) < len(self.modules) or sys.modules.get("warnings") is not warnings:
            sys.modules.update(self.modules)
        try:
            if self.is_moved:
                os.makedirs(self.directory, exist_ok=True)  # the system may remove it
            os.chdir(self.directory)
        except OSError:
            pass  # nothing better can be done
        if sys.getrecursionlimit() != self.recursion_limit:
            sys.setrecursionlimit(self.recursion_limit)
        if self.own_handlers and self.announce_signals is not None:
            signal.set_wakeup_fd(self.announce_signals, warn_on_full_buffer=False)
        for number in self.own_handlers:
            signal.signal(number, self.handlers[number])
        sys.stdin = self.stream(0, "r")
        sys.stdout = self.stream(1, "w")
        sys.stderr = self.stream(2, "w")

    def move_to(self, directory):
        """Makes another directory the one to restore. Relative search paths become absolute."""
        sys.path[:] = [
            os.path.abspath(entry) if isinstance(entry, str) else entry for entry in sys.path
        ]
        self.directory = os.fspath(directory)
        self.is_moved = True
        os.chdir(self.directory)

    def stream(self, descriptor, mode):
        """Returns the stream for a descriptor, opened again if it was closed."""
        stream = self.streams[descriptor]
        if stream is None or stream.closed:
            # No text that a system prints may raise an exception, whatever the locale is.
            stream = open(
                descriptor,
                mode,
                encoding="utf-8",
                errors="backslashreplace" if mode == "w" else "replace",
                closefd=False,
            )
            self.streams[descriptor] = stream
        return stream

    def flush(self):
        """Flushes all output streams."""
        for stream in (sys.stdout, sys.stderr, *self.streams[1:]):
            try:
                stream.flush()
            except Exception:
                pass  # the system broke this stream

    def end(self):
        """Restores the state before the harness was loaded."""
        self.restore()
        self.flush()
        sys.path[:] = self.search_path
        for name in [name for name in sys.modules if name not in self.modules]:
            # Another harness may use another module of this name.
            path = getattr(sys.modules[name], "__file__", None)
            if path is not None and not is_installed(os.path.abspath(path)):
                del sys.modules[name]
        sys.modules.update(self.modules)
        sys.stdin, sys.stdout, sys.stderr = self.own_streams
        if self.own_handlers and self.announce_signals is not None:
            signal.set_wakeup_fd(-1)
        for number, handler in self.own_handlers.items():
            signal.signal(number, handler)
        self.has_ended = True
