from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from random import Random
from types import TracebackType
from typing import Any, Literal

from testwright.test import Test

__version__: str

_Path = str | PathLike[str]
_Statement = tuple[str, int]
_Branch = tuple[str, tuple[int, int]]
_Failure = tuple[type[BaseException], BaseException, TracebackType | None]
_Predicate = Callable[[Test], bool]

class HarnessError(Exception):
    """Something in the text of a harness is wrong; the message shows what, where, and the way out."""

class Action:
    """Something to do: one concrete action of a harness, or a restart.

    It can be unpacked like TSTL's tuple of name, guard and act.
    """

    @property
    def text(self) -> str:
        """The action as people read it: `avl0.insert(int1)`."""
    @property
    def name(self) -> str:
        """The name that TSTL gives the action: `self.p_avl[0].insert(self.p_int[1]) `."""
    @property
    def note(self) -> str | None:
        """What somebody remarked about the step."""
    def guard(self) -> bool:
        """Whether the action is enabled now."""
    def act(self) -> None:
        """Takes the action, enabled or not. What it raises unexpectedly is raised."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __lt__(self, other: Action) -> bool: ...

class State:
    """What the slots held, which of them were used, and the steps that led there."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __lt__(self, other: State) -> bool: ...
    def __le__(self, other: State) -> bool: ...
    def __gt__(self, other: State) -> bool: ...
    def __ge__(self, other: State) -> bool: ...

