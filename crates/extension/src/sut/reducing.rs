//! Tests made shorter by any predicate.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::shrink::{
    AnyFailure, Goal, Holds, Method, ReduceError, ReduceOptions, SeveralOptions, Shrinker,
};
use testwright_core::{Step, Test};

use super::Sut;
use super::settings::{print, truth};
use crate::lent::{Lent, Raised};

const NOT_GOOD: &std::ffi::CStr = c"the test does not satisfy the predicate, so it stays as it is (for a property that is false, the predicate is `fails_check`)";

/// How a predicate is asked, and what happens then.
#[derive(Default)]
pub(super) struct Asking<'py> {
    pub(super) keep_last: bool,
    /// The last step, if it is to stay as it is: with the slots that it names.
    pub(super) last: Option<Step>,
    /// Classic delta debugging.
    pub(super) classic: bool,
    pub(super) verbose: bool,
    /// The predicate is a number that has to become larger, in so many evaluations.
    pub(super) amplify: Option<u32>,
    /// Called after each evaluation.
    pub(super) handler: Option<Bound<'py, PyAny>>,
    pub(super) stop_found: bool,
    /// The first shorter test, if that ends it.
    pub(super) first: RefCell<Option<Test>>,
    /// Each success is saved as `PREFIX.k.test`.
    pub(super) save_as: Option<PathBuf>,
}

impl Asking<'_> {
    /// Whether a predicate of ours can be asked without a detour through Python.
    fn is_plain(&self) -> bool {
        let quiet = self.handler.is_none() && self.save_as.is_none() && !self.verbose;
        quiet && self.amplify.is_none() && !self.stop_found && self.last.is_none()
    }
}

#[pymethods]
impl Sut {
    /// The shortest test that still satisfies a predicate, in which no single step can be left out.
    ///
    /// A predicate is a function from a test to whether it is good, such as `sut.fails`, `sut.fails_check` or
    /// `sut.covers_branches(...)`. With `keep_last` the last step stays. With `amplify` the predicate returns a number,
    /// and only tests count for which it is larger than before, in `amplify_replications` evaluations. `stop_found`
    /// ends with the first shorter test. `test_handler` is called after each evaluation, `find_locations` notes for
    /// each step where it was in the original test, `save_intermediate` is the beginning of the names of files in
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
        #[pyo3(from_py_with = truth)] verbose: bool,
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
        let _make_no_difference = (prune_guards, rgen, no_reset_split, safe_reduce);
        let test = Sut::core_test(slf, test)?;
        if test.len() < 2 {
            return Sut::python_test(slf, &test);
        }
        let asking = Asking {
            keep_last,
            last: test.steps.last().copied().filter(|_| keep_last),
            classic: !try_fast,
            verbose,
            amplify: amplify.then_some(amplify_replications.max(1)),
            handler: test_handler,
            stop_found,
            first: RefCell::default(),
            save_as: save_intermediate,
        };
        let shrunk = Sut::shrink_if_good(slf, pred, &asking, |shrinker| shrinker.reduce(&test))?;
        let Some(mut shrunk) = shrunk else {
            return Sut::python_test(slf, &test);
        };
        if let Some(first) = asking.first.take() {
            return Sut::python_test(slf, &first);
        }
        if find_locations {
            let places = shrunk.kept.iter().enumerate();
            shrunk.test.remarks = places.map(|(now, then)| (now, then.to_string())).collect();
        }
        Sut::python_test(slf, &shrunk.test)
    }

    /// Several different reductions of a test. `recursive` says how often to begin anew with what was found, -1 as often
    /// as there is something new.
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
        #[pyo3(from_py_with = truth)] verbose: bool,
        recursive: i64,
        use_classes: bool,
        limit: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let _makes_no_difference = prune_guards;
        let test = Sut::core_test(slf, test)?;
        let options = SeveralOptions {
            rounds: usize::try_from(recursive).unwrap_or(usize::MAX).max(1),
            limit: limit.unwrap_or(SeveralOptions::default().limit),
            templates: use_classes,
        };
        let asking = Asking {
            keep_last,
            last: test.steps.last().copied().filter(|_| keep_last),
            classic: !try_fast,
            verbose,
            ..Asking::default()
        };
        let found = Sut::shrink(slf, pred, &asking, |shrinker| {
            shrinker.reduce_several(&test, &options)
        })?;
        let tests = found
            .iter()
            .map(|shrunk| Sut::python_test(slf, &shrunk.test));
        tests.collect()
    }

    /// Which steps of a reduced test the original one needs, and which can be made up for by others.
    ///
    /// Returns pairs of steps of the original that can go and what is left then, and sets of steps that cannot.
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
    ) -> PyResult<(Vec<Dispensable<'py>>, Vec<Bound<'py, PyList>>)> {
        let _makes_no_difference = prune_guards;
        let original = Sut::core_test(slf, original)?;
        let reduced = Sut::core_test(slf, test)?;
        let asking = Asking {
            keep_last,
            classic: !try_fast,
            ..Asking::default()
        };
        let (kept, found) = Sut::shrink(slf, pred, &asking, |shrinker| {
            // A reduction renames slots, so only it knows which steps of the original it has kept.
            let mut shrunk = shrinker.reduce(&original)?;
            if shrunk.test != reduced {
                shrunk.kept = places_in(&original, &reduced);
            }
            let found = shrinker.essentials(&original, &shrunk, limit)?;
            Ok((shrunk.kept, found))
        })?;
        let steps = |places: &[usize]| {
            let steps = places.iter().map(|place| original.steps[kept[*place]]);
            Sut::python_test(slf, &Test::of_steps(steps.collect()))
        };
        let dispensable = found.dispensable.iter();
        let dispensable = dispensable
            .map(|(places, rest)| Ok((steps(places)?, Sut::python_test(slf, &rest.test)?)));
        let essential = found.essential.iter().map(|places| steps(places));
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
            Sut::python_test(slf, &Test::of_steps(steps))
        };
        (0..parts).map(without).collect()
    }
}

