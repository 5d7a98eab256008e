//! Reduction of tests by any predicate.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::shrink::{
    AnyFailure, PredicateGoal, ReduceError, ReduceMethod, ReduceOptions, SeveralOptions,
    ShrinkGoal, Shrinker,
};
use testwright_core::{Step, Test};

use super::Sut;
use super::settings::{print, truthy};
use crate::borrowed_sut::{BorrowedSut, CallerException};

/// The warning for a test that does not satisfy its predicate.
const NOT_SATISFIED: &std::ffi::CStr = c"the test does not satisfy the predicate, so it stays as it is (for a property that is false, the predicate is `fails_check`)";

/// The settings of a reduction by a predicate.
#[derive(Default)]
pub(super) struct ReduceSettings<'py> {
    /// Keep the last step.
    pub(super) keep_last: bool,
    /// The last step, if it must stay as it is, with the slots that it names.
    pub(super) last: Option<Step>,
    /// Use classic delta debugging.
    pub(super) classic: bool,
    /// Print each success.
    pub(super) verbose: bool,
    /// The number of evaluations in which the predicate, a number, must become larger.
    pub(super) amplify: Option<u32>,
    /// The function that is called after each evaluation.
    pub(super) handler: Option<Bound<'py, PyAny>>,
    /// Stop at the first shorter test.
    pub(super) stop_at_first: bool,
    /// The first shorter test.
    pub(super) first_shorter: RefCell<Option<Test>>,
    /// The prefix of the files `PREFIX.k.test` for each success.
    pub(super) save_as: Option<PathBuf>,
}

impl ReduceSettings<'_> {
    /// Returns true if a predicate of our own can be evaluated without a call to Python.
    fn allows_native_goal(&self) -> bool {
        let quiet = self.handler.is_none() && self.save_as.is_none() && !self.verbose;
        quiet && self.amplify.is_none() && !self.stop_at_first && self.last.is_none()
    }
}

#[pymethods]
impl Sut {
    /// Returns a shorter test that still satisfies a predicate. No single step of it can be left out.
    ///
    /// A predicate is a function that returns true for tests to accept, such as `sut.fails`, `sut.fails_check` or
    /// `sut.covers_branches(...)`. With `keep_last` the last step stays. With `amplify` the predicate returns a number,
    /// and only tests count for which it is larger than before, in `amplify_replications` evaluations. `stop_found`
    /// ends with the first shorter test. `test_handler` is called after each evaluation, `find_locations` adds the
    /// position in the original test to each step, `save_intermediate` is the prefix of the names of files in
    /// which each success is saved.
    ///
    ///     >>> print(sut.reduce(test, sut.fails))
    ///     stack0 = stack.Stack()
    ///     stack0.top()
    ///     >>> print(sut.reduce(test, lambda test: "stack0.pop()" in str(test)))
    ///     stack0.pop()
    #[pyo3(signature = (test, pred, prune_guards = true, keep_last = false, verbose = false, rgen = None, amplify = false, amplify_replications = 1, stop_found = false, try_fast = true, test_handler = None, find_locations = false, no_reset_split = false, safe_reduce = false, save_intermediate = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn reduce<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        prune_guards: bool,
        keep_last: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        rgen: Option<&Bound<'py, PyAny>>,
        amplify: bool,
        amplify_replications: u32,
        stop_found: bool,
        try_fast: bool,
        test_handler: Option<Bound<'py, PyAny>>,
        find_locations: bool,
        no_reset_split: bool,
        safe_reduce: bool,
        save_intermediate: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyList>> {
        let _without_effect = (prune_guards, rgen, no_reset_split, safe_reduce);
        let test = Sut::core_test(slf, test)?;
        if test.len() < 2 {
            return Sut::python_test(slf, &test);
        }
        let settings = ReduceSettings {
            keep_last,
            last: test.steps.last().copied().filter(|_| keep_last),
            classic: !try_fast,
            verbose,
            amplify: amplify.then_some(amplify_replications.max(1)),
            handler: test_handler,
            stop_at_first: stop_found,
            first_shorter: RefCell::default(),
            save_as: save_intermediate,
        };
        let shrunk = Sut::shrink_if_good(slf, pred, &settings, |shrinker| shrinker.reduce(&test))?;
        let Some(mut shrunk) = shrunk else {
            return Sut::python_test(slf, &test);
        };
        if let Some(first) = settings.first_shorter.take() {
            return Sut::python_test(slf, &first);
        }
        if find_locations {
            let positions = shrunk.kept.iter().enumerate();
            shrunk.test.remarks = positions
                .map(|(now, then)| (now, then.to_string()))
                .collect();
        }
        Sut::python_test(slf, &shrunk.test)
    }