class Sut:
    """A living harness."""

    def __init__(
        self,
        path: _Path,
        *,
        coverage: bool = True,
        reset_modules: bool = True,
        reference_exceptions: Literal["both", "type", "message"] = "both",
        checks: Literal["all", "changed"] = "all",
        replay: bool = False,
    ) -> None:
        """Brings a harness to life. Modules are looked for in its folder first."""

    # Stepping.
    def restart(self) -> None:
        """Back to the initial state; a new test begins."""
    def test(self) -> Test:
        """The steps taken since the last restart."""
    def safely(self, action: Action) -> bool:
        """Takes an action, enabled or not; whether nothing unexpected was raised."""
    def check(self) -> bool:
        """Whether all properties hold."""
    def failure(self) -> _Failure | None:
        """The last failure as `sys.exc_info()` has it, or `None`."""
    @property
    def failure_text(self) -> str | None:
        """What the last failure is, in words."""
    def raised(self) -> BaseException | None:
        """The exception that the last action raised: an expected one, or its failure."""
    def ref_raised(self) -> BaseException | None:
        """The exception that the reference raised in the last action."""
    def warning(self) -> BaseException | None:
        """The exception that the last action raised and the harness takes as a warning."""
    def annotate(self, text: str) -> None:
        """Remarks something about the last step."""

    # Choosing.
    def actions(self) -> list[Action]:
        """All actions that are switched on, in the order of the harness."""
    def enabled(self) -> list[Action]:
        """All actions that are enabled now, in the order of the harness."""
    def random_enabled(
        self,
        rgen: Random | None = None,
        act_filter: Callable[[Action], bool] | None = None,
        enabled_acts: Iterable[Action] | None = None,
    ) -> Action | None:
        """A random enabled action, every one as likely as the other, or `None`."""
    def random_enableds(self, rgen: Random | None, n: int) -> list[Action]:
        """Up to `n` different enabled actions, in random order."""
    def random_enabled_pred(
        self, rgen: Random | None, n: int, pred: Callable[[Action], bool]
    ) -> Action | None:
        """The first of up to `n` random enabled actions that satisfies a predicate, else the last one tried."""
    def random_enabled_class_probs(
        self, rgen: Random | None, probs: Sequence[tuple[float, str]]
    ) -> Action | None:
        """A random enabled action of a class that is drawn by its probability."""
    def disable(self, regex: str) -> None:
        """Switches off all actions whose name begins with something that a regular expression matches."""
    def enable_all(self) -> None:
        """Switches all actions on again."""
    def relax(self) -> None:
        """Lets slots be filled again although their values were not used."""
    def stop_relax(self) -> None:
        """A fresh value must be used before its slot is filled again, which is the rule."""
    def make_test(
        self,
        size: int,
        rgen: Random | None = None,
        generator: Callable[[int], Action | None] | None = None,
        sgenerator: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        stop_fail: bool = True,
        check_prop: bool = True,
        initial: Any = None,
        timeout: float | None = None,
        stop_when: Callable[[], bool] | None = None,
    ) -> tuple[Test, bool | Literal["DEADLOCK"]]:
        """Restarts and takes up to `size` steps, random ones unless a generator says otherwise."""

    # Looking.
    def sut_name(self) -> str:
        """The name of the harness: its file without `.tstl`."""
    def pretty_name(self, text: str) -> str:
        """A text with `self.p_avl[0]` written as people read it: `avl0`."""
    def action_class(self, action: Action) -> str:
        """The class of an action: its line in the harness."""
    def action_classes(self) -> list[str]:
        """All classes, in the order of the harness."""
    def essential_classes(self) -> list[str]:
        """The classes that swarm testing never leaves out."""
    def dependencies(self, class_: str) -> list[list[str]]:
        """What a class needs: of each list, at least one class."""
    def act_order(self, action: Action) -> int:
        """The place of an action in the harness, from 1; lower ones are simpler."""
    def pretty_print_test(self, test: Iterable[Action], columns: int = 80) -> None:
        """Prints a test, a step a line."""
    def pretty_print_removed(
        self, t1: Iterable[Action], t2: Iterable[Action], columns: int = 80
    ) -> None:
        """Prints the steps of the first test that the second does not have."""
    def pools(self) -> list[str]:
        """The pools as harness code writes them: `self.p_avl`."""
    def opaque(self) -> list[str]:
        """The pools whose values are not worth showing."""
    def pool_uses(self, text: str) -> list[tuple[str, str]]:
        """The slots that a text mentions, each with its index, by pool and then by place in the text."""
    def get_pool_states(self) -> tuple[list[str], list[str]]:
        """The slots that are empty, and those whose value was not used yet."""
    def unique_vals(self) -> list[tuple[str, str]]:
        """The different values of all slots: pairs of a pool and a text."""
    def hints(self) -> list[Any]:
        """Evaluates all `hint:` lines now."""
    def features(self) -> list[str]:
        """The `feature:` lines."""
    def abstraction(self, pool: str) -> Callable[[Any], Any] | None:
        """The function that abstracts the values of a pool, or `None`."""
    def shallow_state(self) -> list[tuple[str, dict[int, Any]]]:
        """The values of all slots as they are: pairs of a pool and a dictionary."""
    def state(self) -> State:
        """The state as it is now, to go back to with `backtrack`."""
    def backtrack(self, state: State) -> None:
        """Goes back to a state: to a copy of its values, or by running its test where values cannot be copied."""
    def abstract(self, state: State) -> tuple[Any, ...]:
        """A state in which each value is what its pool's `ABSTRACT` function makes of it."""
    def set_replay_backtrack(self, replay: bool) -> None:
        """Whether going back to a state means running the test that led there."""
    def set_log(self, level: int | str | None) -> None:
        """Sets the level up to which `log:` lines speak: a number, `"All"`, or `None`."""
    def get_ref_code(self, action: Action | str) -> str | None:
        """The statement of the reference for an action, or `None`."""
    def get_ok_exceptions(self, action: Action | str) -> str | None:
        """The exceptions that an action may raise, with commas between them, or `None`."""
    def get_prop_code(self, action: Action | str) -> str | None:
        """The post-condition of an action, or `None`."""
    def __getattr__(self, name: str) -> Any:
        """`p_NAME`, `p_NAME_REF` and `p_NAME_used`: the slots of a pool, from index to value."""

    # Judging.
    def replay(
        self,
        test: Iterable[Action],
        catch_uncaught: bool = False,
        extend: bool = False,
        check_prop: bool = False,
        verbose: bool = False,
        stop_fail: bool = True,
        return_cov: bool = False,
        delay: float | None = None,
    ) -> Any:
        """Runs a test again from a restart; steps that are not enabled are skipped. Whether nothing failed."""
    def replay_until(
        self,
        test: Iterable[Action],
        pred: Callable[[], bool],
        catch_uncaught: bool = False,
        check_prop: bool = False,
        stop_fail: bool = True,
    ) -> Test | Literal[False] | None:
        """The shortest beginning of a test after which a predicate of no arguments holds."""
    def all_enabled(self, test: Iterable[Action]) -> bool:
        """Runs a test from the state as it is; false at the first step that is not enabled."""
    def fails(
        self, test: Iterable[Action], verbose: bool = False, failure: _Failure | None = None
    ) -> bool:
        """Whether a test fails without its properties; with a failure, whether it fails like that."""
    def fails_check(
        self, test: Iterable[Action], verbose: bool = False, failure: _Failure | None = None
    ) -> bool:
        """Whether a test fails, properties included; with a failure, whether it fails like that."""
    @staticmethod
    def eq_fail(f1: _Failure | None, f2: _Failure | None) -> bool:
        """Whether two failures are the same: exceptions of one type with the same text."""
    @staticmethod
    def probability(test: Test, pred: _Predicate, samples: int = 10) -> float:
        """How often, of some runs, a predicate holds for a test: from 0 to 1."""
    def trajectory_item(self, pools: list[str] | None = None) -> list[list[Any]]:
        """The values of all pools that are worth showing, copied; with names, of those pools only."""
    def nondeterministic(
        self,
        test: Iterable[Action],
        delay: float = 1.0,
        delay0: float | None = None,
        tries: int = 1,
        pools: list[str] | None = None,
    ) -> bool:
        """Whether the values at the end of a test differ between runs with and without a delay after each step."""
    def step_nondeterministic(
        self,
        test: Iterable[Action],
        delay: float = 1.0,
        delay0: float | None = None,
        tries: int = 1,
        pools: list[str] | None = None,
    ) -> bool:
        """Whether the values after any step differ between runs with and without a delay after each step."""
    def covers_branches(self, branches: Iterable[_Branch]) -> _Predicate:
        """A predicate: does a test still touch these branches?"""
    def covers_statements(self, statements: Iterable[_Statement]) -> _Predicate:
        """A predicate: does a test still touch these statements?"""
    def covers_all(
        self, statements: Iterable[_Statement], branches: Iterable[_Branch]
    ) -> _Predicate:
        """A predicate: does a test still touch these statements and branches?"""
    def covers_same(self, test: Iterable[Action]) -> _Predicate:
        """A predicate: does a test touch all that this test touches?"""

    # Transforming. Arguments that TSTL has and that make no difference here are accepted.
    def reduce(
        self,
        test: Iterable[Action],
        pred: _Predicate,
        keep_last: bool = False,
        try_fast: bool = True,
        **others: Any,
    ) -> Test:
        """The shortest test that still satisfies a predicate, in which no single step can be left out."""
    def normalize(
        self,
        test: Iterable[Action],
        pred: _Predicate,
        keep_last: bool = False,
        speed: str = "FAST",
        no_reassigns: bool = False,
        try_fast: bool = True,
        **others: Any,
    ) -> Test:
        """Rewrites a test into a simple one that others would come to as well."""
    def generalize(
        self,
        test: Iterable[Action],
        pred: _Predicate,
        keep_last: bool = False,
        silent: bool = False,
        fresh: bool = True,
        speed: str = "FAST",
        **others: Any,
    ) -> str:
        """Prints a test with comments that say what else could stand there, and returns that text."""
    def reductions(
        self,
        test: Iterable[Action],
        pred: _Predicate,
        keep_last: bool = False,
        recursive: int = 1,
        use_classes: bool = True,
        limit: int | None = None,
        **others: Any,
    ) -> list[Test]:
        """Several different reductions of a test."""
    def reduce_essentials(
        self,
        test: Iterable[Action],
        original: Iterable[Action],
        pred: _Predicate,
        keep_last: bool = False,
        limit: int = 500,
        **others: Any,
    ) -> tuple[list[tuple[Test, Test]], list[Test]]:
        """Which steps of a reduced test the original one needs, and which can be made up for by others."""
    def alpha_convert(self, test: Iterable[Action], **others: Any) -> Test:
        """The same test with its slots numbered in order of their first use."""
    def swap_pools(self, test: Iterable[Action], one: str, other: str, after: int = 0) -> Test:
        """A test in which two slots have changed places from some step on."""
    def mutate(
        self, test: Iterable[Action], rgen: Random | None = None, p_insert: float = 0.2
    ) -> Test:
        """A test in which, somewhere, any action was inserted or put in place of another."""
    def crossover(
        self,
        t1: Iterable[Action],
        t2: Iterable[Action],
        rgen: Random | None = None,
        two_point: bool = False,
    ) -> Test:
        """The beginning of one test and the end of another; with two points, then the end of the first."""

    # Measuring.
    @property
    def measures_coverage(self) -> bool:
        """Whether coverage is measured."""
    def all_branches(self) -> set[_Branch]:
        """Every branch that was ever touched."""
    def all_statements(self) -> set[_Statement]:
        """Every statement that was ever touched."""
    def curr_branches(self) -> set[_Branch]:
        """The branches that the current test touched."""
    def curr_statements(self) -> set[_Statement]:
        """The statements that the current test touched."""
    def new_branches(self) -> set[_Branch]:
        """The branches that the last step, with the check after it, was the first ever to touch."""
    def new_statements(self) -> set[_Statement]:
        """The statements that the last step, with the check after it, was the first ever to touch."""
    def new_curr_branches(self) -> set[_Branch]:
        """The branches that the current test was the first ever to touch."""
    def new_curr_statements(self) -> set[_Statement]:
        """The statements that the current test was the first ever to touch."""
    def report(self, filename: _Path) -> float:
        """Writes a table of what was covered to a file; the percentage of lines and branches."""
    def html_report(self, folder: _Path) -> float:
        """Writes pages of the measured files, with what was covered in colour, to a folder; the percentage."""
    def internal_report(self) -> None:
        """Prints all arcs and lines that were covered, file by file."""
    def module_locations(self) -> list[str]:
        """The files whose coverage is measured."""

    # Saving.
    def save_test(self, test: Iterable[Action], filename: _Path) -> None:
        """Saves a test: text, an action a line."""
    def load_test(self, filename: _Path) -> Test:
        """Loads a test. A line that the harness does not know is a `KeyError`."""
    def serializable(self, step: Action) -> str:
        """The line of a saved test for a step."""
    def playable(self, text: str) -> Action:
        """The step for a line of a saved test; a `KeyError` if the harness does not know it."""
    def capture_replay(self, test: Iterable[Action]) -> str:
        """A whole test as one line of text."""
    def replayable(self, text: str) -> Test:
        """The test that `capture_replay` made a text of."""

def main(argv: Sequence[str]) -> int:
    """Runs the command line with these arguments (without the program's name).

    Returns 0 if nothing was found, 1 if a failure was found, 2 if what was asked could not be done.
    """
