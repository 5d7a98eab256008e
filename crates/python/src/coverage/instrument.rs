//! Code objects in, code objects that can be observed out.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode, PyDict, PyTuple};

use super::assemble::{Assembled, Mark, MarkCode, assemble};
use super::dialect::Dialect;
use super::instructions::{CodeText, Instructions};

/// A code object taken apart.
pub(crate) struct Taken {
    pub(crate) instructions: Instructions,
    pub(crate) first_line: u32,
}

/// Takes a code object apart; `None` if it is of a kind that we do not understand, which then stays unobserved.
pub(crate) fn take_apart(dialect: &Dialect, code: &Bound<'_, PyCode>) -> PyResult<Option<Taken>> {
    let bytes = |name: &str| -> PyResult<Vec<u8>> {
        Ok(code.getattr(name)?.cast::<PyBytes>()?.as_bytes().to_vec())
    };
    let line_table = if dialect.minor >= 10 {
        "co_linetable"
    } else {
        "co_lnotab"
    };
    let exception_table = match dialect.minor {
        11.. => bytes("co_exceptiontable")?,
        _ => Vec::new(),
    };
    let first_line: i64 = code.getattr("co_firstlineno")?.extract()?;
    let first_line = u32::try_from(first_line).unwrap_or(0);
    let text = CodeText {
        code: &bytes("co_code")?,
        line_table: &bytes(line_table)?,
        exception_table: &exception_table,
        first_line,
    };
    Ok(
        Instructions::read(dialect, &text).map(|instructions| Taken {
            instructions,
            first_line,
        }),
    )
}

/// How much deeper the stack gets by what is inserted, at most: until 3.10 a handler begins with six values.
const DEPTH_OF_MARKS: u32 = 8;

/// Puts a code object together again, with marks in it and with other constants.
pub(crate) fn put_together<'py>(
    dialect: &Dialect,
    code: &Bound<'py, PyCode>,
    taken: &Taken,
    marks: &[Mark],
    constants: &Bound<'py, PyTuple>,
) -> PyResult<(Bound<'py, PyCode>, Assembled)> {
    let python = code.py();
    let assembled = assemble(dialect, &taken.instructions, taken.first_line, marks);
    let changes = PyDict::new(python);
    changes.set_item("co_consts", constants)?;
    changes.set_item("co_code", PyBytes::new(python, &assembled.code))?;
    let lines = PyBytes::new(python, &assembled.line_table);
    if dialect.minor >= 10 {
        changes.set_item("co_linetable", lines)?;
    } else {
        changes.set_item("co_lnotab", lines)?;
    }
    if dialect.minor >= 11 {
        let table = PyBytes::new(python, &assembled.exception_table);
        changes.set_item("co_exceptiontable", table)?;
    }
    let is_sequence = |mark: &Mark| matches!(mark.code, MarkCode::Sequence(_));
    if marks.iter().any(is_sequence) {
        let depth: u32 = code.getattr("co_stacksize")?.extract()?;
        changes.set_item("co_stacksize", depth + DEPTH_OF_MARKS)?;
    }
    let changed = code.call_method("replace", (), Some(&changes))?;
    Ok((changed.cast_into()?, assembled))
}
