//! Tests with other slots, other steps, or parts of other tests.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::generate::{crossover, two_point_crossover};
use testwright_core::{ActionId, PoolId, Step, Test, shrink};

use super::Sut;
use super::choosing::random_stream;
use super::settings::{print, truthy};

#[pymethods]
impl Sut {
    /// Returns the test with its slots numbered in order of their first use.
    ///
    ///     >>> swapped = sut.swap_pools(test[:3], "int0", "int1")
    ///     >>> print(swapped)
    ///     stack0 = stack.Stack()
    ///     int1 = 3
    ///     stack0.push(int1)
    ///     >>> sut.alpha_convert(swapped) == test[:3]
    ///     True
    #[pyo3(signature = (test, verbose = false))]
    fn alpha_convert<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = truthy)] verbose: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let test = Sut::core_test(slf, test)?;
        let converted = shrink::alpha_convert(&Sut::borrow(slf)?.catalog, &test);
        if verbose && converted != test {
            print(
                slf.py(),
                "the slots are numbered in order of their first use",
            )?;
        }
        Sut::python_test(slf, &converted)
    }

    /// A test in which two slots, named as people read them, have changed places from some step on.
    ///
    ///     >>> print(sut.swap_pools(test[:3], "int0", "int1"))
    ///     stack0 = stack.Stack()
    ///     int1 = 3
    ///     stack0.push(int1)
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
            let sut = Sut::borrow(slf)?;
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

    /// Returns a test in which a random action was inserted, or replaces another.
    ///
    ///     >>> longer = sut.mutate(test, rgen, p_insert=1)
    ///     >>> len(longer)
    ///     7
    ///     >>> [step for step in longer if step not in test]
    ///     [<stack0.remove(int0)>]
    #[pyo3(signature = (test, rgen = None, p_insert = 0.2))]
    fn mutate<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        rgen: Option<&Bound<'py, PyAny>>,
        p_insert: f64,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut random = random_stream(slf.py(), rgen)?;
        let mut test = Sut::core_test(slf, test)?;
        let on: Vec<ActionId> = Sut::borrow(slf)?.switched_on_actions().collect();
        let (Some(action), false) = (random.choose(&on), test.is_empty()) else {
            return Sut::python_test(slf, &test);
        };
        let index = random.below(test.len() as u64) as usize;
        if random.chance(p_insert) {
            test.steps.insert(index, Step::Act(*action));
        } else {
            test.steps[index] = Step::Act(*action);
        }
        test.remarks.clear();
        Sut::python_test(slf, &test)
    }

    /// The beginning of one test and the end of another; with two points, then the end of the first.
    ///
    ///     >>> print(sut.crossover(test[:3], test[3:], random.Random(6)))
    ///     stack0 = stack.Stack()
    ///     int0 = 3
    ///     stack0.top()
    #[pyo3(signature = (t1, t2, rgen = None, two_point = false))]
    fn crossover<'py>(
        slf: &Bound<'py, Sut>,
        t1: &Bound<'py, PyAny>,
        t2: &Bound<'py, PyAny>,
        rgen: Option<&Bound<'py, PyAny>>,
        two_point: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut random = random_stream(slf.py(), rgen)?;
        let (mut one, mut other) = (
            Sut::core_test(slf, t1)?.steps,
            Sut::core_test(slf, t2)?.steps,
        );
        if random.below(2) == 1 {
            std::mem::swap(&mut one, &mut other);
        }
        let steps = if two_point {
            two_point_crossover(&one, &other, &mut random)
        } else {
            crossover(&one, &other, &mut random)
        };
        Sut::python_test(slf, &Test::from_steps(steps))
    }
}

impl Sut {
    /// Returns the slot with this display name.
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
