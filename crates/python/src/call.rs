//! Calling compiled functions without building tuples.

use std::borrow::Cow;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::Axis;

use crate::context::Context;
use crate::plan::{Argument, ArgumentKind, Plan};

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
    for wanted in plan.arguments() {
        arguments.push(argument(context, plan, *wanted, values, operands)?);
    }
    Ok(())
}

/// The place or value for an axis.
#[inline]
pub(crate) fn argument<'py>(
    context: &Context<'py>,
    plan: &Plan,
    wanted: Argument,
    values: &[u64],
    operands: &mut Operands<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let value = values[wanted.axis];
    match wanted.kind {
        ArgumentKind::Place(pool) => {
            Ok(context.places[context.layout.place(pool, value as u32)].clone())
        }
        ArgumentKind::Integer(first) => Ok(first
            .wrapping_add_unsigned(value)
            .into_pyobject(context.python)?
            .into_any()),
        ArgumentKind::Literal => operand(context.python, plan, wanted.axis, value, operands),
    }
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
    attempt(function, arguments).map_err(|raised| *raised)
}

/// What a function returned, or what it raised: that is put aside, since answers are handed on at every step.
pub(crate) type Attempt<'py> = Result<Bound<'py, PyAny>, Box<PyErr>>;

/// As [`call`], for calls at every step.
#[inline]
pub(crate) fn attempt<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &[Bound<'py, PyAny>],
) -> Attempt<'py> {
    // SAFETY: `Bound` is a transparent wrapper around a non-null object pointer, so the slice is an array of that many
    // object pointers, and all of them outlive the call.
    unsafe { attempt_with(function, arguments.as_ptr().cast(), arguments.len()) }
}

/// # Safety
///
/// `arguments` must point to `count` objects, which outlive the call.
#[inline]
unsafe fn attempt_with<'py>(
    function: &Bound<'py, PyAny>,
    arguments: *const *mut ffi::PyObject,
    count: usize,
) -> Attempt<'py> {
    // SAFETY: as the caller says; the function is an object, too. The result is a new reference or null with an
    // exception set.
    unsafe {
        let names = std::ptr::null_mut();
        let result = ffi::PyObject_Vectorcall(function.as_ptr(), arguments, count, names);
        Bound::from_owned_ptr_or_opt(function.py(), result).ok_or_else(|| raised(function.py()))
    }
}

#[cold]
#[inline(never)]
fn raised(python: Python<'_>) -> Box<PyErr> {
    Box::new(PyErr::fetch(python))
}

/// How many slots [`call_with_slots`] can hand over.
pub(crate) const MOST_SLOTS: usize = 16;

/// Which of the slots at some places hold a value: bit n tells of the n-th. `None` if there are no such places.
#[inline]
pub(crate) fn which_are_filled(slots: &Bound<'_, PyList>, places: &[usize]) -> Option<u64> {
    let mut filled = 0;
    for (number, place) in places.iter().enumerate() {
        filled |= u64::from(is_value(value_at(slots, *place)?)) << number;
    }
    Some(filled)
}

/// Calls a Python function with the values of the slots at some places; `None` if there are no such places.
#[inline]
pub(crate) fn call_with_slots<'py>(
    function: &Bound<'py, PyAny>,
    slots: &Bound<'py, PyList>,
    places: &[usize],
) -> Option<Attempt<'py>> {
    let mut values = [std::ptr::null_mut(); MOST_SLOTS];
    let values = values.get_mut(..places.len())?;
    for (value, place) in values.iter_mut().zip(places) {
        *value = value_at(slots, *place)?;
    }
    // SAFETY: none of the values is null. They are borrowed from the list, in which nothing happens until the call, and a
    // Python function takes references of its own before it runs.
    Some(unsafe { attempt_with(function, values.as_ptr(), values.len()) })
}

/// What is in a slot, borrowed; `None` if there is no such place.
#[inline]
fn value_at(slots: &Bound<'_, PyList>, place: usize) -> Option<*mut ffi::PyObject> {
    // SAFETY: the place is in the list.
    (place < slots.len()).then(|| unsafe { ffi::PyList_GET_ITEM(slots.as_ptr(), place as isize) })
}

/// Whether this is anything but `None`.
#[inline]
fn is_value(object: *mut ffi::PyObject) -> bool {
    // SAFETY: gives the address of an object that always exists, and nothing is done but comparing it.
    object != unsafe { ffi::Py_None() }
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
    value_at(slots, place).is_some_and(is_value)
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
