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
    """An error in the text of a harness; the message shows what is wrong, where, and how to fix it."""

class Action:
    """A step: one concrete action of a harness, or a restart.

    It can be unpacked like TSTL's tuple of name, guard and act.
    """

    @property
    def text(self) -> str:
        """The action in readable form: `avl0.insert(int1)`."""
    @property
    def name(self) -> str:
        """The name that TSTL gives the action: `self.p_avl[0].insert(self.p_int[1]) `."""
    @property
    def note(self) -> str | None:
        """The note on the step, or `None`."""
    def guard(self) -> bool:
        """Returns true if the action is enabled now."""
    def act(self) -> None:
        """Takes the action, enabled or not. Raises the exceptions that the harness does not expect."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __lt__(self, other: Action) -> bool: ...

class State:
    """A state: the values of the slots, which of them were used, and the steps that led to it."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __lt__(self, other: State) -> bool: ...
    def __le__(self, other: State) -> bool: ...
    def __gt__(self, other: State) -> bool: ...
    def __ge__(self, other: State) -> bool: ...

class Sut:
    """A loaded harness."""

    def __init__(
        self,
        path: _Path,
        *,
        coverage: bool = True,
        reset_modules: bool = True,
        reference_exceptions: Literal["both", "type", "message"] = "both",
        checks: Literal["all", "changed"] = "all",
        scenarios: list[str] = ...,
        replay: bool = False,
    ) -> None:
        """Loads a harness. Modules are looked up in its folder first."""

    # Stepping.
    def restart(self) -> None:
        """Returns to the initial state and starts a new test."""
    def test(self) -> Test:
        """Returns the steps taken since the last restart."""
    def safely(self, action: Action) -> bool:
        """Takes an action, enabled or not. Returns true if no unexpected exception was raised."""
    def check(self) -> bool:
        """Returns true if all properties hold."""
    def failure(self) -> _Failure | None:
        """Returns the last failure in the form of `sys.exc_info()`, or `None`."""
    @property
    def failure_text(self) -> str | None:
        """Returns the last failure, in words."""
    def raised(self) -> BaseException | None:
        """Returns the exception that the last action raised: an expected one, or its failure."""
    def ref_raised(self) -> BaseException | None:
        """Returns the exception that the reference raised in the last action."""
    def warning(self) -> BaseException | None:
        """Returns the exception that the last action raised and the harness treats as a warning."""
    def annotate(self, text: str) -> None:
        """Adds a note to the last step."""

    # Choosing.
    def actions(self) -> list[Action]:
        """Returns all actions that are switched on, in the order of the harness."""
    def enabled(self) -> list[Action]:
        """Returns all actions that are enabled now, in the order of the harness."""
    def random_enabled(
        self,
        rgen: Random | None = None,
        act_filter: Callable[[Action], bool] | None = None,
        enabled_acts: Iterable[Action] | None = None,
    ) -> Action | None:
        """Returns a random enabled action, all equally likely, or `None`."""
    def random_enableds(self, rgen: Random | None, n: int) -> list[Action]:
        """Returns up to `n` different enabled actions, in random order."""
    def random_enabled_pred(
        self, rgen: Random | None, n: int, pred: Callable[[Action], bool]
    ) -> Action | None:
        """Returns the first of up to `n` random enabled actions that satisfies a predicate, else the last one tried."""
    def random_enabled_class_probs(
        self, rgen: Random | None, probs: Sequence[tuple[float, str]]
    ) -> Action | None:
        """Returns a random enabled action of a class that is drawn by its probability."""
    def disable(self, regex: str) -> None:
        """Switches off all actions whose text or name starts with a match of a regular expression."""
    def enable_all(self) -> None:
        """Switches all actions on again, and ends the swarm."""
    def enable_all_assume(self) -> None:
        """Allows actions again after an assumption was violated."""
    def relax(self) -> None:
        """Allows slots to be filled again before their values were used."""
    def stop_relax(self) -> None:
        """Restores the default: a fresh value must be used before its slot is filled again."""
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
        """Restarts and takes up to `size` steps: random ones, or those that a generator chooses."""

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
        """Tries all sequences of up to `depth` steps from the current state. Returns false if it was stopped."""

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
        """Leaves out random lines of the harness: keeps each with probability `p`, together with the lines that it needs."""
    def swarm_config(self) -> list[str] | None:
        """Returns the classes that the last swarm kept, or `None` if it kept all."""
    def high_low_swarm(
        self,
        rgen: Random | None = None,
        p: float = 0.5,
        file: _Path | None = None,
        high_prob: float = 0.9,
        no_dependencies: bool = False,
        force_parent: bool = True,
    ) -> list[tuple[float, str]]:
        """Returns probabilities: the classes that a swarm would keep share `high_prob`, the others share the rest."""
    def high_low_class_probs(
        self,
        rgen: Random | None = None,
        p: float = 0.5,
        file: _Path | None = None,
        high_prob: float = 0.9,
    ) -> list[tuple[float, str]]:
        """Does the same as `high_low_swarm`, but ignores which lines need each other."""
    def read_prob_file(self, file: _Path, return_list: bool = False) -> Any:
        """Reads a file with a number for each class. Returns a dictionary, or a list of pairs of number and class."""
    def write_prob_file(self, file: _Path, probs: Mapping[str, float]) -> None:
        """Writes a dictionary from class to number to a file."""
    def code_locs(self) -> list[tuple[str, int, list[str]]]:
        """Returns the lengths of all functions in the modules that the harness imports."""
    @staticmethod
    def obj_code_locs(obj: Any, context: list[str]) -> list[tuple[str, int, list[str]]]:
        """Returns the lengths of all functions in a module or class."""
    def code_loc_probs(
        self, baseline: float = 0.2, code_locs: list[tuple[Any, ...]] | None = None
    ) -> list[tuple[float, str]]:
        """Returns probabilities by the length of the code that each line calls."""

    # Looking.
    def sut_name(self) -> str:
        """Returns the name of the harness: its file name without `.tstl`."""
    def pretty_name(self, text: str) -> str:
        """Returns a text in readable form: `avl0` for `self.p_avl[0]`."""
    def action_class(self, action: Action) -> str:
        """Returns the class of an action: its line in the harness."""
    def action_classes(self) -> list[str]:
        """Returns all classes, in the order of the harness."""
    def essential_classes(self) -> list[str]:
        """Returns the classes that swarm testing never leaves out."""
    def dependencies(self, class_: str) -> list[list[str]]:
        """Returns the needs of a class as lists: it needs at least one class of each list."""
    def act_order(self, action: Action) -> int:
        """Returns the position of an action in the harness, from 1; lower ones are simpler."""
    def pretty_print_test(self, test: Iterable[Action], columns: int = 80) -> None:
        """Prints a test, one step per line."""
    def pretty_print_removed(
        self, t1: Iterable[Action], t2: Iterable[Action], columns: int = 80
    ) -> None:
        """Prints the steps of the first test that are not in the second."""
    def pools(self) -> list[str]:
        """Returns the pools in the form of harness code: `self.p_avl`."""
    def opaque(self) -> list[str]:
        """Returns the `OPAQUE` pools, whose values are not shown."""
    def pool_uses(self, text: str) -> list[tuple[str, str]]:
        """Returns the slots that a text mentions, each with its index, by pool and then by position in the text."""
    def get_pool_states(self) -> tuple[list[str], list[str]]:
        """Returns the slots that are empty, and those whose value was not used yet."""
    def unique_vals(self) -> list[tuple[str, str]]:
        """Returns the different values of all slots: pairs of a pool and a text."""
    def hints(self) -> list[Any]:
        """Evaluates all `hint:` lines now."""
    def features(self) -> list[str]:
        """Returns the `feature:` lines."""
    def abstraction(self, pool: str) -> Callable[[Any], Any] | None:
        """Returns the function that abstracts the values of a pool, or `None`."""
    def shallow_state(self) -> list[tuple[str, dict[int, Any]]]:
        """Returns the values of all slots without copying them: pairs of a pool and a dictionary."""
    def state(self) -> State:
        """Returns the current state, to return to with `backtrack`."""
    def backtrack(self, state: State) -> None:
        """Returns to a state: restores a copy of its values, or replays its test if values cannot be copied."""
    def abstract(self, state: State) -> tuple[Any, ...]:
        """Returns a state with the `ABSTRACT` function of each pool applied to its values."""
    def set_replay_backtrack(self, replay: bool) -> None:
        """Sets whether `backtrack` replays the test that led to a state instead of restoring a copy."""
    def get_pre_code(self, action: Action | str) -> str | None:
        """Returns the `pre` expressions in the post-condition of an action, one per line, or `None`."""
    def get_ref_code(self, action: Action | str) -> str | None:
        """Returns the statement of the reference for an action, or `None`."""
    def get_ok_exceptions(self, action: Action | str) -> str | None:
        """Returns the exceptions that an action may raise, with commas between them, or `None`."""
    def get_prop_code(self, action: Action | str) -> str | None:
        """Returns the post-condition of an action, or `None`."""
    def __getattr__(self, name: str) -> Any:
        """Returns the slots of a pool, from index to value: `p_NAME`, `p_NAME_REF` and `p_NAME_used`."""

    # Settings.
    def verbose(self, on: bool) -> None:
        """Sets whether each step prints its text, and the values of its slots before and after."""
    def verbose_opaque(self, on: bool) -> None:
        """Sets whether `verbose` prints the values of `OPAQUE` pools, which is the default."""
    def set_log(self, level: int | str | None) -> None:
        """Sets the level up to which `log:` lines are printed: a number, `"All"`, or `None`."""
    def log_all(self) -> None:
        """Turns all `log:` lines on."""
    def log_off(self) -> None:
        """Turns all `log:` lines off."""
    def set_log_action(self, f: Callable[[str, str, Any, bool], object] | None) -> None:
        """Sets a function to call instead of printing `log:` lines; `None` restores printing."""
    @staticmethod
    def log_print(name: str, code: str, value: Any, after: bool) -> None:
        """Prints the value of a `log:` line."""
    def set_reload(self, on: bool) -> None:
        """Sets whether a restart runs the imported modules again."""
    def set_debug_safely_mode(self, on: bool) -> None:
        """Sets whether `safely` refuses actions that are not enabled, with a warning."""
    def set_enumerate_enabled(self, b: bool) -> None:
        """Has no effect; accepted for TSTL scripts that call it."""
    def set_use_dependencies(self, b: bool) -> None:
        """Has no effect; accepted for TSTL scripts that call it."""
    def set_action_approximation(self, b: bool) -> None:
        """Has no effect; accepted for TSTL scripts that call it."""
    def set_fast_pool_states(self, b: bool) -> None:
        """Has no effect; accepted for TSTL scripts that call it."""

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
        """Restarts and replays a test, without the steps that are not enabled. Returns true if nothing failed."""
    def replay_until(
        self,
        test: Iterable[Action],
        pred: Callable[[], bool],
        catch_uncaught: bool = False,
        check_prop: bool = False,
        stop_fail: bool = True,
    ) -> Test | Literal[False] | None:
        """Returns the shortest prefix of a test after which a predicate without arguments holds."""
    def all_enabled(self, test: Iterable[Action]) -> bool:
        """Runs a test from the current state. Returns false at the first step that is not enabled."""
    def fails(
        self, test: Iterable[Action], verbose: bool = False, failure: _Failure | None = None
    ) -> bool:
        """Returns true if a test fails, without checking properties; with `failure`, if it fails in the same way."""
    def fails_check(
        self, test: Iterable[Action], verbose: bool = False, failure: _Failure | None = None
    ) -> bool:
        """Returns true if a test fails, properties included; with `failure`, if it fails in the same way."""
    def fails_any(
        self, test: Iterable[Action], verbose: bool = False, failure: _Failure | None = None
    ) -> bool:
        """Does the same as `fails_check`."""
    @staticmethod
    def eq_fail(f1: _Failure | None, f2: _Failure | None) -> bool:
        """Returns true if two failures are the same: exceptions of one type with the same text."""
    @staticmethod
    def probability(test: Test, pred: _Predicate, samples: int = 10) -> float:
        """Returns the fraction of runs in which a predicate holds for a test: from 0 to 1."""
    @staticmethod
    def force_p(
        test: Test, pred: _Predicate, p: float = 0.5, samples: int = 10, replications: int = 1
    ) -> bool:
        """Returns true if a predicate holds for a test with at least this probability, each time it is measured."""
    def trajectory_item(self, pools: list[str] | None = None) -> list[list[Any]]:
        """Returns copies of the values of all pools that are not `OPAQUE`, or of the named pools only."""
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
        """Runs a test in two new processes and compares. Returns the index of the first step that differs, or -1."""
    def iterate_find_process_nondeterminism(
        self,
        test: Iterable[Action],
        ignore_exceptions: bool = True,
        verbose: bool = False,
        double: bool = False,
        delay: float | None = None,
        tries: int = 1,
    ) -> int:
        """Does the same as `find_process_nondeterminism` for the first step, then for longer and longer prefixes of the test."""
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
        """Returns true if a test behaves differently in another process."""
    def covers_branches(
        self, branches: Iterable[_Branch], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """Returns a predicate: does a test still cover these branches?"""
    def covers_statements(
        self,
        statements: Iterable[_Statement],
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> _Predicate:
        """Returns a predicate: does a test still cover these statements?"""
    def covers_all(
        self,
        statements: Iterable[_Statement],
        branches: Iterable[_Branch],
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> _Predicate:
        """Returns a predicate: does a test still cover these statements and branches?"""
    def covers_more(
        self,
        statements: Iterable[_Statement],
        branches: Iterable[_Branch],
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> _Predicate:
        """Returns a predicate: does a test cover these statements and branches, and at least one more?"""
    def covers_same(
        self, test: Iterable[Action], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """Returns a predicate: does a test cover everything that this test covers?"""
    def covers_more_than(
        self, test: Iterable[Action], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """Returns a predicate: does a test cover everything that this test covers, and more?"""
    def covers_unique(
        self, val: tuple[str, str], catch_uncaught: bool = False, check_prop: bool = False
    ) -> _Predicate:
        """Returns a predicate: is this value in `unique_vals` at the end of a test?"""
    def cover_decompose(
        self,
        test: Iterable[Action],
        verbose: object = False,
        catch_uncaught: bool = False,
        check_prop: bool = False,
    ) -> list[Test]:
        """Returns short tests that together cover what one test covers."""

    # Transforming. Some arguments are only there for TSTL scripts and have no effect.
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
        """Returns a minimal test that still satisfies a predicate: every step is needed."""
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
        """Returns several different reductions of a test."""
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
        """Finds the steps of a reduced test that the original needs, and those that other steps can replace."""
    def test_candidates(self, test: Iterable[Action], n: int) -> list[Test]:
        """Returns the tests that delta debugging tries next: a test without each of `n` parts in turn."""
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
        """Rewrites a test into a simple normal form, which similar tests share."""
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
        """Prints a test with comments on the steps that could replace its own, and returns that text."""
    def apply_rule(
        self,
        rule: str,
        test: Iterable[Action],
        pred: _Predicate,
        keep_last: bool = False,
        dist_limit: int | None = None,
    ) -> tuple[bool, Test]:
        """Applies a single normalisation rule to a test. Returns whether it changed the test, and the result."""
    def clear_normalization_cache(self) -> None:
        """Has no effect; accepted for TSTL scripts that call it."""
    def alpha_convert(self, test: Iterable[Action], verbose: object = False) -> Test:
        """Returns the test with its slots numbered in order of their first use."""
    def swap_pools(self, test: Iterable[Action], one: str, other: str, after: int = 0) -> Test:
        """Returns a test with two slots exchanged from some step on."""
    def mutate(
        self, test: Iterable[Action], rgen: Random | None = None, p_insert: float = 0.2
    ) -> Test:
        """Returns a test with an action inserted or replaced at a random position."""
    def crossover(
        self,
        t1: Iterable[Action],
        t2: Iterable[Action],
        rgen: Random | None = None,
        two_point: bool = False,
    ) -> Test:
        """Joins the beginning of one test and the end of another; with two points, then the end of the first."""
    def get_enabled(self, test: Iterable[Action], check_enabled: bool) -> dict[int, list[str]]:
        """Returns, for each step of a test by index, the names of the actions that could replace it."""
    def num_reassigns(self, test: Iterable[Action]) -> int:
        """Counts the steps of a test that fill a slot again."""
    @staticmethod
    def lev_dist(s1: str, s2: str) -> int:
        """Counts the characters to insert, delete or replace to turn one text into another."""
    def action_replace(self, action: Action, old: str, new: str) -> Action:
        """Returns the action named `new` if this one is named `old`, else this one."""
    def action_modify(self, action: Action, old: str, new: str) -> Action:
        """Returns the action whose name is this one's with `old` replaced by `new`."""
    @staticmethod
    def powerset(xs: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        """Returns all subsets, the empty and the full one included, small ones first."""
    def fresh_simple_variants(
        self, name: Action | str, previous: Iterable[Action], replacements: dict[int, list[str]]
    ) -> list[list[Action]]:
        """Returns ways to give a step a fresh value: pairs of an action that fills one of its slots, and the step."""

    # Measuring.
    @property
    def measures_coverage(self) -> bool:
        """True if coverage is measured."""
    def start_coverage(self) -> None:
        """Resumes measuring after `stop_coverage`."""
    def stop_coverage(self) -> None:
        """Stops measuring coverage."""
    def clean_cov(self) -> None:
        """Clears the coverage of the current test and of its last step."""
    def reset_cov(self) -> None:
        """Clears all coverage."""
    def silence_coverage(self) -> None:
        """Has no effect; accepted for TSTL scripts that silence warnings of coverage.py."""
    def all_branches(self) -> set[_Branch]:
        """Returns every branch that was ever covered."""
    def all_statements(self) -> set[_Statement]:
        """Returns every statement that was ever covered."""
    def curr_branches(self) -> set[_Branch]:
        """Returns the branches that the current test covered."""
    def curr_statements(self) -> set[_Statement]:
        """Returns the statements that the current test covered."""
    def new_branches(self) -> set[_Branch]:
        """Returns the branches that the last step, with the check after it, covered for the first time."""
    def new_statements(self) -> set[_Statement]:
        """Returns the statements that the last step, with the check after it, covered for the first time."""
    def new_curr_branches(self) -> set[_Branch]:
        """Returns the branches that the current test covered for the first time."""
    def new_curr_statements(self) -> set[_Statement]:
        """Returns the statements that the current test covered for the first time."""
    def report(self, filename: _Path) -> float:
        """Writes a coverage table to a file. Returns the percentage of lines and branches."""
    def html_report(self, folder: _Path) -> float:
        """Writes HTML pages of the measured files, with coverage in colour, to a folder. Returns the percentage."""
    def internal_report(self) -> None:
        """Prints all arcs and lines that were covered, file by file."""
    def module_locations(self) -> list[str]:
        """Returns the files whose coverage is measured."""

    # Saving.
    def save_test(self, test: Iterable[Action], filename: _Path, afl: bool = False) -> None:
        """Saves a test: as text, one action per line, or as bytes."""
    def load_test(self, filename: _Path, afl: bool = False, swarm: bool = False) -> Test:
        """Loads a test. Raises `KeyError` for a line that the harness does not know."""
    def test_to_bytes(self, test: Iterable[Action]) -> bytes:
        """Encodes a test as bytes for a fuzzer: the index of each step in `actions()`."""
    def bytes_to_test(self, data: bytes, swarm: bool = False) -> Test:
        """Decodes bytes into a test. With `swarm`, the first four are the seed of a `standard_swarm`."""
    def serializable(self, step: Action) -> str:
        """Returns the line of a saved test for a step."""
    def playable(self, text: str) -> Action:
        """Returns the step for a line of a saved test. Raises `KeyError` if the harness does not know it."""
    def capture_replay(self, test: Iterable[Action]) -> str:
        """Encodes a whole test as one line of text."""
    def replayable(self, text: str) -> Test:
        """Decodes a text of `capture_replay` into a test."""

def main(argv: Sequence[str]) -> int:
    """Runs the command line with these arguments (without the program's name).

    Returns 0 if no failure was found, 1 if a failure was found, 2 if the command could not be run.
    """

def replay_models(
    models: list[str],
    stepper: str,
    steps: list[tuple[str, tuple[Any, ...]]],
    timeout: float,
    run: int,
    tries: int,
    check: bool,
) -> tuple[str, str] | None:
    """See `testwright.models.replay`."""
