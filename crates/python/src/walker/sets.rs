//! Sets in memory. Their hash table decides the order in which members are listed, and which one
//! `pop` takes, so it is part of a state as it is: its size, its gaps and its finger.

use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;

use super::Pointer;
use super::node::{ObjectPart, OwnedPart};

/// Visits the hash table of a set until `visit` returns false. Returns false if it did.
///
/// The parts are the mask and the finger, then for each entry its member and hash, -1 for the trace
/// of a removed member, or nothing.
pub(crate) fn for_each_part(set: Pointer, visit: &mut impl FnMut(ObjectPart) -> bool) -> bool {
    // SAFETY: the caller has checked that the object is a set, and no code runs while it is read.
    unsafe {
        let set = set.cast::<ffi::PySetObject>();
        let (mask, finger, table) = ((*set).mask, (*set).finger, (*set).table);
        if !visit(ObjectPart::Number(mask)) || !visit(ObjectPart::Number(finger)) {
            return false;
        }
        (0..=mask).all(|index| {
            let entry = &*table.offset(index);
            if entry.key.is_null() {
                visit(ObjectPart::Object(null_mut()))
            } else if entry.hash == -1 {
                visit(ObjectPart::Number(-1))
            } else {
                visit(ObjectPart::Object(entry.key)) && visit(ObjectPart::Number(entry.hash))
            }
        })
    }
}

/// Restores the hash table of a set exactly.
pub(crate) fn write(set: &Bound<'_, PyAny>, parts: &[OwnedPart]) -> PyResult<()> {
    let numbers = |index: usize| match parts.get(index) {
        Some(OwnedPart::Number(number)) => *number,
        _ => 0,
    };
    let (mask, finger) = (numbers(0), numbers(1));
    let size = mask as usize + 1;
    let python = set.py();
    let dummy = dummy(python)?;
    // SAFETY: the object is a set. The new table is filled completely before it replaces the old
    // one, whose members are released last, when the set is consistent again. Tables that are not
    // part of the object are allocated like the interpreter does.
    unsafe {
        let raw = set.as_ptr().cast::<ffi::PySetObject>();
        let mut entries: Vec<(Pointer, isize)> = Vec::with_capacity(size);
        let (mut fill, mut used) = (0, 0);
        let mut rest = parts.get(2..).unwrap_or_default().iter();
        while let Some(part) = rest.next() {
            match part {
                OwnedPart::Missing => entries.push((null_mut(), 0)),
                OwnedPart::Number(_) => {
                    entries.push((dummy, -1));
                    fill += 1;
                }
                OwnedPart::Object(member) => {
                    let hash = match rest.next() {
                        Some(OwnedPart::Number(hash)) => *hash,
                        _ => return Err(unexpected()),
                    };
                    entries.push((member.clone_ref(python).into_ptr(), hash));
                    fill += 1;
                    used += 1;
                }
            }
        }
        if entries.len() != size {
            return Err(unexpected());
        }
        let small = (&raw mut (*raw).smalltable).cast::<ffi::setentry>();
        let old_table = (*raw).table;
        let old_size = (*raw).mask as usize + 1;
        let mut released = Vec::new();
        for index in 0..old_size {
            let entry = &*old_table.add(index);
            if !entry.key.is_null() && entry.hash != -1 {
                released.push(Bound::from_owned_ptr(python, entry.key));
            }
        }
        let table = if size == ffi::PySet_MINSIZE {
            small
        } else {
            let bytes = size * size_of::<ffi::setentry>();
            let table = ffi::PyMem_Malloc(bytes).cast::<ffi::setentry>();
            if table.is_null() {
                released.into_iter().for_each(std::mem::forget);
                return Err(pyo3::exceptions::PyMemoryError::new_err(
                    "a set is too large",
                ));
            }
            table
        };
        for (index, (key, hash)) in entries.into_iter().enumerate() {
            let entry = table.add(index);
            (*entry).key = key;
            (*entry).hash = hash;
        }
        (*raw).table = table;
        (*raw).mask = mask;
        (*raw).fill = fill;
        (*raw).used = used;
        (*raw).finger = finger;
        if old_table != small {
            ffi::PyMem_Free(old_table.cast());
        }
    }
    Ok(())
}

