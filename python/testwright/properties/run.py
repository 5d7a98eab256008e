"""Runs one property: on generated cases, on given ones, or as the steps of a feature."""

import copy
import importlib
import inspect
import random
import signal
import sys
import traceback

from testwright.properties import values


class TimeIsUp(BaseException):
    """A case took too long. No code under test should catch it."""


class Rejected(Exception):
    """A case did not meet an assumption."""


def rejection_types():
    """Returns the exceptions that reject a case."""
    kinds = [Rejected]
    hypothesis = sys.modules.get("hypothesis.errors")
    if hypothesis:
        kinds.append(hypothesis.UnsatisfiedAssumption)
    for name in ("_pytest.outcomes", "unittest"):
        module = sys.modules.get(name)
        kinds += [
            getattr(module, kind) for kind in ("Skipped", "SkipTest") if hasattr(module, kind)
        ]
    return tuple(kinds)


class Property:
    """A function of a module, or a method of a class in it."""

    def __init__(self, module, name, probes, seconds):
        self.module = module
        self.probes = probes
        self.seconds = seconds
        *owners, self.name = name.split(".")
        self.owner = getattr(module, owners[0]) if owners else None
        self.function = inspect.getattr_static(self.owner or module, self.name)
        self.handle = getattr(self.function, "hypothesis", None)

    def inner(self):
        """Returns the function that takes the arguments of a case."""
        return self.handle.inner_test if self.handle else self.function

    def before(self):
        """Returns the leading arguments: for a method, a new object after its set-up; otherwise none."""
        if self.owner is None:
            return []
        unittest = sys.modules.get("unittest")
        is_case = unittest and issubclass(self.owner, unittest.TestCase)
        owner = self.owner(self.name) if is_case else self.owner()
        if hasattr(owner, "setUp"):
            owner.setUp()
        elif hasattr(owner, "setup_method"):
            owner.setup_method()
        return [owner]

    def case(self, arguments, before=None, inner=None, recipes=()):
        """Runs the property once and returns a record of the run. `recipes` are known expressions for the arguments."""
        recipes = dict(recipes)
        record = {
            "arguments": [
                [name, values.encode(value), values.recipe(value, self.module, recipes.get(name))]
                for name, value in arguments.items()
            ]
        }
        seen = self.probes.seen
        try:
            arguments = copy.deepcopy(arguments)
        except Exception:
            pass  # arguments that cannot be copied are used as they are
        seen.clear()
        inner = inner or self.inner()
        rejections = rejection_types()
        try:
            with limit(self.seconds):
                before = self.before() if before is None else before
                answer = inner(*before, **arguments)
            held = answer is None or bool(answer)
            record["outcome"] = "passes" if held else "fails"
        except TimeIsUp:
            record["outcome"] = "late"
        except rejections:
            record["outcome"] = "rejected"
        except (KeyboardInterrupt, SystemExit, Exception) as error:
            record["outcome"] = "fails"
            record["error"] = type(error).__name__
            record["is_check"] = isinstance(error, AssertionError)
            record["line"] = self.line_of(error)
        record["branches"] = sorted(seen.branches)
        record["conditions"] = sorted(seen.conditions)
        record["decisions"] = [[place, truth] for place, truth in seen.decisions]
        return record

    def line_of(self, error):
        """Returns the last line in the file of the property that an exception passed."""
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self.module.__file__]
        return lines[-1] if lines else None

    def sample(self, tries, seed, send):
        """Runs the property on cases from Hypothesis, and sends a record of each."""
        import hypothesis

        inner = self.handle.inner_test
        sent = set()

        def observed(*before, **arguments):
            record = self.case(arguments, list(before), inner)
            key = repr(record["arguments"])
            if key not in sent:
                sent.add(key)
                send({"case": record})
            hypothesis.assume(record["outcome"] != "rejected")

        settings = hypothesis.settings(
            max_examples=tries,
            database=None,
            deadline=None,
            derandomize=False,
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
        )
        self.handle.inner_test = observed
        # Hypothesis refuses to replace settings that the test has itself, unless this mark is removed.
        vars(self.function).pop("_hypothesis_internal_settings_applied", None)
        try:
            test = hypothesis.seed(seed)(settings(self.function))
            test(*self.before())
        except hypothesis.errors.HypothesisException as error:
            # No case meets the assumptions: the caller sees that no case was sent.
            if not sent:
                send({"remark": str(error)})
        finally:
            self.handle.inner_test = inner

    def shrink(self, record, wanted, seed):
        """Returns the smallest case that Hypothesis finds for which `wanted` still holds."""
        import hypothesis

        given = self.handle._given_kwargs
        best = [record]

        def is_wanted(arguments):
            tried = self.case(dict(arguments))
            is_match = wanted(tried)
            if is_match:
                best[0] = tried
            return is_match

        settings = hypothesis.settings(
            max_examples=500,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
        )
        strategy = hypothesis.strategies.fixed_dictionaries(dict(given))
        try:
            hypothesis.find(strategy, is_wanted, settings=settings, random=random.Random(seed))
        except hypothesis.errors.HypothesisException:
            return record
        return best[0]


class limit:
    """A time limit: raises `TimeIsUp` in the block when the time is up, if Python code runs then."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        signal.signal(signal.SIGALRM, self.time_out)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)

    def time_out(self, *_):
        raise TimeIsUp


def run_steps(prelude, steps, store, seconds):
    """Runs the bodies of generated steps. Returns the step that failed, the error, and the values at the end."""
    names = {}
    answer = {"failed": None, "error": None}
    try:
        with limit(seconds):
            exec(prelude, names)
            for number, step in enumerate(steps):
                answer["failed"] = number
                exec(step, names)
            answer["failed"] = None
    except TimeIsUp:
        answer["error"] = "TimeIsUp"
    except (KeyboardInterrupt, SystemExit, Exception) as error:
        answer["error"] = type(error).__name__
        answer["is_check"] = isinstance(error, AssertionError)
    kept = names.get(store, {})
    answer["values"] = [
        [name, values.encode(value)] for name, value in kept.items() if not name.startswith("_")
    ]
    return answer


def load(path, folder, name):
    """Imports the module of a file, as pytest does."""
    sys.path.insert(0, folder)
    module = importlib.import_module(name)
    if getattr(module, "__file__", None) != path:
        raise ImportError(
            f"the name {name} belongs to another module, {getattr(module, '__file__', None)}"
        )
    return module
