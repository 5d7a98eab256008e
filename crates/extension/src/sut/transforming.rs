//! Tests made simpler, and told what else they could be.

use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::shrink::{
    self, AnyFailure, GeneralizeOptions, Goal, Holds, Method, NormalizeOptions, ReduceError,
    ReduceOptions, SeveralOptions, Shrinker, Speed,
};
use testwright_core::{ActionId, PoolId, Step, Test};

use super::Sut;
use super::choosing::stream;
use crate::lent::{Lent, Raised};

#[pymethods]
impl Sut {
    /// The shortest test that still satisfies a predicate, in which no single step can be left out.
    ///
    /// A predicate is a function from a test to whether it is good, such as `sut.fails`, `sut.fails_check` or
    /// `sut.covers_branches(...)`. With `keep_last` the last step stays.
    #[pyo3(signature = (test, pred, keep_last = false, try_fast = true, **_others))]
    fn reduce<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        keep_last: bool,
        try_fast: bool,
        _others: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let test = Sut::core_test(slf, test)?;
        let options = (keep_last, try_fast);
        let shrunk = Sut::shrink(slf, pred, options, |shrinker| shrinker.reduce(&test))?;
        Sut::python_test(slf, &shrunk.test)
    }

    /// Rewrites a test into a simple one that others would come to as well, and that still satisfies a predicate.
    #[pyo3(signature = (test, pred, keep_last = false, speed = "FAST", no_reassigns = false, try_fast = true, **_others))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn normalize<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        keep_last: bool,
        speed: &str,
        no_reassigns: bool,
        try_fast: bool,
        _others: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let test = Sut::core_test(slf, test)?;
        let options = NormalizeOptions {
            speed: speed_of(speed),
            no_reassigns,
        };
        let how = (keep_last, try_fast);
        let shrunk = Sut::shrink(slf, pred, how, |shrinker| {
            shrinker.normalize(&test, &options)
        })?;
        Sut::python_test(slf, &shrunk.test)
    }

    /// Prints a test with comments that say what else could stand there, and returns that text.
    #[pyo3(signature = (test, pred, keep_last = false, silent = false, fresh = true, speed = "FAST", **_others))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn generalize(
        slf: &Bound<'_, Sut>,
        test: &Bound<'_, PyAny>,
        pred: &Bound<'_, PyAny>,
        keep_last: bool,
        silent: bool,
        fresh: bool,
        speed: &str,
        _others: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let test = Sut::core_test(slf, test)?;
        let options = GeneralizeOptions {
            speed: speed_of(speed),
            fresh,
        };
        let found = Sut::shrink(slf, pred, (keep_last, true), |shrinker| {
            shrinker.generalize(&test, &options)
        })?;
        let catalog = std::sync::Arc::clone(&Sut::look_at(slf)?.catalog);
        let text = found.show(&|step| match step {
            Step::Act(action) => catalog.text(action),
            Step::Restart => String::from("<<RESTART>>"),
        });
        if !silent {
            let print = slf.py().import("builtins")?.getattr("print")?;
            print.call1((text.trim_end(),))?;
        }
        Ok(text)
    }

    /// Several different reductions of a test.
    #[pyo3(signature = (test, pred, keep_last = false, recursive = 1, use_classes = true, limit = None, **_others))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn reductions<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        keep_last: bool,
        recursive: usize,
        use_classes: bool,
        limit: Option<usize>,
        _others: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let test = Sut::core_test(slf, test)?;
        let options = SeveralOptions {
            rounds: recursive.max(1),
            limit: limit.unwrap_or(SeveralOptions::default().limit),
            templates: use_classes,
        };
        let found = Sut::shrink(slf, pred, (keep_last, true), |shrinker| {
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
    #[pyo3(signature = (test, original, pred, keep_last = false, limit = 500, **_others))]
    fn reduce_essentials<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        original: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        keep_last: bool,
        limit: usize,
        _others: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Dispensable<'py>>, Vec<Bound<'py, PyList>>)> {
        let original = Sut::core_test(slf, original)?;
        let reduced = Sut::core_test(slf, test)?;
        let (kept, found) = Sut::shrink(slf, pred, (keep_last, true), |shrinker| {
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

    /// The same test with its slots numbered in order of their first use.
    #[pyo3(signature = (test, **_others))]
    fn alpha_convert<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        _others: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let test = Sut::core_test(slf, test)?;
        let converted = shrink::alpha_convert(&Sut::look_at(slf)?.catalog, &test);
        Sut::python_test(slf, &converted)
    }

    /// A test in which two slots, named as people read them, have changed places from some step on.
    #[pyo3(signature = (test, one, other, after = 0))]
    fn swap_pools<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        one: &str,
        other: &str,
        after: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut test = Sut::core_test(slf, test)?;
        {
            let sut = Sut::look_at(slf)?;
            let ((pool, first), second) = (sut.slot(one)?, sut.slot(other)?);
            if second.0 != pool {
                let message = format!("`{one}` and `{other}` are slots of different pools");
                return Err(PyValueError::new_err(message));
            }
            for step in test.steps.iter_mut().skip(after) {
                if let Step::Act(action) = step {
                    *action = sut.catalog.rename(*action, |named, index| match index {
                        index if named != pool => index,
                        index if index == first => second.1,
                        index if index == second.1 => first,
                        index => index,
                    });
                }
            }
        }
        Sut::python_test(slf, &test)
    }

    /// A test in which, somewhere, any action was inserted or put in place of another.
    #[pyo3(signature = (test, rgen = None, p_insert = 0.2))]
    fn mutate<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        rgen: Option<&Bound<'py, PyAny>>,
        p_insert: f64,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut random = stream(slf.py(), rgen)?;
        let mut test = Sut::core_test(slf, test)?;
        let count = Sut::look_at(slf)?.catalog.len();
        if count == 0 || test.is_empty() {
            return Sut::python_test(slf, &test);
        }
        let place = random.below(test.len() as u64) as usize;
        let action = Step::Act(ActionId(random.below(count)));
        if random.below(1 << 32) as f64 / 2f64.powi(32) < p_insert {
            test.steps.insert(place, action);
        } else {
            test.steps[place] = action;
        }
        test.remarks.clear();
        Sut::python_test(slf, &test)
    }

    /// The beginning of one test and the end of another; with two points, then the end of the first.
    #[pyo3(signature = (t1, t2, rgen = None, two_point = false))]
    fn crossover<'py>(
        slf: &Bound<'py, Sut>,
        t1: &Bound<'py, PyAny>,
        t2: &Bound<'py, PyAny>,
        rgen: Option<&Bound<'py, PyAny>>,
        two_point: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut random = stream(slf.py(), rgen)?;
        let (mut one, mut other) = (
            Sut::core_test(slf, t1)?.steps,
            Sut::core_test(slf, t2)?.steps,
        );
        if random.below(2) == 1 {
            std::mem::swap(&mut one, &mut other);
        }
        let mut cut = |steps: &[Step], from: usize| {
            from + random.below((steps.len() - from) as u64 + 1) as usize
        };
        let (first, second) = (cut(&one, 0), cut(&other, 0));
        let mut steps = one[..first].to_vec();
        if two_point {
            let (until, back) = (cut(&other, second), cut(&one, first));
            steps.extend(&other[second..until]);
            steps.extend(&one[back..]);
        } else {
            steps.extend(&other[second..]);
        }
        Sut::python_test(slf, &Test::of_steps(steps))
    }
}