    /// Returns several different reductions of a test. `recursive` is the number of times to start again from the tests
    /// found so far; -1 continues until nothing new is found.
    ///
    ///     >>> for reduced in sut.reductions(test, lambda test: "stack0.p" in str(test)):
    ///     ...     print(reduced)
    ///     stack0.pop()
    ///     stack0.push(int0)
    #[pyo3(signature = (test, pred, prune_guards = true, try_fast = true, keep_last = false, verbose = false, recursive = 1, use_classes = true, limit = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn reductions<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        prune_guards: bool,
        try_fast: bool,
        keep_last: bool,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        recursive: i64,
        use_classes: bool,
        limit: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let _without_effect = prune_guards;
        let test = Sut::core_test(slf, test)?;
        let options = SeveralOptions {
            rounds: usize::try_from(recursive).unwrap_or(usize::MAX).max(1),
            max_combinations: limit.unwrap_or(SeveralOptions::default().max_combinations),
            remove_whole_templates: use_classes,
        };
        let settings = ReduceSettings {
            keep_last,
            last: test.steps.last().copied().filter(|_| keep_last),
            classic: !try_fast,
            verbose,
            ..ReduceSettings::default()
        };
        let found = Sut::shrink(slf, pred, &settings, |shrinker| {
            shrinker.reduce_several(&test, &options)
        })?;
        let tests = found
            .iter()
            .map(|shrunk| Sut::python_test(slf, &shrunk.test));
        tests.collect()
    }

    /// Finds the steps of a reduced test that the original test needs, and those that other steps can replace.
    ///
    /// Returns pairs of removable steps and the rest of the original, and sets of steps that cannot be removed.
    ///
    ///     >>> reduced = sut.reduce(test, sut.fails)
    ///     >>> dispensable, essential = sut.reduce_essentials(reduced, test, sut.fails)
    ///     >>> essential
    ///     [Test([<stack0 = stack.Stack()>, <stack0.top()>]), Test([<stack0 = stack.Stack()>]), Test([<stack0.top()>])]
    #[pyo3(signature = (test, original, pred, prune_guards = true, keep_last = false, try_fast = true, limit = 500))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn reduce_essentials<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        original: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        prune_guards: bool,
        keep_last: bool,
        try_fast: bool,
        limit: usize,
    ) -> PyResult<(Vec<RemovableSteps<'py>>, Vec<Bound<'py, PyList>>)> {
        let _without_effect = prune_guards;
        let original = Sut::core_test(slf, original)?;
        let reduced = Sut::core_test(slf, test)?;
        let settings = ReduceSettings {
            keep_last,
            classic: !try_fast,
            ..ReduceSettings::default()
        };
        let (kept, found) = Sut::shrink(slf, pred, &settings, |shrinker| {
            // A reduction renames slots, so only it knows which steps of the original it has kept.
            let mut shrunk = shrinker.reduce(&original)?;
            if shrunk.test != reduced {
                shrunk.kept = positions_in(&original, &reduced);
            }
            let found = shrinker.essentials(&original, &shrunk, limit)?;
            Ok((shrunk.kept, found))
        })?;
        let steps = |positions: &[usize]| {
            let steps = positions
                .iter()
                .map(|position| original.steps[kept[*position]]);
            Sut::python_test(slf, &Test::from_steps(steps.collect()))
        };
        let dispensable = found.dispensable.iter();
        let dispensable = dispensable
            .map(|(positions, rest)| Ok((steps(positions)?, Sut::python_test(slf, &rest.test)?)));
        let essential = found.essential.iter().map(|positions| steps(positions));
        Ok((
            dispensable.collect::<PyResult<_>>()?,
            essential.collect::<PyResult<_>>()?,
        ))
    }

    /// The tests that delta debugging tries next: a test cut into `n` parts of equal length, without each of them in turn.
    ///
    ///     >>> for candidate in sut.test_candidates(test, 2):
    ///     ...     print([step.text for step in candidate])
    ///     ['int1 = 2', 'stack0.pop()', 'stack0.top()']
    ///     ['stack0 = stack.Stack()', 'int0 = 3', 'stack0.push(int0)']
    fn test_candidates<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        n: usize,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let test = Sut::core_test(slf, test)?;
        let mut parts = n.min(test.len());
        if n == 0 || test.is_empty() {
            return Err(PyValueError::new_err(
                "a test can be cut into 1 part or more, and must have a step",
            ));
        }
        let size = test.len() / parts;
        if size == 1 {
            parts = test.len();
        }
        let without = |part: usize| {
            let steps = [&test.steps[..part * size], &test.steps[(part + 1) * size..]].concat();
            Sut::python_test(slf, &Test::from_steps(steps))
        };
        (0..parts).map(without).collect()
    }
}

