"""Import hook that puts the code of modules under test under observation.

The Rust side calls `Sources`, `install`, `uninstall` and `run_program`, and passes in the function that takes a
code object and returns it under observation.
"""

import atexit
import builtins
import importlib.machinery
import importlib.util
import io
import os
import signal
import sys
import sysconfig
import threading
import types


def absolute(path):
    """Returns a path in a form in which paths can be compared."""
    return os.path.normcase(os.path.abspath(path))


def is_under(path, folder):
    return path.startswith(folder.rstrip(os.sep) + os.sep)


STANDARD_LIBRARY = tuple({absolute(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
#: Folders of installed packages. They may lie inside the standard library, but are not part of it.
INSTALLED = ("site-packages", "dist-packages")


def is_installed(path):
    return any(part in INSTALLED for part in path.split(os.sep))


def is_standard(path):
    return not is_installed(path) and any(is_under(path, folder) for folder in STANDARD_LIBRARY)


class Sources:
    """The modules to observe.

    `names` are files, folders or modules as given by the user, relative to `folder`. Without any, everything is
    observed that is neither installed nor part of the standard library, and in addition the modules in `imports`.
    Modules are also searched in `first_on_path`, the folder of a program that has not been started yet.
    """

    def __init__(self, names, imports, folder, first_on_path=None):
        self.files, self.folders, self.modules, self.unknown = set(), set(), set(), []
        self.imports = set(imports)
        for name in names:
            path = absolute(os.path.join(folder, name))
            if os.path.isfile(path):
                self.files.add(path)
            elif os.path.isdir(path):
                self.folders.add(path)
            elif is_module(name, first_on_path):
                self.modules.add(name)
            else:
                self.unknown.append(name)
        self.chosen = bool(names)

    def wants(self, name, path):
        """Returns true if a module, given by its name and file, is to be observed."""
        path = absolute(path)
        if self.chosen:
            return (
                path in self.files
                or any(is_under(path, folder) for folder in self.folders)
                or any(name == own or name.startswith(own + ".") for own in self.modules)
            )
        if is_standard(path):
            return False
        return not is_installed(path) or name.partition(".")[0] in self.imports

    def forget_loaded(self):
        """Makes Python import modules again that could not be observed otherwise.

        These are modules selected by the user that this process has imported for its own use, and modules under
        observation by another observer.
        """
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            loader = getattr(getattr(module, "__spec__", None), "loader", None)
            is_observed = hasattr(loader, "observed_by")
            if (
                (self.chosen or is_observed)
                and name != "__main__"
                and path
                and self.wants(name, path)
            ):
                del sys.modules[name]


def is_module(name, first_on_path):
    """Returns true if Python finds a module of this name."""
    path = list(sys.path)
    if first_on_path is not None:
        sys.path.insert(0, os.fspath(first_on_path))
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
    finally:
        sys.path[:] = path


class Finder:
    """Finds modules like the other finders, and puts the code of selected ones under observation."""

    #: Marks our finders. There may be several of them, each from its own copy of this file.
    observes_modules = True

    def __init__(self, sources, observe):
        self.sources, self.observe = sources, observe
        self.known = {}

    def find_spec(self, name, path=None, target=None):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            # The latest of our finders comes first. If it called the others, they would call each other forever.
            if find is None or hasattr(finder, "observes_modules"):
                continue
            spec = find(name, path, target)
            if spec is not None:
                self.prepare(spec)
                return spec
        return None

    def prepare(self, spec):
        """Makes the loader of a selected module return observed code."""
        loader, path = spec.loader, spec.origin
        if not isinstance(loader, importlib.machinery.SourceFileLoader) or not path:
            return
        if "get_code" in vars(loader) or not self.sources.wants(spec.name, path):
            return
        get_code = loader.get_code

        def get_observed_code(name=None):
            return self.observed(get_code(name))

        loader.get_code = get_observed_code
        loader.observed_by = self

    def observed(self, code):
        """Returns the observed form of a code object.

        Executing a module again gives the same object, so that its inline caches stay warm.
        """
        known = self.known.get(code.co_filename)
        if known is None or known[0] != code:
            known = self.known[code.co_filename] = (code, self.observe(code))
        return known[1]


def install(sources, observe):
    """Installs the import hook, before all other finders."""
    finder = Finder(sources, observe)
    sys.meta_path.insert(0, finder)
    return finder


def uninstall(finder):
    """Removes the import hook."""
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)


def run_program(finder, words, is_module):
    """Runs a program as the interpreter would, to its end, and returns its exit status."""
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    code = (prepare_module if is_module else prepare_script)(finder, words[0], main)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", main.__file__)
    sys.modules["__main__"] = main
    sys.argv[:] = [main.__file__ if is_module else words[0], *words[1:]]
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    status = 0
    try:
        exec(code, main.__dict__)
    except SystemExit as error:
        status = status_of_exit(error)
    except BaseException as error:
        # The first traceback entry belongs to this function, not to the program.
        error = error.with_traceback(error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        status = 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    try:
        threading._shutdown()
    finally:
        atexit._run_exitfuncs()
    return status


def prepare_script(finder, path, main):
    """Returns the code of a script, and sets up `__main__` and the module path as for `python path`."""
    path = os.path.abspath(path)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    sys.path.insert(0, os.path.dirname(path))
    main.__file__ = path
    return finder.observed(code) if finder.sources.wants("__main__", path) else code


def prepare_module(finder, name, main):
    """Returns the code of a module, and sets up `__main__` and the module path as for `python -m name`."""
    sys.path.insert(0, os.getcwd())
    spec = find(name)
    if spec.submodule_search_locations is not None:
        spec = find(name + ".__main__")
    main.__file__, main.__spec__, main.__package__ = spec.origin, spec, spec.parent
    return spec.loader.get_code(spec.name)


def find(name):
    """Returns the spec of a module that has a source file."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or not spec.origin:
        raise ImportError(f"there is no module named {name!r}")
    return spec


def status_of_exit(error):
    """Returns the exit status of a `SystemExit`, and prints its message if it has one."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    print(error.code, file=sys.stderr)
    return 1
