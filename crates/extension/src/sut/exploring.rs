//! Exploration from the current state, up to a number of steps.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet};
use testwright_core::explore::{
    Backtracking, ExploreOptions, ExploreWatcher, ExploredExtent, Explorer, FailurePolicy,
    SearchOrder, StateId, StateTransition,
};
use testwright_core::{ActionId, Catalog, Error, Outcome, Random, Snapshot, Step, System};

use super::Sut;
use super::settings::{print, truthy};
use crate::borrowed_sut::CallerException;

#[pymethods]
impl Sut {
    /// Tries everything that can be done from the current state, up to `depth` steps, depth first; false if it was
    /// stopped. Afterwards the system is where it was, or where it was stopped.
    ///
    /// `stop_fail` stops at the first failure, `stop_cover` at the first test that touches something new. Tests that
    /// fail are appended to the list `gather_fail`, tests that touch something new to `gather_cover`. `visited`
    /// remembers states, so that each is visited once: a dictionary or set of their `repr`, or a list of them.
    /// `reverse` begins with the last action of the harness.
    ///
    ///     >>> failing = []
    ///     >>> sut.explore_from_here(2, stop_fail=False, gather_fail=failing)
    ///     True
    ///     >>> failing
    ///     [Test([<stack0 = stack.Stack()>, <stack0.top()>])]
    #[pyo3(signature = (depth, check_prop = true, stop_fail = true, stop_cover = false, gather_fail = None, gather_cover = None, verbose = false, reverse = false, visited = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "TSTL has them all, most are by name"
    )]
    fn explore_from_here<'py>(
        slf: &Bound<'py, Sut>,
        depth: usize,
        check_prop: bool,
        stop_fail: bool,
        stop_cover: bool,
        gather_fail: Option<Bound<'py, PyList>>,
        gather_cover: Option<Bound<'py, PyList>>,
        #[pyo3(from_py_with = truthy)] verbose: bool,
        reverse: bool,
        visited: Option<Bound<'py, PyAny>>,
    ) -> PyResult<bool> {
        let start = slf.call_method0("state")?;
        let mut here = CurrentStateSystem {
            sut: slf,
            catalog: Arc::clone(&Sut::borrow(slf)?.catalog),
            start: start.clone(),
            reverse,
            raised: CallerException::default(),
        };
        let mut watcher = ExploreCollector {
            failing: gather_fail,
            covering: gather_cover,
            visited: visited.map(VisitedRecord::new).transpose()?,
            verbose,
            is_known: false,
            is_start: true,
            measures: Sut::borrow(slf)?.measures(),
        };
        let plan = ExploreOptions {
            order: SearchOrder::DepthFirst,
            matching: None,
            depth: Some(depth),
            check: check_prop,
            failures: if stop_fail {
                FailurePolicy::First
            } else {
                FailurePolicy::All
            },
            max_tests: usize::from(stop_fail),
            // A state is a snapshot where its values can be copied, else the test that leads there.
            backtracking: Some(Backtracking::BySnapshot),
            stop_at_goal: stop_cover,
            ..ExploreOptions::default()
        };
        let found = Explorer::new(&mut here)
            .with_snapshots()
            .explore(&plan, &mut watcher);
        let raised = std::mem::take(&mut here.raised);
        if raised.0.is_some() {
            return Err(raised.into_py_error(&"stopped"));
        }
        let found = found.map_err(|error| super::to_py_error(&error))?;
        let complete = !matches!(found.extent, ExploredExtent::Partial { .. });
        if complete {
            slf.call_method1("backtrack", (start,))?;
        }
        Ok(complete)
    }
}

/// A system whose initial state is the current one, and that takes steps as a script does.
struct CurrentStateSystem<'a, 'py> {
    sut: &'a Bound<'py, Sut>,
    catalog: Arc<Catalog>,
    /// The state to return to in a reset.
    start: Bound<'py, PyAny>,
    /// Begin with the last action of the harness.
    reverse: bool,
    /// The exception that ended the work.
    raised: CallerException,
}

impl<'py> CurrentStateSystem<'_, 'py> {
    /// Keeps an exception, which ends the work.
    fn keep_error<T>(&mut self, result: PyResult<T>) -> Result<T, Error> {
        result.map_err(|error| self.raised.store_exception(error))
    }

    /// Converts the result of a step or check.
    fn outcome(&mut self, passed: PyResult<bool>) -> Outcome {
        let sut = self.sut;
        let outcome = passed.and_then(|passed| {
            let sut = Sut::borrow(sut)?;
            Ok(match &sut.failure {
                Some((failure, _)) if !passed => Outcome::Failed(Box::new(failure.clone())),
                _ => Outcome::Passed,
            })
        });
        self.keep_error(outcome).unwrap_or(Outcome::Interrupted)
    }
}

impl System for CurrentStateSystem<'_, '_> {
    fn actions(&self) -> &Catalog {
        &self.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        let start = self.start.clone();
        self.restore(&start.unbind())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        Sut::is_enabled(self.sut, action).unwrap_or(false)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        Sut::pick(self.sut, random).ok().flatten()
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let step = Sut::action(self.sut, Step::Act(action), None);
        let passed = step.and_then(|step| Sut::take(self.sut, step.as_any()));
        self.outcome(passed)
    }

    fn expected_exception(&mut self) -> String {
        Sut::with(self.sut, |system| system.expected_exception()).unwrap_or_default()
    }

