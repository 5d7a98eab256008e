//! Values of models as text.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use testwright_core::product::ValueText;

use crate::failures::short_repr;

/// Returns a value as source text, and whether evaluating it gives the value. Instances of classes
/// have no source text, and are written as quoted strings.
///
/// Members of sets are sorted, because their order depends on their history, and files should not.
pub(crate) fn literal(value: &Bound<'_, PyAny>) -> PyResult<(String, bool)> {
    let mut writer = LiteralWriter::new(true);
    let text = writer.write(value)?;
    Ok((text, writer.is_exact))
}

/// Returns a value as source text and as readable text: strings in quotes, containers with sorted
/// sets, others by `str`.
pub(crate) fn value_text(value: &Bound<'_, PyAny>) -> PyResult<ValueText> {
    let (literal, is_literal) = literal(value)?;
    let plain = if let Ok(text) = value.cast::<PyString>() {
        format!("'{}'", text.to_string_lossy())
    } else if is_container(value) {
        LiteralWriter::new(false).write(value)?
    } else {
        value.str()?.to_string_lossy().into_owned()
    };
    Ok(ValueText {
        plain: (plain != literal).then_some(plain),
        literal,
        is_literal,
    })
}

/// Returns true for the built-in containers.
fn is_container(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PySet>()
        || value.is_exact_instance_of::<PyFrozenSet>()
}

/// Writes values as text.
struct LiteralWriter {
    /// True to write source text, in which instances of classes are quoted strings.
    quotes_objects: bool,
    /// True if evaluating the text gives the value.
    is_exact: bool,
    /// The addresses of the containers that are being written.
    open: Vec<usize>,
}

/// The maximum depth of containers in a text.
const MAX_DEPTH: usize = 100;

impl LiteralWriter {
    /// Creates a writer that has written nothing.
    fn new(quotes_objects: bool) -> LiteralWriter {
        LiteralWriter {
            quotes_objects,
            is_exact: true,
            open: Vec::new(),
        }
    }

    /// Writes a value. A container inside itself is `...`, as in Python.
    fn write(&mut self, value: &Bound<'_, PyAny>) -> PyResult<String> {
        if !is_container(value) {
            return self.write_one(value);
        }
        let address = value.as_ptr() as usize;
        if self.open.len() == MAX_DEPTH || self.open.contains(&address) {
            self.is_exact = false;
            return Ok("...".to_owned());
        }
        self.open.push(address);
        let text = self.write_one(value);
        self.open.pop();
        text
    }

    /// Writes a value that no container is open for.
    fn write_one(&mut self, value: &Bound<'_, PyAny>) -> PyResult<String> {
        let repr = |value: &Bound<'_, PyAny>| Ok(value.repr()?.to_string_lossy().into_owned());
        if value.is_none()
            || value.is_exact_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyBytes>()
        {
            repr(value)
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            if number.value().is_finite() || !self.quotes_objects {
                repr(value)
            } else {
                Ok(format!("float('{}')", repr(value)?))
            }
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            let items = self.items(tuple.iter())?;
            Ok(match items.as_slice() {
                [one] => format!("({one},)"),
                several => format!("({})", several.join(", ")),
            })
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            Ok(format!("[{}]", self.items(list.iter())?.join(", ")))
        } else if let Ok(entries) = value.cast_exact::<PyDict>() {
            let mut parts = Vec::new();
            for (key, item) in entries.iter() {
                parts.push(format!("{}: {}", self.write(&key)?, self.write(&item)?));
            }
            Ok(format!("{{{}}}", parts.join(", ")))
        } else if value.is_exact_instance_of::<PySet>() {
            Ok(match self.items(sorted_members(value)?)?.as_slice() {
                [] => "set()".to_owned(),
                members => format!("{{{}}}", members.join(", ")),
            })
        } else if value.is_exact_instance_of::<PyFrozenSet>() {
            Ok(match self.items(sorted_members(value)?)?.as_slice() {
                [] => "frozenset()".to_owned(),
                members => format!("frozenset({{{}}})", members.join(", ")),
            })
        } else if self.quotes_objects {
            self.is_exact = false;
            repr(PyString::new(value.py(), &short_repr(value)).as_any())
        } else {
            repr(value)
        }
    }

    /// Writes several values.
    fn items<'py>(
        &mut self,
        values: impl IntoIterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Vec<String>> {
        values.into_iter().map(|value| self.write(&value)).collect()
    }
}

/// Returns the members of a set in ascending order; by their texts if they cannot be compared.
pub(crate) fn sorted_members<'py>(set: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let python = set.py();
    if let Ok(sorted) = python.import("builtins")?.getattr("sorted")?.call1((set,)) {
        return sorted.try_iter()?.collect();
    }
    let mut members = Vec::new();
    for member in set.try_iter()? {
        let member = member?;
        members.push((short_repr(&member), member));
    }
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(members.into_iter().map(|(_, member)| member).collect())
}
