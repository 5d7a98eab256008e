"""Finds mistakes of a harness that would look like failures, or like success, of the code under test.

Runs once per harness. What is not certain is left alone.
"""

import abc
import ast
import difflib
import enum
import inspect
import os
import re
import sys
import types
import warnings

# Words in code that may bind names which its text does not show.
DYNAMIC = {"globals", "setattr", "exec", "eval", "vars", "__dict__", "modules", "setitem", "patch"}
# An object whose attributes such code may change without a change of its module or class.
OWN = {"self"}
# Words in a harness that show that it knows about coroutines.
AWAITING = ("await", "asyncio", "anyio", "trio", "run_until_complete", ".send(")
# Exceptions that a line may expect when an attribute is missing.
EXCUSES = ("AttributeError", "Exception", "BaseException")


# The same in the text of other modules, which may change those that a harness uses.
DYNAMIC_TEXT = re.compile(
    r"\b(setattr|vars|setitem)\((?!self\b)|(?<!\bself)\.__dict__|\b(exec|eval|patch)\b|\bsys\.modules\b"
)
# The modules of Python itself; not known before Python 3.10.
LIBRARY = getattr(sys, "stdlib_module_names", ())


def is_library(module):
    """Returns true for a module of Python itself."""
    return module.partition(".")[0] in LIBRARY


def is_dynamic(tree):
    """Returns true if code may bind names of modules or classes that its text does not show."""
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", None)
            first = getattr(node.args[0], "id", None) if node.args else None
            if called in ("setattr", "vars") and first in OWN:
                own.add(node.func)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in OWN:
            own.add(node)
    words = (
        getattr(node, "id", None) or getattr(node, "attr", None)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Name, ast.Attribute)) and node not in own
    )
    return any(word in DYNAMIC for word in words)


class ModuleText:
    """The names that a module defines, read from its text and, if it is loaded, from itself."""

    def __init__(self, name, path, module):
        self.name = name
        self.folders = list(vars(module).get("__path__", [])) if module else []
        self.names = set() if module is None else set(vars(module))
        self.module = module
        self.is_certain = module is None or type(module) is types.ModuleType
        self.tree = ast.Module([], [])
        if path is not None:
            if os.path.basename(path) == "__init__.py":
                self.folders.append(os.path.dirname(path))
            with open(path, "rb") as file:
                self.tree = ast.parse(file.read(), path)
        self.definitions = {}
        self.read(self.tree.body, module is not None)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Global):
                self.names.update(node.names)
        # Modules of Python itself get no names later, whatever they do while they are imported.
        is_settled = module is not None and is_library(name)
        self.is_certain &= is_settled or not is_dynamic(self.tree)
        if "__getattr__" in self.names:
            self.is_certain = False

    def read(self, body, is_loaded):
        """Reads the statements of the module, including those in blocks."""
        scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        waiting = list(body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, scopes):
                self.names.add(node.name)
                # Of several definitions, none is certain.
                known = self.definitions.get(node.name, node)
                self.definitions[node.name] = node if known is node else None
                continue
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    self.names.add((alias.asname or alias.name).split(".")[0])
                    self.is_certain &= alias.name != "*" or is_loaded
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.names.add(node.id)
                self.definitions[node.id] = None
            waiting.extend(ast.iter_child_nodes(node))

    def lacks(self, name):
        """Returns true if the module has no such attribute, for certain."""
        if not self.is_certain or name in self.names or name.startswith("__"):
            return False
        if f"{self.name}.{name}" in sys.modules:
            return False
        return not any(
            entry.split(".")[0] == name
            for folder in self.folders
            if os.path.isdir(folder)
            for entry in os.listdir(folder)
        )


