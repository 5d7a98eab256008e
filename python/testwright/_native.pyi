from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
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

def start_capture(
    folder: _Path, name: str, modules: list[str], folders: list[_Path], command: list[str]
) -> None:
    """See `testwright.capture.start`."""

def stop_capture() -> str | None:
    """See `testwright.capture.stop`."""

def recorded_units(folder: _Path, name: str | None, limit: int) -> str:
    """See `testwright.capture.recorded`: the units as JSON."""

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
        """The remark on the step, or `None`."""
    def guard(self) -> bool:
        """Returns true if the action is enabled now."""
    def act(self) -> None:
        """Takes the action, enabled or not. What it raises unexpectedly is raised."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __lt__(self, other: Action) -> bool: ...

class State:
    """A state: the values of the slots, which of them were used, and the steps that led there."""

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
        """Returns true if all properties hold."""
    def failure(self) -> _Failure | None:
        """The last failure as `sys.exc_info()` has it, or `None`."""
    @property
    def failure_text(self) -> str | None:
        """The last failure, in words."""
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
        """Switches off all actions whose text or name begins with something that a regular expression matches."""
    def enable_all(self) -> None:
        """Switches all actions on again; there is no swarm any more."""
    def enable_all_assume(self) -> None:
        """Lets actions happen again after an assumption was violated."""
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

    def explore_from_here(
        self,
        depth: int,
        check_prop: bool = True,
        stop_fail: bool = True,
        stop_cover: bool = False,
        gather_fail: list[Test] | None = None,
        gather_cover: list[Test] | None = None,
        verbose: object = False,
        reverse: bool = False,
        visited: dict[str, bool] | set[str] | list[Any] | None = None,
    ) -> bool:
        """Tries everything that can be done from the current state, up to `depth` steps; false if it was stopped."""

    # Swarms and probabilities.
    def standard_swarm(
        self,
        rgen: Random | None = None,
        p: float = 0.5,
        file: _Path | None = None,
        class_prob: Mapping[str, float] | None = None,
        no_dependencies: bool = False,
        force_parent: bool = True,
    ) -> None:
        """Leaves some lines of the harness out, at random: each is in with probability `p`, and so is what it needs."""
    def swarm_config(self) -> list[str] | None:
        """The classes that the last swarm has left in, or `None` if all are."""
    def high_low_swarm(
        self,
        rgen: Random | None = None,
        p: float = 0.5,
        file: _Path | None = None,
        high_prob: float = 0.9,
        no_dependencies: bool = False,
        force_parent: bool = True,
    ) -> list[tuple[float, str]]:
        """Probabilities in which those that a swarm would have let in share `high_prob`, the others the rest."""
    def high_low_class_probs(
        self,
        rgen: Random | None = None,
        p: float = 0.5,
        file: _Path | None = None,
        high_prob: float = 0.9,
    ) -> list[tuple[float, str]]:
        """Does the same as `high_low_swarm`, and ignores which lines need each other."""
    def read_prob_file(self, file: _Path, return_list: bool = False) -> Any:
        """Reads a file with a number for each class: a dictionary, or a list of pairs of number and class."""
    def write_prob_file(self, file: _Path, probs: Mapping[str, float]) -> None:
        """Writes a dictionary from class to number to a file."""
    def code_locs(self) -> list[tuple[str, int, list[str]]]:
        """The lengths of all functions in the modules that the harness imports."""
    @staticmethod
    def obj_code_locs(obj: Any, context: list[str]) -> list[tuple[str, int, list[str]]]:
        """The lengths of all functions in a module or class."""
    def code_loc_probs(
        self, baseline: float = 0.2, code_locs: list[tuple[Any, ...]] | None = None
    ) -> list[tuple[float, str]]:
        """Probabilities by the length of the code that each line calls."""

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
        """Lists the needs of a class: of each list, at least one class."""
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
        """Sets whether `backtrack` runs the test that led to a state instead of restoring a copy."""
    def get_pre_code(self, action: Action | str) -> str | None:
        """The expressions whose values before an action its post-condition asks for, a line each, or `None`."""
    def get_ref_code(self, action: Action | str) -> str | None:
        """The statement of the reference for an action, or `None`."""
    def get_ok_exceptions(self, action: Action | str) -> str | None:
        """The exceptions that an action may raise, with commas between them, or `None`."""
    def get_prop_code(self, action: Action | str) -> str | None:
        """The post-condition of an action, or `None`."""
    def __getattr__(self, name: str) -> Any:
        """`p_NAME`, `p_NAME_REF` and `p_NAME_used`: the slots of a pool, from index to value."""

    # Settings.
    def verbose(self, on: bool) -> None:
        """Sets whether each step prints what it does, and the values before and after it of the slots that it names."""
    def verbose_opaque(self, on: bool) -> None:
        """Sets whether `verbose` prints the values of `OPAQUE` pools, too; at first it does."""
    def set_log(self, level: int | str | None) -> None:
        """Sets the level up to which `log:` lines speak: a number, `"All"`, or `None`."""
    def log_all(self) -> None:
        """Lets all `log:` lines speak."""
    def log_off(self) -> None:
        """Silences all `log:` lines."""
    def set_log_action(self, f: Callable[[str, str, Any, bool], object] | None) -> None:
        """Has a function called instead of printing what a `log:` line says; `None` prints again."""
    @staticmethod
    def log_print(name: str, code: str, value: Any, after: bool) -> None:
        """Prints what a `log:` line says."""
    def set_reload(self, on: bool) -> None:
        """Sets whether a restart runs the imported modules again."""
    def set_debug_safely_mode(self, on: bool) -> None:
        """Sets whether `safely` refuses actions that are not enabled, with a warning."""
    def set_enumerate_enabled(self, b: bool) -> None:
        """For scripts that set it; it makes no difference here."""
    def set_use_dependencies(self, b: bool) -> None:
        """For scripts that set it; it makes no difference here."""
    def set_action_approximation(self, b: bool) -> None:
        """For scripts that set it; it makes no difference here."""
    def set_fast_pool_states(self, b: bool) -> None:
        """For scripts that set it; it makes no difference here."""

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
        """Returns true if a test fails, without checking properties; with a failure, if it fails like that."""
    def fails_check(
        self, test: Iterable[Action], verbose: bool = False, failure: _Failure | None = None
    ) -> bool:
        """Returns true if a test fails, properties included; with a failure, if it fails like that."""
    def fails_any(
        self, test: Iterable[Action], verbose: bool = False, failure: _Failure | None = None
    ) -> bool:
        """Does the same as `fails_check`."""
    @staticmethod
    def eq_fail(f1: _Failure | None, f2: _Failure | None) -> bool:
        """Returns true if two failures are the same: exceptions of one type with the same text."""
    @staticmethod
    def probability(test: Test, pred: _Predicate, samples: int = 10) -> float:
        """Returns the fraction of runs for which a predicate holds for a test: from 0 to 1."""
    @staticmethod
    def force_p(
        test: Test, pred: _Predicate, p: float = 0.5, samples: int = 10, replications: int = 1
    ) -> bool:
        """Returns true if a predicate holds for a test with at least this probability, each time it is measured."""
    def trajectory_item(self, pools: list[str] | None = None) -> list[list[Any]]:
        """The values of all pools that are worth showing, copied; with names, of those pools only."""
    def nondeterministic(
        self,
        test: Iterable[Action],
        delay: float = 1.0,
        delay0: float | None = None,
        tries: int = 1,
        report_equal_fail: bool = False,
        pools: list[str] | None = None,
    ) -> bool:
        """Returns true if the values at the end of a test differ between runs with and without delays."""
    def step_nondeterministic(
        self,
        test: Iterable[Action],
        delay: float = 1.0,
        delay0: float | None = None,
        tries: int = 1,
        report_equal_fail: bool = False,
        pools: list[str] | None = None,
    ) -> bool:
        """Returns true if the values after any step differ between runs with and without delays."""
    def find_process_nondeterminism(
        self,
        test: Iterable[Action],
        ignore_exceptions: bool = True,
        verbose: bool = False,
        delay: float | None = None,
        tries: int = 1,
    ) -> int:
        """Runs a test in two new processes and compares; the index of the first step that differs, or -1."""
    def iterate_find_process_nondeterminism(
        self,
        test: Iterable[Action],
        ignore_exceptions: bool = True,
        verbose: bool = False,
        double: bool = False,
        delay: float | None = None,
        tries: int = 1,
    ) -> int:
        """Does the same for the first step, then for more and more of the test."""
    def process_nondeterministic(
        self,
        test: Iterable[Action],
        ignore_exceptions: bool = True,
        verbose: bool = False,
        iterate: bool = False,
        double: bool = True,
        delay: float | None = None,
        tries: int = 1,
    ) -> bool:
        """Returns true if a test does something else in another process."""
    def covers_branches(
        self, branches: Iterable[_Branch], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """A predicate: does a test still touch these branches?"""
    def covers_statements(
        self,
        statements: Iterable[_Statement],
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> _Predicate:
        """A predicate: does a test still touch these statements?"""
    def covers_all(
        self,
        statements: Iterable[_Statement],
        branches: Iterable[_Branch],
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> _Predicate:
        """A predicate: does a test still touch these statements and branches?"""
    def covers_more(
        self,
        statements: Iterable[_Statement],
        branches: Iterable[_Branch],
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> _Predicate:
        """A predicate: does a test touch these statements and branches, and at least one more?"""
    def covers_same(
        self, test: Iterable[Action], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """A predicate: does a test touch all that this test touches?"""
    def covers_more_than(
        self, test: Iterable[Action], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """A predicate: does a test touch all that this test touches, and more?"""
    def covers_unique(
        self, val: tuple[str, str], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """A predicate: is this one of the values, as `unique_vals` lists them, that a test ends with?"""
    def cover_decompose(
        self,
        test: Iterable[Action],
        verbose: object = False,
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> list[Test]:
        """Short tests that together touch what one test touches."""

    # Transforming. Some arguments are there for scripts written for TSTL and make no difference.
    def reduce(
        self,
        test: Iterable[Action],
        pred: Callable[[Test], Any],
        prune_guards: bool = True,
        keep_last: bool = False,
        verbose: object = False,
        rgen: Random | None = None,
        amplify: bool = False,
        amplify_replications: int = 1,
        stop_found: bool = False,
        try_fast: bool = True,
        test_handler: Callable[[], object] | None = None,
        find_locations: bool = False,
        no_reset_split: bool = False,
        safe_reduce: bool = False,
        save_intermediate: _Path | None = None,
    ) -> Test:
        """The shortest test that still satisfies a predicate, in which no single step can be left out."""
    def reductions(
        self,
        test: Iterable[Action],
        pred: _Predicate,
        prune_guards: bool = True,
        try_fast: bool = True,
        keep_last: bool = False,
        verbose: object = False,
        recursive: int = 1,
        use_classes: bool = True,
        limit: int | None = None,
    ) -> list[Test]:
        """Several different reductions of a test."""
    def reduce_essentials(
        self,
        test: Iterable[Action],
        original: Iterable[Action],
        pred: _Predicate,
        prune_guards: bool = True,
        keep_last: bool = False,
        try_fast: bool = True,
        limit: int = 500,
    ) -> tuple[list[tuple[Test, Test]], list[Test]]:
        """Finds the steps of a reduced test that the original one needs, and those that others can make up for."""
    def test_candidates(self, test: Iterable[Action], n: int) -> list[Test]:
        """The tests that delta debugging tries next: a test without each of `n` parts in turn."""
    def normalize(
        self,
        test: Iterable[Action],
        pred: _Predicate,
        prune_guards: bool = True,
        keep_last: bool = False,
        verbose: object = False,
        speed: str = "FAST",
        check_enabled: bool = False,
        dist_limit: int | None = None,
        reorder: bool = True,
        no_reassigns: bool = False,
        use_cache: bool = True,
        try_fast: bool = True,
    ) -> Test:
        """Rewrites a test into a simple one that others would come to as well."""
    def generalize(
        self,
        test: Iterable[Action],
        pred: _Predicate,
        prune_guards: bool = True,
        keep_last: bool = False,
        verbose: object = False,
        check_enabled: bool = False,
        dist_limit: int | None = None,
        return_collect: bool = False,
        collected: Iterable[str] | None = None,
        depth: int = 0,
        silent: bool = False,
        targets: Container[str] | None = None,
        fresh: bool = True,
        speed: str = "FAST",
    ) -> Any:
        """Prints a test with comments that say what else could stand there, and returns that text."""
    def apply_rule(
        self,
        rule: str,
        test: Iterable[Action],
        pred: _Predicate,
        keep_last: bool = False,
        dist_limit: int | None = None,
    ) -> tuple[bool, Test]:
        """Lets a single rule of normalization rewrite a test: whether it could, and the test then."""
    def clear_normalization_cache(self) -> None:
        """For scripts that call it; it makes no difference here."""
    def alpha_convert(self, test: Iterable[Action], verbose: object = False) -> Test:
        """Returns the test with its slots numbered in order of their first use."""
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
    def get_enabled(self, test: Iterable[Action], check_enabled: bool) -> dict[int, list[str]]:
        """For each step of a test, by index, the names of the actions that could stand there."""
    def num_reassigns(self, test: Iterable[Action]) -> int:
        """Counts the steps of a test that fill a slot that was filled before."""
    @staticmethod
    def lev_dist(s1: str, s2: str) -> int:
        """Counts the characters to insert, delete or replace to turn one text into another."""
    def action_replace(self, action: Action, old: str, new: str) -> Action:
        """The action named `new` if this one is named `old`, else itself."""
    def action_modify(self, action: Action, old: str, new: str) -> Action:
        """The action whose name is that of this one with `new` for `old`."""
    @staticmethod
    def powerset(xs: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        """All ways to take some of these, none and all included, small ones first."""
    def fresh_simple_variants(
        self, name: Action | str, previous: Iterable[Action], replacements: dict[int, list[str]]
    ) -> list[list[Action]]:
        """Ways to give a step a fresh value: pairs of an action that fills one of its slots, and the step."""

    # Measuring.
    @property
    def measures_coverage(self) -> bool:
        """True if coverage is measured."""
    def start_coverage(self) -> None:
        """Measures again after `stop_coverage`."""
    def stop_coverage(self) -> None:
        """From now on, what is touched does not count."""
    def clean_cov(self) -> None:
        """Forgets what the current test and its last step have touched."""
    def reset_cov(self) -> None:
        """Forgets all that was ever touched."""
    def silence_coverage(self) -> None:
        """For scripts that silence warnings of coverage.py; here there are none."""
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
    def save_test(self, test: Iterable[Action], filename: _Path, afl: bool = False) -> None:
        """Saves a test: text, an action a line; or bytes."""
    def load_test(self, filename: _Path, afl: bool = False, swarm: bool = False) -> Test:
        """Loads a test. A line that the harness does not know is a `KeyError`."""
    def test_to_bytes(self, test: Iterable[Action]) -> bytes:
        """A test as bytes for a fuzzer: for each step its place in `actions()`."""
    def bytes_to_test(self, data: bytes, swarm: bool = False) -> Test:
        """The test that bytes stand for. With `swarm`, the first four are the seed of a `standard_swarm`."""
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

def replay_models(
    models: list[str],
    stepper: str,
    steps: list[tuple[str, tuple[Any, ...]]],
    timeout: float,
    run: int,
    tries: int,
) -> str | None:
    """See `testwright.models.replay`."""
