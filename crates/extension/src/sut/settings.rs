//! Settings: messages, log lines and resets.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use testwright_core::ActionId;
use testwright_python::SlotValue;

use super::Sut;

/// The settings of `verbose`.
pub(super) struct StepPrinting {
    /// Print each step, with the values of the slots that it names.
    pub(super) on: bool,
    /// Print values of opaque pools, too.
    opaque: bool,
}

impl Default for StepPrinting {
    fn default() -> StepPrinting {
        StepPrinting {
            on: false,
            opaque: true,
        }
    }
}

#[pymethods]
impl Sut {
    /// Sets whether each step is printed, with the values of the slots that it names, before and after it.
    ///
    ///     >>> sut.verbose(True)
    ///     >>> sut.safely(test[0])
    ///     ACTION: stack0 = stack.Stack()
    ///     stack0 = None : NoneType
    ///     stack_REF0 = None : NoneType
    ///     => stack0 = Stack([]) : Stack
    ///     => stack_REF0 = [] : list
    ///     REFERENCE ACTION: stack_REF0 = []
    ///     ==================================================
    ///     True
    fn verbose(&mut self, on: bool) {
        self.printing.on = on;
    }

    /// Sets whether `verbose` prints the values of `OPAQUE` pools, too; the default is true.
    ///
    ///     >>> sut.verbose_opaque(False)
    ///     >>> sut.verbose(True)
    ///     >>> sut.safely(test[0])
    ///     ACTION: stack0 = stack.Stack()
    ///     stack0 = None : NoneType
    ///     => stack0 = Stack([]) : Stack
    ///     REFERENCE ACTION: stack_REF0 = []
    ///     ==================================================
    ///     True
    fn verbose_opaque(&mut self, on: bool) {
        self.printing.opaque = on;
    }

    /// Sets the level up to which `log:` lines speak: a number, `"All"`, or `None`.
    ///
    ///     >>> sut.set_log(0)
    ///     >>> sut.replay(test[:2])
    ///     [ LOG int0 = 3  :  len(stack0)] 0
    ///     [ LOG int0 = 3  :  len(stack_REF0)] 0
    ///     True
    ///     >>> sut.set_log(None)
    fn set_log(slf: &Bound<'_, Sut>, level: &Bound<'_, PyAny>) -> PyResult<()> {
        let level = match level.extract::<String>() {
            _ if level.is_none() => None,
            Ok(word) if word.eq_ignore_ascii_case("all") => Some(i64::MAX),
            Ok(word) => {
                return Err(PyValueError::new_err(format!(
                    "a log level is a number, \"All\" or None, not {word:?}"
                )));
            }
            Err(_) => Some(level.extract().map_err(|_| {
                PyTypeError::new_err("a log level is a number, \"All\" or None for silence")
            })?),
        };
        Sut::with(slf, |system| system.set_log(level))
    }

    /// Lets all `log:` lines speak.
    ///
    ///     >>> sut.log_all()
    ///     >>> sut.replay(test[:2])
    ///     [ LOG int0 = 3  :  len(stack0)] 0
    ///     [ LOG int0 = 3  :  len(stack_REF0)] 0
    ///     True
    fn log_all(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with(slf, |system| system.set_log(Some(i64::MAX)))
    }

    /// Silences all `log:` lines.
    ///
    ///     >>> sut.log_all()
    ///     >>> sut.log_off()
    ///     >>> sut.replay(test[:5])
    ///     True
    fn log_off(slf: &Bound<'_, Sut>) -> PyResult<()> {
        Sut::with(slf, |system| system.set_log(None))
    }