/// Steps of the original that can go, and the rest of the test.
type RemovableSteps<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

impl Sut {
    /// Shrinks with a predicate as the goal. A test that does not satisfy it causes only a warning:
    /// a search that found a hundred failures should not end because one cannot be repeated.
    pub(super) fn shrink_if_good<'py, R>(
        slf: &Bound<'py, Sut>,
        pred: &Bound<'py, PyAny>,
        settings: &ReduceSettings<'py>,
        work: impl FnOnce(&mut Shrinker<'_, BorrowedSut<'_, 'py>>) -> Result<R, ReduceError>,
    ) -> PyResult<Option<R>> {
        let mut not_good = false;
        let work = |shrinker: &mut Shrinker<'_, BorrowedSut<'_, 'py>>| match work(shrinker) {
            Err(ReduceError::NotReproduced(_)) => {
                not_good = true;
                Ok(None)
            }
            result => result.map(Some),
        };
        let result = Sut::shrink(slf, pred, settings, work)?;
        if not_good {
            let python = slf.py();
            let kind = python.get_type::<PyRuntimeWarning>();
            PyErr::warn(python, &kind, NOT_SATISFIED, 1)?;
        }
        Ok(result)
    }

    /// Shrinks with a predicate as the goal.
    pub(super) fn shrink<'py, R>(
        slf: &Bound<'py, Sut>,
        pred: &Bound<'py, PyAny>,
        settings: &ReduceSettings<'py>,
        work: impl FnOnce(&mut Shrinker<'_, BorrowedSut<'_, 'py>>) -> Result<R, ReduceError>,
    ) -> PyResult<R> {
        let raised = RefCell::new(CallerException::default());
        let native = native_goal(slf, pred).filter(|_| settings.allows_native_goal());
        let options = ReduceOptions {
            method: if settings.classic {
                ReduceMethod::Ddmin
            } else {
                ReduceMethod::Greedy
            },
            keep_last: settings.keep_last,
            check: native.unwrap_or(true),
        };
        let calls = PredicateCalls {
            slf,
            pred,
            settings,
            best: RefCell::new(None),
            successes: Cell::new(0),
        };
        let mut holds = PredicateGoal(|_: &mut BorrowedSut<'_, 'py>, test: &Test| {
            let answer = calls.evaluate(test);
            answer.map_err(|error| raised.borrow_mut().store_exception(error))
        });
        let mut fails = AnyFailure;
        let goal: &mut dyn ShrinkGoal<BorrowedSut<'_, 'py>> = match native {
            Some(_) => &mut fails,
            None => &mut holds,
        };
        let mut proceed = || match slf.py().check_signals() {
            // The first success is the test as it was.
            Ok(()) => !(settings.stop_at_first && calls.successes.get() > 1),
            Err(error) => {
                let _ends_the_work = raised.borrow_mut().store_exception(error);
                false
            }
        };
        let mut borrowed = BorrowedSut::new(slf)?;
        let result = work(&mut Shrinker::new(
            &mut borrowed,
            goal,
            &options,
            &mut proceed,
        ));
        let raised = raised.take();
        match result {
            _ if raised.0.is_some() => Err(raised.into_py_error(&"interrupted")),
            Ok(result) => Ok(result),
            Err(ReduceError::NotReproduced(_)) => Err(PyValueError::new_err(
                NOT_SATISFIED.to_string_lossy().into_owned(),
            )),
            Err(error) => Err(raised.into_py_error(&error)),
        }
    }
}