type Dispensable<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

impl Sut {
    /// Lets a shrinker work with a predicate as its goal. A test that does not satisfy it gets a warning and no more:
    /// a search that found a hundred failures should not end with the one that cannot be repeated.
    pub(super) fn shrink_if_good<'py, R>(
        slf: &Bound<'py, Sut>,
        pred: &Bound<'py, PyAny>,
        asking: &Asking<'py>,
        work: impl FnOnce(&mut Shrinker<'_, Lent<'_, 'py>>) -> Result<R, ReduceError>,
    ) -> PyResult<Option<R>> {
        let mut not_good = false;
        let work = |shrinker: &mut Shrinker<'_, Lent<'_, 'py>>| match work(shrinker) {
            Err(ReduceError::NotReproduced(_)) => {
                not_good = true;
                Ok(None)
            }
            result => result.map(Some),
        };
        let result = Sut::shrink(slf, pred, asking, work)?;
        if not_good {
            let python = slf.py();
            let kind = python.get_type::<PyRuntimeWarning>();
            PyErr::warn(python, &kind, NOT_GOOD, 1)?;
        }
        Ok(result)
    }

    /// Lets a shrinker work with a predicate as its goal.
    pub(super) fn shrink<'py, R>(
        slf: &Bound<'py, Sut>,
        pred: &Bound<'py, PyAny>,
        asking: &Asking<'py>,
        work: impl FnOnce(&mut Shrinker<'_, Lent<'_, 'py>>) -> Result<R, ReduceError>,
    ) -> PyResult<R> {
        let raised = RefCell::new(Raised::default());
        let known = known_goal(slf, pred).filter(|_| asking.is_plain());
        let options = ReduceOptions {
            method: if asking.classic {
                Method::Ddmin
            } else {
                Method::Greedy
            },
            keep_last: asking.keep_last,
            check: known.unwrap_or(true),
        };
        let questions = Questions {
            slf,
            pred,
            asking,
            best: RefCell::new(None),
            successes: Cell::new(0),
        };
        let mut holds = Holds(|_: &mut Lent<'_, 'py>, test: &Test| {
            let answer = questions.ask(test);
            answer.map_err(|error| raised.borrow_mut().keep(error))
        });
        let mut fails = AnyFailure;
        let goal: &mut dyn Goal<Lent<'_, 'py>> = match known {
            Some(_) => &mut fails,
            None => &mut holds,
        };
        let mut proceed = || match slf.py().check_signals() {
            // The first success is the test as it was.
            Ok(()) => !(asking.stop_found && questions.successes.get() > 1),
            Err(error) => {
                let _it_ends_the_work = raised.borrow_mut().keep(error);
                false
            }
        };
        let mut lent = Lent::new(slf)?;
        let result = work(&mut Shrinker::new(&mut lent, goal, &options, &mut proceed));
        let raised = raised.take();
        match result {
            _ if raised.0.is_some() => Err(raised.or(&"interrupted")),
            Ok(result) => Ok(result),
            Err(ReduceError::NotReproduced(_)) => Err(PyValueError::new_err(
                NOT_GOOD.to_string_lossy().into_owned(),
            )),
            Err(error) => Err(raised.or(&error)),
        }
    }
}