    fn check(&mut self) -> Outcome {
        let passed = Sut::check(self.sut);
        self.outcome(passed)
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        let mut ids = Sut::enabled_ids(self.sut).unwrap_or_default();
        if self.reverse {
            ids.reverse();
        }
        ids
    }
}

impl Snapshot for CurrentStateSystem<'_, '_> {
    type State = Py<PyAny>;

    fn snapshot(&mut self) -> Result<Py<PyAny>, Error> {
        let state = self.sut.call_method0("state").map(Bound::unbind);
        self.keep_error(state)
    }

    fn restore(&mut self, state: &Py<PyAny>) -> Result<(), Error> {
        let restored = self.sut.call_method1("backtrack", (state,)).map(drop);
        self.keep_error(restored)
    }
}

/// The visited states, as the script keeps them.
enum VisitedRecord<'py> {
    /// A list of values, compared one by one.
    Listed(Bound<'py, PyList>),
    /// A dictionary or set with the `repr` of each state.
    Keyed(Bound<'py, PyAny>),
}

impl<'py> VisitedRecord<'py> {
    /// Checks the type of the script's container.
    fn new(visited: Bound<'py, PyAny>) -> PyResult<VisitedRecord<'py>> {
        let keyed = visited.is_instance_of::<PyDict>() || visited.is_instance_of::<PySet>();
        match visited.cast_into::<PyList>() {
            Ok(list) => Ok(VisitedRecord::Listed(list)),
            Err(other) if keyed => Ok(VisitedRecord::Keyed(other.into_inner())),
            Err(_) => Err(PyTypeError::new_err(
                "visited states are remembered in a dictionary, a set or a list: give an empty one",
            )),
        }
    }

    /// Returns true if a state was visited before; otherwise adds it.
    fn contains_or_add(&self, state: &Bound<'py, PyAny>) -> PyResult<bool> {
        let values: Vec<_> = state.try_iter()?.collect::<PyResult<_>>()?;
        // The last part is the test that led there.
        let (_, values) = values.split_last().unwrap_or((state, &[]));
        let values = PyList::new(state.py(), values)?;
        match self {
            VisitedRecord::Listed(list) => {
                let known = list.contains(&values)?;
                if !known {
                    list.append(values)?;
                }
                Ok(known)
            }
            VisitedRecord::Keyed(keys) => {
                let key = values.repr()?;
                let known = keys.contains(&key)?;
                match keys.cast::<PyDict>() {
                    _ if known => {}
                    Ok(dictionary) => dictionary.set_item(key, true)?,
                    Err(_) => keys.call_method1("add", (key,)).map(drop)?,
                }
                Ok(known)
            }
        }
    }
}

/// Watches an exploration, and collects tests.
struct ExploreCollector<'py> {
    failing: Option<Bound<'py, PyList>>,
    covering: Option<Bound<'py, PyList>>,
    visited: Option<VisitedRecord<'py>>,
    verbose: bool,
    measures: bool,
    /// True if the last state was visited before.
    is_known: bool,
    /// True if the last state is the one in which the exploration began.
    is_start: bool,
}

impl<'py> ExploreCollector<'py> {
    /// Collects the current test if it failed or touched something new.
    fn collect_test(&self, sut: &Bound<'py, Sut>, failed: bool) -> PyResult<()> {
        if self.verbose {
            let test = Sut::borrow(sut)?.test(sut.py())?;
            let last = test.len().checked_sub(1).map(|last| test.get_item(last));
            if let Some(last) = last.transpose()? {
                print(sut.py(), &format!("STEP {}: {}", test.len(), last.str()?))?;
            }
        }
        if let Some(failing) = self.failing.as_ref().filter(|_| failed) {
            failing.append(Sut::test_so_far(sut)?)?;
        }
        if let Some(covering) = &self.covering
            && self.measures
            && Sut::touched_anything_new(sut)?
        {
            covering.append(Sut::test_so_far(sut)?)?;
        }
        sut.py().check_signals()
    }
}

impl<'a, 'py> ExploreWatcher<CurrentStateSystem<'a, 'py>> for ExploreCollector<'py> {
    fn is_allowed(&mut self, system: &mut CurrentStateSystem<'a, 'py>, _action: ActionId) -> bool {
        !self.is_known && system.raised.0.is_none()
    }

    fn is_goal(&mut self, system: &mut CurrentStateSystem<'a, 'py>) -> bool {
        let new = if self.measures && !self.is_start {
            Sut::touched_anything_new(system.sut)
        } else {
            Ok(false)
        };
        system.keep_error(new).unwrap_or(true)
    }

    fn on_state(
        &mut self,
        system: &mut CurrentStateSystem<'a, 'py>,
        _state: StateId,
        depth: usize,
    ) {
        self.is_start = depth == 0;
        let Some(visited) = &self.visited else { return };
        let state = system.sut.call_method0("state");
        let known = state.and_then(|state| visited.contains_or_add(&state));
        self.is_known = system.keep_error(known).unwrap_or(true);
    }

    fn on_transition(
        &mut self,
        system: &mut CurrentStateSystem<'a, 'py>,
        transition: &StateTransition,
    ) {
        let collected = self.collect_test(system.sut, transition.to.is_none());
        // An exception is kept, and then no action is allowed any more.
        let _is_kept = system.keep_error(collected);
    }
}
