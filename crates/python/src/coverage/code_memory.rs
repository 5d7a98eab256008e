//! The memory from which the interpreter runs a code object.

use std::sync::atomic::{AtomicU16, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode};

/// Two bytes: an opcode and its argument.
pub(crate) type BytecodeUnit = [u8; 2];

/// The memory from which the interpreter runs a code object.
pub(crate) struct CodeMemory {
    /// Keeps the memory alive.
    code: Py<PyCode>,
    /// The address of the first unit.
    start: usize,
    /// The number of units.
    units: usize,
}

impl CodeMemory {
    /// Finds the memory of a code object.
    pub(crate) fn locate(code: &Bound<'_, PyCode>) -> PyResult<CodeMemory> {
        if code.py().version_info().minor >= 11 {
            return Ok(CodeMemory::locate_inside_code(code));
        }
        // The code object keeps this very object alive.
        let bytes = code.getattr("co_code")?.cast_into::<PyBytes>()?;
        let bytes = bytes.as_bytes();
        Ok(CodeMemory {
            code: code.clone().unbind(),
            start: bytes.as_ptr() as usize,
            units: bytes.len() / size_of::<BytecodeUnit>(),
        })
    }

    /// Finds the memory since 3.11: the instructions are at the end of the code object itself.
    pub(crate) fn locate_inside_code(code: &Bound<'_, PyCode>) -> CodeMemory {
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

    /// Returns the length in code units.
    pub(crate) fn len(&self) -> usize {
        self.units
    }

    /// Returns the code object.
    pub(crate) fn code(&self) -> &Py<PyCode> {
        &self.code
    }

    /// Returns all instructions.
    pub(crate) fn read(&self) -> Vec<u8> {
        (0..self.units).flat_map(|unit| self.get(unit)).collect()
    }

    /// Returns a code unit.
    pub(crate) fn get(&self, unit: usize) -> BytecodeUnit {
        self.unit(unit).load(Ordering::Relaxed).to_ne_bytes()
    }

    /// Writes a code unit, which the interpreter uses from now on.
    ///
    /// It must be valid for code that continues at this position, whatever ran before.
    pub(crate) fn set(&self, unit: usize, to: BytecodeUnit) {
        self.unit(unit)
            .store(u16::from_ne_bytes(to), Ordering::Relaxed);
    }

    /// Returns a code unit for atomic access.
    fn unit(&self, unit: usize) -> &AtomicU16 {
        assert!(unit < self.units, "within the code object");
        let address = (self.start + unit * size_of::<BytecodeUnit>()) as *mut u16;
        // SAFETY: the code object is kept alive, and so is the memory, whose size was taken from
        // it. It is heap memory that the interpreter itself writes to while it runs, in whole,
        // aligned units.
        unsafe { AtomicU16::from_ptr(address) }
    }
}
