//! The states of a model program.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use testwright_core::fingerprint_set::FingerprintSet;
use testwright_core::product::ModelState;

use super::byte_blobs::ByteBlobs;
use super::packing::{PackResult, ValuePacker, hash, put_varint, take_varint};
use super::value_text;
use crate::failures::RaisedException;

/// All known states of a model program: the values of its state variables.
pub(crate) struct ProgramStates<'py> {
    /// The names of the state variables.
    variables: Vec<Bound<'py, PyString>>,
    /// The number of each state, by key.
    numbering: FingerprintSet,
    /// The packed values of each state.
    packed: ByteBlobs,
    /// The flags of each state.
    flags: Vec<StateFlags>,
    /// Values that cannot be packed.
    unpackable_values: Vec<Bound<'py, PyAny>>,
    /// A buffer for the packed values of the state being read.
    packed_buffer: Vec<u8>,
    /// A buffer for the key of the state being read.
    key_buffer: Vec<u8>,
}

/// A state that was read but not saved. Its packed values and its key are in the buffers of
/// [`ProgramStates`].
pub(crate) struct UnsavedState<'py> {
    /// True if other processes can restore it.
    is_portable: bool,
    /// Copies of the values that cannot be packed.
    copies: Vec<Bound<'py, PyAny>>,
}

/// The predicates that hold in a state, and whether other processes can restore it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StateFlags(u8);

impl StateFlags {
    const ACCEPTING: u8 = 1;
    const SAFE: u8 = 2;
    const PORTABLE: u8 = 4;

    fn new(accepting: bool, safe: bool, portable: bool) -> StateFlags {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        StateFlags(
            flag(accepting, StateFlags::ACCEPTING)
                | flag(safe, StateFlags::SAFE)
                | flag(portable, StateFlags::PORTABLE),
        )
    }

    pub(crate) fn is_accepting(self) -> bool {
        self.0 & StateFlags::ACCEPTING != 0
    }

    pub(crate) fn is_safe(self) -> bool {
        self.0 & StateFlags::SAFE != 0
    }

    fn is_portable(self) -> bool {
        self.0 & StateFlags::PORTABLE != 0
    }
}

/// The tag of a value that is packed.
const PACKED: u8 = 0;
/// The tag of a value that is kept as an object.
const UNPACKABLE: u8 = 1;

impl<'py> ProgramStates<'py> {
    /// Creates a table without any states.
    pub(crate) fn new(variables: Vec<Bound<'py, PyString>>) -> ProgramStates<'py> {
        ProgramStates {
            variables,
            numbering: FingerprintSet::default(),
            packed: ByteBlobs::default(),
            flags: Vec::new(),
            unpackable_values: Vec::new(),
            packed_buffer: Vec::new(),
            key_buffer: Vec::new(),
        }
    }

    /// Returns the names of the state variables.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.variables.iter();
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// Reads the present state of a module's variables.
    pub(crate) fn read(
        &mut self,
        packer: &mut ValuePacker<'py>,
        module: &Bound<'py, PyDict>,
    ) -> PyResult<UnsavedState<'py>> {
        self.packed_buffer.clear();
        self.key_buffer.clear();
        packer.take_unshared();
        let mut copies = Vec::new();
        for variable in &self.variables {
            let missing = || {
                let name = variable.to_string_lossy();
                let message = format!("the state variable `{name}` does not exist");
                pyo3::exceptions::PyNameError::new_err(message)
            };
            let value = module.get_item(variable)?.ok_or_else(missing)?;
            let before = self.packed_buffer.len();
            self.packed_buffer.push(PACKED);
            match packer.pack(&value, &mut self.packed_buffer)? {
                PackResult::PackedAsKey => {
                    self.key_buffer
                        .extend_from_slice(&self.packed_buffer[before + 1..]);
                    continue;
                }
                PackResult::Packed => {
                    packer.write_key(&value, &mut self.key_buffer, 0)?;
                    continue;
                }
                PackResult::Impossible => {}
            }
            // Later comparisons use the copy, because the value itself may change.
            let copy = packer.copy(&value).map_err(|error| {
                let name = variable.to_string_lossy();
                let cause = RaisedException::new(module.py(), &error).summary();
                let message = format!("the state variable `{name}` cannot be copied: {cause}");
                pyo3::exceptions::PyTypeError::new_err(message)
            })?;
            packer.write_key(&copy, &mut self.key_buffer, 0)?;
            self.packed_buffer.truncate(before);
            self.packed_buffer.push(UNPACKABLE);
            let index = self.unpackable_values.len() + copies.len();
            put_varint(&mut self.packed_buffer, index as u64);
            copies.push(copy);
        }
        Ok(UnsavedState {
            is_portable: copies.is_empty() && !packer.take_unshared(),
            copies,
        })
    }