/// Returns the error for parts that are not those of a set.
fn unexpected() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("a set cannot be restored")
}

/// Returns the object that the interpreter leaves in the place of a removed member.
fn dummy(python: Python<'_>) -> PyResult<Pointer> {
    let set = pyo3::types::PySet::new(python, [1])?;
    set.discard(1)?;
    let mut found = null_mut();
    // SAFETY: the object is a set with one removed member.
    unsafe {
        let raw = set.as_ptr().cast::<ffi::PySetObject>();
        for index in 0..=(*raw).mask {
            let entry = &*(*raw).table.offset(index);
            if !entry.key.is_null() && entry.hash == -1 {
                found = entry.key;
            }
        }
    }
    if found.is_null() {
        return Err(unexpected());
    }
    Ok(found)
}

/// Returns true if the order of some members does not depend on addresses.
pub(crate) fn has_stable_order(set: Pointer, depth: u32) -> bool {
    // SAFETY: the object is a set, as the caller says.
    if unsafe { (*set.cast::<ffi::PySetObject>()).used } < 2 {
        return true;
    }
    for_each_part(set, &mut |part| match part {
        ObjectPart::Object(member) => member.is_null() || hashes_by_value(member, depth + 1),
        ObjectPart::Number(_) => true,
    })
}

/// Returns true if the order of some members depends on the seed of hashes.
pub(crate) fn has_order_by_seed(set: Pointer) -> bool {
    // SAFETY: the object is a set, as the caller says.
    if unsafe { (*set.cast::<ffi::PySetObject>()).used } < 2 {
        return false;
    }
    !for_each_part(set, &mut |part| match part {
        ObjectPart::Object(member) => member.is_null() || !hashes_by_seed(member, 0),
        ObjectPart::Number(_) => true,
    })
}

/// Returns true if the hash of a text, of bytes, or of a tuple with one of them depends on the seed.
fn hashes_by_seed(object: Pointer, depth: u32) -> bool {
    // SAFETY: the object is alive, being a member of a set or tuple.
    unsafe {
        ffi::PyUnicode_Check(object) != 0
            || ffi::PyBytes_Check(object) != 0
            || depth < 50
                && ffi::PyTuple_CheckExact(object) != 0
                && (0..ffi::PyTuple_GET_SIZE(object))
                    .any(|index| hashes_by_seed(ffi::PyTuple_GET_ITEM(object, index), depth + 1))
    }
}

/// Returns true if the hash of an object depends on its value only. The hash of a class written in
/// Python is taken to do so if it defines one.
pub(crate) fn hashes_by_value(object: Pointer, depth: u32) -> bool {
    if depth > 50 {
        return false;
    }
    // SAFETY: the object is alive, being a member of a set or tuple, and types are compared only.
    unsafe {
        let class = ffi::Py_TYPE(object);
        if ffi::PyFloat_CheckExact(object) != 0 {
            return !ffi::PyFloat_AS_DOUBLE(object).is_nan();
        }
        if ffi::PyTuple_CheckExact(object) != 0 {
            return (0..ffi::PyTuple_GET_SIZE(object))
                .all(|index| hashes_by_value(ffi::PyTuple_GET_ITEM(object, index), depth + 1));
        }
        if ffi::PyFrozenSet_CheckExact(object) != 0 {
            return for_each_part(object, &mut |part| match part {
                ObjectPart::Object(member) => {
                    member.is_null() || hashes_by_value(member, depth + 1)
                }
                ObjectPart::Number(_) => true,
            });
        }
        if object == ffi::Py_None() {
            return cfg!(Py_3_12);
        }
        let by_address = ffi::PyBaseObject_Type.tp_hash;
        let has_own =
            (*class).tp_hash.map(|hash| hash as usize) != by_address.map(|hash| hash as usize);
        has_own
            && ffi::PyFunction_Check(object) == 0
            && ffi::PyType_Check(object) == 0
            && ffi::PyCFunction_Check(object) == 0
    }
}
