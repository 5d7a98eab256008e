//! The remaining items of iterators, read without consuming them.
//!
//! Iterators of built-in types state how to copy them (`__reduce__`). If everything they refer to
//! is of built-in types as well, the remaining items follow without running code of the program.

use pyo3::prelude::*;
use pyo3::types::{
    PyCFunction, PyDict, PyFrozenSet, PyInt, PyList, PyRange, PySet, PyString, PyTuple,
};

use super::super::names;

/// The maximum number of items read, as an iterator may be infinite.
const MAX_ITEMS: usize = 2_000;
/// The maximum depth of nested iterators.
const MAX_DEPTH: usize = 8;

/// Returns the items that an iterator of a built-in type has not yielded yet.
pub(super) fn remaining_items<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    LimitedItemReader { limit: MAX_ITEMS }.read_items(object, MAX_DEPTH)
}

/// Reads items within a limit.
struct LimitedItemReader {
    /// The number of items that may still be read.
    limit: usize,
}

impl LimitedItemReader {
    /// Returns the remaining items of an iterator, or the items of a collection.
    fn read_items<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        depth: usize,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let depth = depth.checked_sub(1)?;
        if is_collection(object) {
            return self.collect_items(object.try_iter().ok()?);
        }
        let class = names::class_reference(&object.get_type());
        let is_simple = class.path.ends_with("iterator") || class.path == "reversed";
        match (class.module.as_str(), class.path.as_str()) {
            ("builtins", _) if is_simple => self.simple_iterator(object, &class.path),
            ("builtins", "map") => {
                let (function, columns) = self.map_parts(object, depth)?;
                let is_plain = |item: &Bound<'_, PyAny>| {
                    is_collection(item) || item.cast_exact::<PyInt>().is_ok()
                };
                if !runs_no_program_code(&function) || !columns.iter().flatten().all(is_plain) {
                    return None;
                }
                let rows = rows(&columns);
                let called = rows.into_iter().map(|row| {
                    let row = PyTuple::new(object.py(), row).ok()?;
                    function.call1(row).ok()
                });
                called.collect()
            }
            ("builtins", "enumerate" | "zip") => {
                let reduced = reduce(object)?;
                let arguments = reduced.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
                let mut columns = Vec::new();
                if class.path == "enumerate" {
                    let first: usize = arguments.get_item(1).ok()?.extract().ok()?;
                    let items = self.read_items(&arguments.get_item(0).ok()?, depth)?;
                    let numbers = (first..first + items.len()).map(|number| {
                        let number = number.into_pyobject(object.py()).ok()?;
                        Some(number.into_any())
                    });
                    columns.push(numbers.collect::<Option<Vec<_>>>()?);
                    columns.push(items);
                } else {
                    for iterator in arguments.iter() {
                        columns.push(self.read_items(&iterator, depth)?);
                    }
                }
                let made = rows(&columns).into_iter().map(|row| {
                    let row = PyTuple::new(object.py(), row).ok()?;
                    Some(row.into_any())
                });
                made.collect()
            }
            ("itertools", "chain") => {
                // The rest of the current iterable is the last part of the state, if there is one.
                let reduced = reduce(object)?;
                let state = reduced.get_item(2).ok()?.cast_into::<PyTuple>().ok()?;
                let mut items = match state.get_item(1) {
                    Ok(current) => self.read_items(&current, depth)?,
                    Err(_) => Vec::new(),
                };
                for iterable in self.read_items(&state.get_item(0).ok()?, depth)? {
                    items.extend(self.read_items(&iterable, depth)?);
                }
                Some(items)
            }
            _ => None,
        }
    }

    /// Returns the remaining items of an iterator over one collection, from the collection and its
    /// position.
    fn simple_iterator<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        kind: &str,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let reduced = reduce(object)?;
        let arguments = reduced.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
        let collection = arguments.get_item(0).ok()?;
        if !is_collection(&collection) {
            return None;
        }
        let position: Option<isize> = reduced
            .get_item(2)
            .ok()
            .and_then(|position| position.extract().ok());
        let items = self.collect_items(collection.try_iter().ok()?)?;
        if !kind.contains("reverse") {
            let skipped = position.and_then(|position| usize::try_from(position).ok());
            return Some(items.into_iter().skip(skipped.unwrap_or(0)).collect());
        }
        // Reversed iterators count down; an exhausted one is at -1.
        let end = position.map_or(items.len(), |position| {
            usize::try_from(position + 1).unwrap_or(0)
        });
        Some(items.into_iter().take(end).rev().collect())
    }

    /// Returns the function of a `map`, and the items of each of its iterators.
    #[expect(
        clippy::type_complexity,
        reason = "the function, and the items of each of its iterators"
    )]
    fn map_parts<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        depth: usize,
    ) -> Option<(Bound<'py, PyAny>, Vec<Vec<Bound<'py, PyAny>>>)> {
        let arguments = reduce(object)?
            .get_item(1)
            .ok()?
            .cast_into::<PyTuple>()
            .ok()?;
        let function = arguments.get_item(0).ok()?;
        let mut columns = Vec::new();
        for iterator in arguments.iter().skip(1) {
            columns.push(self.read_items(&iterator, depth)?);
        }
        Some((function, columns))
    }

    /// Collects items within the limit.
    fn collect_items<'py>(
        &mut self,
        items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let mut found = Vec::new();
        for item in items {
            self.limit = self.limit.checked_sub(1)?;
            found.push(item.ok()?);
        }
        Some(found)
    }
}

/// Returns the copy instructions of an iterator: constructor, arguments and state.
fn reduce<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    let reduced = object.call_method0("__reduce__").ok()?;
    reduced.cast_into::<PyTuple>().ok()
}

/// Turns columns into rows, up to the length of the shortest column.
fn rows<'py>(columns: &[Vec<Bound<'py, PyAny>>]) -> Vec<Vec<Bound<'py, PyAny>>> {
    let length = columns.iter().map(Vec::len).min().unwrap_or(0);
    let row = |index: usize| {
        columns
            .iter()
            .filter_map(|column| column.get(index).cloned())
            .collect()
    };
    (0..length).map(row).collect()
}

/// Returns true if iterating over the object runs no code of the program.
fn is_collection(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<PyList>().is_ok()
        || object.cast_exact::<PyTuple>().is_ok()
        || object.cast_exact::<PyRange>().is_ok()
        || object.cast_exact::<PyString>().is_ok()
        || object.cast_exact::<PyDict>().is_ok()
        || object.cast_exact::<PySet>().is_ok()
        || object.cast_exact::<PyFrozenSet>().is_ok()
}

/// Returns true if calling the function with collections and numbers runs no code of the program:
/// `reversed`, or indexing a list, tuple or range.
fn runs_no_program_code(function: &Bound<'_, PyAny>) -> bool {
    let class = names::class_reference(&function.get_type());
    let is_method = function.cast_exact::<PyCFunction>().is_ok() || class.path == "method-wrapper";
    let name = function
        .getattr("__name__")
        .and_then(|name| name.extract::<String>());
    let Ok(name) = name else {
        return false;
    };
    if is_method && name == "__getitem__" {
        let owner = function.getattr("__self__");
        return owner.is_ok_and(|owner| {
            owner.cast_exact::<PyList>().is_ok()
                || owner.cast_exact::<PyTuple>().is_ok()
                || owner.cast_exact::<PyRange>().is_ok()
        });
    }
    let builtins = function.py().import("builtins");
    builtins.is_ok_and(|builtins| {
        let known = builtins.getattr("reversed");
        known.is_ok_and(|known| known.is(function))
    })
}