class MistakeFinder:
    """Looks for mistakes in the lines of a harness."""

    def __init__(self, raw, lines, folders, is_loaded):
        """`lines` are (number, kind, code, guard, expected exceptions).

        Slots are written as `_tw_pool_0`. Without `is_loaded`, only the text of modules is read.
        """
        self.folders, self.is_loaded = folders, is_loaded
        self.modules = {}
        self.project_texts = None
        self.found = []
        self.lines = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.raw = ast.parse(raw)
            for number, kind, code, guard, expected in lines:
                try:
                    tree = ast.parse(code)
                    condition = ast.parse(guard)
                except SyntaxError:
                    continue  # reported elsewhere, or a line with special syntax
                self.lines.append((number, kind, tree, condition, expected))
        everything = raw + "".join(code + guard for _, _, code, guard, _ in lines)
        self.knows_awaiting = any(word in everything for word in AWAITING)
        self.bound = {}
        self.stored = set()
        self.passed = set()
        self.read_names(is_dynamic(self.raw) or any(is_dynamic(line[2]) for line in self.lines))
        self.classes = {}
        self.read_pools()

    def read_names(self, is_dynamic):
        """Reads which names are modules or parts of them, and which names the harness changes."""
        trees = [self.raw, *(tree for _, _, tree, _, _ in self.lines)]
        for node in (node for tree in trees for node in ast.walk(tree)):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self.stored.add(ast.dump(node.value) + node.attr)
            elif isinstance(node, ast.Call):
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                self.passed.update(map(ast.dump, values))
        for statement in self.raw.body if not is_dynamic else []:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    name = alias.name if alias.asname else alias.name.split(".")[0]
                    self.bound[alias.asname or name] = (name, None)
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                for alias in statement.names:
                    self.bound[alias.asname or alias.name] = (statement.module, alias.name)
        # Names with a second meaning have no certain one.
        for node in (node for tree in trees for node in ast.walk(tree)):
            names = [getattr(node, "name", None)] if hasattr(node, "body") else []
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                names = [node.id]
            elif isinstance(node, ast.arg):
                names = [node.arg]
            for name in names:
                self.bound.pop(name, None)

    def read_pools(self):
        """Reads of which class the values of each pool are."""
        unknown = set()
        for _, _, tree, _, _ in self.lines:
            simple = set()
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and len(node.targets) == 1:
                    (target,) = node.targets
                    made = self.resolve(node.value.func) if type(node.value) is ast.Call else None
                    if isinstance(target, ast.Name) and isinstance(made, tuple):
                        self.classes.setdefault(target.id, []).append(made)
                        simple.add(target)
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    if node not in simple:
                        unknown.add(node.id)
        for name in unknown:
            self.classes.pop(name, None)

    def module(self, name):
        """Returns the text of a module, or `None` if it is not certain which one it is."""
        if name not in self.modules:
            self.modules[name] = None
            try:
                # The text of a harness alone runs nothing, but some modules of Python are there.
                is_known = self.is_loaded or is_library(name)
                module = sys.modules.get(name) if is_known else None
                path = self.path_of(name, module)
                if path is not None or module is not None:
                    self.modules[name] = ModuleText(name, path, module)
            except (OSError, SyntaxError, ValueError):
                pass  # it cannot be read: nothing is certain
        return self.modules[name]

    def path_of(self, name, module):
        """Returns the file of a module, if it is Python source."""
        if module is not None:
            path = vars(module).get("__file__")
            return path if str(path).endswith(".py") else None
        for folder in self.folders:
            base = os.path.join(folder, *name.split("."))
            for path in (os.path.join(base, "__init__.py"), base + ".py"):
                if os.path.isfile(path):
                    return path
        return None

    def resolve(self, node):
        """Returns what an expression refers to.

        That is a module, a (module, class), a function, or `None` if it is not certain.
        """
        if isinstance(node, ast.Name):
            module, member = self.bound.get(node.id, (None, None))
            if module is None:
                return None
            if member is None:
                return self.module(module)
            return self.member(self.module(module), member)
        if isinstance(node, ast.Attribute):
            return self.member(self.resolve(node.value), node.attr)
        return None

    def member(self, owner, name):
        """Returns what an attribute of a module or class refers to."""
        if isinstance(owner, ModuleText):
            found = owner.definitions.get(name)
            if isinstance(found, ast.ClassDef):
                return owner, found
            if found is None and name not in owner.definitions:
                # A name of a package, or another one of its modules: `os.path` is `posixpath`.
                value = vars(owner.module).get(name) if owner.module else None
                if isinstance(value, types.ModuleType):
                    return self.module(value.__name__)
                return self.module(f"{owner.name}.{name}") if owner.folders else None
            return found
        return self.method(*owner, name) if isinstance(owner, tuple) else None

    def method(self, module, class_, name, depth=0):
        """Returns a method of a class, also of its base classes in the same module."""
        found = [node for node in class_.body if getattr(node, "name", None) == name]
        if found:
            return found[0] if len(found) == 1 else None
        for base in class_.bases if depth < 10 else []:
            parent = module.definitions.get(getattr(base, "id", None))
            if not isinstance(parent, ast.ClassDef):
                return None
            found = self.method(module, parent, name, depth + 1)
            if found is not None:
                return found
        return None

    def find(self):
        """Returns (line, text in it, kind, message, label, help) for each mistake."""
        for number, kind, tree, guard, expected in self.lines:
            words = {getattr(node, "id", None) for part in (tree, guard) for node in ast.walk(part)}
            is_excused = any(name.split(".")[-1] in EXCUSES for name in expected)
            if not (is_excused or words & {"hasattr", "getattr"}):
                for node in [*ast.walk(tree), *ast.walk(guard)]:
                    self.check_attribute(number, node)
                    self.check_import(number, node, expected)
            if kind == "action":
                for statement in tree.body:
                    self.check_coroutine(number, statement)
        return self.found

    def check_attribute(self, number, node):
        """Reports an attribute that its module does not have."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return
        owner = self.resolve(node.value)
        if isinstance(owner, ModuleText) and owner.lacks(node.attr):
            name, names = owner.name, owner.names
            title = f"module `{ast_text(node.value)}`"
        elif isinstance(owner, tuple) and class_lacks(*owner, node.attr):
            name, title = owner[1].name, f"class `{owner[1].name}`"
            names = dir(vars(owner[0].module)[name])
        else:
            return
        place = ast.dump(node.value)
        is_passed = place in self.passed
        if place + node.attr in self.stored or self.is_set_elsewhere(node.attr, name, is_passed):
            return
        text = f"{ast_text(node.value)}.{node.attr}"
        self.report_missing(number, text, title, node.attr, names)

    def check_import(self, number, node, expected):
        """Reports a name that a line imports from a module that does not have it."""
        if not isinstance(node, ast.ImportFrom) or node.level or "ImportError" in expected:
            return
        module = self.module(node.module)
        for alias in node.names if module else []:
            name = alias.name
            if name != "*" and module.lacks(name) and not self.is_set_elsewhere(name, module.name, False):
                self.report_missing(number, name, f"module `{module.name}`", name, module.names)

    def report_missing(self, number, text, what, name, names):
        """Reports a name that does not exist."""
        near = difflib.get_close_matches(name, sorted(names), 1, 0.7)
        self.found.append(
            (
                number,
                text,
                "unknown-attribute",
                f"the {what} has no attribute `{name}`",
                "does not exist",
                f"the nearest name in it is `{near[0]}`" if near else None,
            )
        )

    def is_set_elsewhere(self, name, owner, is_passed):
        """Returns true if the code under test may set this attribute of a module or class.

        Code that sets attributes by name can do it if it mentions the owner or gets it from the
        harness.
        """
        assignment = re.compile(rf"\.{re.escape(name)}\s*(:[^=\n]*)?[^=<>!\n]?=(?!=)")
        texts = self.texts()
        mention = re.compile(rf"\b{re.escape(owner.rpartition('.')[2])}\b")
        return any(
            assignment.search(text)
            or (DYNAMIC_TEXT.search(text) and (is_passed or mention.search(text)))
            for text in texts
        )

    def texts(self):
        """Returns the texts of the files that may be under test."""
        if self.project_texts is None:
            self.project_texts = []
            files = [self.file_of(name) for name in list(self.modules) if not is_library(name)]
            folders = {os.path.dirname(path) for path in files if path}
            for folder in folders | set(self.folders):
                names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
                for file in [file for file in names if file.endswith(".py")][:500]:
                    path = os.path.join(folder, file)
                    with open(path, encoding="utf-8", errors="replace") as text:
                        self.project_texts.append(text.read())
        return self.project_texts

    def file_of(self, name):
        """Returns the file of a module that the harness mentions, if it is Python source."""
        return self.path_of(name, sys.modules.get(name))

    def check_coroutine(self, number, statement):
        """Reports a call whose coroutine nothing awaits."""
        call = getattr(statement, "value", None)
        if not isinstance(statement, (ast.Expr, ast.Assign)) or not isinstance(call, ast.Call):
            return
        if isinstance(statement, ast.Assign) and self.knows_awaiting:
            return  # another line may await the value
        callees = [self.resolve(call.func)]
        receiver = getattr(call.func, "value", None)
        if isinstance(receiver, ast.Name) and receiver.id in self.classes:
            classes = self.classes[receiver.id]
            callees = [self.member(class_, call.func.attr) for class_ in classes]
        if not all(is_plain_coroutine(callee) for callee in callees):
            return
        name = callees[0].name
        self.found.append(
            (
                number,
                name,
                "unawaited-coroutine",
                f"`{name}` is a coroutine function, and this line does not await what it returns",
                "runs none of its code",
                "run it to its end: `asyncio.run(…)` around the call, with `@import asyncio` above",
            )
        )


def class_lacks(module, node, name):
    """Returns true if a class has no such attribute, and nothing but its text makes attributes."""
    if not module.is_certain or module.module is None or name.startswith("__"):
        return False
    found = vars(module.module).get(node.name)
    is_plain = type(found) in (type, abc.ABCMeta, enum.EnumMeta)
    return is_plain and found.__qualname__ == node.name and not hasattr(found, name)


def is_plain_coroutine(node):
    """Returns true for a coroutine function that no decorator changes."""
    return isinstance(node, ast.AsyncFunctionDef) and all(
        getattr(decorator, "id", None) in ("staticmethod", "classmethod")
        for decorator in node.decorator_list
    )


def ast_text(node):
    """Returns a name with dots as text."""
    if isinstance(node, ast.Attribute):
        return f"{ast_text(node.value)}.{node.attr}"
    return node.id


def find_mistakes(raw, lines, folders, is_loaded):
    """Returns the mistakes of a harness."""
    try:
        return MistakeFinder(raw, lines, folders, is_loaded).find()
    except (SyntaxError, ValueError, RecursionError):
        return []  # reported elsewhere


# The number of frames that are kept of the place where a coroutine is made.
ORIGIN_DEPTH = 12


class UnawaitedCoroutines:
    """Coroutines that were never awaited, by (line, message), with the number of times.

    Python tells when such a coroutine dies; until then, this costs nothing.
    """

    def __init__(self, path=None, raw="", lines=(), passes_on=False):
        """Starts to watch. `path` is that of the harness, if there is one.

        With `passes_on`, Python warns as usual of those that this harness did not make.
        """
        self.path = path
        texts = [raw, *(text for _, _, code, guard, _ in lines for text in (code, guard))]
        self.knows_awaiting = any(word in text for text in texts for word in AWAITING)
        self.keeping, self.passing, self.dropping, self.code_lines = lines_that_keep(lines)
        self.mistakes, self.others = {}, {}
        self.before = warnings._warn_unawaited_coroutine
        self.passes_on = passes_on
        depth = sys.get_coroutine_origin_tracking_depth()
        sys.set_coroutine_origin_tracking_depth(max(depth, ORIGIN_DEPTH))
        warnings._warn_unawaited_coroutine = self.note

    def end(self):
        """Ends to watch."""
        if warnings._warn_unawaited_coroutine == self.note:
            warnings._warn_unawaited_coroutine = self.before

    def note_kept(self, slots):
        """Records the coroutines that are left in slots at the end."""
        kept = [value for value in slots if type(value) is types.CoroutineType]
        for coroutine in kept:
            if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
                origin = coroutine.cr_origin or ()
                line = next((place[1] for place in origin if place[0] == self.path), 0)
                if self.is_dropped(origin, (None, 0, None), line):
                    self.note(coroutine)

    def note(self, coroutine):
        """Records a coroutine that dies."""
        origin = coroutine.cr_origin or ()
        try:
            frame = sys._getframe(1)
            death = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        except ValueError:
            death = (None, 0, None)  # no Python code runs
        made_in, made_at = origin[0][:2] if origin else (None, 0)
        places = [death, *origin] if self.path else []
        line = next((place[1] for place in [*places[1:], *places[:1]] if place[0] == self.path), 0)
        is_certain = self.is_dropped(origin, death, line)
        if (self.passes_on and not line) or (self.path is None and not is_certain):
            # As Python itself does, with the line that runs now.
            words = f"coroutine '{coroutine.__qualname__}' was never awaited"
            warnings.warn(words, RuntimeWarning, stacklevel=2, source=coroutine)
            return
        if line and made_in in (self.path, None):
            what = f"the coroutine `{coroutine.__qualname__}` of this line"
        else:
            place = f", made in {os.path.basename(made_in)}:{made_at}," if made_in else ""
            what = f"the coroutine `{coroutine.__qualname__}`{place}"
        found = self.mistakes if is_certain else self.others
        key = (line if is_certain else 0, f"{what} was never awaited, so nothing of it ran")
        found[key] = found.get(key, 0) + 1

    def is_dropped(self, origin, death, line):
        """Returns true if a coroutine was dropped, for certain.

        Code may also keep one on purpose, for a step that does not come.
        """
        dies_in_line = self.path is not None and death[0] == self.path
        keeps = line in self.keeping and self.knows_awaiting
        if not origin:
            return dies_in_line and not keeps
        if origin[0][0] == self.path and line in self.code_lines:
            if not self.knows_awaiting:
                return True
            return not keeps and (line not in self.passing or death[:2] == (self.path, line))
        if keeps and (dies_in_line or origin[0][0] == self.path):
            return False
        # In the function that made it, or as that function returns to its caller.
        is_same = (death[0], death[2]) == (origin[0][0], origin[0][2])
        has_returned = len(origin) > 1 and death[:2] == tuple(origin[1][:2])
        return is_same or has_returned or dies_in_line or line in self.dropping


def lines_that_keep(lines):
    """Returns the lines that keep what they make in slots that other lines read.

    Also returns those that pass it on to a call, those with a variable that they do not read, and
    all lines.
    """
    keeping, passing, dropping, numbers, stored, read = set(), set(), set(), set(), {}, set()
    for number, kind, code, guard, _ in lines:
        numbers.add(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                trees = [ast.parse(code), ast.parse(guard)]
            except SyntaxError:
                passing.add(number)  # special syntax: nothing is certain
                continue
        nodes = [node for tree in trees for node in ast.walk(tree)]
        names = [node for node in nodes if isinstance(node, ast.Name)]
        own = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        if any(node.id not in own and not node.id.startswith("_tw_") for node in names):
            dropping.add(number)
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored.setdefault(node.id, set()).add(number)
            elif isinstance(node, ast.Name):
                read.add(node.id)
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                if isinstance(node.ctx, ast.Store):
                    keeping.add(number)
            elif isinstance(node, ast.Call) and kind in ("action", "init"):
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                if any(isinstance(part, ast.Call) for value in values for part in ast.walk(value)):
                    passing.add(number)
    for name, where in stored.items():
        if name in read and name.startswith("_tw_"):
            keeping |= where
    return keeping, passing, dropping, numbers
