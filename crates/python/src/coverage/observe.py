"""Has the interpreter's import system hand over the code of modules under test, so that it can be observed."""

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
    return os.path.normcase(os.path.abspath(path))


def is_under(path, folder):
    return path.startswith(folder.rstrip(os.sep) + os.sep)


STANDARD_LIBRARY = tuple({absolute(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
#: Folders of installed packages lie within the standard library's, but are not part of it.
INSTALLED = ("site-packages", "dist-packages")


def is_installed(path):
    return any(part in INSTALLED for part in path.split(os.sep))


def is_standard(path):
    return not is_installed(path) and any(is_under(path, folder) for folder in STANDARD_LIBRARY)


class Sources:
    """Which modules to observe.

    `names` are files, folders or modules as people write them, relative to `folder`. Without any, everything is
    observed that is neither part of the standard library nor installed, and the modules in `imports`. Modules are also
    found in `first_on_path`, where a program looks that has not been started yet.
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
        """Modules are imported anew that could not be observed otherwise.

        That are those named expressly that this process needed itself, and those that somebody else observes or did.
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
    """Finds modules as ever, and has the code of those that are wanted observed."""

    #: By this finders of ours know each other: there may be several, each loaded with a module of its own.
    observes_modules = True

    def __init__(self, sources, observe):
        self.sources, self.observe = sources, observe
        self.known = {}

    def find_spec(self, name, path=None, target=None):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            # If there are others, the latest has come first, and they would ask each other for ever.
            if find is None or hasattr(finder, "observes_modules"):
                continue
            spec = find(name, path, target)
            if spec is not None:
                self.prepare(spec)
                return spec
        return None

    def prepare(self, spec):
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
        """The same code object for the same code, however often a module is executed: its inline caches stay warm."""
        known = self.known.get(code.co_filename)
        if known is None or known[0] != code:
            known = self.known[code.co_filename] = (code, self.observe(code))
        return known[1]


def install(sources, observe):
    finder = Finder(sources, observe)
    sys.meta_path.insert(0, finder)
    return finder


def uninstall(finder):
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
        # The first entry is this function's, which is none of the program's business.
        error = error.with_traceback(error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        status = 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    try:
        threading._shutdown()
    finally:
        atexit._run_exitfuncs()
    return status


def prepare_script(finder, path, main):
    path = os.path.abspath(path)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    sys.path.insert(0, os.path.dirname(path))
    main.__file__ = path
    return finder.observed(code) if finder.sources.wants("__main__", path) else code


def prepare_module(finder, name, main):
    sys.path.insert(0, os.getcwd())
    spec = find(name)
    if spec.submodule_search_locations is not None:
        spec = find(name + ".__main__")
    main.__file__, main.__spec__, main.__package__ = spec.origin, spec, spec.parent
    return spec.loader.get_code(spec.name)


def find(name):
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or not spec.origin:
        raise ImportError(f"there is no module named {name!r}")
    return spec


def status_of_exit(error):
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    print(error.code, file=sys.stderr)
    return 1