/// A predicate, and how it was answered so far.
struct Questions<'a, 'py> {
    slf: &'a Bound<'py, Sut>,
    pred: &'a Bound<'py, PyAny>,
    asking: &'a Asking<'py>,
    /// The largest number so far.
    best: RefCell<Option<Bound<'py, PyAny>>>,
    successes: Cell<usize>,
}

impl Questions<'_, '_> {
    fn ask(&self, test: &Test) -> PyResult<bool> {
        let good = self.is_good(test)?;
        if good {
            let number = self.successes.get();
            self.successes.set(number + 1);
            // The first is the test as it was.
            if let Some(number) = number.checked_sub(1) {
                self.succeeded(test, number)?;
            }
        }
        Ok(good)
    }

    fn is_good(&self, test: &Test) -> PyResult<bool> {
        if self.asking.last.is_some() && test.steps.last() != self.asking.last.as_ref() {
            return Ok(false);
        }
        let test = Sut::python_test(self.slf, test)?;
        let evaluate = || {
            let answer = self.pred.call1((&test,))?;
            if let Some(handler) = &self.asking.handler {
                handler.call0()?;
            }
            Ok::<_, PyErr>(answer)
        };
        let mut answer = evaluate()?;
        let Some(replications) = self.asking.amplify else {
            return answer.is_truthy();
        };
        if let Some(best) = &*self.best.borrow() {
            for again in 0..replications {
                if again > 0 {
                    answer = evaluate()?;
                }
                if !answer.gt(best)? {
                    return Ok(false);
                }
            }
        }
        if self.asking.verbose {
            print(self.slf.py(), &format!("best value: {}", answer.str()?))?;
        }
        *self.best.borrow_mut() = Some(answer);
        Ok(true)
    }

    fn succeeded(&self, test: &Test, number: usize) -> PyResult<()> {
        if self.asking.stop_found {
            self.asking
                .first
                .borrow_mut()
                .get_or_insert_with(|| test.clone());
        }
        if self.asking.verbose {
            let words = format!("reduced to {} steps", test.len());
            print(self.slf.py(), &words)?;
        }
        if let Some(prefix) = &self.asking.save_as {
            let mut name = prefix.clone().into_os_string();
            name.push(format!(".{number}.test"));
            Sut::write_test(self.slf, test, &PathBuf::from(name))?;
        }
        Ok(())
    }
}

/// Whether a predicate is one of our own that asks for a failure, and then whether it checks properties: such a goal is
/// asked without a detour through Python.
fn known_goal(slf: &Bound<'_, Sut>, pred: &Bound<'_, PyAny>) -> Option<bool> {
    let owner = pred.getattr("__self__").ok()?;
    let name: String = pred.getattr("__name__").ok()?.extract().ok()?;
    match name.as_str() {
        _ if !owner.is(slf) => None,
        "fails" => Some(false),
        "fails_check" | "fails_any" => Some(true),
        _ => None,
    }
}

/// Where the steps of a reduced test stand in the original one.
fn places_in(original: &Test, reduced: &Test) -> Vec<usize> {
    let mut from = 0;
    let places = reduced.steps.iter().filter_map(|step| {
        let found = original.steps[from..]
            .iter()
            .position(|other| other == step)?;
        from += found + 1;
        Some(from - 1)
    });
    places.collect()
}
