"""Finds the modules that a reset restores, and the names that refer to what they define.

Nothing here runs per step, and per reset only when more modules are loaded than before.
"""

import ast
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
import warnings

from testwright_support import home_of, is_installed, is_under


class ModulesUnderTest:
    """The modules of the project that the harness imports, directly or through one another."""

    def __init__(self, harness, read_imports, sources, takes_all):
        """Notes what is loaded before the raw code of the harness runs.

        `read_imports` returns the imports in a text as (module, number of dots, names, names here,
        is at top level). With `takes_all`, every module of the project that is loaded later counts,
        even if no `import` statement names it.
        """
        self.harness = harness
        self.read_imports = read_imports
        self.sources = sources
        self.others = set(sys.modules) if takes_all else None
        self.homes = {os.path.dirname(os.path.abspath(harness.__file__))}
        self.homes |= {os.path.realpath(home) for home in self.homes}
        try:
            self.homes.add(os.getcwd())
        except OSError:
            pass  # the current folder was removed
        # By name: the imports of a module, and what a reset needs of it. In order of import.
        self.imports = {}
        self.found = {}
        self.modules = {}
        self.specs = {}
        # The name of the module whose execution has failed.
        self.failed = ""
        self.own_imports = []
        self.statements = []

    def set_text(self, text):
        """Reads the imports of the raw code."""
        self.own_imports = self.read_imports(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.statements = ast.parse(text).body
        for name in self.dependencies(self.own_imports, ""):
            home = home_of(name)
            if home is not None:
                self.homes.add(home)

    def ignore_new(self, loaded):
        """Ignores modules that are not among the `loaded` ones: they are there for other purposes."""
        if self.others is not None:
            self.others.update(set(sys.modules).difference(loaded))

    def find(self, known):
        """Returns what a reset needs, or `None` if it is about no more modules than are `known`.

        That is (name, namespace, source text) of each module in order of import; (namespace, name,
        namespace, name): names that are bound again to what other names then refer to; (code,
        namespace): statements of the raw code to run again after that; and the names that these
        bind.
        """
        order = {}
        for name in self.dependencies(self.own_imports, ""):
            self.visit(name, order, is_direct=True)
        if self.others is not None:
            for name in [name for name in sys.modules if name not in self.others]:
                self.visit(name, order, is_direct=False)
        if len(order) <= known:
            return None
        self.found = {name: order[name] for name in self.in_order_of_import(order)}
        self.modules = {name: sys.modules[name] for name in order}
        self.specs = {name: module.__spec__ for name, module in self.modules.items()}
        aliases = self.aliases()
        modules = [(name, found[0], found[2]) for name, found in self.found.items()]
        return modules, aliases, *self.dependent_statements(aliases)

    def in_order_of_import(self, found):
        """Returns the names of modules in the order in which their imports began.

        First come those that raw code imports. `sys.modules` has the order in which imports ended:
        if a later module imports an earlier one at once, its import began before.
        """
        at_top = [one for one in self.own_imports if one[4]]
        begun = {name: None for name in self.dependencies(at_top, "") if name in found}
        ended = [name for name in sys.modules if name in found]
        for name in ended:
            if name not in begun:
                later = (one for one in reversed(ended) if one not in begun)
                outer = next((one for one in later if self.leads_to(one, name)), name)
                begun[outer] = begun[name] = None
        return begun

    def leads_to(self, module, wanted):
        """Returns true if executing a module imports another one, directly or through others."""
        waiting, seen = [module], set()
        while waiting:
            name = waiting.pop()
            seen.add(name)
            imports, package = self.imports.get(name, ((), (), (), ""))[2:]
            at_top = [one for one in imports if one[4]]
            names = self.dependencies(at_top, package)
            if wanted in names:
                return True
            waiting += [one for one in names if one not in seen]
        return False

    def import_again(self):
        """Executes the modules again, as Python imports them, in the modules that exist already."""
        self.failed = ""
        loaded = {name: sys.modules.pop(name, None) for name in self.found}
        sys.meta_path.insert(0, self)
        try:
            for name in self.found:
                importlib.import_module(name)
        except BaseException:
            sys.modules.update({name: module for name, module in loaded.items() if module})
            raise
        finally:
            sys.meta_path.remove(self)

    def find_spec(self, name, path=None, target=None):
        """Tells the import system that this object loads the modules."""
        module = self.modules.get(name)
        if module is None:
            return None
        is_package = hasattr(module, "__path__")
        return importlib.machinery.ModuleSpec(name, self, is_package=is_package)

    def create_module(self, spec):
        """Returns the module that is to be executed."""
        return self.modules[spec.name]

    def exec_module(self, module):
        """Executes a module in its namespace."""
        name = module.__spec__.name
        module.__spec__ = self.specs[name]
        namespace, code, _ = self.found[name]
        try:
            exec(code, namespace)
        except BaseException:
            self.failed = self.failed or name
            raise

    def visit(self, name, order, is_direct):
        """Adds a module and, before it, those that it imports."""
        waiting = [(name, is_direct, iter(()))]
        seen = self.imports
        on_path = set()
        while waiting:
            name, is_direct, rest = waiting[-1]
            if name not in on_path:
                if name in order or not self.is_under_test(name, is_direct):
                    waiting.pop()
                    continue
                on_path.add(name)
                if name not in seen:
                    seen[name] = self.read(name)
                rest = iter(self.dependencies(*seen[name][2:]))
                waiting[-1] = (name, is_direct, rest)
            following = next((one for one in rest if one not in on_path), None)
            if following is None:
                order[name] = (vars(sys.modules[name]), *seen[name][:2])
                on_path.discard(name)
                waiting.pop()
            else:
                waiting.append((following, False, iter(())))

    def is_under_test(self, name, is_direct):
        """Returns true if a module is loaded from Python source of the project.

        A module that the harness imports itself may be elsewhere, and an installed one may be named
        by a `source:` line.
        """
        module = sys.modules.get(name)
        spec = getattr(module, "__spec__", None)
        loader = getattr(spec, "loader", None)
        if (
            not isinstance(module, types.ModuleType)
            or not isinstance(loader, importlib.machinery.SourceFileLoader)
            or spec.name != name
            or name == "__main__"
            or name.split(".")[0] == "testwright"
            or not os.path.isfile(spec.origin)
        ):
            return False
        if is_direct and name in self.sources:
            return True
        home = home_of(name)
        if home is None or is_installed(spec.origin):
            return False
        return is_direct or any(home == known or is_under(home, known) for known in self.homes)

    def read(self, name):
        """Returns a module's code, its text if it can be read, its imports and its package."""
        spec = sys.modules[name].__spec__
        loader = spec.loader
        try:
            text = loader.get_source(name)
        except Exception:
            text = None  # gone, or not decodable: then the module cannot be analysed
        imports = [] if text is None else self.read_imports(text)
        return loader.get_code(name), text, imports, spec.parent

    def dependencies(self, imports, package):
        """Returns the names of modules that import statements load, in order of execution."""
        names = {}
        for module, level, members, _, _ in imports:
            module = absolute_name(module, level, package)
            parts = module.split(".") if module else []
            for count in range(1, len(parts) + 1):
                names[".".join(parts[:count])] = None
            for member in members:
                if f"{module}.{member}" in sys.modules:
                    names[f"{module}.{member}"] = None
        return names

    def aliases(self):
        """Returns the names that `from` imports and assignments have bound to what a module defines.

        Executing the module again does not change those of the harness.
        """
        namespace = vars(self.harness)
        aliases = list(self.imported_names(namespace, self.own_imports, "", self.found))
        known = {name for _, name, _, _ in aliases}
        for name, value in namespace.items():
            if isinstance(value, (type, types.FunctionType)) and name not in known:
                owner, *_ = self.found.get(str(value.__module__), ({},))
                if owner.get(value.__name__) is value:
                    aliases.append((namespace, name, owner, value.__name__))
        return aliases

    def dependent_statements(self, aliases):
        """Returns the top-level statements of raw code whose result depends on the modules, and the
        names that they bind.

        Objects and subclasses made by them would go on using the old classes.
        """
        namespace = vars(self.harness)
        stale = {name for target, name, _, _ in aliases if target is namespace}
        owned = {id(owner) for owner, *_ in self.found.values()}
        for name, value in namespace.items():
            if isinstance(value, types.ModuleType) and id(vars(value)) in owned:
                stale.add(name)
        dependent, all_bound = [], set()
        for statement in self.statements:
            is_function = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                continue
            read, bound = names_at_once(statement)
            if read & stale:
                code = compile(ast.Module([statement], []), self.harness.__file__, "exec")
                dependent.append((code, namespace))
                stale |= bound
                all_bound |= bound
            elif is_function and stale & {getattr(node, "id", None) for node in ast.walk(statement)}:
                stale.add(statement.name)  # a call of it depends on the modules
        return dependent, sorted(all_bound)

    def imported_names(self, namespace, imports, package, modules):
        """Yields the names in a namespace that are still what these modules define."""
        for module, level, members, bound, is_top_level in imports:
            found = modules.get(absolute_name(module, level, package))
            if found is None or not is_top_level:
                continue
            source = found[0]
            if members == ["*"]:
                members = bound = list(source)
            for member, name in zip(members, bound):
                if (
                    namespace is not source
                    and not (name.startswith("__") and name.endswith("__"))
                    and name in namespace
                    and member in source
                    and namespace[name] is source[member]
                ):
                    yield namespace, name, source, member


def names_at_once(statement):
    """Returns the names that a statement reads and binds when it runs, not when functions run."""
    read, bound = set(), set()
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            bound.add(node.name)
            defaults = [*node.args.defaults, *node.args.kw_defaults]
            waiting += [part for part in (*node.decorator_list, *defaults) if part is not None]
        elif isinstance(node, ast.Lambda):
            waiting += [part for part in node.args.defaults if part is not None]
        else:
            if isinstance(node, ast.Name):
                (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            elif isinstance(node, ast.ClassDef):
                bound.add(node.name)
            waiting += ast.iter_child_nodes(node)
    return read, bound


def absolute_name(module, level, package):
    """Returns the absolute name of an imported module; empty if it has none."""
    if level == 0:
        return module
    try:
        return importlib.util.resolve_name("." * level + module, package)
    except ImportError:
        return ""