/// A predicate, and the results of its calls so far.
struct PredicateCalls<'a, 'py> {
    slf: &'a Bound<'py, Sut>,
    pred: &'a Bound<'py, PyAny>,
    settings: &'a ReduceSettings<'py>,
    /// The largest number so far.
    best: RefCell<Option<Bound<'py, PyAny>>>,
    /// The number of tests that satisfied the predicate.
    successes: Cell<usize>,
}

impl PredicateCalls<'_, '_> {
    /// Evaluates the predicate and records a success.
    fn evaluate(&self, test: &Test) -> PyResult<bool> {
        let good = self.satisfies_predicate(test)?;
        if good {
            let number = self.successes.get();
            self.successes.set(number + 1);
            // The first is the test as it was.
            if let Some(number) = number.checked_sub(1) {
                self.record_success(test, number)?;
            }
        }
        Ok(good)
    }

    /// Returns true if a test satisfies the predicate.
    fn satisfies_predicate(&self, test: &Test) -> PyResult<bool> {
        if self.settings.last.is_some() && test.steps.last() != self.settings.last.as_ref() {
            return Ok(false);
        }
        let test = Sut::python_test(self.slf, test)?;
        let evaluate = || {
            let answer = self.pred.call1((&test,))?;
            if let Some(handler) = &self.settings.handler {
                handler.call0()?;
            }
            Ok::<_, PyErr>(answer)
        };
        let mut answer = evaluate()?;
        let Some(replications) = self.settings.amplify else {
            return answer.is_truthy();
        };
        if let Some(best) = &*self.best.borrow() {
            for repetition in 0..replications {
                if repetition > 0 {
                    answer = evaluate()?;
                }
                if !answer.gt(best)? {
                    return Ok(false);
                }
            }
        }
        if self.settings.verbose {
            print(self.slf.py(), &format!("best value: {}", answer.str()?))?;
        }
        *self.best.borrow_mut() = Some(answer);
        Ok(true)
    }

    /// Prints and saves a shorter test, as requested.
    fn record_success(&self, test: &Test, number: usize) -> PyResult<()> {
        if self.settings.stop_at_first {
            self.settings
                .first_shorter
                .borrow_mut()
                .get_or_insert_with(|| test.clone());
        }
        if self.settings.verbose {
            let words = format!("reduced to {} steps", test.len());
            print(self.slf.py(), &words)?;
        }
        if let Some(prefix) = &self.settings.save_as {
            let mut name = prefix.clone().into_os_string();
            name.push(format!(".{number}.test"));
            Sut::write_test(self.slf, test, &PathBuf::from(name))?;
        }
        Ok(())
    }
}

/// Recognizes a predicate of our own that looks for a failure. Returns true if it checks
/// properties. Such a goal is evaluated without a call to Python.
fn native_goal(slf: &Bound<'_, Sut>, pred: &Bound<'_, PyAny>) -> Option<bool> {
    let owner = pred.getattr("__self__").ok()?;
    let name: String = pred.getattr("__name__").ok()?.extract().ok()?;
    match name.as_str() {
        _ if !owner.is(slf) => None,
        "fails" => Some(false),
        "fails_check" | "fails_any" => Some(true),
        _ => None,
    }
}

/// Returns the positions of a reduced test's steps in the original.
fn positions_in(original: &Test, reduced: &Test) -> Vec<usize> {
    let mut from = 0;
    let positions = reduced.steps.iter().filter_map(|step| {
        let found = original.steps[from..]
            .iter()
            .position(|other| other == step)?;
        from += found + 1;
        Some(from - 1)
    });
    positions.collect()
}
