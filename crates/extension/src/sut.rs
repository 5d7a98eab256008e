//! A harness that runs in a Python process, for scripts and notebooks:
//! `testwright.load("avl.tstl")`.
//!
//! Every method borrows the system only while it works itself, never while it calls a function of
//! the caller: a predicate replays tests on the same object, and a generator queries it for new
//! coverage.

mod backtracking;
mod choosing;
mod code_length;
mod covering;
mod determinism;
mod exploring;
mod inspecting;
mod loading;
mod measuring;
mod parts;
mod reducing;
mod replaying;
mod rewriting;
mod saving;
mod settings;
mod swarming;
mod transforming;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyAssertionError, PyKeyError, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyType};
use testwright_core::generate::swarm::Configuration;
use testwright_core::{
    ActionClasses, ActionId, Catalog, Error, Failure, Outcome, Step, System, TemplateSet, Test,
    saved,
};
use testwright_python::{
    CheckMode, DetachedSystem, MeasuredCode, Options, OutputMode, ProcessOwner, PythonSystem,
    ReferenceExceptions,
};

use crate::action::PyAction;
use loading::{load, parse_choice};
use measuring::Measurement;
use settings::StepPrinting;

/// A loaded harness.
#[pyclass(name = "Sut", module = "testwright", subclass, weakref)]
pub(crate) struct Sut {
    /// The system, kept between calls from Python.
    system: DetachedSystem,
    /// The actions of the harness.
    pub(crate) catalog: Arc<Catalog>,
    /// The lines of the harness.
    classes: Arc<ActionClasses>,
    /// The path of the harness.
    path: PathBuf,
    /// The steps since the last restart. A restart creates a new list, so that callers keep the old
    /// one.
    test: Option<Py<PyList>>,
    /// The last failure, with its exception.
    failure: Option<(Failure, PyErr)>,
    /// The exception of the last action that the harness takes as a warning.
    last_warning: Option<Py<PyAny>>,
    /// The coverage, if it is measured.
    measurement: Option<Measurement>,
    /// The templates that are switched on, if some are off.
    enabled_templates: Option<TemplateSet>,
    /// Single actions of these templates that are switched off.
    disabled_actions: BTreeSet<ActionId>,
    /// The classes that the last swarm included.
    swarm: Option<Configuration>,
    /// The settings of `verbose`.
    printing: StepPrinting,
    /// True if `safely` refuses actions that are not enabled.
    refuses_disabled: bool,
    /// The condition under which exceptions of system and reference agree.
    reference_exceptions: String,
    /// The properties that are checked after a step.
    checks: String,
    /// True if a restart runs the imported modules again.
    resets_modules: bool,
    /// The scenarios that say which lines may come next.
    scenarios: Vec<String>,
    /// True if backtracking replays the test instead of restoring a snapshot.
    replays_to_backtrack: bool,
}

