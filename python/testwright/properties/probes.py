"""Measures branches and conditions with probes in the program itself.

Modules under test are compiled with a call around every condition, and at the beginning of every loop body, handler and
case. This works in every version of Python, and is finer than line coverage: it shows which part of `a or b` was true.
"""

import ast
import builtins
import importlib.machinery
import os
import sys

NAME = "__testwright_seen__"


class Seen:
    """The branches and conditions that were reached since the last `clear`."""

    def __init__(self):
        self.branches = set()
        self.conditions = set()
        self.decisions = []

    def clear(self):
        """Clears all records before the next case."""
        self.branches.clear()
        self.conditions.clear()
        self.decisions.clear()

    def __call__(self, kind, place, value):
        truth = value if value is True or value is False else None
        if kind == "value":
            if truth is not None:
                self.conditions.add(f"{place}:{truth}")
            return value
        if truth is None:
            truth = bool(value)
        if kind == "branch":
            self.branches.add(f"{place}:{truth}")
            self.decisions.append((place, truth))
        else:
            self.conditions.add(f"{place}:{truth}")
        return value


class Instrument(ast.NodeTransformer):
    """Inserts the probes into a syntax tree."""

    def __init__(self, name):
        self.name = name
        self.branches = []

    def place(self, node):
        return f"{self.name}:{node.lineno}:{node.col_offset}"

    def probe(self, kind, node, value):
        call = ast.Call(
            func=ast.Name(id=NAME, ctx=ast.Load()),
            args=[ast.Constant(kind), ast.Constant(self.place(node)), value],
            keywords=[],
        )
        return ast.copy_location(call, node)

    def decision(self, node):
        """Adds a probe to a condition that chooses a branch."""
        self.branches += [f"{self.place(node)}:{truth}" for truth in (True, False)]
        return self.probe("branch", node, self.condition(node))

    def condition(self, node):
        """Adds probes to an expression whose truth is tested."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.condition(value) for value in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        return self.probe("condition", node, self.inside(node))

    def inside(self, node):
        """Adds probes to the parts of an expression that has a probe itself."""
        return self.generic_visit(node)

    def marker(self, node):
        """Returns a statement that records that it was reached."""
        place = self.place(node)
        self.branches.append(f"{place}:True")
        call = self.probe("branch", node, ast.Constant(True))
        return ast.copy_location(ast.Expr(call), node)

    def visit_If(self, node):
        node.test = self.decision(node.test)
        node.body = self.all(node.body)
        node.orelse = self.all(node.orelse)
        return node

    visit_While = visit_If

    def visit_IfExp(self, node):
        node.test = self.decision(node.test)
        node.body = self.visit(node.body)
        node.orelse = self.visit(node.orelse)
        return node

    def visit_Assert(self, node):
        # This is not a branch: a false condition ends the test.
        node.test = self.condition(node.test)
        return node

    def visit_comprehension(self, node):
        node.iter = self.visit(node.iter)
        node.ifs = [self.decision(test) for test in node.ifs]
        return node

    def visit_For(self, node):
        node.iter = self.visit(node.iter)
        first = node.body[0]
        node.body = [self.marker(first), *self.all(node.body)]
        node.orelse = self.all(node.orelse)
        return node

    visit_AsyncFor = visit_For

    def visit_ExceptHandler(self, node):
        first = node.body[0]
        node.body = [self.marker(first), *self.all(node.body)]
        return node

    def visit_match_case(self, node):
        if node.guard is not None:
            node.guard = self.decision(node.guard)
        first = node.body[0]
        node.body = [self.marker(first), *self.all(node.body)]
        return node

    def visit_BoolOp(self, node):
        # The last operand is the result, and its truth may never be tested.
        *asked, last = node.values
        node.values = [*(self.condition(value) for value in asked), self.maybe(last)]
        return node

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        return self.generic_visit(node)

    def visit_Compare(self, node):
        return self.probe("value", node, self.inside(node))

    def maybe(self, node):
        if isinstance(node, (ast.BoolOp, ast.Compare, ast.UnaryOp)):
            return self.visit(node)
        return self.probe("value", node, self.inside(node))

    def all(self, statements):
        return [self.visit(statement) for statement in statements]


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with probes in it."""

    probes = None

    def source_to_code(self, data, path, *, _optimization=-1):
        """Compiles the module, with probes if possible."""
        try:
            tree = ast.parse(data, path)
            instrument = Instrument(self.probes.name_of(path))
            code = compile(
                ast.fix_missing_locations(instrument.visit(tree)), path, "exec", dont_inherit=True
            )
        except (SyntaxError, RecursionError, ValueError):
            # If the module itself cannot be compiled, Python raises the error here.
            return compile(data, path, "exec", dont_inherit=True, optimize=_optimization)
        self.probes.branches[self.probes.name_of(path)] = instrument.branches
        return code

    def get_code(self, fullname):
        """Compiles the source each time: the files in `__pycache__` have no probes."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Probes:
    """An import hook that adds probes to the modules below a folder, except for installed packages."""

    def __init__(self, folder):
        self.folder = os.path.join(os.path.realpath(folder), "")
        self.seen = Seen()
        self.branches = {}
        self.loader = type("ProbingLoader", (Loader,), {"probes": self})
        setattr(builtins, NAME, self.seen)
        sys.meta_path.insert(0, self)

    def name_of(self, path):
        return os.path.relpath(os.path.realpath(path), self.folder)

    def is_wanted(self, path):
        inside = os.path.realpath(path).startswith(self.folder)
        return inside and not any(
            part in ("site-packages", "dist-packages") for part in path.split(os.sep)
        )

    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        is_source = spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        if is_source and self.is_wanted(spec.origin):
            spec.loader = self.loader(spec.loader.name, spec.loader.path)
            return spec
        return None
