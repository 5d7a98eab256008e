"""Finds mistakes of a harness that would look like failures, or like success, of the code under test.

Runs once per harness. What is not certain is left alone.
"""

import ast
import difflib
import os
import re
import sys
import types
import warnings

# Words in a module that may bind names which its text does not show.
DYNAMIC = {"globals", "setattr", "exec", "eval", "vars", "__dict__", "__getattr__", "modules"}
# Words in a harness that show that it knows about coroutines.
AWAITING = ("await", "asyncio", "anyio", "trio", "run_until_complete", ".send(")
# Exceptions that a line may expect when an attribute is missing.
EXCUSES = ("AttributeError", "Exception", "BaseException")


class ModuleText:
    """The names that a module defines, read from its text and, if it is loaded, from itself."""

    def __init__(self, name, path, module):
        self.name = name
        self.folders = list(vars(module).get("__path__", [])) if module else []
        self.names = set() if module is None else set(vars(module))
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
            elif isinstance(node, (ast.Name, ast.Attribute, ast.FunctionDef)):
                word = getattr(node, "id", None) or getattr(node, "attr", None) or node.name
                self.is_certain &= word not in DYNAMIC
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
        self.read_names(any(word in everything for word in ("setattr", "exec(", "eval(")))
        self.classes = {}
        self.read_pools()

    def read_names(self, is_dynamic):
        """Reads which names are modules or parts of them, and which names the harness changes."""
        trees = [self.raw, *(tree for _, _, tree, _, _ in self.lines)]
        for node in (node for tree in trees for node in ast.walk(tree)):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self.stored.add(ast.dump(node.value) + node.attr)
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
                module = sys.modules.get(name) if self.is_loaded else None
                path = self.path_of(name, module)
                if path is not None or module is not None:
                    self.modules[name] = ModuleText(name, path, module)
            except (OSError, SyntaxError, ValueError):
                pass  # it cannot be read: nothing is certain
        return self.modules[name]

    def path_of(self, name, module):
        """Returns the file of a module, if it is Python source."""
        if self.is_loaded:
            path = vars(module).get("__file__") if module else None
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
            if kind == "action":
                for statement in tree.body:
                    self.check_coroutine(number, statement)
        return self.found

    def check_attribute(self, number, node):
        """Reports an attribute that its module does not have."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return
        module = self.resolve(node.value)
        if not isinstance(module, ModuleText) or not module.lacks(node.attr):
            return
        if ast.dump(node.value) + node.attr in self.stored or self.is_set_elsewhere(node.attr):
            return
        text = f"{ast_text(node.value)}.{node.attr}"
        near = difflib.get_close_matches(node.attr, sorted(module.names), 1, 0.7)
        self.found.append(
            (
                number,
                text,
                "unknown-attribute",
                f"the module `{module.name}` has no attribute `{node.attr}`",
                "does not exist",
                f"the nearest name in it is `{near[0]}`" if near else None,
            )
        )

    def is_set_elsewhere(self, name):
        """Returns true if the code under test may set an attribute of this name."""
        assignment = re.compile(rf"\.{re.escape(name)}\s*(:[^=\n]*)?[^=<>!\n]?=(?!=)")
        folders = {os.path.dirname(path) for path in map(self.file_of, list(self.modules)) if path}
        for folder in folders | set(self.folders):
            names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
            for file in [file for file in names if file.endswith(".py")][:500]:
                with open(os.path.join(folder, file), encoding="utf-8", errors="replace") as text:
                    if assignment.search(text.read()):
                        return True
        return False

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


class UnawaitedCoroutines:
    """Coroutines that were never awaited, by (line, message), with the number of times.

    Python tells when such a coroutine dies; until then, this costs nothing.
    """

    def __init__(self, path, knows_awaiting):
        """Starts to watch. `path` is that of the harness."""
        self.path, self.knows_awaiting = path, knows_awaiting
        self.mistakes, self.others = {}, {}
        depth = sys.get_coroutine_origin_tracking_depth()
        sys.set_coroutine_origin_tracking_depth(max(depth, 1))
        warnings._warn_unawaited_coroutine = self.note

    def note(self, coroutine):
        """Records a coroutine that dies."""
        name = coroutine.__qualname__
        file, line = self.origin(coroutine)
        frame = sys._getframe(1)
        dies_in_line = frame is not None and frame.f_code.co_filename == self.path
        if file != self.path and dies_in_line:
            file, line = self.path, frame.f_lineno
        if file == self.path:
            found = self.others if self.knows_awaiting and not dies_in_line else self.mistakes
            key = (line, f"the coroutine `{name}` of this line was never awaited, so nothing of it ran")
        else:
            found = self.others
            place = f", made in {os.path.basename(file)}:{line}," if file else ""
            key = (0, f"a coroutine `{name}`{place} was never awaited")
        found[key] = found.get(key, 0) + 1

    def origin(self, coroutine):
        """Returns the file and the line that made a coroutine."""
        origin = coroutine.cr_origin
        return origin[0][:2] if origin else (None, 0)


def knows_awaiting(texts):
    """Returns true if a harness runs coroutines somewhere."""
    return any(word in text for text in texts for word in AWAITING)
