//! States: read, kept and restored.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::inspecting::flags;
use super::{Sut, to_py_error};
use crate::state::{PyState, by_index};

#[pymethods]
impl Sut {
    /// The values of all slots as they are: pairs of a pool and a dictionary.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sut.shallow_state()
    ///     [('self.p_int', {0: 3, 1: None}), ('self.p_stack', {0: Stack([3])}), ('self.p_stack_REF', {0: [3]})]
    fn shallow_state<'py>(slf: &Bound<'py, Sut>) -> PyResult<Vec<(String, Bound<'py, PyDict>)>> {
        let pools = Sut::with(slf, |system| system.pools())?;
        let pair = |pool: testwright_python::PoolValues<'py>| {
            let values = by_index(slf.py(), pool.values.iter())?;
            Ok((format!("self.p_{}", pool.name), values))
        };
        pools.into_iter().map(pair).collect()
    }

    /// The state as it is now, to go back to with `backtrack`.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> ints, stacks, *rest = sut.state()
    ///     >>> ints, stacks
    ///     ({0: 3, 1: None}, {0: Stack([3])})
    fn state(slf: &Bound<'_, Sut>) -> PyResult<PyState> {
        let test = Sut::borrow(slf)?.test(slf.py())?;
        let core = Sut::core_test(slf, test.as_any())?;
        let replays = Sut::borrow(slf)?.replays_to_backtrack;
        let copy = Sut::with(slf, |system| {
            if replays {
                None
            } else {
                system.copy_state().ok()
            }
        })?;
        let pools = Sut::with(slf, |system| system.pools())?;
        let listed = PyList::empty(slf.py());
        let names: Vec<String> = pools.iter().map(|pool| pool.name.clone()).collect();
        let values = match &copy {
            Some(copy) => copy.pools(slf.py(), &pools),
            None => pools.iter().map(|pool| pool.values.clone()).collect(),
        };
        for values in values {
            listed.append(by_index(slf.py(), values.iter())?)?;
        }
        for pool in &pools {
            listed.append(flags(slf.py(), &pool.used)?)?;
        }
        listed.append(test.as_any().call_method0("copy")?)?;
        Ok(PyState {
            snapshot: copy,
            test: core,
            tstl_list: listed.unbind(),
            pools: names,
        })
    }

    /// Backtracks to a state: restores a copy of its values, or runs its test where values cannot be copied.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> here = sut.state()
    ///     >>> sut.safely(sut.playable("stack0.pop()"))
    ///     True
    ///     >>> sut.backtrack(here)
    ///     >>> sut.p_stack[0]
    ///     Stack([3])
    fn backtrack(slf: &Bound<'_, Sut>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(state) = state.cast::<PyState>() else {
            return Err(PyTypeError::new_err(
                "only what `state()` returns can be gone back to",
            ));
        };
        let state = state.get();
        let restored = Sut::with(slf, |system| match &state.snapshot {
            Some(copy) => system.restore_copy(copy).map(|()| true),
            None => Ok(false),
        })?;
        let test = Sut::python_test(slf, &state.test)?;
        if restored.map_err(|error| to_py_error(&error))? {
            let mut sut = Sut::borrow_mut(slf)?;
            sut.test = Some(test.unbind());
            sut.failure = None;
            return Ok(());
        }
        Sut::restart(slf)?;
        for action in test.iter() {
            Sut::take(slf, &action)?;
        }
        Ok(())
    }

    /// Returns a state in which each value is the result of its pool's `ABSTRACT` function.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> ints, stacks, *rest = sut.abstract(sut.state())
    ///     >>> ints, stacks
    ///     ({0: 3, 1: None}, {0: 1})
    #[pyo3(name = "abstract")]
    fn abstract_state<'py>(
        slf: &Bound<'py, Sut>,
        state: &Bound<'py, PyState>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let state = state.get();
        let listed = state.tstl_list.bind(slf.py());
        let mut parts = Vec::new();
        for (number, pool) in state.pools.iter().enumerate() {
            let values = listed.get_item(number)?.cast_into::<PyDict>()?;
            let function = Sut::abstraction(slf, pool)?;
            let abstracted = PyDict::new(slf.py());
            for (index, value) in values.iter() {
                let value = match &function {
                    Some(function) if !value.is_none() => function.call1((value,))?,
                    _ => value,
                };
                abstracted.set_item(index, value)?;
            }
            parts.push(abstracted.into_any());
        }
        for number in state.pools.len()..2 * state.pools.len() {
            parts.push(listed.get_item(number)?);
        }
        PyTuple::new(slf.py(), parts)
    }

    /// Sets whether `backtrack` runs the test that led to a state instead of restoring a copy.
    ///
    ///     >>> sut.set_replay_backtrack(True)
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> here = sut.state()
    ///     >>> sut.restart()
    ///     >>> sut.backtrack(here)
    ///     >>> sut.p_stack[0]
    ///     Stack([3])
    fn set_replay_backtrack(&mut self, replay: bool) {
        self.replays_to_backtrack = replay;
    }
}