    /// Sets the function that is called for each `log:` line instead of printing it, with the action, the code, the value,
    /// and true after the step; `None` prints again. It is called in the middle of a step, so it cannot use this object.
    ///
    ///     >>> logged = []
    ///     >>> sut.set_log_action(lambda action, code, value, after: logged.append((code, value)))
    ///     >>> sut.log_all()
    ///     >>> sut.replay(test[:2])
    ///     True
    ///     >>> logged
    ///     [('len(stack0)', 0), ('len(stack_REF0)', 0)]
    fn set_log_action<'py>(slf: &Bound<'py, Sut>, f: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        if let Some(f) = &f
            && !f.is_callable()
        {
            return Err(PyTypeError::new_err(
                "a log action is a function of action, code, value and whether it is after the step, or None",
            ));
        }
        Sut::with(slf, |system| system.set_log_listener(f))
    }

    /// Prints a `log:` line as it is printed without a log action.
    ///
    ///     >>> sut.log_print("int0 = 3", "len(stack0)", 0, False)
    ///     [ LOG int0 = 3  :  len(stack0)] 0
    #[staticmethod]
    fn log_print(
        python: Python<'_>,
        name: &str,
        code: &str,
        value: &Bound<'_, PyAny>,
        after: bool,
    ) -> PyResult<()> {
        let word = if after { "POST LOG" } else { "LOG" };
        let words = format!("[ {word} {}  :  {code}] {}", name.trim_end(), value.str()?);
        print(python, &words)
    }

    /// Sets whether a restart runs the imported modules again.
    ///
    ///     >>> import stack
    ///     >>> stack.Stack.limit = 10
    ///     >>> sut.restart()
    ///     >>> hasattr(stack.Stack, "limit")
    ///     False
    ///     >>> sut.set_reload(False)
    ///     >>> stack.Stack.limit = 10
    ///     >>> sut.restart()
    ///     >>> hasattr(stack.Stack, "limit")
    ///     True
    fn set_reload(slf: &Bound<'_, Sut>, on: bool) -> PyResult<()> {
        Sut::borrow_mut(slf)?.resets_modules = on;
        Sut::with(slf, |system| system.set_reset_modules(on))?
    }

    /// Sets whether `safely` refuses actions that are not enabled, with a warning.
    ///
    ///     >>> sut.set_debug_safely_mode(True)
    ///     >>> sut.safely(sut.playable("stack0.pop()"))
    ///     WARNING: `stack0.pop()` is not enabled and was not taken
    ///     False
    fn set_debug_safely_mode(&mut self, on: bool) {
        self.refuses_disabled = on;
    }

    /// For scripts that choose between listing and drawing enabled actions; here drawing is as good as listing.
    fn set_enumerate_enabled(&self, b: bool) {
        let _without_effect = b;
    }

    /// Has no effect; exists for scripts that let TSTL track which actions could be enabled.
    fn set_use_dependencies(&self, b: bool) {
        let _without_effect = b;
    }

    /// Has no effect; exists for scripts that choose how TSTL tracks which actions could be enabled.
    fn set_action_approximation(&self, b: bool) {
        let _without_effect = b;
    }

    /// For scripts that set it; it has no effect, nor has it in TSTL.
    fn set_fast_pool_states(&self, b: bool) {
        let _without_effect = b;
    }
}

impl Sut {
    /// Returns the values of an action's slots that are printed.
    fn printed_values(slf: &Bound<'_, Sut>, action: ActionId) -> PyResult<Vec<SlotValue>> {
        let opaque = Sut::borrow(slf)?.printing.opaque;
        let mut values = Sut::with(slf, |system| system.values(action))?;
        values.retain(|value| opaque || !value.opaque);
        Ok(values)
    }

    /// Prints a step that is about to be taken. Returns the values before it.
    pub(super) fn print_step(slf: &Bound<'_, Sut>, action: ActionId) -> PyResult<Vec<SlotValue>> {
        let values = Sut::printed_values(slf, action)?;
        let text = Sut::borrow(slf)?.catalog.text(action);
        let mut words = vec![format!("ACTION: {text}")];
        words.extend(values.iter().map(value_text));
        print(slf.py(), &words.join("\n"))?;
        Ok(values)
    }

    /// Prints the result of a step.
    pub(super) fn print_result(
        slf: &Bound<'_, Sut>,
        action: ActionId,
        before: &[SlotValue],
        passed: bool,
    ) -> PyResult<()> {
        let mut words = Vec::new();
        for value in Sut::printed_values(slf, action)? {
            let same = |before: &SlotValue| before.name == value.name && before.text == value.text;
            if !before.iter().any(same) {
                words.push(format!("=> {}", value_text(&value)));
            }
        }
        let python = slf.py();
        let expected = Sut::with(slf, |system| system.last_expected())?;
        let warned = Sut::borrow(slf)?.warning(python);
        let failed = (!passed).then(|| {
            let error = Sut::borrow(slf)?.error(python);
            Ok::<_, PyErr>(error.into_value(python).into_any())
        });
        let raised = [
            ("RAISED EXPECTED EXCEPTION", expected),
            (
                "RAISED WARNING EXCEPTION",
                warned.map(|it| it.into_bound(python)),
            ),
            (
                "RAISED EXCEPTION",
                failed.transpose()?.map(|it| it.into_bound(python)),
            ),
        ];
        for (what, exception) in raised {
            if let Some(exception) = exception {
                words.push(format!(
                    "{what}: {} {}",
                    exception.get_type().str()?,
                    exception.str()?
                ));
            }
        }
        let (reference, raised) = Sut::with(slf, |system| {
            let text = system.reference_text(action);
            (text, system.last_raised_by_reference())
        })?;
        if let Some(reference) = reference.filter(|_| passed) {
            words.push(format!("REFERENCE ACTION: {reference}"));
            if let Some(exception) = raised {
                let (kind, text) = (exception.get_type().str()?, exception.str()?);
                words.push(format!("REFERENCE ACTION RAISED EXCEPTION: {kind} {text}"));
            }
        }
        words.push("=".repeat(50));
        print(python, &words.join("\n"))
    }
}

/// Renders a value with its type.
fn value_text(value: &SlotValue) -> String {
    format!("{} = {} : {}", value.name, value.text, value.type_name)
}

/// Prints with Python's `print`.
pub(super) fn print(python: Python<'_>, words: &str) -> PyResult<()> {
    let print = python.import("builtins")?.getattr("print")?;
    print.call1((words,)).map(drop)
}

/// Returns true if a value counts as true in Python: scripts for TSTL say `verbose="VERY"`, too.
pub(super) fn truthy(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.is_truthy()
}
