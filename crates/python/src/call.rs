//! Calls of compiled functions that build no argument tuples.

use std::borrow::Cow;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::Axis;

use crate::context::HarnessContext;
use crate::plan::{ArgumentKind, FillPlan, FunctionArgument};

/// Values of literal alternatives, created when first needed: by axis, then by alternative.
pub(crate) type Operands<'py> = Vec<Vec<Option<Bound<'py, PyAny>>>>;

/// Collects the arguments of a call: the list of slots, then a position or value per argument axis.
#[inline]
pub(crate) fn collect_arguments<'py>(
    context: &HarnessContext<'py>,
    plan: &FillPlan,
    values: &[u64],
    operands: &mut Operands<'py>,
    arguments: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<()> {
    // The slots are always the first argument, so they stay from call to call.
    arguments.truncate(1);
    if arguments.is_empty() {
        arguments.push(context.slots.clone().into_any());
    }
    for wanted in plan.arguments() {
        arguments.push(argument(context, plan, *wanted, values, operands)?);
    }
    Ok(())
}

/// Returns the position or value for an axis.
#[inline]
pub(crate) fn argument<'py>(
    context: &HarnessContext<'py>,
    plan: &FillPlan,
    wanted: FunctionArgument,
    values: &[u64],
    operands: &mut Operands<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let value = values[wanted.axis];
    match wanted.kind {
        ArgumentKind::Position(pool) => {
            Ok(context.positions[context.layout.position(pool, value as u32)].clone())
        }
        ArgumentKind::Integer(first) => Ok(first
            .wrapping_add_unsigned(value)
            .into_pyobject(context.python)?
            .into_any()),
        ArgumentKind::Literal => {
            literal_operand(context.python, plan, wanted.axis, value, operands)
        }
    }
}

/// Returns the value of a literal alternative, evaluated when first needed.
fn literal_operand<'py>(
    python: Python<'py>,
    plan: &FillPlan,
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
    try_call(function, arguments).map_err(|raised| *raised)
}

/// The result of a call. The exception is boxed because results are passed on at every step.
pub(crate) type CallResult<'py> = Result<Bound<'py, PyAny>, Box<PyErr>>;

/// Calls a function like [`call`], with a smaller result type for calls at every step.
#[inline]
pub(crate) fn try_call<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &[Bound<'py, PyAny>],
) -> CallResult<'py> {
    // SAFETY: `Bound` is a transparent wrapper around a non-null object pointer, so the slice is an
    // array of that many object pointers, and all of them outlive the call.
    unsafe { try_vectorcall(function, arguments.as_ptr().cast(), arguments.len()) }
}

/// Calls a function with arguments given by pointer.
///
/// # Safety
///
/// `arguments` must point to `count` objects, which outlive the call.
#[inline]
unsafe fn try_vectorcall<'py>(
    function: &Bound<'py, PyAny>,
    arguments: *const *mut ffi::PyObject,
    count: usize,
) -> CallResult<'py> {
    // SAFETY: as the caller says; the function is an object, too. The result is a new reference or
    // null with an exception set.
    unsafe {
        let names = std::ptr::null_mut();
        let result = ffi::PyObject_Vectorcall(function.as_ptr(), arguments, count, names);
        Bound::from_owned_ptr_or_opt(function.py(), result)
            .ok_or_else(|| fetch_exception(function.py()))
    }
}

/// Takes the current exception from the interpreter.
#[cold]
#[inline(never)]
fn fetch_exception(python: Python<'_>) -> Box<PyErr> {
    Box::new(PyErr::fetch(python))
}

/// The maximum number of slots that [`call_with_slots`] can pass.
pub(crate) const MAX_SLOTS: usize = 16;

/// Returns a mask of the slots that hold a value: bit n stands for the n-th position. `None` if a
/// position does not exist.
#[inline]
pub(crate) fn filled_mask(slots: &Bound<'_, PyList>, positions: &[usize]) -> Option<u64> {
    let mut filled = 0;
    for (number, position) in positions.iter().enumerate() {
        filled |= u64::from(is_not_none(slot_at(slots, *position)?)) << number;
    }
    Some(filled)
}

/// Calls a Python function with the values of some slots. `None` if a position does not exist.
#[inline]
pub(crate) fn call_with_slots<'py>(
    function: &Bound<'py, PyAny>,
    slots: &Bound<'py, PyList>,
    positions: &[usize],
) -> Option<CallResult<'py>> {
    let mut values = [std::ptr::null_mut(); MAX_SLOTS];
    let values = values.get_mut(..positions.len())?;
    for (value, position) in values.iter_mut().zip(positions) {
        *value = slot_at(slots, *position)?;
    }
    // SAFETY: none of the values is null. They are borrowed from the list, in which nothing happens
    // until the call, and a Python function takes references of its own before it runs.
    Some(unsafe { try_vectorcall(function, values.as_ptr(), values.len()) })
}

/// Returns a borrowed pointer to the value of a slot, or `None` if the position does not exist.
#[inline]
fn slot_at(slots: &Bound<'_, PyList>, position: usize) -> Option<*mut ffi::PyObject> {
    // SAFETY: the position is in the list.
    (position < slots.len())
        .then(|| unsafe { ffi::PyList_GET_ITEM(slots.as_ptr(), position as isize) })
}

/// Returns true if the object is not `None`.
#[inline]
fn is_not_none(object: *mut ffi::PyObject) -> bool {
    // SAFETY: gives the address of an object that always exists, and nothing is done but comparing
    // it.
    object != unsafe { ffi::Py_None() }
}

/// Returns true if the object is `True` itself, as most answers are.
#[inline]
pub(crate) fn is_true(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: gives the address of an object that always exists, and nothing is done but comparing
    // it.
    object.as_ptr() == unsafe { ffi::Py_True() }
}

/// Returns true if a slot holds a value.
#[inline]
pub(crate) fn is_filled(slots: &Bound<'_, PyList>, position: usize) -> bool {
    slot_at(slots, position).is_some_and(is_not_none)
}

/// Returns a Python function that calls a C function, with `receiver` as its `self`. Interpreters
/// before 3.11 are observed in other ways and do not need it.
#[cfg(Py_3_11)]
pub(crate) fn wrap_c_function(
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
    // The function object refers to the definition for its whole life, which may last until the
    // process ends.
    let definition = Box::leak(definition);
    // SAFETY: the definition lives forever and says truly what kind of function it has; the result
    // is a new reference or null with an exception set.
    unsafe {
        let function = ffi::PyCFunction_NewEx(definition, receiver.as_ptr(), std::ptr::null_mut());
        Ok(Bound::from_owned_ptr_or_err(receiver.py(), function)?.unbind())
    }
}