#[pymethods]
impl Sut {
    /// Loads a harness. Modules are looked for in its folder first.
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "these are the arguments of the Python function"
    )]
    #[pyo3(signature = (path, *, coverage = true, reset_modules = true, reference_exceptions = "both", checks = "all", scenarios = Vec::new(), replay = false))]
    fn new(
        python: Python<'_>,
        path: PathBuf,
        coverage: bool,
        reset_modules: bool,
        reference_exceptions: &str,
        checks: &str,
        scenarios: Vec<String>,
        replay: bool,
    ) -> PyResult<Sut> {
        let options = Options {
            process: ProcessOwner::Caller,
            output: OutputMode::Show,
            reference_exceptions: parse_choice(
                "reference_exceptions",
                reference_exceptions,
                &[
                    ("both", ReferenceExceptions::BothRaise),
                    ("type", ReferenceExceptions::SameType),
                    ("message", ReferenceExceptions::SameTypeAndMessage),
                ],
            )?,
            reset_modules,
            log_level: None,
            measured: MeasuredCode::modules_if(coverage),
            checks: parse_choice(
                "checks",
                checks,
                &[("all", CheckMode::All), ("changed", CheckMode::Changed)],
            )?,
            scenarios: scenarios.clone(),
            stepper: None,
        };
        let system = load(python, &path, &options)?;
        let catalog = Arc::new(system.actions().clone());
        let measurement = system.coverage().map(Measurement::new);
        let mut sut = Sut {
            classes: Arc::new(ActionClasses::new(&catalog)),
            catalog,
            path: system.file().to_path_buf(),
            system: DetachedSystem::new(system),
            test: Some(new_test(python, Vec::new())?),
            failure: None,
            last_warning: None,
            measurement,
            enabled_templates: None,
            disabled_actions: BTreeSet::new(),
            swarm: None,
            printing: StepPrinting::default(),
            refuses_disabled: false,
            reference_exceptions: reference_exceptions.to_owned(),
            checks: checks.to_owned(),
            resets_modules: reset_modules,
            scenarios,
            replays_to_backtrack: replay,
        };
        sut.reset_system(python)?;
        Ok(sut)
    }

    /// Back to the initial state; a new test begins.
    ///
    ///     >>> sut.replay(test[:3])
    ///     True
    ///     >>> sut.restart()
    ///     >>> sut.test()
    ///     Test([])
    pub(crate) fn restart(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::borrow_mut(slf)?.reset_system(slf.py())
    }

    /// The steps taken since the last restart.
    ///
    ///     >>> sut.safely(test[0])
    ///     True
    ///     >>> sut.test()
    ///     Test([<stack0 = stack.Stack()>])
    pub(crate) fn test<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.test {
            Some(test) => Ok(test.bind(python).clone()),
            None => Ok(new_test(python, Vec::new())?.into_bound(python)),
        }
    }

    /// Takes an action, enabled or not. Returns true if nothing unexpected was raised.
    ///
    ///     >>> sut.safely(sut.playable("stack0 = stack.Stack()"))
    ///     True
    ///     >>> sut.safely(sut.playable("stack0.top()"))
    ///     False
    ///     >>> sut.failure_text
    ///     'IndexError: list index out of range'
    fn safely(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<bool> {
        if Sut::borrow(slf)?.refuses_disabled && !Sut::is_step_enabled(slf, action)? {
            let text = Sut::python_action(slf, action)?.get().display_text();
            let words = format!("WARNING: `{text}` is not enabled and was not taken");
            settings::print(slf.py(), &words)?;
            return Ok(false);
        }
        Sut::take(slf, action)
    }

    /// Returns true if all properties hold.
    ///
    ///     >>> sut.safely(test[0])
    ///     True
    ///     >>> sut.p_stack[0].items = [1, 2, 3, 4]
    ///     >>> sut.check()
    ///     False
    ///     >>> sut.failure_text
    ///     '`len(stack0) < 4` is false'
    pub(crate) fn check(slf: &Bound<'_, Sut>) -> PyResult<bool> {
        let mut sut = Sut::borrow_mut(slf)?;
        let outcome = sut.system.with(slf.py(), |system| system.check());
        sut.record_coverage(slf.py(), true);
        sut.record_outcome(slf.py(), outcome)
    }

    /// The last failure as `sys.exc_info()` has it, or `None`.
    ///
    ///     >>> sut.fails(test)
    ///     True
    ///     >>> kind, error, traceback = sut.failure()
    ///     >>> error
    ///     IndexError('list index out of range')
    fn failure<'py>(
        &self,
        python: Python<'py>,
    ) -> Option<(Bound<'py, PyType>, Py<PyAny>, Py<PyAny>)> {
        let (_, error) = self.failure.as_ref()?;
        let traceback = error.traceback(python);
        let traceback = traceback.map_or_else(|| python.None(), |it| it.into_any().unbind());
        let value = error.value(python).clone().into_any().unbind();
        Some((error.get_type(python), value, traceback))
    }

    /// The last failure, in words.
    ///
    ///     >>> sut.fails(test)
    ///     True
    ///     >>> sut.failure_text
    ///     'IndexError: list index out of range'
    #[getter]
    fn failure_text(&self) -> Option<String> {
        let (failure, _) = self.failure.as_ref()?;
        Some(failure.message.clone())
    }

    /// The exception that the last action raised: an expected one, or its failure.
    ///
    ///     >>> sut.all_enabled(test[:1] + [sut.playable("stack0.pop()")])
    ///     True
    ///     >>> sut.raised()
    ///     IndexError('pop from empty list')
    fn raised<'py>(&mut self, python: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let expected = self.system.with(python, |system| system.last_expected());
        let failed = || {
            let (_, error) = self.failure.as_ref()?;
            Some(error.value(python).clone().into_any())
        };
        expected.or_else(failed)
    }

    /// The exception that the reference raised in the last action.
    ///
    ///     >>> sut.all_enabled(test[:1] + [sut.playable("stack0.pop()")])
    ///     True
    ///     >>> sut.ref_raised()
    ///     IndexError('pop from empty list')
    fn ref_raised<'py>(&mut self, python: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.system
            .with(python, |system| system.last_raised_by_reference())
    }

    /// The exception that the last action raised and the harness takes as a warning.
    ///
    ///     >>> sut.all_enabled(test[:2] + [sut.playable("stack0.remove(int0)")])
    ///     True
    ///     >>> type(sut.warning())
    ///     <class 'ValueError'>
    fn warning(&self, python: Python<'_>) -> Option<Py<PyAny>> {
        self.last_warning
            .as_ref()
            .map(|warned| warned.clone_ref(python))
    }

    /// Remarks something about the last step.
    ///
    ///     >>> sut.safely(test[0])
    ///     True
    ///     >>> sut.annotate("nothing in it")
    ///     >>> sut.test()
    ///     Test([<stack0 = stack.Stack() ;;; nothing in it>])
    fn annotate(slf: &Bound<'_, Sut>, text: String) -> PyResult<()> {
        let test = Sut::borrow(slf)?.test(slf.py())?;
        let Some(last) = test.len().checked_sub(1) else {
            return Ok(());
        };
        let step = PyAction::step_for(&test.get_item(last)?, slf)?;
        test.set_item(last, Sut::action(slf, step, Some(text))?)
    }

    fn __getattr__<'py>(
        slf: &Bound<'py, Sut>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let text: String = name.extract()?;
        inspecting::pool_attribute(slf, &text)
    }

    fn __repr__(&self) -> String {
        format!("<Sut {}>", self.path.display())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.test)
    }

    fn __clear__(&mut self) {
        self.test = None;
    }
}

