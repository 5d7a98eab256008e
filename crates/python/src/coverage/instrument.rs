//! Conversion of code objects into observable ones.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode, PyDict, PyTuple};

use super::assemble::{AssembledCode, CodeMark, MarkCode, assemble};
use super::dialect::Dialect;
use super::instructions::{CodeParts, Instructions};

/// The parsed parts of a code object.
pub(crate) struct ParsedCode {
    pub(crate) instructions: Instructions,
    pub(crate) first_line: u32,
}

/// Parses a code object. Returns `None` if its format is not understood; it is not observed then.
pub(crate) fn disassemble(
    dialect: &Dialect,
    code: &Bound<'_, PyCode>,
) -> PyResult<Option<ParsedCode>> {
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
    let text = CodeParts {
        code: &bytes("co_code")?,
        line_table: &bytes(line_table)?,
        exception_table: &exception_table,
        first_line,
    };
    Ok(
        Instructions::read(dialect, &text).map(|instructions| ParsedCode {
            instructions,
            first_line,
        }),
    )
}

/// The maximum additional stack depth of inserted code: until 3.10 a handler starts with six
/// values.
const EXTRA_STACK: u32 = 8;

/// Reassembles a code object with marks and other constants.
pub(crate) fn reassemble<'py>(
    dialect: &Dialect,
    code: &Bound<'py, PyCode>,
    parsed: &ParsedCode,
    marks: &[CodeMark],
    constants: &Bound<'py, PyTuple>,
) -> PyResult<(Bound<'py, PyCode>, AssembledCode)> {
    let python = code.py();
    let assembled = assemble(dialect, &parsed.instructions, parsed.first_line, marks);
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
    let is_sequence = |mark: &CodeMark| matches!(mark.code, MarkCode::Sequence(_));
    if marks.iter().any(is_sequence) {
        let depth: u32 = code.getattr("co_stacksize")?.extract()?;
        changes.set_item("co_stacksize", depth + EXTRA_STACK)?;
    }
    let changed = code.call_method("replace", (), Some(&changes))?;
    Ok((changed.cast_into()?, assembled))
}
