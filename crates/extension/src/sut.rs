//! A harness that lives in a Python process, for scripts and notebooks: `testwright.load("avl.tstl")`.
//!
//! Every method holds the system only while it works itself, never while it calls a function that it was given: a
//! predicate replays tests on the same object, a generator asks it what is new.

mod choosing;
mod code_length;
mod covering;
mod determinism;
mod exploring;
mod going_back;
mod judging;
mod loading;
mod looking;
mod measuring;
mod parts;
mod reducing;
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
    ActionId, Catalog, Classes, Error, Failure, Outcome, Step, System, TemplateSet, Test, saved,
};
use testwright_python::{
    ChecksWhen, KeptSystem, Measured, Options, Output, Process, PythonSystem, ReferenceExceptions,
};

use crate::action::Action;
use loading::{load, one_of};
use measuring::Measurement;
use settings::Talk;

/// A living harness.
#[pyclass(name = "Sut", module = "testwright", subclass, weakref)]
pub(crate) struct Sut {
    system: KeptSystem,
    pub(crate) catalog: Arc<Catalog>,
    classes: Arc<Classes>,
    path: PathBuf,
    /// The steps since the last restart. A new list after each, so that whoever has an old one keeps it.
    test: Option<Py<PyList>>,
    failure: Option<(Failure, PyErr)>,
    warned: Option<Py<PyAny>>,
    measurement: Option<Measurement>,
    /// The templates that are on, if some are off.
    chosen: Option<TemplateSet>,
    /// Single actions of these that are off.
    off: BTreeSet<ActionId>,
    /// What the last swarm has left in.
    swarm: Option<Configuration>,
    talk: Talk,
    /// Only enabled actions are taken.
    asks_first: bool,
    /// The word for when exceptions of system and reference agree.
    reference_exceptions: String,
    /// Going back to a state means running the test that led there.
    replays: bool,
}