impl Sut {
    /// Borrows the object. Fails while the system is in a step: then the code under test, or
    /// another thread, uses the object that runs it.
    pub(crate) fn borrow<'a>(slf: &'a Bound<'_, Sut>) -> PyResult<PyRef<'a, Sut>> {
        slf.try_borrow().map_err(|_| busy_error())
    }

    /// Borrows the object mutably. Fails while the system is in a step.
    pub(crate) fn borrow_mut<'a>(slf: &'a Bound<'_, Sut>) -> PyResult<PyRefMut<'a, Sut>> {
        slf.try_borrow_mut().map_err(|_| busy_error())
    }

    /// Calls `work` with the system itself.
    pub(crate) fn with<'py, R>(
        slf: &Bound<'py, Sut>,
        work: impl FnOnce(&mut PythonSystem<'py>) -> R,
    ) -> PyResult<R> {
        Ok(Sut::borrow_mut(slf)?.system.with(slf.py(), work))
    }

    /// Returns true if an action is enabled.
    pub(crate) fn is_enabled(slf: &Bound<'_, Sut>, action: ActionId) -> PyResult<bool> {
        Sut::with(slf, |system| system.is_enabled(action))
    }

    /// Creates an action object.
    pub(crate) fn action<'py>(
        slf: &Bound<'py, Sut>,
        step: Step,
        note: Option<String>,
    ) -> PyResult<Bound<'py, PyAction>> {
        let action = PyAction {
            sut: slf.clone().unbind(),
            catalog: Arc::clone(&Sut::borrow(slf)?.catalog),
            step,
            note,
        };
        Bound::new(slf.py(), action)
    }

    /// Takes an action or a restart. Returns false after a failure, which is kept.
    pub(crate) fn take(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<bool> {
        let step = PyAction::step_for(action, slf)?;
        let Step::Act(id) = step else {
            Sut::restart(slf)?;
            return Ok(true);
        };
        let action = Sut::python_action(slf, action)?;
        let is_printing = Sut::borrow(slf)?.printing.on;
        let before = if is_printing {
            Some(Sut::print_step(slf, id)?)
        } else {
            None
        };
        let passed = {
            let mut sut = Sut::borrow_mut(slf)?;
            if let Some(test) = &sut.test {
                test.bind(slf.py()).append(action)?;
            }
            let (outcome, warned) = sut.system.with(slf.py(), |system| {
                let outcome = system.step(id);
                (outcome, system.take_warned_exception())
            });
            sut.last_warning = warned.map(Bound::unbind);
            sut.record_coverage(slf.py(), false);
            sut.record_outcome(slf.py(), outcome)?
        };
        if let Some(before) = before {
            Sut::print_result(slf, id, &before, passed)?;
        }
        Ok(passed)
    }

    /// Converts a step to an action of this object.
    pub(crate) fn python_action<'py>(
        slf: &Bound<'py, Sut>,
        step: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAction>> {
        if let Ok(action) = step.cast::<PyAction>()
            && action.get().sut.as_ptr() == slf.as_ptr()
        {
            return Ok(action.clone());
        }
        let note = PyAction::step_note(step)?;
        Sut::action(slf, PyAction::step_for(step, slf)?, note)
    }

    /// Returns true if an outcome is good; otherwise keeps it as the failure.
    fn record_outcome(&mut self, python: Python<'_>, outcome: Outcome) -> PyResult<bool> {
        match outcome {
            Outcome::Passed | Outcome::Expected => Ok(true),
            Outcome::Interrupted => Err(PyKeyboardInterrupt::new_err(())),
            Outcome::Failed(failure) => {
                let error = self
                    .system
                    .with(python, |system| system.last_error(&failure.message));
                let error =
                    error.unwrap_or_else(|| PyAssertionError::new_err(failure.message.clone()));
                self.failure = Some((*failure, error));
                Ok(false)
            }
        }
    }

    /// Resets the system and begins a new test.
    fn reset_system(&mut self, python: Python<'_>) -> PyResult<()> {
        let reset = self.system.with(python, |system| system.reset());
        reset.map_err(|error| to_py_error(&error))?;
        self.test = Some(new_test(python, Vec::new())?);
        self.failure = None;
        self.last_warning = None;
        self.restart_measurement(python)
    }

    /// Returns the last failure as an exception to raise.
    pub(crate) fn error(&self, python: Python<'_>) -> PyErr {
        match &self.failure {
            Some((_, error)) => error.clone_ref(python),
            None => PyAssertionError::new_err("the action failed"),
        }
    }

    /// Parses a line of a saved test.
    pub(crate) fn playable_step(&self, text: &str) -> PyResult<Step> {
        let unknown = || PyKeyError::new_err(text.trim().to_owned());
        let read = saved::read(&self.catalog, text).map_err(|_| unknown())?;
        match read.lines.first().map(|line| &line.step) {
            Some(saved::SavedStep::Restart) => Ok(Step::Restart),
            Some(saved::SavedStep::Act { candidates }) => candidates
                .last()
                .copied()
                .map(Step::Act)
                .ok_or_else(unknown),
            None => Err(unknown()),
        }
    }

    /// Converts any iterable of actions to a test of the core.
    pub(crate) fn core_test(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>) -> PyResult<Test> {
        let mut steps = Vec::new();
        let mut remarks = Vec::new();
        for action in test.try_iter()? {
            let action = action?;
            if let Some(note) = PyAction::step_note(&action)? {
                remarks.push((steps.len(), note));
            }
            steps.push(PyAction::step_for(&action, slf)?);
        }
        Ok(Test { steps, remarks })
    }

    /// Converts a test of the core to a list of actions.
    pub(crate) fn python_test<'py>(
        slf: &Bound<'py, Sut>,
        test: &Test,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut actions = Vec::new();
        for (index, step) in test.steps.iter().enumerate() {
            let mut remarks = test.remarks.iter().filter(|(at, _)| *at == index);
            let note = remarks.next().map(|(_, remark)| remark.clone());
            actions.push(Sut::action(slf, *step, note)?.into_any());
        }
        Ok(new_test(slf.py(), actions)?.into_bound(slf.py()))
    }

    /// Records the targets that were new in the last step, or in the check after it.
    fn record_coverage(&mut self, python: Python<'_>, in_check: bool) {
        let Some(measurement) = &mut self.measurement else {
            return;
        };
        self.system.with(python, |system| {
            if let Some(collector) = system.coverage() {
                measurement.record(collector, in_check);
            }
        });
    }

    /// Begins the measurement of a new test.
    fn restart_measurement(&mut self, python: Python<'_>) -> PyResult<()> {
        let Some(measurement) = &mut self.measurement else {
            return Ok(());
        };
        let begun = self.system.with(python, |system| {
            let collector = system.coverage();
            collector.map_or(Ok(()), |collector| measurement.start_test(collector))
        });
        begun.map_err(|error| to_py_error(&error))
    }
}

/// Returns the error for a system that is in the middle of a step.
fn busy_error() -> PyErr {
    PyRuntimeError::new_err(
        "the system is in the middle of a step, so this object cannot be used; wait until the step has ended",
    )
}

/// Creates a list of steps.
fn new_test(python: Python<'_>, actions: Vec<Bound<'_, PyAny>>) -> PyResult<Py<PyList>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(python, || {
        let module = python.import("testwright.test")?;
        Ok::<_, PyErr>(module.getattr("Test")?.unbind())
    })?;
    let list = class.bind(python).call1((actions,))?;
    Ok(list.cast_into::<PyList>()?.unbind())
}

/// Converts an error of the core to an exception.
pub(crate) fn to_py_error(error: &Error) -> PyErr {
    PyRuntimeError::new_err(match &error.help {
        Some(help) => format!("{error} ({help})"),
        None => error.to_string(),
    })
}
