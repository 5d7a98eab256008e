//! The instructions of a code object, where the interpreter reads them.

use std::sync::atomic::{AtomicU16, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode};

/// Two bytes: an operation and its argument.
pub(crate) type CodeUnit = [u8; 2];

/// The memory that the interpreter runs a code object from.
pub(crate) struct CodeMemory {
    /// Keeps the memory alive.
    code: Py<PyCode>,
    start: usize,
    units: usize,
}

impl CodeMemory {
    /// Finds the memory.
    pub(crate) fn of(code: &Bound<'_, PyCode>) -> PyResult<CodeMemory> {
        if code.py().version_info().minor >= 11 {
            return Ok(CodeMemory::inside(code));
        }
        // The code object keeps this very object as long as it lives.
        let bytes = code.getattr("co_code")?.cast_into::<PyBytes>()?;
        let bytes = bytes.as_bytes();
        Ok(CodeMemory {
            code: code.clone().unbind(),
            start: bytes.as_ptr() as usize,
            units: bytes.len() / size_of::<CodeUnit>(),
        })
    }

    /// Finds the memory since 3.11: the instructions are the end of the code object itself.
    pub(crate) fn inside(code: &Bound<'_, PyCode>) -> CodeMemory {
        let object = code.as_ptr();
        // SAFETY: the reference is valid; a code object has a variable size, which counts its code units.
        let (offset, units) =
            unsafe { ((*ffi::Py_TYPE(object)).tp_basicsize, ffi::Py_SIZE(object)) };
        CodeMemory {
            code: code.clone().unbind(),
            start: object as usize + offset as usize,
            units: units as usize,
        }
    }

    /// In code units.
    pub(crate) fn len(&self) -> usize {
        self.units
    }

    pub(crate) fn code(&self) -> &Py<PyCode> {
        &self.code
    }

    /// All that is there.
    pub(crate) fn read(&self) -> Vec<u8> {
        (0..self.units).flat_map(|unit| self.get(unit)).collect()
    }

    pub(crate) fn get(&self, unit: usize) -> CodeUnit {
        self.unit(unit).load(Ordering::Relaxed).to_ne_bytes()
    }

    /// Has the interpreter find another instruction from now on.
    ///
    /// It must be one that code can go on with in this place, whatever was there before.
    pub(crate) fn set(&self, unit: usize, to: CodeUnit) {
        self.unit(unit)
            .store(u16::from_ne_bytes(to), Ordering::Relaxed);
    }

    fn unit(&self, unit: usize) -> &AtomicU16 {
        assert!(unit < self.units, "within the code object");
        let place = (self.start + unit * size_of::<CodeUnit>()) as *mut u16;
        // SAFETY: the code object is kept alive, and so is the memory, whose size was taken from it. It is memory of
        // the heap that the interpreter itself writes to while it runs, in whole units, which are aligned.
        unsafe { AtomicU16::from_ptr(place) }
    }
}