#[pymethods]
impl Sut {
    /// Brings a harness to life. Modules are looked for in its folder first.
    #[new]
    #[pyo3(signature = (path, *, coverage = true, reset_modules = true, reference_exceptions = "both", checks = "all", replay = false))]
    fn new(
        python: Python<'_>,
        path: PathBuf,
        coverage: bool,
        reset_modules: bool,
        reference_exceptions: &str,
        checks: &str,
        replay: bool,
    ) -> PyResult<Sut> {
        let options = Options {
            process: Process::OfTheCaller,
            output: Output::Show,
            reference_exceptions: one_of(
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
            measured: Measured::modules_if(coverage),
            checks: one_of(
                "checks",
                checks,
                &[("all", ChecksWhen::All), ("changed", ChecksWhen::Changed)],
            )?,
            scenarios: Vec::new(),
            stepper: None,
        };
        let system = load(python, &path, &options)?;
        let catalog = Arc::new(system.actions().clone());
        let measurement = system.coverage().map(Measurement::new);
        let mut sut = Sut {
            classes: Arc::new(Classes::new(&catalog)),
            catalog,
            path: system.file().to_path_buf(),
            system: KeptSystem::new(system),
            test: Some(new_test(python, Vec::new())?),
            failure: None,
            warned: None,
            measurement,
            chosen: None,
            off: BTreeSet::new(),
            swarm: None,
            talk: Talk::default(),
            asks_first: false,
            reference_exceptions: reference_exceptions.to_owned(),
            replays: replay,
        };
        sut.start_anew(python)?;
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
        Sut::take_hold(slf)?.start_anew(slf.py())
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

    /// Takes an action, enabled or not; whether nothing unexpected was raised.
    ///
    ///     >>> sut.safely(sut.playable("stack0 = stack.Stack()"))
    ///     True
    ///     >>> sut.safely(sut.playable("stack0.top()"))
    ///     False
    ///     >>> sut.failure_text
    ///     'IndexError: list index out of range'
    fn safely(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<bool> {
        if Sut::look_at(slf)?.asks_first && !Sut::is_step_enabled(slf, action)? {
            let text = Sut::own_action(slf, action)?.get().shown();
            let words = format!("WARNING: `{text}` is not enabled and was not taken");
            settings::print(slf.py(), &words)?;
            return Ok(false);
        }
        Sut::take(slf, action)
    }

    /// Whether all properties hold.
    ///
    ///     >>> sut.safely(test[0])
    ///     True
    ///     >>> sut.p_stack[0].items = [1, 2, 3, 4]
    ///     >>> sut.check()
    ///     False
    ///     >>> sut.failure_text
    ///     '`len(stack0) < 4` is false'
    pub(crate) fn check(slf: &Bound<'_, Sut>) -> PyResult<bool> {
        let mut sut = Sut::take_hold(slf)?;
        let outcome = sut.system.with(slf.py(), |system| system.check());
        sut.note_coverage(slf.py(), true);
        sut.judge(slf.py(), outcome)
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

    /// What the last failure is, in words.
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
        self.warned.as_ref().map(|warned| warned.clone_ref(python))
    }

    /// Remarks something about the last step.
    ///
    ///     >>> sut.safely(test[0])
    ///     True
    ///     >>> sut.annotate("nothing in it")
    ///     >>> sut.test()
    ///     Test([<stack0 = stack.Stack() ;;; nothing in it>])
    fn annotate(slf: &Bound<'_, Sut>, text: String) -> PyResult<()> {
        let test = Sut::look_at(slf)?.test(slf.py())?;
        let Some(last) = test.len().checked_sub(1) else {
            return Ok(());
        };
        let step = Action::step_for(&test.get_item(last)?, slf)?;
        test.set_item(last, Sut::action(slf, step, Some(text))?)
    }

    fn __getattr__<'py>(
        slf: &Bound<'py, Sut>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let text: String = name.extract()?;
        looking::pool_attribute(slf, &text)
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
    /// Looks at the object, unless the system is at work: it is if the code under test, or another thread while that
    /// waits, uses the object that runs it.
    pub(crate) fn look_at<'a>(slf: &'a Bound<'_, Sut>) -> PyResult<PyRef<'a, Sut>> {
        slf.try_borrow().map_err(|_| at_work())
    }

    /// Takes hold of the object, under the same condition.
    pub(crate) fn take_hold<'a>(slf: &'a Bound<'_, Sut>) -> PyResult<PyRefMut<'a, Sut>> {
        slf.try_borrow_mut().map_err(|_| at_work())
    }

    /// Uses the system itself.
    pub(crate) fn with<'py, R>(
        slf: &Bound<'py, Sut>,
        work: impl FnOnce(&mut PythonSystem<'py>) -> R,
    ) -> PyResult<R> {
        Ok(Sut::take_hold(slf)?.system.with(slf.py(), work))
    }

    pub(crate) fn is_enabled(slf: &Bound<'_, Sut>, action: ActionId) -> PyResult<bool> {
        Sut::with(slf, |system| system.is_enabled(action))
    }

    /// An action as an object.
    pub(crate) fn action<'py>(
        slf: &Bound<'py, Sut>,
        step: Step,
        note: Option<String>,
    ) -> PyResult<Bound<'py, Action>> {
        let action = Action {
            sut: slf.clone().unbind(),
            catalog: Arc::clone(&Sut::look_at(slf)?.catalog),
            step,
            note,
        };
        Bound::new(slf.py(), action)
    }

    /// Takes an action or a restart; false if that was a failure, which is kept.
    pub(crate) fn take(slf: &Bound<'_, Sut>, action: &Bound<'_, PyAny>) -> PyResult<bool> {
        let step = Action::step_for(action, slf)?;
        let Step::Act(id) = step else {
            Sut::restart(slf)?;
            return Ok(true);
        };
        let action = Sut::own_action(slf, action)?;
        let talks = Sut::look_at(slf)?.talk.on;
        let before = if talks {
            Some(Sut::announce(slf, id)?)
        } else {
            None
        };
        let passed = {
            let mut sut = Sut::take_hold(slf)?;
            if let Some(test) = &sut.test {
                test.bind(slf.py()).append(action)?;
            }
            let (outcome, warned) = sut.system.with(slf.py(), |system| {
                let outcome = system.step(id);
                (outcome, system.take_warned())
            });
            sut.warned = warned.map(Bound::unbind);
            sut.note_coverage(slf.py(), false);
            sut.judge(slf.py(), outcome)?
        };
        if let Some(before) = before {
            Sut::tell(slf, id, &before, passed)?;
        }
        Ok(passed)
    }

    /// A step as an action of this object: itself, or what it stands for.
    pub(crate) fn own_action<'py>(
        slf: &Bound<'py, Sut>,
        step: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Action>> {
        if let Ok(action) = step.cast::<Action>()
            && action.get().sut.as_ptr() == slf.as_ptr()
        {
            return Ok(action.clone());
        }
        let note = Action::note_of(step)?;
        Sut::action(slf, Action::step_for(step, slf)?, note)
    }

    /// Whether an outcome is good; if it is not, it is kept as the failure.
    fn judge(&mut self, python: Python<'_>, outcome: Outcome) -> PyResult<bool> {
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

    fn start_anew(&mut self, python: Python<'_>) -> PyResult<()> {
        let reset = self.system.with(python, |system| system.reset());
        reset.map_err(|error| trouble(&error))?;
        self.test = Some(new_test(python, Vec::new())?);
        self.failure = None;
        self.warned = None;
        self.begin_measuring_anew(python)
    }

    /// The last failure as an exception to raise.
    pub(crate) fn error(&self, python: Python<'_>) -> PyErr {
        match &self.failure {
            Some((_, error)) => error.clone_ref(python),
            None => PyAssertionError::new_err("the action failed"),
        }
    }

    /// What a line of a saved test stands for.
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

    /// A test of the core's from one of Python's: any iterable of actions.
    pub(crate) fn core_test(slf: &Bound<'_, Sut>, test: &Bound<'_, PyAny>) -> PyResult<Test> {
        let mut steps = Vec::new();
        let mut remarks = Vec::new();
        for action in test.try_iter()? {
            let action = action?;
            if let Some(note) = Action::note_of(&action)? {
                remarks.push((steps.len(), note));
            }
            steps.push(Action::step_for(&action, slf)?);
        }
        Ok(Test { steps, remarks })
    }

    /// A test of Python's from one of the core's.
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

    /// What was touched for the first time in the last step, and in the check after it.
    fn note_coverage(&mut self, python: Python<'_>, in_check: bool) {
        let Some(measurement) = &mut self.measurement else {
            return;
        };
        self.system.with(python, |system| {
            if let Some(collector) = system.coverage() {
                measurement.note(collector, in_check);
            }
        });
    }

    fn begin_measuring_anew(&mut self, python: Python<'_>) -> PyResult<()> {
        let Some(measurement) = &mut self.measurement else {
            return Ok(());
        };
        let begun = self.system.with(python, |system| {
            let collector = system.coverage();
            collector.map_or(Ok(()), |collector| measurement.begin_anew(collector))
        });
        begun.map_err(|error| trouble(&error))
    }
}

fn at_work() -> PyErr {
    PyRuntimeError::new_err(
        "the system is in the middle of a step, so this object cannot be used; wait until the step has ended",
    )
}

/// A new list of steps.
fn new_test(python: Python<'_>, actions: Vec<Bound<'_, PyAny>>) -> PyResult<Py<PyList>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(python, || {
        let module = python.import("testwright.test")?;
        Ok::<_, PyErr>(module.getattr("Test")?.unbind())
    })?;
    let list = class.bind(python).call1((actions,))?;
    Ok(list.cast_into::<PyList>()?.unbind())
}

/// An error of ours as an exception.
pub(crate) fn trouble(error: &Error) -> PyErr {
    PyRuntimeError::new_err(match &error.help {
        Some(help) => format!("{error} ({help})"),
        None => error.to_string(),
    })
}
