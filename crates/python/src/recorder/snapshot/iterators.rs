//! What iterators have yet to give, without taking it from them.
//!
//! Iterators of built-in types can tell how they would be copied. Where all that such an iterator leads to is of built-in
//! types as well, what it will give is known: no code of the program has a part in it.

use pyo3::prelude::*;
use pyo3::types::{
    PyCFunction, PyDict, PyFrozenSet, PyInt, PyList, PyRange, PySet, PyString, PyTuple,
};

use super::super::names;

/// No more items than this are looked at; an iterator may have no end.
const MOST: usize = 2_000;
/// Iterators in iterators in iterators are followed this far.
const DEPTH: usize = 8;

/// The items that an iterator of a built-in type would give from now on.
pub(super) fn remaining<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    Ahead { left: MOST }.of(object, DEPTH)
}

struct Ahead {
    left: usize,
}

impl Ahead {
    fn of<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        depth: usize,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let depth = depth.checked_sub(1)?;
        if is_collection(object) {
            return self.taken(object.try_iter().ok()?);
        }
        let class = names::class_reference(&object.get_type());
        let is_simple = class.path.ends_with("iterator") || class.path == "reversed";
        match (class.module.as_str(), class.path.as_str()) {
            ("builtins", _) if is_simple => self.simple(object, &class.path),
            ("builtins", "map") => {
                let (function, columns) = self.parts(object, depth)?;
                let is_plain = |item: &Bound<'_, PyAny>| {
                    is_collection(item) || item.cast_exact::<PyInt>().is_ok()
                };
                if !is_harmless(&function) || !columns.iter().flatten().all(is_plain) {
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
                let told = told(object)?;
                let given = told.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
                let mut columns = Vec::new();
                if class.path == "enumerate" {
                    let first: usize = given.get_item(1).ok()?.extract().ok()?;
                    let items = self.of(&given.get_item(0).ok()?, depth)?;
                    let numbers = (first..first + items.len()).map(|number| {
                        let number = number.into_pyobject(object.py()).ok()?;
                        Some(number.into_any())
                    });
                    columns.push(numbers.collect::<Option<Vec<_>>>()?);
                    columns.push(items);
                } else {
                    for iterator in given.iter() {
                        columns.push(self.of(&iterator, depth)?);
                    }
                }
                let made = rows(&columns).into_iter().map(|row| {
                    let row = PyTuple::new(object.py(), row).ok()?;
                    Some(row.into_any())
                });
                made.collect()
            }
            ("itertools", "chain") => {
                // What is left of the current iterable comes last, where there is one.
                let told = told(object)?;
                let state = told.get_item(2).ok()?.cast_into::<PyTuple>().ok()?;
                let mut items = match state.get_item(1) {
                    Ok(current) => self.of(&current, depth)?,
                    Err(_) => Vec::new(),
                };
                for iterable in self.of(&state.get_item(0).ok()?, depth)? {
                    items.extend(self.of(&iterable, depth)?);
                }
                Some(items)
            }
            _ => None,
        }
    }

    /// An iterator over one collection: that, and where it stands.
    fn simple<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        kind: &str,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let told = told(object)?;
        let given = told.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
        let whole = given.get_item(0).ok()?;
        if !is_collection(&whole) {
            return None;
        }
        let place: Option<isize> = told.get_item(2).ok().and_then(|place| place.extract().ok());
        let items = self.taken(whole.try_iter().ok()?)?;
        if !kind.contains("reverse") {
            let skipped = place.and_then(|place| usize::try_from(place).ok());
            return Some(items.into_iter().skip(skipped.unwrap_or(0)).collect());
        }
        // Backwards from there; an exhausted one stands before the beginning.
        let end = place.map_or(items.len(), |place| usize::try_from(place + 1).unwrap_or(0));
        Some(items.into_iter().take(end).rev().collect())
    }

    /// The function and the items of a `map`.
    #[expect(
        clippy::type_complexity,
        reason = "a function, and for each of its parameters what it will be given"
    )]
    fn parts<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        depth: usize,
    ) -> Option<(Bound<'py, PyAny>, Vec<Vec<Bound<'py, PyAny>>>)> {
        let given = told(object)?
            .get_item(1)
            .ok()?
            .cast_into::<PyTuple>()
            .ok()?;
        let function = given.get_item(0).ok()?;
        let mut columns = Vec::new();
        for iterator in given.iter().skip(1) {
            columns.push(self.of(&iterator, depth)?);
        }
        Some((function, columns))
    }

    fn taken<'py>(
        &mut self,
        items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    ) -> Option<Vec<Bound<'py, PyAny>>> {
        let mut found = Vec::new();
        for item in items {
            self.left = self.left.checked_sub(1)?;
            found.push(item.ok()?);
        }
        Some(found)
    }
}

/// How an iterator would be copied: what makes it, from what, and its state.
fn told<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    let told = object.call_method0("__reduce__").ok()?;
    told.cast_into::<PyTuple>().ok()
}

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

/// Whether iterating over it runs nobody's code.
fn is_collection(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<PyList>().is_ok()
        || object.cast_exact::<PyTuple>().is_ok()
        || object.cast_exact::<PyRange>().is_ok()
        || object.cast_exact::<PyString>().is_ok()
        || object.cast_exact::<PyDict>().is_ok()
        || object.cast_exact::<PySet>().is_ok()
        || object.cast_exact::<PyFrozenSet>().is_ok()
}

/// Whether calling it with collections and numbers runs nobody's code: `reversed`, or looking something up in a list,
/// tuple or range.
fn is_harmless(function: &Bound<'_, PyAny>) -> bool {
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
