//! An argument whose value is not known: code that looks at it raises an exception.

use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTuple};

use super::actions::ActionGuard;

/// The definition of the argument. What is raised is no `Exception`, so that guards do not catch it.
const SOURCE: &std::ffi::CStr = c"
class Unknown(BaseException):
    pass

def looked_at(self, *arguments, **named):
    raise Unknown

operators = '''getattribute eq ne lt le gt ge bool hash len iter contains getitem call str repr
    format int index float add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod
    and rand or ror xor rxor neg pos abs invert enter'''.split()
Argument = type('Argument', (), {'__%s__' % name: looked_at for name in operators})
argument = Argument()
";

/// Returns true if a guard says no whatever the arguments are: it does not even look at them.
/// Answers that need the arguments, and exceptions, say nothing.
pub(super) fn refuses_all(python: Python<'_>, guard: &ActionGuard<'_>) -> PyResult<bool> {
    let module = PyModule::from_code(python, SOURCE, c"unknown_argument.py", c"unknown_argument")?;
    let argument = module.getattr("argument")?;
    let arguments = PyTuple::new(python, (0..guard.parameters).map(|_| argument.clone()))?;
    let answer = guard.function.call1(arguments);
    Ok(answer
        .and_then(|answer| answer.is_truthy())
        .is_ok_and(|allows| !allows))
}