    /// Returns the key of the state that was read last.
    pub(crate) fn key_of_read(&self) -> u128 {
        hash(&self.key_buffer)
    }

    /// Saves the state read last, unless it is known. Returns its number.
    pub(crate) fn save(
        &mut self,
        read: UnsavedState<'py>,
        accepting: bool,
        safe: bool,
    ) -> PyResult<ModelState> {
        let key = hash(&self.key_buffer);
        if let Some(known) = self.numbering.find(key) {
            return Ok(ModelState(known));
        }
        let added = self.numbering.add(key);
        let number = added.filter(|_| self.packed.push(&self.packed_buffer));
        let Some(number) = number else {
            let message = "there are more states than can be numbered";
            return Err(pyo3::exceptions::PyMemoryError::new_err(message));
        };
        self.unpackable_values.extend(read.copies);
        self.flags
            .push(StateFlags::new(accepting, safe, read.is_portable));
        Ok(ModelState(number))
    }

    /// Exports a state for another process. Returns `None` if only this process can represent it.
    pub(crate) fn export(&self, id: ModelState) -> Option<Vec<u8>> {
        let flags = self.flags(id);
        let key = self.numbering.get(id.0);
        let mut bytes = key.to_le_bytes().to_vec();
        bytes.push(flags.0);
        bytes.extend_from_slice(self.packed(id));
        flags.is_portable().then_some(bytes)
    }

    /// Imports a state that another process has exported.
    pub(crate) fn import(&mut self, bytes: &[u8]) -> Option<ModelState> {
        let (key, rest) = bytes.split_at_checked(size_of::<u128>())?;
        let (flags, packed) = rest.split_at_checked(1)?;
        let key = u128::from_le_bytes(key.try_into().ok()?);
        if let Some(known) = self.numbering.find(key) {
            return Some(ModelState(known));
        }
        let number = self.numbering.add(key)?;
        if !self.packed.push(packed) {
            return None;
        }
        self.flags.push(StateFlags(flags[0]));
        Some(ModelState(number))
    }

    /// Sets the variables of a module to the values of a state.
    pub(crate) fn restore(
        &self,
        packer: &ValuePacker<'py>,
        module: &Bound<'py, PyDict>,
        id: ModelState,
    ) -> PyResult<()> {
        let mut packed = self.packed(id);
        for variable in &self.variables {
            module.set_item(variable, self.next_value(packer, &mut packed)?)?;
        }
        Ok(())
    }

    /// Returns the present values of a module's variables, without copying them.
    pub(crate) fn variables(&self, module: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let now = PyDict::new(module.py());
        for variable in &self.variables {
            if let Some(value) = module.get_item(variable)? {
                now.set_item(variable, value)?;
            }
        }
        Ok(now)
    }

    /// Returns the values of a state as new objects.
    pub(crate) fn values(
        &self,
        packer: &ValuePacker<'py>,
        id: ModelState,
    ) -> PyResult<Bound<'py, PyDict>> {
        let python = packer.python();
        let state = PyDict::new(python);
        self.restore(packer, &state, id)?;
        Ok(state)
    }

    /// Restores the next value of a packed state.
    fn next_value(
        &self,
        packer: &ValuePacker<'py>,
        packed: &mut &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        let (form, rest) = packed.split_at(1);
        *packed = rest;
        match form[0] {
            PACKED => packer.unpack(packed),
            _ => packer.copy(&self.unpackable_values[take_varint(packed) as usize]),
        }
    }

    /// Returns the packed values of a state.
    fn packed(&self, id: ModelState) -> &[u8] {
        self.packed.get(id.0 as usize)
    }

    /// Returns the flags of a state.
    pub(crate) fn flags(&self, id: ModelState) -> StateFlags {
        self.flags[id.0 as usize]
    }

    /// Returns a state as source text.
    pub(crate) fn text(&self, packer: &ValuePacker<'py>, id: ModelState) -> PyResult<String> {
        let (text, _) = value_text::literal(&self.values(packer, id)?.into_any())?;
        Ok(text)
    }

    /// Returns the memory use, without values kept as objects.
    pub(crate) fn bytes(&self) -> usize {
        self.numbering.bytes()
            + self.packed.bytes()
            + self.flags.capacity() * size_of::<StateFlags>()
    }
}
