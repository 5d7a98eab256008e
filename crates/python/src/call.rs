//! Calling compiled functions without building tuples.

use std::borrow::Cow;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::Axis;

use crate::context::Context;
use crate::plan::{ArgumentKind, Plan};

/// Values of literal alternatives, made when first needed: by axis, then by alternative.
pub(crate) type Operands<'py> = Vec<Vec<Option<Bound<'py, PyAny>>>>;

/// Collects the arguments of a call: the slots, then a place or value per argument axis.
#[inline]
pub(crate) fn collect<'py>(
    context: &Context<'py>,
    plan: &Plan,
    values: &[u64],
    operands: &mut Operands<'py>,
    arguments: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<()> {
    // The slots are always the first, so they stay from call to call.
    arguments.truncate(1);
    if arguments.is_empty() {
        arguments.push(context.slots.clone().into_any());
    }
    for argument in plan.arguments() {
        let value = values[argument.axis];
        arguments.push(match argument.kind {
            ArgumentKind::Place(pool) => {
                context.places[context.layout.place(pool, value as u32)].clone()
            }
            ArgumentKind::Integer(first) => first
                .wrapping_add_unsigned(value)
                .into_pyobject(context.python)?
                .into_any(),
            ArgumentKind::Literal => operand(context.python, plan, argument.axis, value, operands)?,
        });
    }
    Ok(())
}

fn operand<'py>(
    python: Python<'py>,
    plan: &Plan,
    axis: usize,
    value: u64,
    operands: &mut Operands<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    if operands.len() <= axis {
        operands.resize(axis + 1, Vec::new());
    }
    let known = &mut operands[axis];
    if known.is_empty() {
        known.resize(plan.sizes()[axis] as usize, None);
    }
    if let Some(operand) = &known[value as usize] {
        return Ok(operand.clone());
    }
    let text = match &plan.axes()[axis] {
        Axis::Choice(choice) => choice.text(value),
        Axis::Slot { .. } | Axis::Repeat(_) => Cow::default(),
    };
    let literal = python
        .import("ast")?
        .call_method1("literal_eval", (text.trim(),))?;
    known[value as usize] = Some(literal.clone());
    Ok(literal)
}

/// Calls a function with positional arguments.
#[inline]
pub(crate) fn call<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `Bound` is a transparent wrapper around a non-null object pointer, so the slice is the array of
    // object pointers that the protocol asks for; all of them, and the function, outlive the call. The result
    // is a new reference or null with an exception set, which is what `from_owned_ptr_or_err` takes.
    unsafe {
        let result = ffi::PyObject_Vectorcall(
            function.as_ptr(),
            arguments.as_ptr().cast(),
            arguments.len(),
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(function.py(), result)
    }
}

/// How many slots [`call_with_slots`] can hand over.
pub(crate) const MOST_SLOTS: usize = 16;

/// Which of the slots at some places hold a value: bit n tells of the n-th. `None` if there are no such places.
#[inline]
pub(crate) fn which_are_filled(slots: &Bound<'_, PyList>, places: &[usize]) -> Option<u64> {
    let size = slots.len();
    let mut filled = 0;
    for (number, place) in places.iter().enumerate() {
        if *place >= size {
            return None;
        }
        // SAFETY: the place is in the list, and what is borrowed from there is only compared.
        let is_filled =
            unsafe { ffi::PyList_GET_ITEM(slots.as_ptr(), *place as isize) != ffi::Py_None() };
        filled |= u64::from(is_filled) << number;
    }
    Some(filled)
}

/// Calls a Python function with the values of the slots at some places.
#[inline]
pub(crate) fn call_with_slots<'py>(
    function: &Bound<'py, PyAny>,
    slots: &Bound<'py, PyList>,
    places: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let mut values = [std::ptr::null_mut(); MOST_SLOTS];
    let count = places.len().min(MOST_SLOTS);
    for (value, place) in values.iter_mut().zip(places) {
        // SAFETY: `PyList_GetItem` checks the index. What it returns is borrowed from the list, in which nothing happens
        // until the call, and a Python function takes references of its own before it runs.
        *value = unsafe { ffi::PyList_GetItem(slots.as_ptr(), *place as isize) };
        if value.is_null() {
            return Err(PyErr::fetch(function.py()));
        }
    }
    // SAFETY: that many values are there, none of them null; the result is a new reference, or null with an exception set.
    unsafe {
        let result = ffi::PyObject_Vectorcall(
            function.as_ptr(),
            values.as_ptr(),
            count,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(function.py(), result)
    }
}

/// Whether an object is `True` itself, as most answers are.
#[inline]
pub(crate) fn is_true(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: gives the address of an object that always exists, and nothing is done but comparing it.
    object.as_ptr() == unsafe { ffi::Py_True() }
}

/// Whether a slot holds a value.
#[inline]
pub(crate) fn is_filled(slots: &Bound<'_, PyList>, place: usize) -> bool {
    // SAFETY: `PyList_GetItem` checks the index and returns a borrowed reference, which is only compared here.
    unsafe {
        let item = ffi::PyList_GetItem(slots.as_ptr(), place as isize);
        if item.is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        item != ffi::Py_None()
    }
}

/// A Python function around a C function, which is handed `receiver` with each call. Older Pythons are watched in other
/// ways.
#[cfg(Py_3_11)]
pub(crate) fn around(
    receiver: &Bound<'_, PyAny>,
    function: ffi::PyCFunctionFast,
) -> PyResult<Py<PyAny>> {
    let definition = Box::new(ffi::PyMethodDef {
        ml_name: c"testwright".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunctionFast: function,
        },
        ml_flags: ffi::METH_FASTCALL,
        ml_doc: std::ptr::null(),
    });
    // The function object refers to it for as long as it lives, which nobody knows.
    let definition = Box::leak(definition);
    // SAFETY: the definition lives for ever and says truly what kind of function it has; the result is a new
    // reference or null with an exception set.
    unsafe {
        let function = ffi::PyCFunction_NewEx(definition, receiver.as_ptr(), std::ptr::null_mut());
        Ok(Bound::from_owned_ptr_or_err(receiver.py(), function)?.unbind())
    }
}