type Dispensable<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

impl Sut {
    /// Lets a shrinker work with a predicate as its goal.
    fn shrink<'py, R>(
        slf: &Bound<'py, Sut>,
        pred: &Bound<'py, PyAny>,
        (keep_last, try_fast): (bool, bool),
        work: impl FnOnce(&mut Shrinker<'_, Lent<'_, 'py>>) -> Result<R, ReduceError>,
    ) -> PyResult<R> {
        let raised = RefCell::new(Raised::default());
        let known = known_goal(slf, pred);
        let options = ReduceOptions {
            method: match try_fast {
                true => Method::Greedy,
                false => Method::Ddmin,
            },
            keep_last,
            check: known.unwrap_or(true),
        };
        let mut holds = Holds(|_: &mut Lent<'_, 'py>, test: &Test| {
            let answer =
                Sut::python_test(slf, test).and_then(|test| pred.call1((test,))?.is_truthy());
            answer.map_err(|error| raised.borrow_mut().keep(error))
        });
        let mut fails = AnyFailure;
        let goal: &mut dyn Goal<Lent<'_, 'py>> = match known {
            Some(_) => &mut fails,
            None => &mut holds,
        };
        let mut proceed = || match slf.py().check_signals() {
            Ok(()) => true,
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
                "the test does not satisfy the predicate, so there is nothing to keep",
            )),
            Err(error) => Err(raised.or(&error)),
        }
    }

    /// The slot that people call by this name.
    fn slot(&self, name: &str) -> PyResult<(PoolId, u32)> {
        for (number, pool) in self.catalog.pools().iter().enumerate() {
            let found = (0..pool.size).find(|slot| pool.slot_name(*slot) == name);
            if let Some(slot) = found {
                return Ok((PoolId(number), slot));
            }
        }
        Err(PyValueError::new_err(format!("there is no slot `{name}`")))
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
        "fails_check" => Some(true),
        _ => None,
    }
}

fn speed_of(word: &str) -> Speed {
    match word {
        "SLOW" | "THOROUGH" | "thorough" => Speed::Thorough,
        _ => Speed::Fast,
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
