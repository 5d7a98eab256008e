//! Small tools for scripts that rewrite tests themselves.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use testwright_core::{ActionId, Axis, SlotRole, Step, shrink, text_distance};

use super::Sut;
use crate::action::PyAction;

#[pymethods]
impl Sut {
    /// Returns, for the index of each step of a test, the names of the actions that could replace it: those that are
    /// enabled there, or all that are switched on.
    ///
    ///     >>> sut.get_enabled(test[:1], True)[0][-2:]
    ///     ['self.p_int[1] = 3 ', 'self.p_stack[0] = stack.Stack() ']
    fn get_enabled<'py>(
        slf: &Bound<'py, Sut>,
        test: &Bound<'py, PyAny>,
        check_enabled: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(slf.py());
        Sut::restart(slf)?;
        for (number, step) in test.try_iter()?.enumerate() {
            let ids = if check_enabled {
                Sut::enabled_ids(slf)?
            } else {
                Sut::borrow(slf)?.switched_on_actions().collect()
            };
            let name = |id: ActionId| Sut::action(slf, Step::Act(id), None)?.get().name(slf.py());
            let names: Vec<String> = ids.into_iter().map(name).collect::<PyResult<_>>()?;
            found.set_item(number, names)?;
            if check_enabled {
                Sut::take(slf, &step?)?;
            }
        }
        Ok(found)
    }

    /// Counts the steps of a test that fill a slot that was filled before.
    ///
    ///     >>> sut.num_reassigns(test), sut.num_reassigns(test + test)
    ///     (0, 3)
    fn num_reassigns(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>) -> PyResult<usize> {
        let test = Sut::core_test(slf, test)?;
        Ok(shrink::count_reassigns(
            &Sut::borrow(slf)?.catalog,
            &test.steps,
        ))
    }

    /// Counts the characters to insert, delete or replace to turn one text into another.
    ///
    ///     >>> sut.lev_dist("stack0.pop()", "stack0.top()")
    ///     1
    #[staticmethod]
    fn lev_dist(s1: &str, s2: &str) -> usize {
        text_distance(s1, s2)
    }

    /// The action named `new` if this one is named `old`, else itself.
    ///
    ///     >>> sut.action_replace(test[1], "int0 = 3", "int0 = 1")
    ///     <int0 = 1>
    ///     >>> sut.action_replace(test[2], "int0 = 3", "int0 = 1")
    ///     <stack0.push(int0)>
    fn action_replace<'py>(
        slf: &Bound<'py, Sut>,
        action: &Bound<'py, PyAny>,
        old: &str,
        new: &str,
    ) -> PyResult<Bound<'py, PyAction>> {
        let action = Sut::python_action(slf, action)?;
        let name = action.get().name(slf.py())?;
        let matches =
            name.trim_end() == old.trim_end() || action.get().display_text() == old.trim_end();
        if matches {
            Sut::action(slf, Sut::borrow(slf)?.playable_step(new)?, None)
        } else {
            Ok(action)
        }
    }

    /// Returns the action whose name is this one's with `old` replaced by `new`. Raises `KeyError` if there is none.
    ///
    ///     >>> sut.action_modify(test[2], "int[0]", "int[1]")
    ///     <stack0.push(int1)>
    fn action_modify<'py>(
        slf: &Bound<'py, Sut>,
        action: &Bound<'py, PyAny>,
        old: &str,
        new: &str,
    ) -> PyResult<Bound<'py, PyAction>> {
        let name = Sut::python_action(slf, action)?.get().name(slf.py())?;
        let step = Sut::borrow(slf)?.playable_step(&name.replace(old, new))?;
        Sut::action(slf, step, None)
    }

    /// All ways to take some of these, none and all included, small ones first.
    ///
    ///     >>> list(sut.powerset("abc"))
    ///     [(), ('a',), ('b',), ('c',), ('a', 'b'), ('a', 'c'), ('b', 'c'), ('a', 'b', 'c')]
    #[staticmethod]
    fn powerset<'py>(python: Python<'py>, xs: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let tools = python.import("itertools")?;
        let items = PyList::new(python, xs.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
        let combinations = tools.getattr("combinations")?;
        let sizes = (0..=items.len()).map(|size| combinations.call1((&items, size)));
        let sizes = PyList::new(python, sizes.collect::<PyResult<Vec<_>>>()?)?;
        tools
            .getattr("chain")?
            .call_method1("from_iterable", (sizes,))
    }

    /// Returns variants of a step with a fresh value: pairs of an action that fills one of its slots, and the step. The
    /// action needs no other slots.
    ///
    /// `previous` are the steps before it. `replacements` maps their indices to the names of actions that could replace
    /// them. Neither the last step nor the replacements of the last replaceable step count as fresh.
    ///
    ///     >>> for filling, step in sut.fresh_simple_variants(test[2], test[:2], {}):
    ///     ...     print(filling, "before", step)
    ///     int0 = 1 before stack0.push(int0)
    ///     int0 = 2 before stack0.push(int0)
    ///     stack0 = stack.Stack() before stack0.push(int0)
    fn fresh_simple_variants<'py>(
        slf: &Bound<'py, Sut>,
        name: &Bound<'py, PyAny>,
        previous: &Bound<'py, PyAny>,
        replacements: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<[Bound<'py, PyAction>; 2]>> {
        let Some(step) = Sut::named_action(slf, name)? else {
            return Ok(Vec::new());
        };
        let previous = Sut::core_test(slf, previous)?.steps;
        let mut stale: Vec<Step> = previous.last().copied().into_iter().collect();
        for index in (0..previous.len()).rev() {
            let names: Vec<String> = match replacements.get_item(index)? {
                Some(names) => names.extract()?,
                None => Vec::new(),
            };
            if !names.is_empty() {
                let steps = names
                    .iter()
                    .map(|name| Sut::borrow(slf)?.playable_step(name));
                stale.extend(steps.collect::<PyResult<Vec<_>>>()?);
                break;
            }
        }
        let catalog = Arc::clone(&Sut::borrow(slf)?.catalog);
        let used = catalog.slots(step).into_iter();
        let used: Vec<_> = used
            .filter(|(_, _, role)| *role != SlotRole::Definition)
            .collect();
        let out_of_nothing = |action: &ActionId| {
            let template = &catalog.templates()[catalog.template_of(*action).0];
            let slots = template.axes.iter();
            slots
                .filter(|axis| matches!(axis, Axis::Slot { .. }))
                .count()
                == 1
        };
        let fills = |action: &ActionId| match catalog.slots(*action).as_slice() {
            [(pool, slot, SlotRole::Definition)] => used
                .iter()
                .any(|(used, index, _)| (used, index) == (pool, slot)),
            _ => false,
        };
        let fresh = (0..catalog.len())
            .map(ActionId)
            .filter(|action| out_of_nothing(action) && fills(action))
            .filter(|action| !stale.contains(&Step::Act(*action)));
        let pair = |action| {
            Ok([
                Sut::action(slf, Step::Act(action), None)?,
                Sut::action(slf, Step::Act(step), None)?,
            ])
        };
        fresh.map(pair).collect()
    }

    /// For scripts that empty TSTL's memory of tests that it has normalized; here nothing is remembered in between.
    fn clear_normalization_cache(&self) {}
}
